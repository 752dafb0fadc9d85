"""Comparing the runs of two engines, scenario by scenario."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from dumbbell.experiments.validate import comparing
from dumbbell.experiments.validate.comparing import Runs
from dumbbell.experiments.validate.measures import MEASURES, Measure
from dumbbell.inference import statistics
from dumbbell.inference.equivalence import Verdict
from dumbbell.quantities import series
from fidelity.agreement import distance, hosts
from fidelity.agreement.case import Case
from fidelity.agreement.collecting import Collected, Unusable
from fidelity.agreement.explanations import EXPLANATIONS, Explanation, reason_for, stale
from fidelity.agreement.hosts import Hosts
from fidelity.agreement.measures import CONFIDENCE, DISTANCE

WANTED_SHARE: Final = 0.9
"""Of the scenarios, goodput and mean RTT are to be within their bands."""


@dataclass(frozen=True)
class Compared(comparing.Compared):
    """A measure in a scenario on both engines, and the known reason of a difference.

    Of the window distance, `reference` is the yardstick and `other` the distance across engines.
    """

    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**super().as_dict(), "reason": self.reason}


@dataclass(frozen=True)
class Judged:
    """A scenario on both engines.

    Attributes
    ----------
    case
        The scenario.
    compared
        Its measures; none if an engine has no valid run of it.
    runs
        Number of runs of the reference and of the other engine.
    windows
        Windows of the first flow in the first run of both: ``engine``, ``time_s``, ``value``.
    """

    case: Case
    compared: tuple[Compared, ...]
    runs: tuple[int, int]
    windows: pl.DataFrame = field(repr=False)

    def of(self, name: str) -> Compared | None:
        """Return a measure, if it has a value."""
        return next(
            (comparison for comparison in self.compared if comparison.measure.name == name), None
        )

    @property
    def goals(self) -> list[Compared]:
        """The measures that the headline counts."""
        return [comparison for comparison in self.compared if comparison.measure.goal]

    @property
    def within(self) -> bool:
        """True if all of these are within their bands."""
        return bool(self.goals) and all(comparison.within for comparison in self.goals)

    @property
    def differing(self) -> list[Compared]:
        """The measures that differ, goals first."""
        return [comparison for comparison in self.compared if comparison.verdict is Verdict.DIFFERS]

    @property
    def outside(self) -> list[Compared]:
        """The goals outside their bands that the runs do not decide."""
        undecided = [
            comparison for comparison in self.goals if comparison.verdict is not Verdict.DIFFERS
        ]
        return [comparison for comparison in undecided if not comparison.within]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the runs on goodput and mean RTT."""
        verdicts = {comparison.verdict for comparison in self.goals}
        for worst in (Verdict.DIFFERS, Verdict.UNDECIDABLE, Verdict.AGREES):
            if worst in verdicts:
                return worst
        return Verdict.NOT_MEASURED

    @property
    def runs_needed(self) -> float:
        """How many runs of the reference may decide it, if their means and variances stay."""
        open_goals = [goal for goal in self.goals if goal.verdict is Verdict.UNDECIDABLE]
        return self.runs[0] * max((_shrinking(goal) for goal in open_goals), default=1.0)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "scenario": self.case.name,
            "verdict": self.verdict.value,
            "within": self.within,
            "runs": list(self.runs),
            "measures": {
                comparison.measure.name: comparison.as_dict() for comparison in self.compared
            },
        }


def _shrinking(goal: Compared) -> float:
    """Return the square of the factor by which an interval is too wide."""
    low, high = goal.difference.interval
    distance = min(abs(goal.difference.value - goal.low), abs(goal.difference.value - goal.high))
    return ((high - low) / 2 / distance) ** 2 if distance else float("inf")


@dataclass(frozen=True)
class Score:
    """In how many scenarios a measure agrees, and in how many it is to.

    Attributes
    ----------
    measure
        The measure.
    verdicts
        Number of scenarios by verdict.
    within
        In how many the measured difference is within the band, whatever its interval.
    """

    measure: Measure
    verdicts: Mapping[Verdict, int]
    within: int

    @property
    def scenarios(self) -> int:
        """Number of scenarios that have the measure."""
        return sum(self.verdicts.values())

    @property
    def decided(self) -> int:
        """In how many scenarios the runs decide."""
        return self.scenarios - self.verdicts.get(Verdict.UNDECIDABLE, 0)

    @property
    def outcome(self) -> str:
        """The goal for the share of agreeing scenarios, by intervals: met, missed or undecided."""
        agree = self.verdicts.get(Verdict.AGREES, 0)
        wanted = self.measure.wanted * self.scenarios
        if agree >= wanted:
            return "met"
        undecidable = self.verdicts.get(Verdict.UNDECIDABLE, 0)
        return "undecided" if agree + undecidable >= wanted else "missed"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "wanted": self.measure.wanted,
            "scenarios": self.scenarios,
            "within": self.within,
            "verdicts": {verdict.value: count for verdict, count in self.verdicts.items()},
            "outcome": self.outcome,
        }


@dataclass(frozen=True)
class Agreement:
    """All scenarios on both engines."""

    names: tuple[str, str]
    """Of the reference and the other engine."""
    judged: tuple[Judged, ...]
    measures: tuple[Measure, ...] = MEASURES
    unusable: tuple[Unusable, ...] = ()
    kernels: tuple[str, ...] = ()
    not_offered: tuple[str, ...] = ()
    """Features of the stack in the scenarios that the kernel does not have."""
    stale: tuple[Explanation, ...] = ()
    hosts: Hosts | None = None
    """Time in the hosts of the reference, if it is the kernel and the other is not."""

    @property
    def within(self) -> int:
        """In how many scenarios goodput and mean RTT are within their bands."""
        return sum(judged.within for judged in self.judged)

    @property
    def undecided(self) -> list[Judged]:
        """The scenarios that the runs do not decide."""
        return [judged for judged in self.judged if judged.verdict is Verdict.UNDECIDABLE]

    @property
    def unexplained(self) -> list[tuple[Judged, Compared]]:
        """Differences without a known reason."""
        return [
            (judged, compared)
            for judged in self.judged
            for compared in judged.differing
            if compared.reason is None
        ]

    @property
    def scores(self) -> list[Score]:
        """The scores of the measures that must agree in a given share of scenarios."""
        return [self._score(measure) for measure in self.measures if measure.wanted]

    def _score(self, measure: Measure) -> Score:
        compared = [
            comparison
            for judged in self.judged
            if (comparison := judged.of(measure.name)) is not None
        ]
        verdicts = Counter(comparison.verdict for comparison in compared)
        return Score(measure, verdicts, sum(comparison.within for comparison in compared))

    @property
    def passed(self) -> bool:
        """True if everything was measured and all differences are explained.

        Of measures with scores, whether none of these is missed.
        """
        failed = any(run.failed for run in self.unusable)
        unmeasured = any(judged.verdict is Verdict.NOT_MEASURED for judged in self.judged)
        scores = self.scores
        wrong = any(score.outcome == "missed" for score in scores) if scores else self.unexplained
        return not (failed or unmeasured or wrong)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "kernels": list(self.kernels),
            "not_offered": list(self.not_offered),
            "scenarios": len(self.judged),
            "within": self.within,
            "wanted_share": WANTED_SHARE,
            "scores": {score.measure.name: score.as_dict() for score in self.scores},
            "judged": [judged.as_dict() for judged in self.judged],
            "unusable": [vars(run) for run in self.unusable],
            "stale": [vars(explanation) for explanation in self.stale],
            "hosts": self.hosts.as_dict() if self.hosts else None,
        }


def compare(
    cases: Sequence[Case],
    reference: tuple[str, Collected],
    other: tuple[str, Collected],
    explanations: Sequence[Explanation] = EXPLANATIONS,
    measures: tuple[Measure, ...] = MEASURES,
) -> Agreement:
    """Compare what was collected; of each engine its name and its runs."""
    names = (reference[0], other[0])
    judged = tuple(
        _judge(
            case,
            (reference[1].runs[case.name], other[1].runs[case.name]),
            names,
            explanations,
            measures,
        )
        for case in cases
    )
    differing = [
        (scenario.case.name, part.measure.name)
        for scenario in judged
        for part in (*scenario.differing, *scenario.outside)
    ]
    testbeds = reference[1].testbeds
    return Agreement(
        names,
        judged,
        measures,
        (*reference[1].unusable, *other[1].unusable),
        tuple(sorted({testbed.kernel for testbed in testbeds})),
        tuple(sorted({feature for testbed in testbeds for feature in testbed.not_offered})),
        tuple(stale(explanations, [case.name for case in cases], differing)),
        _hosts(cases, reference[1], other[1]),
    )


def _hosts(cases: Sequence[Case], reference: Collected, other: Collected) -> Hosts | None:
    is_kernel, is_simulated = reference.testbeds, not other.testbeds
    return hosts.look(cases, reference.runs, other.runs) if is_kernel and is_simulated else None


def _judge(
    case: Case,
    runs: tuple[Runs, Runs],
    names: tuple[str, str],
    explanations: Sequence[Explanation],
    measures: Sequence[Measure],
) -> Judged:
    reference, other = runs
    compared = [
        comparison
        for measure in measures
        if (comparison := _compared(measure, case, reference, other)) is not None
    ]
    compared += _distances(reference, other)
    return Judged(
        case,
        tuple(_explained(comparison, case, explanations) for comparison in compared),
        (len(reference), len(other)),
        pl.concat(_windows(names, reference, other)),
    )


def _explained(comparison: Compared, case: Case, explanations: Sequence[Explanation]) -> Compared:
    if comparison.verdict is not Verdict.DIFFERS and (
        comparison.within or not comparison.measure.goal
    ):
        return comparison
    reason = reason_for(case.name, comparison.measure.name, explanations)
    return Compared(**{**vars(comparison), "reason": reason})


def _compared(measure: Measure, case: Case, reference: Runs, other: Runs) -> Compared | None:
    """Compare a measure; where chance loses packets run by run, as equal seeds lose equal ones."""
    comparison = comparing.compared(measure, reference, other, CONFIDENCE, pairs=case.loses_alike)
    return None if comparison is None else Compared(**vars(comparison))


def _distances(reference: Runs, other: Runs) -> Iterator[Compared]:
    one, two = ([distance.traces(run) for run in runs.values()] for runs in (reference, other))
    distances = distance.compare(one, two)
    if distances is not None:
        yardstick = statistics.mean([sum(distances.within) / 2], CONFIDENCE)
        across = statistics.mean([distances.across], CONFIDENCE)
        # Runs of different engines may well be closer than runs with different seeds.
        yield Compared(DISTANCE, yardstick, across, distances.excess, -math.inf, DISTANCE.least)


_NO_WINDOWS: Final = {"engine": pl.String, "time_s": pl.Float64, "value": pl.Float64}


def _windows(names: tuple[str, str], *engines: Runs) -> Iterator[pl.DataFrame]:
    yield pl.DataFrame(schema=_NO_WINDOWS)
    common = sorted(set(engines[0]) & set(engines[1]))
    for name, runs in zip(names, engines, strict=True):
        if common:
            run = runs[common[0]]
            label = run.scenario.flows[0].label
            lines = series.take(run, "cwnd_segs").filter(pl.col("label") == label)
            yield lines.select(
                pl.lit(name).alias("engine"), "time_s", pl.col("value").cast(pl.Float64)
            )
