"""The numbers of a report: those of its figures and all metrics of a test, as tables."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dumbbell.judging.judging import ClaimResult
from dumbbell.plan.tests import Test
from dumbbell.quantities import tables


def means_frame(test: Test, runs: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return the averages of quantities at each grid point: a row per point and quantity."""
    axes = list(test.axes)
    return pl.concat(
        tables.aggregate(runs, axes, column).select(
            *axes,
            pl.lit(column).alias("quantity"),
            "mean",
            "median",
            "se",
            "low",
            "high",
            "n",
            "runs",
        )
        for column in columns
    )


def claims_frame(results: Sequence[ClaimResult]) -> pl.DataFrame:
    """Return the verdicts."""
    return pl.DataFrame(
        {
            "id": [result.claim.id for result in results],
            "source": [result.claim.source for result in results],
            "text": [result.claim.text for result in results],
            "verdict": [result.verdict.value for result in results],
            "statement": [result.statement for result in results],
            "quick": [result.is_quick for result in results],
            "measured": [result.measured for result in results],
            "expectation": [result.claim.expectation for result in results],
            "reason": [result.reason for result in results],
        },
        schema_overrides={"id": pl.String},
    )
