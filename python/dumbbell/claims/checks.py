"""The kinds of check that decide a claim, evaluated on the metrics of a test's runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from scipy import stats  # type: ignore[import-untyped]

from dumbbell import catalogue
from dumbbell.analysis import theory
from dumbbell.analysis.metrics import CONFIDENCE, aggregate, metric
from dumbbell.claims import check_words
from dumbbell.claims.evidence import CheckResult, Finding, decide, undecidable
from dumbbell.errors import unknown
from dumbbell.study import grid
from dumbbell.study.claim_spec import (
    Arithmetic,
    Band,
    Check,
    Measured,
    Order,
    Parameters,
    Quantifier,
    Ranking,
    Ratio,
    RatioTrend,
    Theory,
    Trend,
)
from dumbbell.study.figure_spec import Selection

RUNS_MIN: Final = 2
"""Fewer repetitions have no standard error, so they decide no comparison."""


@dataclass(frozen=True)
class TestRuns:
    """The runs of one test that a check may use.

    Attributes
    ----------
    axes
        The axes that remain after the choice of runs, with their values.
    planned
        The grid points that were to be run.
    runs
        The metrics table: one row per finished run.
    """

    __test__ = False

    axes: grid.Axes
    planned: Sequence[Mapping[str, str]]
    runs: pl.DataFrame


Source = Callable[[str], TestRuns]
"""Gives the runs of a test by its name."""


class _LackError(Exception):
    """A check lacks what it needs; the message says what."""


def evaluate(check: Check, source: Source) -> CheckResult:
    """Evaluate a check; names that do not exist are InputErrors."""
    expected = check_words.expected(check)
    try:
        findings = list(_FINDINGS[type(check)](check, source))
    except _LackError as lack:
        return undecidable(expected, str(lack))
    quantifier: Quantifier = getattr(check, "quantifier", "all")
    return decide(findings, quantifier, expected)


def _arithmetic(check: Arithmetic, _: Source) -> Iterator[Finding]:
    for case in check.cases:
        value = theory.evaluate(check.formula, case.args)
        off = abs(value - case.expected) / abs(case.expected)
        where = ", ".join(f"{name} = {arg:g}" for name, arg in case.args.items())
        yield Finding(where, value, off <= check.tolerance, check.tolerance - off)


def _parameters(check: Parameters, _: Source) -> Iterator[Finding]:
    for choice, stated in check.presets.items():
        algorithm, preset = catalogue.split_preset(choice)
        values = {parameter.name: parameter.initial for parameter in algorithm.parameters}
        values |= algorithm.preset(preset).values if preset else {}
        for name, value in stated.items():
            if name not in values:
                raise unknown(f"parameter of {algorithm.name}", name, values)
            off = abs(values[name] - value)
            yield Finding(f"{choice}: {name}", float(values[name]), off == 0, -float(off))


def _points(check: Measured, source: Source, runs_min: int = 1) -> pl.DataFrame:
    """Return the averages at the selected grid points; complain if any has too few runs."""
    test, metric_runs = _selected(check, source)
    if check.metric not in test.runs.columns:
        raise _LackError(f"the runs have no {check.metric}")
    points = aggregate(metric_runs, list(test.axes), check.metric)
    short = points.filter(pl.col("n") < runs_min)
    if short.height:
        where = _where(short.row(0, named=True), test.axes)
        raise _LackError(
            f"{short.height} of {points.height} grid points have fewer than {runs_min} runs "
            f"with a value, such as {where}"
        )
    return points


def _selected(check: Measured, source: Source) -> tuple[TestRuns, pl.DataFrame]:
    """Return the test and its runs at the grid points that the check refers to."""
    metric(check.metric)
    test = source(check.test)
    wanted = [
        point
        for point in test.planned
        if grid.matches(point, check.where)
        and any(grid.matches(point, group) for group in _groups(check))
    ]
    if not wanted:
        raise _LackError("none of the grid points belongs to the chosen runs")
    keys = pl.DataFrame(wanted, schema=dict.fromkeys(test.axes, pl.String))
    runs = test.runs.join(keys, on=list(test.axes), how="semi", maintain_order="left")
    missing = keys.join(runs, on=list(test.axes), how="anti", maintain_order="left")
    if missing.height:
        where = _where(missing.row(0, named=True), test.axes)
        raise _LackError(
            f"{missing.height} of {len(wanted)} grid points have not been run, such as {where}"
        )
    return test, runs


def _groups(check: Measured) -> tuple[Selection, ...]:
    """Return the alternatives of which a grid point must match one."""
    return check.selections[1:] or ({},)


def _where(row: Mapping[str, Any], axes: Iterable[str]) -> str:
    return ", ".join(str(row[axis]) for axis in axes)


def _band(check: Band, source: Source) -> Iterator[Finding]:
    axes = source(check.test).axes
    points = _points(check, source)
    if check.of == "runs":
        _, runs = _selected(check, source)
        points = runs.drop_nulls(check.metric).select(
            *axes, mean=check.metric, low=pl.lit(None), high=pl.lit(None)
        )
    for row in points.iter_rows(named=True):
        margin = _inside(row["mean"], check.low, check.high)
        yield Finding(_where(row, axes), row["mean"], margin >= 0, margin, row["low"], row["high"])


def _inside(value: float, low: float | None, high: float | None) -> float:
    """Return how far inside two bounds a value is; negative if it is outside."""
    above = math.inf if low is None else value - low
    below = math.inf if high is None else high - value
    return min(above, below)


def _pairs(
    check: Measured, groups: tuple[Selection, Selection], points: pl.DataFrame, axes: grid.Axes
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield the pairs of points of two groups that agree in all other axes, with their names."""
    varied = [axis for axis in axes if axis in groups[0] or axis in groups[1]]
    common = [axis for axis in axes if axis not in varied]
    one, other = (grid.select(points, group).to_dicts() for group in groups)
    found = False
    for first, second in itertools.product(one, other):
        if all(first[axis] == second[axis] for axis in common):
            found = True
            names = f"{_where(first, varied)} against {_where(second, varied)}"
            place = _where(first, common)
            yield f"{names} ({place})" if place else names, first, second
    if not found:
        raise _LackError(f"no pairs of grid points of {check.test} to compare")


def _order(check: Order, source: Source) -> Iterator[Finding]:
    axes = source(check.test).axes
    points = _points(check, source, RUNS_MIN)
    for where, large, small in _pairs(check, (check.larger, check.smaller), points, axes):
        error = math.hypot(large["se"], small["se"])
        ratio = _quotient(large["median"], small["median"])
        apart = large["mean"] - small["mean"] > error
        agrees = apart and large["median"] > check.factor * small["median"]
        yield Finding(where, ratio, agrees, ratio)


def _quotient(one: float, other: float) -> float:
    """Divide; by zero it is infinite, and nothing by nothing is 1."""
    if other == 0:
        return 1.0 if one == 0 else math.inf
    return one / other


def _ratio(check: Ratio, source: Source) -> Iterator[Finding]:
    axes = source(check.test).axes
    points = _points(check, source, RUNS_MIN)
    for where, one, other in _pairs(check, (check.of, check.to), points, axes):
        value = _quotient(one["mean"], other["mean"])
        margin = _inside(value, check.low, check.high)
        low, high = _ratio_interval(one, other, value)
        yield Finding(where, value, margin >= 0, margin, low, high)


def _ratio_interval(
    one: Mapping[str, Any], other: Mapping[str, Any], value: float
) -> tuple[float, float] | tuple[None, None]:
    """Return the interval of a ratio of means, by propagation of relative errors."""
    if not one["mean"] or not other["mean"]:
        return None, None
    relative = math.hypot(one["se"] / one["mean"], other["se"] / other["mean"])
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, min(one["n"], other["n"]) - 1))
    return value * (1 - reach * relative), value * (1 + reach * relative)


def _trend(check: Trend, source: Source) -> Iterator[Finding]:
    test = source(check.test)
    if check.axis not in test.axes:
        raise unknown("axis", check.axis, test.axes)
    points = _points(check, source, RUNS_MIN)
    others = [axis for axis in test.axes if axis != check.axis]
    place = {value: index for index, value in enumerate(test.axes[check.axis])}
    for series in points.partition_by(others, maintain_order=True) if others else [points]:
        rows = sorted(series.to_dicts(), key=lambda row: place[row[check.axis]])
        if len(rows) < 2:
            raise _LackError(f"fewer than two values of {check.axis} have been run")
        yield _followed(check, rows, others)


def _followed(check: Trend, rows: list[dict[str, Any]], others: list[str]) -> Finding:
    """Judge one series; its value is the ratio of its last to its first point."""
    steps = itertools.pairwise(rows if check.direction == "rising" else rows[::-1])
    back = any(
        one["mean"] - other["mean"] > 2 * math.hypot(one["se"], other["se"]) for one, other in steps
    )
    small, large = (rows[0], rows[-1]) if check.direction == "rising" else (rows[-1], rows[0])
    apart = large["mean"] - small["mean"] > math.hypot(large["se"], small["se"])
    grown = _quotient(large["mean"], small["mean"])
    agrees = apart and not back and grown >= check.factor
    value = _quotient(rows[-1]["mean"], rows[0]["mean"])
    low, high = _ratio_interval(rows[-1], rows[0], value)
    return Finding(_where(rows[0], others), value, agrees, grown, low, high)


def _ratio_trend(check: RatioTrend, source: Source) -> Iterator[Finding]:
    axes = source(check.test).axes
    if check.axis not in axes:
        raise unknown("axis", check.axis, axes)
    points = _points(check, source, RUNS_MIN)
    others = {axis: values for axis, values in axes.items() if axis != check.axis}
    place = {value: index for index, value in enumerate(axes[check.axis])}
    ends: dict[str, list[tuple[int, float, float]]] = {}
    for _, one, other in _pairs(check, (check.of, check.to), points, axes):
        value = _quotient(one["mean"], other["mean"])
        error = value * math.hypot(*(_quotient(end["se"], end["mean"]) for end in (one, other)))
        pair = f"{_where(one, others)} against {_where(other, others)}"
        ends.setdefault(pair, []).append((place[one[check.axis]], value, error))
    for pair, ratios in ends.items():
        if len(ratios) < 2:
            raise _LackError(f"fewer than two values of {check.axis} have been run")
        (_, first, before), (_, last, after) = min(ratios), max(ratios)
        step = last - first if check.direction == "rising" else first - last
        yield Finding(pair, last, step > math.hypot(before, after), step)


def _theory(check: Theory, source: Source) -> Iterator[Finding]:
    axes = list(source(check.test).axes)
    points = _points(check, source)
    _, runs = _selected(check, source)
    expected = theory.along(check.theory, runs, axes)
    both = points.join(expected, on=axes, maintain_order="left")
    if both.is_empty():
        raise _LackError(f"the curve {check.theory} has no value at these grid points")
    for row in both.iter_rows(named=True):
        value = row["mean"] / row["theory"]
        low, high = (
            None if row[end] is None else row[end] / row["theory"] for end in ("low", "high")
        )
        margin = check.tolerance - abs(value - 1)
        yield Finding(_where(row, axes), value, margin >= 0, margin, low, high)


def _ranking(check: Ranking, source: Source) -> Iterator[Finding]:
    test = source(check.test)
    for axis in (check.axis, check.ranked):
        if axis not in test.axes:
            raise unknown("axis", axis, test.axes)
    points = _points(check, source, RUNS_MIN)
    means = [
        grid.select(points, {check.axis: value})
        .group_by(check.ranked, maintain_order=True)
        .agg(pl.col("mean").mean())
        for value in check.values
    ]
    both = means[0].join(means[1], on=check.ranked)
    if both.height < 3:
        raise _LackError(f"fewer than three values of {check.ranked} to rank")
    value = float(stats.spearmanr(both["mean"], both["mean_right"]).statistic)
    where = f"{check.values[0]} against {check.values[1]}, {both.height} ranked"
    yield Finding(where, value, value >= check.low, value - check.low)


_FINDINGS: Final[Mapping[type, Callable[[Any, Source], Iterator[Finding]]]] = {
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
