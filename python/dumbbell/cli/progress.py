"""Progress of a long execution, on the terminal or as plain lines in a log."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from dumbbell.base.labels import duration
from dumbbell.base.units import NS_PER_S
from dumbbell.execution.estimate import Estimate
from dumbbell.execution.executor import Fate
from dumbbell.execution.executor import Progress as State
from dumbbell.execution.pools import Running
from dumbbell.plan.places import Places, words
from dumbbell.scenario.resolve import ResolvedScenario

SEARCHING: Final = "searching"
"""The first step of a search."""

_LOG_EVERY_S: Final = 10.0
_SHOW_EVERY_S: Final = 0.5
_RUNNING_SHOWN: Final = 8
_TELLING_SHARE: Final = 0.05
"""Share of a run from which its own speed predicts better than that of others."""


@dataclass(frozen=True)
class Going:
    """A run in progress, in words.

    Attributes
    ----------
    words
        Name of the run.
    started_s
        A reading of the clock.
    expected_s
        Duration of runs like it, in seconds; None: unknown.
    share
        Share of its time that it has simulated; None: unknown.
    """

    words: str
    started_s: float
    expected_s: float | None
    share: float | None = None

    def taken(self, clock_s: float) -> str:
        """Say how far it has come, and how long it has been going."""
        taken_s = clock_s - self.started_s
        expected_s = self.expected_s
        if self.share is not None and self.share >= _TELLING_SHARE:
            expected_s = taken_s / self.share
        parts = [duration(taken_s)]
        if self.share is not None:
            parts.insert(0, f"{100 * self.share:.0f} % in")
        if expected_s is not None:
            parts.append(f"of about {duration(expected_s)}")
        return " ".join(parts)


class Tracker:
    """Follows an execution: its progress, speed and remaining time, and the runs in progress.

    Parameters
    ----------
    runs
        All runs of the execution.
    clock_s
        The time.
    jobs
        Number of runs at the same time.
    places
        Their places in the study.
    stored
        The keys of those that are there already.
    real_time
        True if they take as long as their scenarios last.
    """

    def __init__(
        self,
        runs: Sequence[ResolvedScenario],
        clock_s: float,
        jobs: int = 1,
        places: Places = MappingProxyType({}),
        stored: Collection[str] = (),
        *,
        real_time: bool = False,
    ) -> None:
        self._estimate = Estimate(runs, places, stored, real_time=real_time)
        self._started_s = clock_s
        self._jobs = jobs
        self._places = places
        self._real_time = real_time
        self._state: State | None = None

    def update(self, state: State) -> None:
        """Take one more finished run into account."""
        seconds = state.seconds if state.fate is Fate.DONE else None
        self._estimate.finish(state.latest.key, seconds)
        self._state = state

    def text(self, clock_s: float, running: Sequence[Running] = ()) -> str:
        """Return the state of the execution, in words."""
        parts = []
        elapsed_s = clock_s - self._started_s
        state = self._state
        if state is not None:
            counts = {"reused": state.reused, "invalid": state.invalid, "failed": state.failed}
            parts += [f"{count} {outcome}" for outcome, count in counts.items() if count]
            if state.packets and elapsed_s > 0 and not self._real_time:
                parts.append(f"{state.packets / elapsed_s / 1e6:.1f} M packets/s")
        if state is None or state.finished < state.total:
            since = {run.scenario.key: clock_s - run.started_s for run in running}
            left_s = self._estimate.left_s(self._jobs, since)
            if left_s is not None:
                parts.append(f"about {duration(left_s)} left")
        return ", ".join(parts)

    def going(self, running: Sequence[Running]) -> list[Going]:
        """Return the runs in progress, in words."""
        return [
            Going(
                words(run.scenario, self._places.get(run.scenario.key)),
                run.started_s,
                self._estimate.expected_s(run.scenario.key),
                run.share,
            )
            for run in running
        ]


def announcement(runs: Sequence[ResolvedScenario], jobs: int) -> str:
    """Say how long runs in real time will take."""
    total_s = sum(run.scenario.duration_ns / NS_PER_S for run in runs)
    count = "one" if jobs == 1 else f"{jobs}"
    return (
        f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} in real time, {count} at a time: "
        f"about {duration(total_s / min(jobs, max(1, len(runs))))}"
    )


@contextmanager
def shown(tracker: Tracker, total: int, console: Console) -> Iterator[Display]:
    """Show progress while the block runs: live, or as lines where there is no terminal."""
    if not console.is_terminal:
        yield _Lines(tracker, total, console)
        return
    display = _Live(tracker, total, console)
    with Live(get_renderable=display.rendered, console=console, transient=True):
        yield display


@contextmanager
def steps(first: str, console: Console) -> Iterator[Callable[[str], None]]:
    """Show what is being done while the block runs: live, or as lines where there is no terminal.

    Parameters
    ----------
    first
        Name of the first step; call the provided function with the name of each later one.
    console
        Console to write to.
    """
    if console.is_terminal:
        with console.status(first) as status:
            yield status.update
        return
    log = _StepLog(first, console)
    thread = threading.Thread(target=log.write, name="steps", daemon=True)
    thread.start()
    try:
        yield log.update
    finally:
        log.ended.set()
        thread.join()


class SearchStatus:
    """Shows a search: its present step, and how many runs of that are finished.

    Parameters
    ----------
    step
        Shows a text instead of the last one: what `steps` provides.
    """

    def __init__(self, step: Callable[[str], None]) -> None:
        self._show = step
        self._words = SEARCHING

    def on_step(self, words: str) -> None:
        """Show the next step."""
        self._words = words
        self._show(words)

    def on_progress(self, state: State) -> None:
        """Show that one more run is finished."""
        self._show(f"{self._words}; {state.finished} of {state.total} runs")


class _StepLog:
    """Logs the current step every now and then, however long it is."""

    every_s: float = _LOG_EVERY_S

    def __init__(self, first: str, console: Console) -> None:
        self.ended = threading.Event()
        self._step = first
        self._console = console
        self._began_s = time.monotonic()

    def update(self, step: str) -> None:
        """Take note of the next step."""
        self._step = step

    def write(self) -> None:
        """Print a line as often as it is due, until all has ended."""
        while not self.ended.wait(self.every_s):
            taken = duration(time.monotonic() - self._began_s)
            line = f"after {taken}: {self._step}"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class Display(ABC):
    """Shows how an execution goes; its methods are what `execute` calls."""

    def __init__(self, tracker: Tracker, total: int, console: Console) -> None:
        self._tracker = tracker
        self._total = total
        self._console = console
        self._finished = 0
        self._running: Sequence[Running] = ()
        self._shown_s = time.monotonic()

    every_s: float
    """Interval between two messages, in seconds."""

    def on_progress(self, state: State) -> None:
        """Take note of a run that has ended."""
        self._tracker.update(state)
        self._finished = state.finished
        if state.warning is not None:
            self.line(f"warning: {state.warning}")
        self._show_if_due(last=state.finished == state.total)

    def on_wait(self, running: Sequence[Running]) -> None:
        """Remember the runs in progress."""
        self._running = running
        if self._finished < self._total:
            self._show_if_due()

    def line(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _show_if_due(self, *, last: bool = False) -> None:
        now_s = time.monotonic()
        if last or now_s - self._shown_s >= self.every_s:
            self._shown_s = now_s
            running = () if last else self._running
            self.show(now_s, self._tracker.text(now_s, running), self._tracker.going(running))

    @abstractmethod
    def show(self, now_s: float, text: str, going: Sequence[Going]) -> None:
        """Show the state of the execution and the runs in progress."""


class _Live(Display):
    every_s = _SHOW_EVERY_S

    def __init__(self, tracker: Tracker, total: int, console: Console) -> None:
        super().__init__(tracker, total, console)
        self._bar = Progress(
            TextColumn("runs"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
        )
        self._task = self._bar.add_task("runs", total=total)
        self._text = ""
        self._going: Sequence[Going] = ()

    def show(self, now_s: float, text: str, going: Sequence[Going]) -> None:
        del now_s
        self._bar.update(self._task, completed=self._finished)
        self._text, self._going = text, going

    def rendered(self) -> RenderableType:
        """Return what is on the terminal; another thread draws it."""
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column(no_wrap=True, justify="right")
        going, now_s = self._going, time.monotonic()
        for run in going[:_RUNNING_SHOWN]:
            table.add_row(Text(f"  {run.words}"), run.taken(now_s))
        if len(going) > _RUNNING_SHOWN:
            table.add_row(f"  and {len(going) - _RUNNING_SHOWN} more", "")
        return Group(self._bar, Text(self._text), table)


class _Lines(Display):
    every_s = _LOG_EVERY_S

    def show(self, now_s: float, text: str, going: Sequence[Going]) -> None:
        line = ": ".join(filter(None, (f"{self._finished}/{self._total} runs", text)))
        named = [f"{run.words} for {run.taken(now_s)}" for run in going[:_RUNNING_SHOWN]]
        if len(going) > _RUNNING_SHOWN:
            named.append(f"{len(going) - _RUNNING_SHOWN} more")
        self.line(f"{line}; running: {', '.join(named)}" if named else line)
