"""Cancellation of runs in other threads and processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from dumbbell import _core


class CancelToken:
    """Stops runs from another thread, wherever they are executed; for good.

    The token of a single run also reports its progress.
    """

    def __init__(self) -> None:
        self.core = _core.CancelToken()
        """The token that the compiled core reads."""
        self._lock = threading.Lock()
        self._stops: list[Callable[[], None]] = []
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """True once `cancel` was called."""
        return self._cancelled

    @property
    def reached_ns(self) -> int:
        """Progress of a simulation, in ns of its time; 0: not known yet."""
        return self.core.reached_ns

    def cancel(self) -> None:
        """Stop all runs in progress, and those that would begin."""
        self.core.cancel()
        with self._lock:
            # Under the lock, so that `stopping` is either before this or sees it.
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

    If the block is left by an exception, what has not begun never does. On Ctrl-C it does not wait
    for the rest either: the process may end while a thread still runs, unless someone cancels it.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=not isinstance(error, KeyboardInterrupt), cancel_futures=True)
        raise
    pool.shutdown()
