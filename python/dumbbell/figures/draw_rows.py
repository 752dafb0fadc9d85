"""Figures of kind `rows`: what each answer to a question gives, beside what was stated."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dumbbell.analysis import metrics
from dumbbell.figures import chart_rows
from dumbbell.figures.chart_rows import RowPane
from dumbbell.figures.figure import Figure, TextRow, TextTable, not_run, titled
from dumbbell.figures.gathering import (
    Facet,
    facets,
    labelled,
    run_notes,
    runs_of,
    values_of,
)
from dumbbell.figures.labels import label_of, with_spread
from dumbbell.results import Results
from dumbbell.study import grid
from dumbbell.study.figure_spec import RowsFigure, Stated


def draw(results: Results, spec: RowsFigure) -> Figure:
    """Draw the figure with whatever runs there are."""
    test = results.study.test(spec.test)
    runs = runs_of(results, spec)
    rows = [label_of(value) for value in values_of(test, spec.rows, spec)]
    if runs.is_empty():
        return not_run(spec, spec.test, chart_rows.empty(spec, rows))
    panes = [_pane(facet, spec) for facet in facets(test, spec, runs)]
    counts = [count for pane in panes for count in pane.means["runs"]]
    notes = list(run_notes(results, spec, runs, counts, "Means"))
    if max(counts) > 1:
        notes.append("Small dots are single runs.")
    chart = titled(chart_rows.draw(spec, panes, rows), spec.title, notes)
    tables = tuple(_table(pane, spec, rows) for pane in panes)
    return Figure(spec, chart, tuple(notes), (), tables, _frame(panes, spec))


def _pane(facet: Facet, spec: RowsFigure) -> RowPane:
    named = facet.runs.select(labelled(facet.runs, spec.rows).alias("row"), value=spec.x.field)
    means = metrics.aggregate(named, ["row"], "value").select("row", "mean", "se", "n", "runs")
    return RowPane(facet.title, means, named.drop_nulls("value"), _stated(facet, spec))


def _stated(facet: Facet, spec: RowsFigure) -> tuple[Stated, ...]:
    if spec.facet is None or facet.value is None:
        return spec.stated
    point = {spec.facet: facet.value}
    return tuple(each for each in spec.stated if grid.matches(point, each.where))


def _table(pane: RowPane, spec: RowsFigure, rows: Sequence[str]) -> TextTable:
    cells = {
        row["row"]: with_spread(row["mean"], row["se"]) for row in pane.means.iter_rows(named=True)
    }
    told = "; ".join(each.label for each in pane.stated)
    caption = f"{spec.x.title}, mean ± standard error" + (f" ({told})" if told else "")
    lines = tuple(TextRow(row, (cells[row],)) for row in rows if row in cells)
    return TextTable(pane.title, caption, spec.rows, (spec.x.title,), lines)


def _frame(panes: Sequence[RowPane], spec: RowsFigure) -> pl.DataFrame:
    return pl.concat(
        pane.means.select(
            *([pl.lit(pane.title).alias(spec.facet)] if spec.facet else []),
            pl.col("row").alias(spec.rows),
            pl.lit(spec.x.field).alias("metric"),
            "mean",
            "se",
            "n",
            "runs",
        )
        for pane in panes
    )
