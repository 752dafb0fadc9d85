"""Figures of kind `boxes`: how the samples of runs are distributed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import polars as pl

from dumbbell.analysis import goodput_samples
from dumbbell.analysis.window import Sampled, Values
from dumbbell.errors import DamagedResult, InputError
from dumbbell.figures import chart_boxes, chart_style
from dumbbell.figures.chart_boxes import BoxPane
from dumbbell.figures.figure import Figure, TextRow, TextTable, not_run, titled
from dumbbell.figures.gathering import run_notes, runs_of, values_of
from dumbbell.figures.labels import label_of, number
from dumbbell.results import Results
from dumbbell.study import grid
from dumbbell.study.figure_spec import BoxesFigure
from dumbbell.study.model import PlannedRun

_FIELD = "goodput_mbit"


def draw(results: Results, spec: BoxesFigure) -> Figure:
    """Draw the figure with whatever runs there are."""
    if spec.y.field != _FIELD:
        raise InputError(
            "samples are not taken of it", key="y.field", value=spec.y.field, valid=_FIELD
        )
    test = results.study.test(spec.test)
    looks = chart_style.looks(values_of(test, spec.series, spec))
    runs = runs_of(results, spec)
    if runs.is_empty():
        return not_run(spec, spec.test, chart_boxes.empty(spec, looks))
    values = [None] if spec.facet is None else values_of(test, spec.facet, spec)
    panes = [_pane(results, spec, value) for value in values]
    counts = [count for pane in panes for count in pane.boxes["runs"]]
    notes = list(run_notes(results, spec, runs, counts, "Samples"))
    chart = titled(chart_boxes.draw(spec, panes, looks), spec.title, notes)
    tables = tuple(_table(pane, spec) for pane in panes)
    return Figure(spec, chart, tuple(notes), (), tables, _frame(panes, spec))


def _pane(results: Results, spec: BoxesFigure, value: str | None) -> BoxPane:
    where = spec.where if spec.facet is None or value is None else {**spec.where, spec.facet: value}
    pooled: dict[str, list[Values]] = {}
    for planned, samples in _samples(results, spec, where):
        pooled.setdefault(planned.axes[spec.series], []).append(samples)
    rows = [
        {
            "series": series,
            **goodput_samples.quantiles_of(np.concatenate(parts)),
            "samples": sum(part.size for part in parts),
            "runs": len(parts),
        }
        for series, parts in pooled.items()
    ]
    numbers = dict.fromkeys(goodput_samples.QUANTILES, pl.Float64)
    schema = {"series": pl.String, **numbers, "samples": pl.Int64, "runs": pl.Int64}
    return BoxPane("" if value is None else label_of(value), pl.DataFrame(rows, schema=schema))


def _samples(
    results: Results, spec: BoxesFigure, where: grid.Selection
) -> Iterator[tuple[PlannedRun, Values]]:
    """Yield the samples of each finished run at the chosen grid points."""
    for planned, _ in results.finished(spec.test):
        if not grid.matches(planned.axes, where):
            continue
        with suppress(DamagedResult):
            run = results.store.get(planned.resolved.key)
            sampled = Sampled(run, planned.measure)
            yield planned, goodput_samples.samples_mbit(sampled, planned.samples)


def _table(pane: BoxPane, spec: BoxesFigure) -> TextTable:
    """Return a row per series and a column per quantile."""
    names = tuple(goodput_samples.QUANTILES)
    rows = tuple(
        TextRow(label_of(row["series"]), tuple(number(row[name], 4) for name in names))
        for row in pane.boxes.iter_rows(named=True)
    )
    caption = f"{spec.y.title}, quantiles of the samples of all runs"
    columns = ("smallest", "Q 0.25", "Q 0.5", "Q 0.75", "largest")
    return TextTable(pane.title, caption, spec.series, columns, rows)


def _frame(panes: Sequence[BoxPane], spec: BoxesFigure) -> pl.DataFrame:
    return pl.concat(
        pane.boxes.select(
            *([pl.lit(pane.title).alias(spec.facet)] if spec.facet else []),
            pl.col("series").alias(spec.series),
            pl.lit(spec.y.field).alias("metric"),
            pl.exclude("series"),
        )
        for pane in panes
    )
