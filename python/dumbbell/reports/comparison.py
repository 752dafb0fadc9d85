"""Algorithms against each other: within a test, at the grid points that all of them share.

Medians of different paths are no measurement of any path. So a comparison always uses the same set
of grid points for each algorithm, a rank is taken at each point separately, and tests are never put
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.plan.tests import Test
from dumbbell.quantities.registry import Best, Quantity
from dumbbell.quantities.taking import described
from dumbbell.reports.columns import KEY
from dumbbell.results.results import Results
from dumbbell.scenario import facts

QUANTITIES: Final = ("goodput_mbit_per_s", *KEY)
"""The quantities by which algorithms are compared."""


@dataclass(frozen=True)
class Cell:
    """A quantity for one algorithm; None: no grid point is shared.

    Attributes
    ----------
    median
        Over the shared grid points, each the median of its runs.
    rank
        The mean of its ranks there, counted from 1.
    mean
        Over the shared grid points, each the mean of its runs; its interval shows chance within the
        points.
    """

    median: float | None
    rank: float | None
    mean: Estimate | None


@dataclass(frozen=True)
class Column:
    """A quantity of a test: the number of grid points compared, and a cell for each algorithm."""

    quantity: Quantity
    shared: int
    cells: Mapping[str, Cell]

    def shown(self, value: float) -> float:
        """Return a value in the shown unit. A share is cut at 0 and 1."""
        if self.quantity.is_share:
            value = min(max(value, 0.0), 1.0)
        return value * self.quantity.shown_scale

    @property
    def best(self) -> str | None:
        """The algorithm whose rank no other undercuts, if its interval overlaps with no other's.

        None if there is none, or nothing to compare.
        """
        known = {name: cell for name, cell in self.cells.items() if cell.rank is not None}
        if len(known) < 2:
            return None
        first, *others = sorted(known, key=lambda name: known[name].rank or 0.0)
        mean, rivals = known[first].mean, [known[name].mean for name in others]
        if mean is None or not all(self._beats(mean, rival) for rival in rivals):
            return None
        return first

    def _beats(self, mean: Estimate, rival: Estimate | None) -> bool:
        """Return True if an interval lies on the better side of another one."""
        if rival is None or not (mean.has_interval and rival.has_interval):
            return False
        if self.quantity.best is Best.HIGHEST:
            return mean.low > rival.high
        return mean.high < rival.low


@dataclass(frozen=True)
class Comparison:
    """A test whose runs differ in their algorithms.

    Attributes
    ----------
    test
        The test.
    axis
        The axis that holds the algorithms.
    algorithms
        Its values with runs, in the test's order.
    absent
        Its values without runs.
    points
        Grid points of the other axes at which anything has been run.
    conditions
        The other axes with those of their values that have been run.
    columns
        The quantities that have values.
    quick
        True if there are only quick runs.
    """

    test: Test
    axis: str
    algorithms: tuple[str, ...]
    absent: tuple[str, ...]
    points: int
    conditions: Mapping[str, Sequence[str]]
    columns: tuple[Column, ...]
    quick: bool


def of_study(results: Results) -> Iterator[Comparison]:
    """Yield the comparisons of a study's tests, as far as these have been run."""
    for test in results.study.tests:
        axis = algorithm_axis(test)
        runs = results.table(test.name, QUANTITIES)
        if axis is None or runs.is_empty():
            continue
        names = _present(runs, axis, test)
        if len(names) < 2:
            continue
        others = [other for other in test.axes if other != axis]
        yield Comparison(
            test,
            axis,
            tuple(names),
            tuple(value for value in test.axes[axis] if value not in names),
            runs.select(others).n_unique() if others else 1,
            {other: _present(runs, other, test) for other in others},
            tuple(_columns(results, test, axis, runs, names)),
            results.quick(test.name),
        )


def _present(runs: pl.DataFrame, axis: str, test: Test) -> list[str]:
    present = set(runs[axis])
    return [value for value in test.axes[axis] if value in present]


def algorithm_axis(test: Test) -> str | None:
    """Return the first axis of a test all of whose values are algorithms."""
    known = {*catalogue.algorithms(), *test.own_algorithms}
    for axis, values in test.axes.items():
        if all(value.partition("@")[0] in known for value in values):
            return axis
    return None


def _columns(
    results: Results, test: Test, axis: str, runs: pl.DataFrame, names: Sequence[str]
) -> Iterator[Column]:
    alone = pl.Series(_is_alone(results, test.name), dtype=pl.Boolean)
    others = [other for other in test.axes if other != axis]
    for name in QUANTITIES:
        quantity = described(name)
        kept = runs.filter(~alone) if quantity.of_several else runs
        column = compared(kept, axis, others, name, names)
        if column is not None:
            yield column


def _is_alone(results: Results, test: str) -> list[bool]:
    """Return, for each run in a test's table of quantities, whether it has one flow only."""
    return [len(facts.bundles(run.resolved.scenario.flows)) < 2 for run in results.finished(test)]


def compared(
    runs: pl.DataFrame, axis: str, others: Sequence[str], name: str, names: Sequence[str]
) -> Column | None:
    """Compare the values of an axis by one quantity; None if no run has a value.

    Grid points count where every algorithm that has a value anywhere has one.
    """
    points = (
        runs.group_by(axis, *others, maintain_order=True)
        .agg(value=pl.col(name).median(), values=pl.col(name).drop_nulls())
        .drop_nulls("value")
        .with_columns(_everywhere=pl.lit(0))
    )
    at_point = ["_everywhere", *others]
    if points.is_empty():
        return None
    taking_part = points[axis].n_unique()
    shared = points.filter(pl.len().over(at_point) == taking_part).with_columns(
        rank=pl.col("value")
        .rank("average", descending=described(name).best is Best.HIGHEST)
        .over(at_point)
    )
    cells = {
        algorithm: Cell(median, rank, statistics.average(values))
        for algorithm, median, rank, values in shared.group_by(axis)
        .agg(pl.col("value").median(), pl.col("rank").mean(), pl.col("values"))
        .iter_rows()
    }
    return Column(
        described(name),
        shared.height // taking_part,
        {algorithm: cells.get(algorithm, Cell(None, None, None)) for algorithm in names},
    )


def choices(results: Results) -> Mapping[str, Mapping[str, int]]:
    """Return algorithm -> its choices, such as ``htcp@li2007`` -> their finished runs."""
    counted: dict[str, dict[str, int]] = {}
    runs = {
        run.resolved.key: run.resolved.scenario
        for test in results.study.tests
        for run in results.finished(test.name)
    }
    for scenario in runs.values():
        tcp = [flow for flow in scenario.flows if flow.transport.tcp is not None]
        for choice, name in {facts.choice(flow): facts.algorithm(flow) for flow in tcp}.items():
            of_name = counted.setdefault(name, {})
            of_name[choice] = of_name.get(choice, 0) + 1
    return counted
