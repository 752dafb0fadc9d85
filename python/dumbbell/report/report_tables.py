"""The numbers of a report: what figures show, and all metrics of a test, as tables."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dumbbell.analysis import metrics
from dumbbell.claims.verdicts import ClaimResult
from dumbbell.figures.figure import Figure, TextTable
from dumbbell.study.model import Test

_NOT_METRICS = ("repetition",)


def text_tables(figure: Figure) -> list[TextTable]:
    """Return what readers see of a figure's numbers: a table per plot."""
    return list(figure.tables)


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
