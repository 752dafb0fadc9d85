"""What a long execution shows on the terminal, or as plain lines in a log."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from dumbbell.running.executor import Progress as State
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.units import NS_PER_S

_LOG_EVERY_S: Final = 10.0
_BITS_PER_PACKET: Final = 12_000


class Tracker:
    """Follows an execution: how far it is, how fast, and how long it will still take.

    Runs differ in size by orders of magnitude, so what is left is estimated from the packets that
    the paths of the remaining runs can carry; in real time, from how long they last.

    Parameters
    ----------
    runs
        All that is to be run.
    clock_s
        The time.
    real_time_jobs
        How many go on at the same time in real time; None: in the simulator.
    """

    def __init__(
        self, runs: Sequence[ResolvedScenario], clock_s: float, real_time_jobs: int | None = None
    ) -> None:
        self._started_s = clock_s
        self._real_time_jobs = real_time_jobs
        self._size = _packets if real_time_jobs is None else _length_s
        self._left = sum(self._size(run) for run in runs)
        self._worked = 0.0
        self._done = 0

    def update(self, state: State, clock_s: float) -> str:
        """Take one more finished run into account and say where things stand."""
        size = self._size(state.latest)
        self._left -= size
        if state.done > self._done:
            self._worked += size
        self._done = state.done
        elapsed_s = clock_s - self._started_s
        counts = {"reused": state.reused, "invalid": state.invalid, "failed": state.failed}
        parts = [f"{count} {fate}" for fate, count in counts.items() if count]
        if state.packets and elapsed_s > 0 and self._real_time_jobs is None:
            parts.append(f"{state.packets / elapsed_s / 1e6:.1f} M packets/s")
        left_s = self._left_s(elapsed_s)
        if left_s is not None and state.finished < state.total:
            parts.append(f"{duration(left_s)} left")
        return ", ".join(parts)

    def _left_s(self, elapsed_s: float) -> float | None:
        if self._real_time_jobs is not None:
            return self._left / self._real_time_jobs
        return elapsed_s * self._left / self._worked if self._worked else None


def duration(seconds: float) -> str:
    """Render a time for people: 42 s, 3 min 20 s, 1 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def announcement(runs: Sequence[ResolvedScenario], jobs: int) -> str:
    """Say how long runs in real time will take."""
    total_s = sum(_length_s(run) for run in runs)
    each = "one" if jobs == 1 else f"{jobs}"
    return (
        f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} in real time, {each} at a time: "
        f"about {duration(total_s / min(jobs, max(1, len(runs))))}"
    )


@contextmanager
def shown(
    runs: Sequence[ResolvedScenario], console: Console, real_time_jobs: int | None = None
) -> Iterator[Display]:
    """Show progress while the block runs: a live bar, or lines where there is no terminal."""
    tracker = Tracker(runs, time.monotonic(), real_time_jobs)
    if not console.is_terminal:
        yield _Lines(tracker, console)
        return
    with Progress(
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[state]}"),
        console=console,
        transient=True,
    ) as bar:
        yield _Bar(tracker, bar, bar.add_task("runs", total=len(runs), state=""))


class Display(ABC):
    """Shows the state after each finished run."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker

    def __call__(self, state: State) -> None:
        """Show a state."""
        if state.warning is not None:
            self.warn(state.warning)
        self.show(state, self._tracker.update(state, time.monotonic()))

    @abstractmethod
    def warn(self, text: str) -> None:
        """Show something about a single run."""

    @abstractmethod
    def show(self, state: State, text: str) -> None:
        """Show where things stand."""


class _Bar(Display):
    def __init__(self, tracker: Tracker, bar: Progress, task: TaskID) -> None:
        super().__init__(tracker)
        self._bar = bar
        self._task = task

    def warn(self, text: str) -> None:
        self._bar.console.print(f"warning: {text}", markup=False, highlight=False)

    def show(self, state: State, text: str) -> None:
        self._bar.update(self._task, completed=state.finished, total=state.total, state=text)


class _Lines(Display):
    def __init__(self, tracker: Tracker, console: Console) -> None:
        super().__init__(tracker)
        self._console = console
        self._latest_s = time.monotonic()

    def warn(self, text: str) -> None:
        self._line(f"warning: {text}")

    def show(self, state: State, text: str) -> None:
        now_s = time.monotonic()
        if state.finished == state.total or now_s - self._latest_s >= _LOG_EVERY_S:
            self._latest_s = now_s
            self._line(f"{state.finished}/{state.total} runs: {text}")

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def _length_s(run: ResolvedScenario) -> float:
    return float(run.data["duration_ns"]) / NS_PER_S


def _packets(run: ResolvedScenario) -> float:
    """Return about how many packets a run takes."""
    rate_bps = facts.bottleneck_rate_bps(run.data) or 0
    duration_ns: int = run.data["duration_ns"]
    return 1 + rate_bps * duration_ns / 1e9 / _BITS_PER_PACKET
