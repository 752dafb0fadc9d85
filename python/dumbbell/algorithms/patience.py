"""A time limit that a busy machine does not use up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

_LOOK_S: Final = 0.05
_COUNTED_MAX_S: Final = 4 * _LOOK_S
"""Time that counts at most between two looks, in seconds."""


class Patience:
    """Calls a function once, in another thread, if the block has not ended after some seconds.

    Time passes only as fast as this process is woken. A machine that holds it up, or a user who
    suspends it, holds up what it waits for as well.

    Parameters
    ----------
    seconds
        The time limit; None: no limit.
    give_up
        The function, which makes the block end.

    Attributes
    ----------
    is_over
        True once the function was called.
    """

    def __init__(self, seconds: float | None, give_up: Callable[[], None]) -> None:
        self.is_over = False
        self._left_s = seconds
        self._give_up = give_up
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        if self._left_s is not None:
            threading.Thread(target=self._watch, args=(self._left_s,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()

    def _watch(self, left_s: float) -> None:
        while left_s > 0:
            began_s = time.monotonic()
            if self._ended.wait(min(_LOOK_S, left_s)):
                return
            left_s -= min(time.monotonic() - began_s, _COUNTED_MAX_S)
        self.is_over = True
        self._give_up()
