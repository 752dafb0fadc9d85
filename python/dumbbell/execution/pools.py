"""Pools that run tasks: threads of this process, or processes that any executor reaches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from dumbbell.engines.cancelling import CancelToken, crew
from dumbbell.execution.task import Brought, Task, bring
from dumbbell.scenario.resolve import ResolvedScenario


@dataclass(frozen=True)
class Running:
    """A run in progress.

    Attributes
    ----------
    scenario
        The scenario of the run.
    started_s
        A reading of `time.monotonic`.
    token
        Reports its progress, where it is a simulation of this process.
    """

    scenario: ResolvedScenario
    started_s: float
    token: CancelToken | None = None

    @property
    def share(self) -> float | None:
        """Share of its time that it has simulated; None: unknown."""
        reached_ns = 0 if self.token is None else self.token.reached_ns
        return min(1.0, reached_ns / self.scenario.duration_ns) if reached_ns else None


class Pool(Protocol):
    """Runs tasks; it has no part in what becomes of their results.

    A task whose process ends is the pool's to repeat or to fail; see `executor.execute`.
    """

    @property
    def jobs(self) -> int:
        """Number of tasks at the same time."""
        ...

    def submit(self, task: Task) -> Future[Brought]:
        """Begin a task, or keep it for later."""
        ...

    def running(self) -> Sequence[Running]:
        """Return the runs in progress, the longest first."""
        ...

    def cancel(self) -> None:
        """Begin nothing more, and end the runs in progress where that is possible; for ever."""
        ...


class ThreadPool:
    """Threads of this process: its simulator lets them all run at once."""

    def __init__(self, threads: ThreadPoolExecutor, jobs: int) -> None:
        self.jobs = jobs
        self._threads = threads
        self._cancel = CancelToken()
        self._lock = threading.Lock()
        self._running: dict[str, Running] = {}

    def submit(self, task: Task) -> Future[Brought]:
        """Run a task when a thread is free."""
        return self._threads.submit(self._bring, task)

    def running(self) -> list[Running]:
        """Return the runs in progress, the longest first."""
        with self._lock:
            return list(self._running.values())

    def cancel(self) -> None:
        """Stop all runs at once."""
        self._cancel.cancel()

    def _bring(self, task: Task) -> Brought:
        key, token = task.scenario.key, CancelToken()
        with self._lock:
            self._running[key] = Running(task.scenario, time.monotonic(), token)
        try:
            # A token for each run, as it also reports that run's progress.
            with self._cancel.stopping(token.cancel):
                return bring(task, token)
        finally:
            with self._lock:
                del self._running[key]


class ExecutorPool:
    """Processes that an executor of `concurrent.futures` reaches, wherever they are.

    Parameters
    ----------
    executor
        The executor for the tasks; its owner shuts it down.
    jobs
        Number of tasks that it executes at the same time.
    """

    def __init__(self, executor: Executor, jobs: int) -> None:
        self.jobs = jobs
        self._executor = executor
        self._lock = threading.Lock()
        self._open: dict[Future[Brought], Running] = {}

    def submit(self, task: Task) -> Future[Brought]:
        """Hand a task to the executor."""
        future = self._executor.submit(bring, task)
        with self._lock:
            self._open[future] = Running(task.scenario, time.monotonic())
        # After the entry and outside the lock: a future that is done already calls back at once, in
        # this thread, and the lock is not reentrant.
        future.add_done_callback(self._forget)
        return future

    def running(self) -> list[Running]:
        """Return the oldest tasks: not all executors report which of them they have begun."""
        with self._lock:
            return list(self._open.values())[: self.jobs]

    def cancel(self) -> None:
        """Withdraw the tasks that have not begun; the others end normally, without use."""
        with self._lock:
            # `cancel` calls back in this thread, which takes the lock and changes the dictionary.
            left = list(self._open)
        for future in left:
            future.cancel()

    def _forget(self, future: Future[Brought]) -> None:
        with self._lock:
            self._open.pop(future, None)


@contextmanager
def opened(jobs: int | Pool) -> Iterator[Pool]:
    """Give a block so many threads, or a pool that is there already; errors cancel it."""
    if not isinstance(jobs, int):
        with _cancelling(jobs):
            yield jobs
        return
    with crew("run", jobs) as threads:
        pool = ThreadPool(threads, jobs)
        with _cancelling(pool):
            yield pool


@contextmanager
def _cancelling(pool: Pool) -> Iterator[None]:
    try:
        yield
    except BaseException:
        pool.cancel()
        raise
