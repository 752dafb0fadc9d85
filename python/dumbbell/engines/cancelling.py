"""Stopping what goes on in other threads and processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from dumbbell import _core


class CancelToken:
    """Stops runs from another thread, wherever they go on; once for all.

    That of a single run tells how far it has come, too.
    """

    def __init__(self) -> None:
        self.core = _core.CancelToken()
        """What the compiled core looks at."""
        self._lock = threading.Lock()
        self._stops: list[Callable[[], None]] = []
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """Whether it has been asked for."""
        return self._cancelled

    @property
    def reached_ns(self) -> int:
        """How far a simulation has come in its own time; 0: none has told."""
        return self.core.reached_ns

    def cancel(self) -> None:
        """Stop what goes on, and what would begin."""
        self.core.cancel()
        with self._lock:
            self._cancelled = True
            for stop in self._stops:
                stop()

    @contextmanager
    def on_error(self) -> Iterator[None]:
        """Cancel if the block is left by an exception, Ctrl-C among them."""
        try:
            yield
        except BaseException:
            self.cancel()
            raise

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Have `stop` called if it is cancelled before or while the block runs, never after."""
        with self._lock:
            self._stops.append(stop)
            if self._cancelled:
                stop()
        try:
            yield
        finally:
            with self._lock:
                self._stops.remove(stop)


@contextmanager
def crew(name: str, threads: int | None = None) -> Iterator[ThreadPoolExecutor]:
    """Give a block threads, and wait for all that it has them do.

    If the block is left by an exception, what has not begun never does. On Ctrl-C nobody waits for
    the rest either: whoever wants it to end early cancels it, and the process may end meanwhile.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=not isinstance(error, KeyboardInterrupt), cancel_futures=True)
        raise
    pool.shutdown()
