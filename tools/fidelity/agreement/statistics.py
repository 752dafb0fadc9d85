"""Verdicts on the differences of two engines.

A test for a difference does not show that two things agree: a wide interval passes it, too. The
question is turned round, as in tests of equivalence (two one-sided tests, Schuirmann 1987). Two
engines *agree* if the whole interval of their difference lies within the band. They *differ* if all
of it lies outside, and else the runs *cannot decide* it. At a level of 5 % the interval of that
test is the one of 90 %.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from dumbbell.inference.statistics import Estimate

CONFIDENCE: Final = 0.90


class Verdict(StrEnum):
    """The verdict of the runs on a difference."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNDECIDABLE = "undecidable"
    NOT_MEASURED = "not measured"


def reach(difference: Estimate) -> float | None:
    """Return half the length of the interval; None where there are too few runs for one."""
    return (difference.high - difference.low) / 2 if difference.has_interval else None


def verdict(difference: Estimate, low: float, high: float) -> Verdict:
    """Judge a difference by the band from `low` to `high`."""
    if low <= difference.low and difference.high <= high:
        return Verdict.AGREES
    if difference.low > high or difference.high < low:
        return Verdict.DIFFERS
    return Verdict.UNDECIDABLE
