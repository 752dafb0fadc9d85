"""Runs of a test for a figure, plot by plot, and notes on missing ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from dumbbell.algorithms.labels import label_of, label_with_axis, labels_of
from dumbbell.base.labels import listing
from dumbbell.engines.engine import Engine
from dumbbell.figures.source import Source
from dumbbell.figures.spec import TestFigure
from dumbbell.plan import grid
from dumbbell.plan.tests import Test
from dumbbell.quantities import tables


@dataclass(frozen=True)
class Facet:
    """The runs of one plot; `value` is that of the facet's axis, None if there is none."""

    title: str
    value: str | None
    runs: pl.DataFrame


def runs_of(source: Source, spec: TestFigure, columns: Iterable[str] = ()) -> pl.DataFrame:
    """Return a table of the runs that a figure shows, with what it shows and `columns`."""
    test = source.test(spec.test)
    known = {*test.axes, *tables.number_columns(test).values()}
    columns_of_rows = dict.fromkeys([*spec.fields().values(), *columns])
    table = source.table(spec.test, [column for column in columns_of_rows if column not in known])
    return grid.select(table, spec.where)


def values_of(test: Test, axis: str, spec: TestFigure) -> list[str]:
    """Return the values of an axis that the figure shows, in the test's order."""
    kept = {axis: spec.where[axis]} if axis in spec.where else {}
    return [value for value in test.axes[axis] if grid.matches({axis: value}, kept)]


def facets(test: Test, spec: TestFigure, runs: pl.DataFrame) -> Iterator[Facet]:
    """Yield the plots."""
    if spec.facet is None:
        yield Facet("", None, runs)
        return
    for value, label in names_of(test, spec.facet, spec).items():
        title = label if label != value else label_with_axis(spec.facet, value)
        yield Facet(title, value, runs.filter(pl.col(spec.facet) == value))


def names_of(test: Test, axis: str, spec: TestFigure) -> dict[str, str]:
    """Return what readers see of each value of an axis that the figure shows."""
    return labels_of(values_of(test, axis, spec))


def labelled(test: Test, axis: str, spec: TestFigure) -> pl.Expr:
    """Return the values of an axis as readers see them."""
    names = names_of(test, axis, spec)
    return pl.col(axis).replace_strict(names, default=None, return_dtype=pl.String)


def pooled_axes(test: Test, spec: TestFigure, shown: Iterable[str | None]) -> dict[str, list[str]]:
    """Return the axes with several values over which a place averages: all that are not shown."""
    axes = {axis: values_of(test, axis, spec) for axis in test.axes if axis not in set(shown)}
    return {axis: values for axis, values in axes.items() if len(values) > 1}


def pooled_notes(pooled: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a note that names the values over which places average, if there are any."""
    over = [f"{axis} = {', '.join(labels_of(values).values())}" for axis, values in pooled.items()]
    if over:
        yield (
            f"Averages over {listing(over)}. Intervals show chance between runs, not the "
            "differences between these points."
        )


def runs_per_point(test: Test, runs: pl.DataFrame) -> pl.Series:
    """Return the number of runs of each grid point."""
    return runs.group_by(list(test.axes)).len()["len"]


def run_notes(
    source: Source, spec: TestFigure, runs: pl.DataFrame, counts: Iterable[int], what: str
) -> Iterator[str]:
    """Say how many runs there are for each point, and which points have none.

    `what` is shown of them, such as "Mean and 95 % interval".
    """
    if runs.is_empty():
        yield f"Not run yet: {'these points of ' * bool(spec.where)}the test {spec.test}."
        return
    quick = "quick " * source.quick(spec.test)
    repetitions = sorted(set(counts))
    if repetitions == [1]:
        yield f"One {quick}run per point."
    elif repetitions:
        least, most = repetitions[0], repetitions[-1]
        number = f"{least}" if least == most else f"{least} to {most}"
        yield f"{what} of {number} {quick}runs per point."
    yield from engine_notes(source.engine, source.left_out(spec.test))
    yield from _absent_points(source, spec, runs)


def _absent_points(source: Source, spec: TestFigure, runs: pl.DataFrame) -> Iterator[str]:
    """Say which part of the figure's grid has no run: whole axis values, then a number."""
    test = source.test(spec.test)
    axes = {axis: values_of(test, axis, spec) for axis in test.axes}
    present = set(runs.select(list(axes)).iter_rows())
    planned = [
        tuple(point.values()) for point in test.grid_points if grid.matches(point, spec.where)
    ]
    absent = [point for point in planned if point not in present]
    if not absent:
        return
    explained: set[tuple[str, ...]] = set()
    parts = []
    for position, (axis, values) in enumerate(axes.items()):
        whole = [value for value in values if all(point[position] != value for point in present)]
        if whole:
            parts.append(f"{axis} {listing([label_of(value) for value in whole])}")
            explained.update(point for point in absent if point[position] in whole)
    rest = len(absent) - len(explained)
    if rest:
        parts.append(f"{rest} {'further ' if parts else ''}of {len(planned)} points")
    yield f"Not run yet: {'; '.join(parts)}."


def engine_notes(engine: Engine, invalid: int) -> Iterator[str]:
    """Yield a figure's notes on the engine and its invalid runs; on the simulator none."""
    if engine.real_time:
        yield f"Run by the {engine.identity}."
    if invalid:
        yield f"{invalid} invalid {'run is' if invalid == 1 else 'runs are'} left out."
