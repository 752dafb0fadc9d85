"""Findings of a check at grid points, and their verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Literal

from dumbbell.base.labels import UNBOUNDED, Bounds, cut
from dumbbell.inference.statistics import CONFIDENCE, Estimate, at_least
from dumbbell.judging import words
from dumbbell.judging.authors import Stated

TAIL: Final = (1 - CONFIDENCE) / 2
"""Largest p-value, on one side, that decides: that at the ends of the shown intervals."""

Statement = Literal["number", "order", "arithmetic", "expectation", "calibration", "reported"]
"""Source of the statement: the authors' number, their order or shape, their arithmetic or
parameters (which need no runs), or our expectation. A calibration set a reading, and what is
reported only no run can hold or contradict; neither is evidence.
"""

STATEMENTS: Final[Mapping[Statement, str]] = {
    "number": "the authors' number",
    "order": "the authors' order",
    "arithmetic": "arithmetic or preset",
    "expectation": "our own expectation",
    "calibration": "set a reading, so no evidence",
    "reported": "reported only",
}
"""The kinds of statement in words."""

Quantifier = Literal["all", "most", "median", "any"]
"""Share of the values that must satisfy a check: each, more than half, the median, at least one."""

Place = Mapping[str, str]
"""A grid point: axis -> value."""


_SEVERAL: Final = {
    "holds": "hold",
    "holds under the declared reading": "hold under the declared reading",
    "tie": "ties",
}
"""Verdicts of several claims, where the word differs from that of one."""


def counted(count: float, verdict: str) -> str:
    """Say how many claims have a verdict."""
    return f"{count:.3g} {verdict if count == 1 else _SEVERAL.get(verdict, verdict)}"


class Verdict(StrEnum):
    """Agreement of Dumbbell's runs with a claim of the authors, or with our expectation."""

    HOLDS = "holds"
    CONTRADICTED = "contradicted"
    TIE = "tie"
    UNDECIDED = "undecided"
    MET = "expectation met"
    FAILED = "expectation failed"

    @property
    def is_good(self) -> bool:
        """True if the runs agree."""
        return self in (Verdict.HOLDS, Verdict.MET)

    @property
    def is_bad(self) -> bool:
        """True if the runs disagree."""
        return self in (Verdict.CONTRADICTED, Verdict.FAILED)

    @property
    def mark(self) -> str:
        """A sign for it."""
        if self is Verdict.TIE:
            return "="
        return "✓" if self.is_good else "✗" if self.is_bad else "?"


class State(StrEnum):
    """Agreement of one finding with the statement."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    TIED = "tied"
    OPEN = "undecided"


@dataclass(frozen=True)
class Need:
    """Runs that would decide: so many in all at a grid point of a test."""

    test: str
    axes: Place
    runs: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"test": self.test, "axes": dict(self.axes), "runs": self.runs}


class Lack(Exception):  # noqa: N818 - what the runs lack, not what went wrong
    """A check needs more than it has, which the message names; `needs` are runs that would help."""

    def __init__(self, what: str, needs: Sequence[Need] = (), *, is_quick: bool = False) -> None:
        super().__init__(what)
        self.needs = tuple(needs)
        self.is_quick = is_quick


def step_back(steps: Sequence[Estimate]) -> int | None:
    """Return the place of the step of a trend that clearly goes below 0; None: none does.

    Steps are many, so their p-values are corrected.
    """
    back = [step.below(0) for step in steps]
    if not back or at_least(1, back) > TAIL:
        return None
    return min(range(len(back)), key=lambda place: (back[place], steps[place].value))


@dataclass(frozen=True)
class Finding:
    """A result at one grid point, pair of points or series.

    Attributes
    ----------
    estimate
        The value that is judged.
    bounds
        The least and the most that it can be, at which its interval is cut where it is shown.
    text
        It in words, with interval and number of runs.
    brief
        The compared values alone; empty where there is no shorter text.
    low, high
        Between which bounds it agrees.
    is_strict
        True if a value at a bound is outside.
    limit, limiting
        The value up to which, or from which on, the compared one agrees, and the reference point
        that sets it; None where there is none.
    steps
        Further values that must not be below 0: the steps of a trend.
    ratios
        The ratios of the compared values, for which a tie is looked.
    resolution
        The relative difference of compared values up to which the authors could not have seen it;
        0 if there is no tie.
    where
        The point in words; empty where there is only one.
    place
        The place of findings that are compared with each other; pairs at one place count together
        where most must agree.
    margin
        Measure of agreement: of two findings the larger is better.
    test, points
        The test and its grid points that it is computed from.
    is_quick
        True if these are quick runs.
    """

    estimate: Estimate
    text: str
    brief: str = ""
    low: float = -math.inf
    high: float = math.inf
    is_strict: bool = False
    limit: float | None = None
    limiting: Place | None = None
    steps: tuple[Estimate, ...] = ()
    ratios: tuple[Estimate, ...] = ()
    resolution: float = 0.0
    where: str = ""
    place: str = ""
    margin: float = 0.0
    test: str = ""
    points: tuple[Place, ...] = ()
    is_quick: bool = False
    bounds: Bounds = UNBOUNDED

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the estimate as it is shown."""
        return cut(self.estimate.value, *self.estimate.interval, self.bounds)

    @property
    def inside(self) -> tuple[float, float]:
        """The p-values of lying above the lower bound and below the upper one."""
        low = (
            0.0 if math.isinf(self.low) else self.estimate.above(self.low, or_at=not self.is_strict)
        )
        if math.isinf(self.high):
            return low, 0.0
        return low, self.estimate.below(self.high, or_at=not self.is_strict)

    @property
    def outside(self) -> tuple[float, float]:
        """The p-values of lying below the lower bound and above the upper one."""
        low = 1.0 if math.isinf(self.low) else self.estimate.below(self.low, or_at=self.is_strict)
        if math.isinf(self.high):
            return low, 1.0
        return low, self.estimate.above(self.high, or_at=self.is_strict)

    @property
    def p_agrees(self) -> float:
        """The p-value of agreeing."""
        # One step that clearly goes back contradicts a trend, however far apart its ends are.
        if step_back(self.steps) is not None:
            return 1.0
        # Within both bounds, so the weaker of both tests counts (Berger 1982).
        return max(self.inside)

    @property
    def p_disagrees(self) -> float:
        """The p-value of disagreeing, in the end or in any of the steps."""
        # Each bound is one side, and the 2.5 % hold on each side. Steps are many, so they are
        # corrected.
        return at_least(1, [min(self.outside), *(step.below(0) for step in self.steps)])

    @property
    def p_tied(self) -> float:
        """The p-value of all compared values lying within the resolution."""
        if not (self.resolution and self.ratios):
            return 1.0
        # Two one-sided tests (Schuirmann 1987): equality is shown by rejecting both differences.
        # The lower bound is the inverse: it must not matter which value is divided by which.
        most = 1 + self.resolution
        return max(
            p
            for ratio in self.ratios
            for p in (ratio.above(1 / most, or_at=True), ratio.below(most, or_at=True))
        )

    def with_runs(self, runs: int) -> Finding:
        """Return the expectation after a number of runs, or after the present number of runs."""
        more = max(runs, self.estimate.runs)
        steps, ratios = (
            tuple(estimate.with_runs(more) for estimate in parts)
            for parts in (self.steps, self.ratios)
        )
        return replace(self, estimate=self.estimate.with_runs(more), steps=steps, ratios=ratios)

    def __str__(self) -> str:
        return f"{self.text} at {self.where}" if self.where else self.text

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        ends = dict(
            zip(("value", "low", "high"), (self.estimate.value, *self.interval), strict=True)
        )
        return {
            "where": self.where,
            **{name: _finite(end) for name, end in ends.items()},
            "runs": self.estimate.runs,
            "agrees_from": _finite(self.low),
            "agrees_to": _finite(self.high),
            "text": self.text,
        }


@dataclass(frozen=True)
class CheckQuestion:
    """The question of a check.

    Attributes
    ----------
    statement
        Source of the statement.
    quantifier
        Share of the findings that must agree.
    noun
        Name of the findings, in the plural.
    subject, bounds
        The quantity and the bounds for agreement, in words.
    title
        The quantity alone.
    stated
        The number that the authors state, if there is one.
    """

    statement: Statement
    quantifier: Quantifier
    noun: str
    subject: str
    bounds: str
    title: str = ""
    stated: Stated | None = None

    @property
    def expected(self) -> str:
        """The bounds for agreement, and the share of findings that must lie within."""
        every = words.every(self.quantifier, self.noun)
        return f"{self.bounds}, {every}" if every else self.bounds


@dataclass(frozen=True)
class CheckResult:
    """The result of one check of a claim.

    Attributes
    ----------
    question
        The question.
    verdict
        The outcome.
    findings_text
        The findings in words; empty without runs.
    lacks
        Needs of an undecided check, in words.
    decisive
        The finding that decides: the worst where all must agree, the best where any may.
    findings, states
        All findings, and whether each agrees.
    needs
        For an undecided check, the runs that are expected to decide it; empty if none would.
    is_quick
        True if it depends on quick runs.
    """

    question: CheckQuestion
    verdict: Verdict
    findings_text: str
    lacks: str = ""
    decisive: Finding | None = None
    findings: tuple[Finding, ...] = ()
    states: tuple[State, ...] = ()
    needs: tuple[Need, ...] = ()
    is_quick: bool = False

    @classmethod
    def lacking(cls, question: CheckQuestion, lack: Lack) -> CheckResult:
        """Return the result of a check that cannot be decided."""
        return cls(
            question, Verdict.UNDECIDED, "", str(lack), needs=lack.needs, is_quick=lack.is_quick
        )

    @property
    def is_ours(self) -> bool:
        """True if it is about our expectation, not about a statement of the authors."""
        return self.question.statement == "expectation"

    def left_open(self, why: str) -> CheckResult:
        """Return it undecided, as these runs cannot say what they seem to say."""
        return replace(self, verdict=Verdict.UNDECIDED, lacks=why)

    @property
    def detail(self) -> str:
        """The findings in words, and what is missing to decide."""
        return self._joined(self.findings_text)

    @property
    def sentence(self) -> str:
        """All of it in a sentence: the subject, the result, and the values that would agree."""
        return self._sentence_with(self.detail)

    @property
    def measured(self) -> str:
        """The same with the deciding finding alone."""
        return self._sentence_with(self._joined(str(self.decisive or "")))

    def _joined(self, findings: str) -> str:
        quick = f"{findings} (quick runs)" if findings and self.is_quick else findings
        return "; ".join(filter(None, (quick, self.lacks)))

    @property
    def brief(self) -> str:
        """The deciding finding in a few words, and how many agree of several; empty: no runs."""
        if self.decisive is None:
            return ""
        agree = sum(state is State.AGREES for state in self.states)
        brief = self.decisive.brief or self.decisive.text
        if len(self.states) == 1:
            return brief
        where = f" ({self.decisive.where})" if self.decisive.where else ""
        return f"{agree} of {len(self.states)} {self.question.noun}; {brief}{where}"

    @property
    def expected(self) -> str:
        """The bounds for agreement; for several findings also the share that must lie within."""
        return self.question.bounds if len(self.findings) == 1 else self.question.expected

    def _sentence_with(self, findings: str) -> str:
        return f"{self.question.subject}: {findings}; expected {self.expected}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; what is not finite is null there, and ∞ in the words."""
        return {
            "verdict": self.verdict.value,
            "statement": self.question.statement,
            "quick": self.is_quick,
            "subject": self.question.subject,
            "expected": self.question.expected,
            "detail": self.detail,
            "decisive": self.decisive.as_dict() if self.decisive else None,
            "findings": [
                {**finding.as_dict(), "state": state.value}
                for finding, state in zip(self.findings, self.states, strict=True)
            ],
            "needs": [need.as_dict() for need in self.needs],
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
