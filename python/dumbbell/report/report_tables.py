"""The numbers of a report: what figures show, and all metrics of a test, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from dumbbell.analysis import metrics
from dumbbell.claims.verdicts import ClaimResult
from dumbbell.figures.chart_points import Pane
from dumbbell.figures.drawing import Figure
from dumbbell.figures.labels import label_of, with_spread
from dumbbell.study.figure_spec import PointsFigure
from dumbbell.study.model import Test

_NOT_METRICS = ("repetition",)


@dataclass(frozen=True)
class TextRow:
    """One place on the horizontal axis."""

    x: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class TextTable:
    """The numbers of one plot, for readers."""

    title: str
    series: tuple[str, ...]
    rows: tuple[TextRow, ...]


def text_tables(figure: Figure) -> list[TextTable]:
    """Return a table per plot: a row per place, a column per series."""
    return [_text_table(pane) for pane in figure.panes]


def _text_table(pane: Pane) -> TextTable:
    cells = {
        (row["series"], row["x"]): with_spread(row["mean"], row["se"])
        for row in pane.marks.iter_rows(named=True)
    }
    series = tuple(dict.fromkeys(name for name, _ in cells))
    places = sorted({x for _, x in cells})
    rows = tuple(
        TextRow(f"{x:g}", tuple(cells.get((name, x), "–") for name in series)) for x in places
    )
    return TextTable(pane.title, tuple(label_of(name) for name in series), rows)


def figure_frame(figure: Figure, spec: PointsFigure) -> pl.DataFrame:
    """Return all marks of a points figure."""
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
        for pane in figure.panes
    ]
    return pl.concat(parts)


def means_frame(test: Test, runs: pl.DataFrame) -> pl.DataFrame:
    """Return the averages of all metrics at each grid point: a row per point and metric."""
    axes = list(test.axes)
    return pl.concat(
        metrics.aggregate(runs, axes, column).select(
            *axes,
            pl.lit(column).alias("metric"),
            pl.lit(metrics.metric(column).unit).alias("unit"),
            "mean",
            "median",
            "se",
            "low",
            "high",
            "n",
            "runs",
        )
        for column in metric_columns(test, runs)
    )


def metric_columns(test: Test, runs: pl.DataFrame) -> list[str]:
    """Return the columns of a metrics table that are metrics."""
    known = {metric.name for metric in metrics.METRICS}
    return [
        column
        for column in runs.columns
        if column not in test.axes
        and column not in _NOT_METRICS
        and (column in known or column.rpartition("_")[0] in known)
    ]


def claims_frame(results: Sequence[ClaimResult]) -> pl.DataFrame:
    """Return the verdicts."""
    return pl.DataFrame(
        {
            "id": [result.claim.id for result in results],
            "source": [result.claim.source for result in results],
            "text": [result.claim.text for result in results],
            "verdict": [result.verdict.value for result in results],
            "measured": [result.measured for result in results],
            "expectation": [result.claim.expectation for result in results],
            "reason": [result.reason for result in results],
        },
        schema_overrides={"id": pl.String},
    )
