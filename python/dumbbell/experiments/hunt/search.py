"""The search: proposals, the worst of them with further seeds, and the worst one made minimal."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from dumbbell.base.errors import DumbbellError
from dumbbell.experiments.hunt.space import OFF, Point, Space, rounded
from dumbbell.experiments.hunt.trying import Judge, Judged
from dumbbell.experiments.tune.proposing import Proposer

BATCH: Final = 8
"""Proposals at a time: more of them learn less from each other."""

SHORTLIST: Final = 8
"""So many of the worst run with further seeds: the worst of one seed may be chance."""

SEEDS: Final = 3
"""Runs of each side in a scenario that is looked at closely."""

SURE: Final = 8
"""Runs of each side in the worst `FINALS` and in each step to the minimal scenario of the claim."""

FINALS: Final = 3

WEAK: Final = 0.2
"""A regret from here on is a weakness, as a harm of more than this is one of `compete`."""

KEPT: Final = 0.9
"""A simpler scenario must keep this share of the regret."""

_HALVES: Final = 3
_MAP: Final = 6


@dataclass(frozen=True)
class Step:
    """A step towards the minimal scenario.

    Attributes
    ----------
    name
        The dimension.
    before, after
        Its value before, and the simpler one that was tried.
    regret
        The regret of the scenario with the simpler value.
    taken
        True if it kept enough of the regret.
    """

    name: str
    before: str
    after: str
    regret: float
    taken: bool


@dataclass
class Course:
    """Progress of a hunt.

    Attributes
    ----------
    tried
        Every scenario of the search, in order, by one seed.
    shortlist
        The worst of them by `SEEDS` or `SURE`, the worst first.
    steps
        The steps towards the minimal scenario.
    minimal
        The minimal scenario; None: there is no weakness.
    cells
        It with other rates and round-trip times, by one seed.
    late
        True if time was up before the last scenario.
    """

    tried: list[Judged] = field(default_factory=list)
    shortlist: list[Judged] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    minimal: Judged | None = None
    cells: list[Judged] = field(default_factory=list)
    late: bool = False

    @property
    def worst(self) -> Judged:
        """The worst so far: of the shortlist if there is one."""
        return self.shortlist[0] if self.shortlist else max(self.tried, key=lambda e: e.regret)


@dataclass
class Search:
    """A search for the largest regret.

    Attributes
    ----------
    judge
        Judges scenarios.
    points
        Number of scenarios to try.
    within_s
        Time after which no further one is tried, in seconds.
    """

    judge: Judge
    points: int
    within_s: float = math.inf
    course: Course = field(default_factory=Course)

    @property
    def space(self) -> Space:
        """The scenarios."""
        return self.judge.space

    def go(self, proposer: Proposer, on_step: Callable[[str], None]) -> None:
        """Search, and find the minimal scenario and where else it is bad."""
        began_s = time.monotonic()
        course = self.course
        course.tried += self.judge.judge([self.space.neutral], 1)
        if course.worst.failure:
            who = self.judge.sides[0]
            raise DumbbellError(
                f"a run of {who} failed on the ordinary path: {course.worst.failure}"
            )
        while len(course.tried) < self.points:
            if time.monotonic() - began_s > self.within_s:
                course.late = True
                break
            count = min(BATCH, self.points - len(course.tried))
            batch = [self.space.point(shares) for shares in proposer.ask(count)]
            judged = self.judge.judge(batch, 1)
            proposer.tell([(scenario.regret,) for scenario in judged])
            course.tried += judged
            on_step(
                f"{len(course.tried)} of {self.points} scenarios, worst regret "
                f"{course.worst.regret:.2f}"
            )
        on_step("the worst with further seeds")
        course.shortlist = self._shortlist()
        if course.worst.regret < WEAK:
            return
        on_step("making the worst minimal")
        (minimal,) = self.judge.judge([self._minimal(course.worst.point)], SURE)
        if minimal.regret < WEAK:
            return
        course.minimal = minimal
        on_step("mapping rates and round-trip times")
        course.cells = self.judge.judge(self.grid(minimal.point), 1)

    def _shortlist(self) -> list[Judged]:
        unique = {scenario.point: scenario for scenario in self.course.tried}
        worst = _worst_first(list(unique.values()))[:SHORTLIST]
        again = _worst_first(self.judge.judge([scenario.point for scenario in worst], SEEDS))
        finals = self.judge.judge([scenario.point for scenario in again[:FINALS]], SURE)
        return [*_worst_first(finals), *again[FINALS:]]

    def _minimal(self, point: Point) -> Point:
        """Put back one dimension after the other, those first that matter least."""
        (worst,) = self.judge.judge([point], SURE)
        least = KEPT * worst.regret
        neutral = {dimension.name: dimension.neutral for dimension in self.space.dimensions}
        moves = [dimension.name for dimension in self.space.moves(point)]
        # Their order may be wrong, a step must not: three seeds lose what shows in some runs only.
        alone = self._tried(worst, [(name, neutral[name]) for name in moves], SEEDS)
        order = sorted(zip(moves, alone, strict=True), key=lambda pair: -pair[1].regret)
        best = worst
        for name, _ in order:
            best = self._step(best, name, neutral[name], least)
        for _ in range(_HALVES):
            before = best
            for dimension in self.space.moves(best.point):
                value = self.space.of(best.point, dimension.name)
                if not dimension.choices and value != OFF:
                    best = self._step(
                        best, dimension.name, self._closer(best, dimension.name), least
                    )
            if best is before:
                break
        return best.point

    def _closer(self, judged: Judged, name: str) -> float:
        """Return a value with one digit, halfway to the neutral one or to the least disturbance."""
        dimension = self.space.dimension(name)
        value = self.space.of(judged.point, name)
        end = dimension.low if dimension.neutral == OFF else dimension.neutral
        return rounded(math.sqrt(value * end), 1)

    def _step(self, best: Judged, name: str, value: float, least: float) -> Judged:
        if self.space.of(best.point, name) == value:
            return best
        (simpler,) = self._tried(best, [(name, value)], SURE)
        taken = simpler.regret >= least and not (best.failure and not simpler.failure)
        dimension = self.space.dimension(name)
        before = dimension.words(self.space.of(best.point, name))
        step = Step(name, before, dimension.words(value), simpler.regret, taken)
        self.course.steps.append(step)
        return simpler if taken else best

    def _tried(
        self, judged: Judged, changes: Sequence[tuple[str, float]], seeds: int
    ) -> list[Judged]:
        points = [
            self.space.settled(self.space.moved(judged.point, name, value))
            for name, value in changes
        ]
        return self.judge.judge(points, seeds)

    def grid(self, point: Point) -> list[Point]:
        """Return a scenario with other rates and round-trip times, evenly over their ranges."""
        names = ("rate", "rtt")
        values = []
        for name in names:
            dimension = self.space.dimension(name)
            shares = [step / (_MAP - 1) for step in range(_MAP)]
            values.append(sorted({dimension.value(share) for share in shares}))
        return [
            self.space.moved(self.space.moved(point, "rate", rate), "rtt", rtt)
            for rate in values[0]
            for rtt in values[1]
        ]


def _worst_first(judged: Sequence[Judged]) -> list[Judged]:
    return sorted(judged, key=lambda scenario: -scenario.regret)
