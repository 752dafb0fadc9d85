"""Effect sizes: measured / stated, for each number of the authors.

A verdict depends on the bounds of its check. The quotient does not, so it can be compared between
claims, and between studies.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.judging.authors import Kind
from dumbbell.judging.evidence import CheckResult, Finding
from dumbbell.judging.judging import ClaimResult, judged_by_runs

NEAR: Final = (1.25, 2.0)
"""Factors within which the shares of numbers are reported."""


@dataclass(frozen=True)
class Effect:
    """A number of the authors, and the measured one.

    Attributes
    ----------
    claim
        The claim that has it.
    title
        The quantity, in words.
    theirs, ours
        Both numbers, in words; `ours` is empty without runs.
    kind
        The kind of theirs.
    ratio, low, high
        Ours over theirs, and its 95 % interval: of a limit or a range over its nearer end, so 1
        for what it allows. NaN without runs.
    points
        The same of each grid point, of which the deciding one counts.
    """

    claim: str
    title: str
    theirs: str
    ours: str
    kind: Kind
    ratio: float
    low: float
    high: float
    points: tuple[float, ...]

    @property
    def is_measured(self) -> bool:
        """True if there is a ratio."""
        return not math.isnan(self.ratio)

    def within(self, factor: float) -> bool:
        """Return True if ours is within a factor of theirs."""
        return 1 / factor <= self.ratio <= factor


@dataclass(frozen=True)
class Summary:
    """The measured numbers of a study in a few numbers.

    Attributes
    ----------
    values
        Number of those that are values.
    median
        The median of ours / theirs over these; NaN: there are none.
    within
        Factor -> how many of these are within it.
    limits, kept
        Number of limits and ranges, and of those that are kept.
    """

    values: int
    median: float
    within: dict[float, int]
    limits: int
    kept: int


def effects(claims: Iterable[ClaimResult]) -> list[Effect]:
    """Return an effect for each number of the authors' claims that count."""
    return [
        effect
        for claim in judged_by_runs(claims)
        for check in claim.checks
        if not check.is_ours
        for effect in _of(claim.claim.id, check)
    ]


def summary(effects: Sequence[Effect]) -> Summary:
    """Summarise the effects that have runs."""
    measured = [effect for effect in effects if effect.is_measured]
    values = [effect for effect in measured if effect.kind == "value"]
    limits = [effect for effect in measured if effect.kind != "value"]
    return Summary(
        len(values),
        statistics.median(effect.ratio for effect in values) if values else math.nan,
        {factor: sum(effect.within(factor) for effect in values) for factor in NEAR},
        len(limits),
        sum(effect.ratio == 1 for effect in limits),
    )


def _of(claim: str, check: CheckResult) -> Iterator[Effect]:
    stated = check.question.stated
    if stated is None:
        return

    def over(finding: Finding | None) -> tuple[float, float, float]:
        if finding is None:
            return math.nan, math.nan, math.nan
        ratio = stated.over(finding.estimate.value)
        if not finding.estimate.has_interval:
            return ratio, math.nan, math.nan
        low, high = finding.interval
        return ratio, stated.over(low), stated.over(high)

    ratio, low, high = over(check.decisive)
    yield Effect(
        claim,
        check.question.title,
        stated.text,
        (check.decisive.brief or check.decisive.text) if check.decisive else "",
        stated.kind,
        ratio,
        low,
        high,
        tuple(over(finding)[0] for finding in check.findings),
    )
