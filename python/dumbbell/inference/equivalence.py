"""Tests of equivalence: whether two things agree within a band.

A test for a difference does not show that two things agree: a wide interval passes it, too. So the
question is turned round (two one-sided tests, Schuirmann 1987). Two things *agree* if the whole
interval of their difference lies within the band. They *differ* if all of it lies outside, and else
the runs *cannot decide* it. At a level of 5 % the interval of that test is the one of 90 %; one of
95 % is stricter, at 2.5 %.
"""

from __future__ import annotations

from enum import StrEnum

from dumbbell.inference.estimates import Estimate


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
