"""Runs of the sides of a hunt in scenarios, each at most once, and how far the sides are apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dumbbell.algorithms.catalogue import OwnAlgorithms
from dumbbell.base.errors import DumbbellError
from dumbbell.execution.executor import Outcome
from dumbbell.experiments.hunt.goals import CALM, Gap, Goal, gap
from dumbbell.experiments.hunt.space import Point, Space
from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.experiments.tune.trying import Entrant, Runs, Trial
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.places import Places
from dumbbell.scenario.model import Scenario

FIRST_SEED = 1
"""The seed of the first run of a scenario, which files have by default; the next is one more."""


@dataclass(frozen=True)
class Scene(NetworkPath):
    """A scenario of a hunt, in which the algorithm is left open."""

    def planned(
        self,
        choice: str,
        values: Mapping[str, int],  # noqa: ARG002 - a hunt changes no parameters
        repetition: int,
        own_algorithms: OwnAlgorithms,
        engine: str,
    ) -> PlannedRun:
        """Return a run with an algorithm; a repetition has the same seed for all of them."""
        scenario = Scenario.parse({**self.table, "algorithm": choice}, self.source, own_algorithms)
        return PlannedRun(
            test="hunt",
            axes={"path": self.name, "algorithm": choice},
            repetition=repetition + 1,
            resolved=scenario.resolve(seed=FIRST_SEED + repetition).on(engine),
            windows=self.windows,
        )


@dataclass
class Attempts(Runs):
    """Runs of which some may fail, as those of a user's own algorithm.

    Attributes
    ----------
    failures
        Runs that failed, with the reason: by the algorithm, the scenario and the repetition.
    """

    whole = False
    failures: dict[tuple[Entrant, str, int], str] = field(default_factory=dict)
    _failed: dict[str, str] = field(default_factory=dict)

    def make(self, trials: Iterable[Trial]) -> None:
        """Make those that are not there yet, and remember those that fail."""
        requested = list(trials)
        super().make(requested)
        for trial in requested:
            if trial.identity not in self._values:
                self._values[trial.identity] = {}
                reason = self._failed.get(self._planned(trial).resolved.key)
                if reason is not None:
                    self.failures[trial.identity] = reason

    def take(self, outcome: Outcome, where: Places) -> None:  # noqa: ARG002 - it names them
        """Remember the runs that failed."""
        self._failed |= {run.key: str(error) for run, error in outcome.failed}


@dataclass(frozen=True)
class Judged:
    """A scenario that was tried.

    Attributes
    ----------
    point
        The scenario.
    gap
        The gap between the sides; None: no run says.
    failure
        Reason why the algorithm's run failed; empty: it did not.
    """

    point: Point
    gap: Gap | None
    failure: str = ""

    @property
    def regret(self) -> float:
        """The regret; a run that fails leaves nothing."""
        if self.failure:
            return 1.0
        return 0.0 if self.gap is None else self.gap.regret


@dataclass
class Judge:
    """Judges scenarios by runs of all sides.

    Attributes
    ----------
    space, goal
        The scenarios, and what is measured in them.
    sides
        The algorithm, and then the references.
    either
        True if it does not matter which of two sides is ahead.
    runs
        Makes the runs.
    """

    space: Space
    goal: Goal
    sides: tuple[str, ...]
    either: bool
    runs: Attempts

    @property
    def runs_of_point(self) -> int:
        """Number of runs for one scenario and seed."""
        return len(self.sides)

    def scene(self, point: Point) -> Scene:
        """Return the scenario of a point."""
        return Scene(repr(point), self.space.table(point), self.space.measured, "hunt")

    def judge(self, points: Sequence[Point], repetitions: int) -> list[Judged]:
        """Judge scenarios by the means over so many runs of each side; a run that fails counts.

        Raises DumbbellError if the run of a reference fails.
        """
        trials = {point: self._trials(point, repetitions) for point in points}
        self.runs.make(
            trial for sides in trials.values() for of_side in sides.values() for trial in of_side
        )
        return [self._judged(point, trials[point]) for point in points]

    def _trials(self, point: Point, repetitions: int) -> dict[str, list[Trial]]:
        """Return the runs of each side; those without cross traffic are the algorithm's own."""
        scene, trials = self.scene(point), {}
        for side in self.sides:
            entrant = Entrant(self.sides[0] if side == CALM else side)
            where = self.scene(self.space.calm(point)) if side == CALM else scene
            trials[side] = [Trial(entrant, where, number) for number in range(repetitions)]
        return trials

    def _judged(self, point: Point, trials: Mapping[str, Sequence[Trial]]) -> Judged:
        for side, of_side in trials.items():
            for trial in of_side:
                failure = self.runs.failures.get(trial.identity)
                if failure is not None and side != self.sides[0] and not self.either:
                    raise DumbbellError(f"a run of {side} failed: {failure}")
                if failure is not None:
                    return Judged(point, None, failure)
        values = {
            side: {name: self._mean(of_side, name) for name in self.goal.references}
            for side, of_side in trials.items()
        }
        slowest = self.space.slowest_mbit(point)
        return Judged(point, gap(self.goal, self.sides, values, slowest, either=self.either))

    def _mean(self, trials: Sequence[Trial], reference: str) -> float | None:
        values = self.runs.values(trials, reference)
        return statistics.fmean(values) if len(values) == len(trials) else None
