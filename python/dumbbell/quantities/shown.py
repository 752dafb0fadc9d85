"""Numbers as cells of tables."""

from __future__ import annotations

from dumbbell.base import labels
from dumbbell.quantities.cells import Shown
from dumbbell.quantities.counters import needed


def number(value: float | None, digits: int = 3) -> Shown:
    """Show a value with some significant digits; a dash if there is none."""
    return Shown(labels.number(value, digits), value)


def count(value: int | None) -> Shown:
    """Show a number of things with all its digits; a dash if there is none."""
    return Shown(number(None) if value is None else str(value), value)


def brief_interval(
    mean: float | None,
    low: float | None,
    high: float | None,
    *,
    bounds: labels.Bounds = labels.UNBOUNDED,
) -> Shown:
    """Show a mean with its interval, cut at the bounds of the quantity in the unit shown."""
    text = labels.brief_interval(mean, low, high, bounds=bounds)
    if mean is not None and low is not None and high is not None:
        low, high = labels.cut(mean, low, high, bounds)
    return Shown(text, mean, low, high)


def percent(share: float | None) -> float | None:
    """Return a share in per cent."""
    return None if share is None else 100 * share


def percentile(value: float | None, per_mille: int, values: int) -> Shown:
    """Show a percentile, or how many values it needs if these are too few."""
    if value is None and values < needed(per_mille):
        return Shown(f"needs {needed(per_mille):,}", None)
    return number(value, 4)
