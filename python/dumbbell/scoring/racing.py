"""The race of a candidate over the paths of a suite: few runs if it is bad, more if it is good."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from dumbbell.engines.cancelling import crew
from dumbbell.inference import statistics
from dumbbell.scoring.candidate import Candidate
from dumbbell.scoring.worth import Gauge, Worth, score, total

T = TypeVar("T")


@dataclass(frozen=True)
class Bar:
    """A bar that a candidate has to clear after each round.

    Attributes
    ----------
    score
        The least score.
    beat
        Totals of another candidate by path; none: there is none to beat.
    """

    score: float
    beat: Mapping[str, float]

    def is_missed(self, totals: Mapping[str, float]) -> bool:
        """Return True if a candidate is clearly below, by its whole interval."""
        if score(list(totals.values())).high < self.score:
            return True
        common = [name for name in totals if name in self.beat]
        if len(common) < statistics.RUNS_MIN:
            return False
        ours, theirs = ([worths[name] for name in common] for worths in (totals, self.beat))
        return statistics.paired(ours, theirs).high < 0


@dataclass(frozen=True)
class Race:
    """The runs of a candidate.

    Attributes
    ----------
    worths
        Worth of the run on each path, by the path's name.
    dropped
        True if it ran not all rounds.
    """

    worths: Mapping[str, Worth]
    dropped: bool

    @property
    def totals(self) -> dict[str, float]:
        """Sum of the parts of each run, by the path's name."""
        return {name: total(worth) for name, worth in self.worths.items()}


def race(
    gauge: Gauge,
    candidate: Candidate,
    bar: Bar,
    jobs: int,
    on_round: Callable[[int], None],
) -> Race:
    """Run a candidate round by round, until it is dropped or all paths have run.

    Parameters
    ----------
    gauge, candidate
        The paths with the reference, and the candidate. Its random calls are made once it has
        cleared the first round.
    bar
        The bar after each round but the last.
    jobs
        Runs at the same time.
    on_round
        Called with the number of paths of each round.
    """
    worths: dict[str, Worth] = {}
    also: list[Future[None]] = []
    *_, last = gauge.suite.rounds
    over = threading.Event()
    with crew("score", jobs) as pool:
        for end in gauge.suite.rounds:
            on_round(end)
            paths = gauge.paths[len(worths) : end]
            runs = [
                _submit(pool, over, gauge.worth, path, candidate.choice, candidate.measure)
                for path in paths
            ]
            for path, run in zip(paths, runs, strict=True):
                worths[path.name] = run.result()
            outcome = Race(worths, dropped=end < last)
            if outcome.dropped and bar.is_missed(outcome.totals):
                break
            if not also:
                # A fault in them is named after one in a run, so they stop no runs.
                also.append(_submit(pool, threading.Event(), candidate.check_calls))
        for future in also:
            future.result()
    return outcome


def _submit(
    pool: ThreadPoolExecutor, over: threading.Event, call: Callable[..., T], *arguments: Any
) -> Future[T]:
    """Have a thread call a function in a copy of this context, with its limits of children.

    Once a call has failed, it is `over`: no other begins, as each may take its whole limit. Calls
    begin in their order, so the first that fails is always among those that began.
    """

    def called() -> T:
        if over.is_set():
            raise CancelledError
        try:
            return call(*arguments)
        except BaseException:
            over.set()
            raise

    return pool.submit(contextvars.copy_context().run, called)
