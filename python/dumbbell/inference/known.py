"""Estimates from runs of which some have no value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate


def mean(values: Iterable[float | None]) -> Estimate | None:
    """Estimate the mean of the runs that have a value; None if none has."""
    there = [value for value in values if value is not None]
    return statistics.mean(there) if there else None


def of_pairs(
    judge: Callable[[Sequence[float], Sequence[float]], Estimate],
    one: Iterable[float | None],
    other: Iterable[float | None],
) -> Estimate | None:
    """Judge the pairs of runs of which both have a value; None if there is no such pair."""
    pairs = zip(one, other, strict=True)
    there = [(a, b) for a, b in pairs if a is not None and b is not None]
    return judge([a for a, _ in there], [b for _, b in there]) if there else None
