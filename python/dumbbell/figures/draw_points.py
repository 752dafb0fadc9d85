"""Figures of kind `points`: means against an axis, with curves from theory."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from dumbbell.analysis import metrics, theory
from dumbbell.figures import chart_points, chart_style
from dumbbell.figures.chart_points import Pane
from dumbbell.figures.figure import Figure, TextRow, TextTable, not_run, titled
from dumbbell.figures.gathering import facets, run_notes, runs_of, values_of
from dumbbell.figures.labels import label_of, with_spread
from dumbbell.results import Results
from dumbbell.study import grid
from dumbbell.study.figure_spec import PointsFigure


def draw(results: Results, spec: PointsFigure) -> Figure:
    """Draw the figure with whatever runs there are."""
    test = results.study.test(spec.test)
    runs = runs_of(results, spec)
    if runs.is_empty():
        return not_run(spec, spec.test, chart_points.empty(spec))
    looks = chart_style.looks(values_of(test, spec.series, spec))
    panes = [
        Pane(facet.title, _marks(facet.runs, spec), _curves(facet.runs, spec))
        for facet in facets(test, spec, runs)
    ]
    marks = pl.concat([pane.marks for pane in panes])
    notes = list(_notes(results, spec, runs, marks))
    chart = titled(chart_points.draw(spec, panes, looks), spec.title, notes)
    tables = tuple(_table(pane, spec) for pane in panes)
    return Figure(spec, chart, tuple(notes), tuple(panes), tables, _frame(panes, spec))


def _marks(runs: pl.DataFrame, spec: PointsFigure) -> pl.DataFrame:
    columns = [spec.series, spec.x.field]
    averaged = metrics.aggregate(runs, columns, spec.y.field)
    return averaged.select(
        pl.col(spec.series).alias("series"),
        pl.col(spec.x.field).alias("x"),
        "mean",
        "se",
        "n",
        "runs",
    )


def _curves(runs: pl.DataFrame, spec: PointsFigure) -> pl.DataFrame:
    curves = [
        theory.along(
            overlay.theory, grid.select(runs, overlay.where), [spec.series, spec.x.field]
        ).select(series=spec.series, label=pl.lit(overlay.label), x=spec.x.field, y="theory")
        for overlay in spec.overlays
    ]
    return pl.concat([chart_points.NO_CURVES, *curves]).sort("label", "series", "x")


def _notes(
    results: Results, spec: PointsFigure, runs: pl.DataFrame, marks: pl.DataFrame
) -> Iterator[str]:
    yield from run_notes(results, spec, runs, marks["runs"], "Mean and standard error")
    if spec.y.scale == "log" and (marks["mean"].fill_null(1) <= 0).any():
        yield "Hollow on the lower edge: 0."
    if spec.missing is not None and (marks["n"] < marks["runs"]).any():
        yield (
            f"Hollow marks average the runs with a value, as others {spec.missing}; "
            f"where all of them {spec.missing}, there is no mark."
        )


def _table(pane: Pane, spec: PointsFigure) -> TextTable:
    """Return a row per place and a column per series."""
    cells = {
        (row["series"], row["x"]): with_spread(row["mean"], row["se"])
        for row in pane.marks.iter_rows(named=True)
    }
    series = tuple(dict.fromkeys(name for name, _ in cells))
    places = sorted({x for _, x in cells})
    rows = tuple(
        TextRow(f"{x:g}", tuple(cells.get((name, x), "–") for name in series)) for x in places
    )
    caption = f"{spec.y.title}, mean ± standard error"
    columns = tuple(label_of(name) for name in series)
    return TextTable(pane.title, caption, spec.x.title, columns, rows)


def _frame(panes: list[Pane], spec: PointsFigure) -> pl.DataFrame:
    """Return all marks."""
    parts = [
        pane.marks.select(
            *([pl.lit(pane.title).alias(spec.facet)] if spec.facet else []),
            pl.col("series").alias(spec.series),
            pl.col("x").alias(spec.x.field),
            pl.lit(spec.y.field).alias("metric"),
            "mean",
            "se",
            "n",
            "runs",
        )
        for pane in panes
    ]
    return pl.concat(parts)
