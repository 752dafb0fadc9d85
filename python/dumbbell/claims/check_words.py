"""What a check expects, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dumbbell.claims.evidence import number
from dumbbell.study import grid
from dumbbell.study.claim_spec import (
    Arithmetic,
    Band,
    Check,
    Order,
    Parameters,
    Ranking,
    Ratio,
    RatioTrend,
    Theory,
    Trend,
)
from dumbbell.study.figure_spec import Selection


def expected(check: Check) -> str:
    """Return what would agree with a claim."""
    return _EXPECTED[type(check)](check)


def _bounds(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {number(high or 0)}"
    if high is None:
        return f"at least {number(low)}"
    return f"{number(low)} to {number(high)}"


def _group(selection: Selection) -> str:
    return ", ".join(" or ".join(grid.wanted_values(selection, axis)) for axis in selection)


def _arithmetic(check: Arithmetic) -> str:
    stated = " and ".join(number(case.expected) for case in check.cases)
    tolerance = f" within {100 * check.tolerance:g} %" if check.tolerance else ""
    return f"{check.formula} = {stated}{tolerance}"


def _parameters(check: Parameters) -> str:
    return "; ".join(
        f"{choice}: " + ", ".join(f"{name} = {value}" for name, value in stated.items())
        for choice, stated in check.presets.items()
    )


def _band(check: Band) -> str:
    of = "single runs" if check.of == "runs" else "grid points"
    return f"{check.metric} {_bounds(check.low, check.high)} ({check.quantifier} {of})"


def _order(check: Order) -> str:
    factor = f" {number(check.factor)} times" if check.factor != 1 else ""
    groups = f"{_group(check.larger)} than {_group(check.smaller)}"
    return f"{check.metric}{factor} larger for {groups} ({check.quantifier} pairs)"


def _ratio(check: Ratio) -> str:
    groups = f"{_group(check.of)} over {_group(check.to)}"
    bounds = _bounds(check.low, check.high)
    return f"{check.metric} of {groups}: {bounds} ({check.quantifier} pairs)"


def _trend(check: Trend) -> str:
    factor = f" at least {number(check.factor)} times" if check.factor > 1 else ""
    return (
        f"{check.metric} {check.direction}{factor} along {check.axis} ({check.quantifier} series)"
    )


def _ratio_trend(check: RatioTrend) -> str:
    groups = f"{_group(check.of)} over {_group(check.to)}"
    return (
        f"{check.metric} of {groups}: {check.direction} along {check.axis} "
        f"({check.quantifier} pairs)"
    )


def _theory(check: Theory) -> str:
    tolerance = f"{100 * check.tolerance:g} %"
    return f"{check.metric} within {tolerance} of {check.theory} ({check.quantifier} grid points)"


def _ranking(check: Ranking) -> str:
    values = " and ".join(check.values)
    return f"rank correlation of {check.metric} between {values}: at least {number(check.low)}"


_EXPECTED: Final[Mapping[type, Callable[[Any], str]]] = {
    Arithmetic: _arithmetic,
    Parameters: _parameters,
    Band: _band,
    Order: _order,
    Ratio: _ratio,
    Trend: _trend,
    RatioTrend: _ratio_trend,
    Theory: _theory,
    Ranking: _ranking,
}
