"""Means of repetitions with their 95 % intervals, as charts, tables and files show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl

from dumbbell.base.labels import number, with_interval
from dumbbell.figures import units
from dumbbell.figures.axes import Extent
from dumbbell.figures.figure import TextRow, TextTable
from dumbbell.figures.spec import Coordinate
from dumbbell.quantities import tables

_STATISTICS: Final = ("mean", "low", "high", "n", "runs")
WHAT: Final = "mean and 95 % interval"
INTERVAL_RUNS: Final = 4
"""Runs from which charts draw an interval: that of three is 4.3 standard errors long to each side,
so it hides what the runs show. Tables have the intervals of two and three, too."""

CUT: Final = "Intervals that reach the frame continue beyond it."


def averaged(
    runs: pl.DataFrame,
    places: Mapping[str, pl.Expr],
    field: str,
    pooled: Mapping[str, Sequence[str]] | None = None,
) -> pl.DataFrame:
    """Average a column over the runs of each place, or over its grid points.

    `pooled` are the other axes with several values, over which each place averages.

    Returns the columns ``places``, ``quantity`` (the column), ``mean`` (null if no run has a
    value), ``n`` (values) and ``runs``. ``low`` and ``high`` are the 95 % interval: null with fewer
    than two values, between 0 and 1 for a share.
    """
    # An axis may have the name of a place or "value".
    over = {f"over {axis}": values for axis, values in (pooled or {}).items()}
    points = {f"over {axis}": pl.col(axis) for axis in pooled or {}}
    placed = runs.select(**points, **places, value=pl.col(field))
    by, share = list(places), units.is_share(field)
    if over:
        averages = tables.average_points(placed, by, over, "value", share=share)
    else:
        averages = tables.aggregate(placed, by, "value", share=share)
    return averages.select(*places, pl.lit(field).alias("quantity"), *_STATISTICS)


def what(counts: Iterable[int]) -> str:
    """Say what is drawn of points that have so many runs."""
    return WHAT.capitalize() if max(counts, default=0) >= INTERVAL_RUNS else "Mean"


def dot_notes(counts: Iterable[int], *, always: bool = False) -> Iterator[str]:
    """Say what small dots are, if there are any; `always`: not only where runs are few."""
    repetitions = set(counts)
    if max(repetitions, default=1) > 1 and (always or repetitions & {2, 3}):
        yield "Small dots are single runs."
    if repetitions & {2, 3} and max(repetitions) >= INTERVAL_RUNS:
        yield "Means of fewer than four runs have no interval."


def drawn(means: pl.DataFrame) -> pl.DataFrame:
    """Return means without the intervals of few runs, whose runs are drawn instead."""
    enough = pl.col("n") >= INTERVAL_RUNS
    return means.with_columns(pl.when(enough).then(pl.col("low", "high")).name.keep())


def few(
    runs: pl.DataFrame, places: Mapping[str, pl.Expr], axis: Coordinate, field: str | None = None
) -> pl.DataFrame:
    """Return the single runs, as `single` does, of places that have two or three."""
    single_runs = single(runs, places, axis, field)
    count = pl.len().over(list(places)) if places else pl.len()
    return single_runs.filter(count.is_between(2, INTERVAL_RUNS - 1))


def interval_of(field: str, mean: float | None, low: float | None, high: float | None) -> str:
    """Return a mean with its interval in the unit in which people see the column."""
    ends, unit = units.shown(field, mean, low, high)
    text = with_interval(*ends, bounds=units.shown_bounds(field))
    return text + (unit if mean is not None else "")


def worded(means: pl.DataFrame, title: str, places: Mapping[str, str]) -> pl.DataFrame:
    """Add the texts of each mean: ``shown``, ``interval``, ``counted`` (the runs) and ``said``.

    `places` are the columns of its place, with their titles; an empty title is left out. ``said``
    is all of it, for who does not see the mark.
    """
    rows = list(means.iter_rows(named=True))
    return means.with_columns(
        shown=pl.Series([_shown(row) for row in rows], dtype=pl.String),
        interval=pl.Series([_interval(row) for row in rows], dtype=pl.String),
        counted=pl.Series([_counted(row) for row in rows], dtype=pl.String),
        said=pl.Series([_description(row, title, places) for row in rows], dtype=pl.String),
    )


def _shown(row: Mapping[str, Any]) -> str:
    (mean,), unit = units.shown(row["quantity"], row["mean"])
    return number(mean, 4) + unit


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return "–"
    (low, high), unit = units.shown(row["quantity"], row["low"], row["high"])
    return f"{number(low)} to {number(high)}{unit}"


def _counted(row: Mapping[str, Any]) -> str:
    return f"{row['n']} of {row['runs']}" if row["n"] < row["runs"] else str(row["n"])


def _description(row: Mapping[str, Any], title: str, places: Mapping[str, str]) -> str:
    where = [
        f"{words} {place}".strip()
        for column, words in places.items()
        if (place := _place(row[column]))
    ]
    interval = "" if row["low"] is None else f" (95 % interval {_interval(row)})"
    runs = f"{_counted(row)} {'run' if row['runs'] == 1 else 'runs'}"
    return f"{', '.join(where)}: {title} {_shown(row)}{interval}, {runs}"


def _place(value: str | float | None) -> str:
    return value if isinstance(value, str) else number(value, 6)


def text_table(
    means: pl.DataFrame,
    caption: tuple[str, str],
    corner: tuple[str, str, Mapping[Any, str]],
    series: tuple[str, Mapping[str, str]],
) -> TextTable:
    """Lay means out as a table of texts.

    Parameters
    ----------
    means
        The means of one plot.
    caption
        Value that distinguishes the plot, and description of the cells.
    corner
        The column of `means` that gets a row for each value, what it is about, and its values in
        their order with their names.
    series
        The column that gets a column for each value, and its values with their names.
    """
    (down, about, names), (across, headings) = corner, series
    cells = {
        (row[down], row[across]): interval_of(row["quantity"], row["mean"], row["low"], row["high"])
        for row in means.iter_rows(named=True)
    }
    shown = [value for value in headings if any(value == key for _, key in cells)]
    rows = tuple(
        TextRow(name, tuple(cells.get((value, key), "–") for key in shown))
        for value, name in names.items()
        if any((value, key) in cells for key in shown)
    )
    title, holds = caption
    columns = tuple(headings[value] for value in shown)
    return TextTable(title, f"{holds}, {WHAT}", about, columns, rows)


def numbers(
    panes: Iterable[tuple[str, pl.DataFrame]], facet: str | None, columns: Mapping[str, str]
) -> pl.DataFrame:
    """Gather means as a file has them.

    Each of `panes` is the title of a plot and its means; `columns` are those of the places, with
    their names in the file. An axis that appears twice, as facet, group or series, is one column.
    """
    named = {name: pl.col(column) for column, name in columns.items()}
    return pl.concat(
        means.select(
            **{**({facet: pl.lit(title)} if facet else {}), **named},
            quantity="quantity",
            **{name: pl.col(name) for name in _STATISTICS},
        )
        for title, means in panes
    )


def single(
    runs: pl.DataFrame, places: Mapping[str, pl.Expr], axis: Coordinate, field: str | None = None
) -> pl.DataFrame:
    """Return the columns ``places`` of single runs, and ``value`` if it is on the scale.

    The value is that of the axis, or of another `field` that shares the axis.
    """
    placed = runs.select(**places, value=pl.col(field or axis.field)).drop_nulls("value")
    return placed if axis.scale == "linear" else placed.filter(pl.col("value") > 0)


def on_scale(means: pl.DataFrame, span: Extent) -> pl.DataFrame:
    """Return means with what of them has a place on the axis: on a log scale nothing below it."""
    if span.kind == "linear":
        return means
    shown = means.with_columns(
        pl.when(pl.col("mean") > 0).then(pl.col("mean", "low", "high")).name.keep()
    )
    return shown.with_columns(pl.col("low").clip(lower_bound=pl.lit(span.low)))


def cut(means: pl.DataFrame, span: Extent) -> bool:
    """Return True if an interval continues beyond the frame, other than below 0."""
    beyond = (pl.col("high") > span.high) | ((pl.col("low") < span.low) & (span.low != 0))
    shown = means if span.kind == "linear" else means.filter(pl.col("mean") > 0)
    return not shown.filter(beyond).is_empty()
