"""The table of a sweep: the means of each algorithm at each point of it, and the best one."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.experiments import comparison, sweeps
from dumbbell.quantities import tables
from dumbbell.quantities.cells import Shown, Totals
from dumbbell.quantities.registry import Best, Quantity
from dumbbell.quantities.shown import brief_interval
from dumbbell.quantities.taking import described
from dumbbell.results.results import Results

_TEST: Final = "sweep"
_ALGORITHM: Final = "algorithm"
_MARK: Final = "*"
_ENDS: Final = ("mean", "low", "high")


def swept(results: Results) -> Totals:
    """Return a row for each algorithm at each point: means with their 95 % intervals.

    Of several algorithms the best one is marked where its interval overlaps with that of no other.
    """
    test = results.study.test(_TEST)
    places = [axis for axis, values in test.axes.items() if len(values) > 1 and axis != _ALGORITHM]
    names = [*sweeps.SHOWN]
    if len(test.axes[_ALGORITHM]) > 1:
        places.append(_ALGORITHM)
    elif "rate" not in places:
        # One algorithm at one rate asks about the path, such as how large a buffer it needs.
        names[0] = "utilisation"
    runs = results.table(_TEST, names)
    shown = {name: described(name) for name in names if runs[name].count()}
    columns = [_cells(runs, places, name, quantity) for name, quantity in shown.items()]
    order = [_order(axis, test.axes[axis]) for axis in places]
    points = runs.select(places).unique().sort(order)
    rows = tuple(
        (*point, *(column.get(point, brief_interval(None, None, None)) for column in columns))
        for point in points.iter_rows()
    )
    spans = comparison.windows(results, list(shown))
    titles = {quantity.title: spans[name] for name, quantity in shown.items() if name in spans}
    best = any(_MARK in cell for row in rows for cell in row[len(places) :])
    note = f"{comparison.windows_in_words(titles)}."
    if best:
        note = f"{_MARK} the best there: its interval overlaps with no other's. {note}"
    return Totals(
        (*places, *map(_head, shown.values())),
        rows,
        named=len(places),
        intervals=True,
        note=note,
        about=f"{results.study.header.summary}.",
    )


def _order(axis: str, values: tuple[str, ...]) -> pl.Expr:
    """Return the places of values in their axis."""
    order = {value: place for place, value in enumerate(values)}
    return pl.col(axis).replace_strict(order, return_dtype=pl.Int64)


def _head(quantity: Quantity) -> str:
    unit = f" ({quantity.shown_unit})" if quantity.shown_unit else ""
    return f"{quantity.title}{unit}"


def _cells(
    runs: pl.DataFrame, places: list[str], name: str, quantity: Quantity
) -> dict[tuple[str, ...], Shown]:
    """Return the cells of a column by point and algorithm, the best one with a mark."""
    means = tables.aggregate(runs, places, name, share=quantity.is_share)
    if quantity.best is None:
        is_best = [False] * means.height
    else:
        highest = quantity.best is Best.HIGHEST
        by = [place for place in places if place != _ALGORITHM]
        is_best = tables.decided_best(means, by, highest=highest).to_list()
    cells = {}
    for row, best in zip(means.iter_rows(named=True), is_best, strict=True):
        ends = [None if row[end] is None else row[end] * quantity.shown_scale for end in _ENDS]
        cell = brief_interval(*ends, bounds=quantity.shown_bounds)
        cells[tuple(row[place] for place in places)] = (
            Shown(f"{cell}{_MARK}", *cell.values) if best else cell
        )
    return cells
