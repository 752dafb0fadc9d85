"""Quantities of all runs of a test as a table, and their averages over repetitions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from dumbbell.base import amounts
from dumbbell.base.labels import UNBOUNDED
from dumbbell.inference import statistics
from dumbbell.plan import grid
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.tests import Test
from dumbbell.quantities.kept import Values


def frame(
    test: Test, results: Iterable[tuple[PlannedRun, Values]], columns: Sequence[str]
) -> pl.DataFrame:
    """Gather quantities of a test's runs into a table: one row per run.

    The columns are the axes as texts, their numbers (such as ``rtt_ms``), ``repetition``, and the
    quantities by their references.
    """
    rows = [
        {**run.axes, "repetition": run.repetition, **{name: values[name] for name in columns}}
        for run, values in results
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        **dict.fromkeys(test.axes, pl.String),
        "repetition": pl.Int64,
        **dict.fromkeys(columns, pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema).with_columns(_numbers(test))


def number_columns(test: Test) -> dict[str, str]:
    """Return axis -> its numeric column, such as ``rtt_ms``, for the axes that are quantities."""
    columns = {axis: grid.numeric_column(axis, values) for axis, values in test.axes.items()}
    return {axis: column for axis, column in columns.items() if column is not None}


def _numbers(test: Test) -> Iterator[pl.Expr]:
    """Yield the numeric columns of the axes whose values are quantities."""
    for axis, column in number_columns(test).items():
        read = {
            value: float(number[1])
            for value in test.axes[axis]
            if (number := amounts.number_of(value))
        }
        yield pl.col(axis).replace_strict(read, return_dtype=pl.Float64).alias(column)


def grid_frame(test: Test) -> pl.DataFrame:
    """Return the grid points of a test: its axes as texts, and their numbers."""
    points = pl.DataFrame(list(test.grid_points), schema=dict.fromkeys(test.axes, pl.String))
    return points.with_columns(*_numbers(test))


def decided_best(means: pl.DataFrame, by: Sequence[str], *, highest: bool) -> pl.Series:
    """Return which rows are the best of those that compete with them.

    Rows with a ``mean`` and the same values of `by` compete. One is the best if its interval
    (``low`` to ``high``) overlaps with none of the others'. So nothing is the best alone, and
    nothing next to a mean without an interval.
    """
    sign, worse, better = (1.0, "low", "high") if highest else (-1.0, "high", "low")
    reach = pl.when(pl.col("mean").is_null()).then(-math.inf).otherwise(sign * pl.col(better))
    with_reach = means.with_columns(_reach=reach.fill_null(math.inf))
    most, two = pl.col("_reach").max().over(by), pl.col("_reach").top_k(2).min().over(by)
    rivals = pl.when(pl.col("_reach") == most).then(two).otherwise(most)
    is_best = (sign * pl.col(worse) > rivals) & (pl.col("mean").count().over(by) > 1)
    return with_reach.select(is_best.fill_null(value=False).alias("is_best"))["is_best"]


def aggregate(
    runs: pl.DataFrame, by: Sequence[str], column: str, *, share: bool = False
) -> pl.DataFrame:
    """Average a quantity over repetitions.

    Returns one row per combination of the columns ``by``, in the order of their first rows. The
    columns are ``mean``, ``median``, ``se`` (standard error), ``low`` and ``high`` (95 % interval,
    Student's t), ``n`` (runs with a value) and ``runs``. Without values mean and median are null;
    with fewer than two, so are se, low and high. A `share` lies between 0 and 1, and so does its
    interval: values outside are impossible.
    """
    value = pl.col(column)
    averaged = runs.group_by(by, maintain_order=True).agg(
        mean=value.mean(),
        median=value.median(),
        se=value.std() / value.count().sqrt(),
        n=value.count().cast(pl.Int64),
        runs=pl.len().cast(pl.Int64),
    )
    counts = averaged["n"].unique().to_list()
    quantiles = {n: statistics.t_quantile(n - 1) for n in counts if n > 1}
    reach = pl.col("se") * pl.col("n").replace_strict(
        quantiles, default=None, return_dtype=pl.Float64
    )
    with_interval = averaged.with_columns(low=pl.col("mean") - reach, high=pl.col("mean") + reach)
    if not share:
        return with_interval
    # A share that rounding or the testbed's clock took beyond its ends stays in its interval.
    lowest, highest = pl.min_horizontal("mean", 0.0), pl.max_horizontal("mean", 1.0)
    return with_interval.with_columns(
        pl.col("low").clip(lower_bound=lowest), pl.col("high").clip(upper_bound=highest)
    )


def average_points(
    runs: pl.DataFrame,
    by: Sequence[str],
    axes: Mapping[str, Sequence[str]],
    column: str,
    *,
    share: bool = False,
) -> pl.DataFrame:
    """Average a quantity over the values of some axes; each grid point weighs the same.

    Returns the columns of `by` and ``mean``, ``low``, ``high``, ``n`` and ``runs`` as `aggregate`
    does. The interval shows chance between the repetitions of a point, not the differences between
    points. It is null if any combination of the values has fewer than two runs with a value.
    """
    points = math.prod(map(len, axes.values()))
    rows = []
    for place, part in runs.group_by(by, maintain_order=True):
        values = part.drop_nulls(column).group_by(list(axes), maintain_order=True).agg(column)
        samples = values[column].to_list()
        ends: dict[str, float | None] = {}
        if samples:
            ends = statistics.average(samples).as_dict((0.0, 1.0) if share else UNBOUNDED)
        if len(samples) < points:
            ends |= {"low": None, "high": None}
        count = sum(map(len, samples))
        row = (ends.get("value"), ends.get("low"), ends.get("high"), count, part.height)
        rows.append((*place, *row))
    schema = {name: runs.schema[name] for name in by}
    numbers = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    counts = dict.fromkeys(("n", "runs"), pl.Int64)
    return pl.DataFrame(rows, schema={**schema, **numbers, **counts}, orient="row")
