"""The search itself: proposals, and a race of those that may be better than the best so far.

Of each proposal every path is run once. Proposals run again with further random numbers until all
repetitions are done or they are clearly worse than the best so far. The 95 % interval of the
differences, pair by pair, decides that. Pairs share paths and random numbers, so the differences
depend on the parameters alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dumbbell.experiments.tune.objectives import Objective
from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.experiments.tune.proposing import Proposer
from dumbbell.experiments.tune.space import Candidate, Space
from dumbbell.experiments.tune.trying import Entrant, Runs, Trial, all_of
from dumbbell.inference import statistics
from dumbbell.inference.estimates import RUNS_MIN

BATCH: Final = 8
"""Proposals at a time: more of them learn less from each other."""


@dataclass
class Tried:
    """A candidate: how many repetitions it ran, and what these were worth.

    Attributes
    ----------
    candidate
        Values of the parameters.
    place
        Number of candidates that were tried before it.
    first
        Mean of each objective over the first run on each path, which all candidates have.
    mean
        Mean over all its runs.
    repetitions
        Number of runs of each path that it has.
    dropped
        True if it was given up as worse than the best at that time.
    """

    candidate: Candidate
    place: int
    first: tuple[float, ...] = ()
    mean: tuple[float, ...] = ()
    repetitions: int = 0
    dropped: bool = False


@dataclass
class Course:
    """Progress of a search.

    Attributes
    ----------
    tried
        Every candidate once, in order.
    best
        The best by the weighted sum of the objectives.
    interrupted
        True if Ctrl-C ended it before its time.
    """

    tried: list[Tried] = field(default_factory=list)
    best: Tried | None = None
    interrupted: bool = False

    @property
    def front(self) -> list[Tried]:
        """The candidates that no other one exceeds in every objective, of those not dropped."""
        rivals = [tried for tried in self.tried if not tried.dropped]
        return [tried for tried in rivals if not any(_exceeds(other, tried) for other in rivals)]


def _exceeds(one: Tried, other: Tried) -> bool:
    pairs = list(zip(one.mean, other.mean, strict=True))
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


@dataclass
class Search:
    """A search for good parameters.

    Attributes
    ----------
    space, paths
        The parameters to search, and the paths.
    choice
        The algorithm, by its name or file.
    runs
        Makes the runs.
    repetitions
        Runs of a path at most.
    candidates
        Number of candidates to try.
    front
        True for a front, in which nothing is given up before its last repetition.
    """

    space: Space
    paths: Sequence[NetworkPath]
    choice: str
    runs: Runs
    repetitions: int
    candidates: int
    front: bool = False
    course: Course = field(default_factory=Course)

    def entrant(self, candidate: Candidate) -> Entrant:
        """Return who runs with these values."""
        return Entrant(self.choice, tuple(self.space.values(candidate).items()))

    def go(self, proposer: Proposer) -> Iterator[Course]:
        """Search, and yield what was found after each batch."""
        # The initial values come first, so that every proposal has something to beat.
        self._race([self._begin(self.space.initial)])
        while len(self.course.tried) < self.candidates:
            count = min(BATCH, self.candidates - len(self.course.tried))
            points = proposer.ask(count)
            batch = [self._begin(self.space.candidate(point)) for point in points]
            self._run(batch, 1)
            proposer.tell([self._losses(tried) for tried in batch])
            # Rounding to valid values may join two points of a batch.
            self._race(list({id(tried): tried for tried in batch}.values()))
            yield self.course

    def _begin(self, candidate: Candidate) -> Tried:
        """Return the candidate, the same one if it was proposed before."""
        for known in self.course.tried:
            if known.candidate == candidate:
                return known
        new = Tried(candidate, len(self.course.tried))
        self.course.tried.append(new)
        return new

    def _losses(self, tried: Tried) -> tuple[float, ...]:
        return tried.first if self.front else (self._sum(tried.first),)

    def _run(self, group: Sequence[Tried], repetitions: int) -> None:
        """Bring candidates to so many repetitions."""
        behind = [tried for tried in group if tried.repetitions < repetitions]
        rows = {tried.place: self._trials(tried, repetitions) for tried in behind}
        self.runs.make(trial for trials in rows.values() for trial in trials)
        for tried in behind:
            tried.repetitions = repetitions
            tried.mean = _mean(self.runs.worth(rows[tried.place]).values())
            first = self._trials(tried, 1)
            tried.first = _mean(self.runs.worth(first).values())

    def _trials(self, tried: Tried, repetitions: int) -> list[Trial]:
        return all_of(self.entrant(tried.candidate), self.paths, range(repetitions))

    def _race(self, group: list[Tried]) -> None:
        """Give further repetitions to those that may be better than the best so far."""
        best = self.course.best
        for repetitions in range(1, self.repetitions + 1):
            running = [tried for tried in group if not tried.dropped]
            # The best runs along: differences are taken pair by pair, with equal random numbers.
            self._run([*running, *([best] if best else [])], repetitions)
            if best is not None and not self.front:
                for tried in running:
                    tried.dropped = tried is not best and self._is_worse(tried, best, repetitions)
        left = [tried for tried in group if not tried.dropped]
        self.course.best = max(
            [*left, *([best] if best else [])], key=lambda tried: self._sum(tried.mean)
        )

    def _is_worse(self, one: Tried, other: Tried, repetitions: int) -> bool:
        """Return True if the paired differences are clearly below 0; one alone: if it is below."""
        ours = self.runs.worth(self._trials(one, repetitions))
        theirs = self.runs.worth(self._trials(other, repetitions))
        pairs = [pair for pair in ours if pair in theirs]
        gaps = statistics.paired(
            [self._sum(ours[pair]) for pair in pairs], [self._sum(theirs[pair]) for pair in pairs]
        )
        return gaps.high < 0 if len(pairs) >= RUNS_MIN else gaps.value < 0

    def _sum(self, worth: Sequence[float]) -> float:
        return weighted(self.runs.objectives, worth)


def weighted(objectives: Sequence[Objective], worth: Sequence[float]) -> float:
    """Return the sum of objectives by their weights; nothing at all is the worst."""
    if not worth:
        return -math.inf
    return sum(objective.weight * value for objective, value in zip(objectives, worth, strict=True))


def _mean(worths: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    rows = list(worths)
    return tuple(float(value) for value in np.mean(rows, axis=0)) if rows else ()
