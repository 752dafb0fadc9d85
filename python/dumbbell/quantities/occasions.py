"""When something was lost, marked or timed out in a run, for display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from dumbbell.base.seconds import seconds
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.scenario import facts

KINDS: Final = ("reduced", "lost", "marked", "timeout")
"""A window was reduced, a packet was lost or dropped, a queue marked packets, a timer expired."""

_EVENTS: Final[Mapping[str, str]] = {
    "congestion": "reduced",
    "drop": "lost",
    "loss": "lost",
    "timeout": "timeout",
}
_SCHEMA: Final = {
    "label": pl.String,
    "what": pl.String,
    "time_s": pl.Float64,
    "times": pl.Float64,
}


def take(run: Run, spans: int) -> pl.DataFrame:
    """Return ``label``, ``what``, ``time_s`` and ``times``: a row for each flow and span of time.

    Events that a run has not recorded are missing. Marks are those of the queues that data passes,
    between samples; their label is that of the first flow, as nobody knows whose packets they were.
    """
    occasions = pl.concat([pl.DataFrame(schema=_SCHEMA), _events(run), _marks(run)])
    span_s = run.summary.duration_ns / NS_PER_S / spans or 1.0
    labels = {label: facts.whole(label) for label in occasions["label"].unique()}
    return (
        occasions.with_columns(pl.col("label").replace(labels))
        .group_by("label", "what", (pl.col("time_s") / span_s).floor().alias("span"))
        .agg(pl.col("time_s").min(), pl.col("times").sum())
        .drop("span")
        .sort("what", "label", "time_s")
    )


def _events(run: Run) -> pl.DataFrame:
    kind = pl.col("kind").cast(pl.String)
    return (
        run.scan("events")
        .filter(kind.is_in(list(_EVENTS)))
        .select(
            pl.col("label").cast(pl.String),
            what=kind.replace_strict(_EVENTS, default=None, return_dtype=pl.String),
            time_s=seconds(),
            times=pl.lit(1.0),
        )
        .collect()
    )


def _marks(run: Run) -> pl.DataFrame:
    queues = facts.data_queues(run.scenario)
    first = facts.whole(run.scenario.flows[0].label)
    marked = pl.col("marked_packets").cast(pl.Float64)
    return (
        run.scan("queues", named=False)
        .filter(pl.col("queue").is_in(list(queues)))
        .select(
            label=pl.lit(first),
            what=pl.lit("marked"),
            time_s=seconds(),
            times=marked - marked.shift(1, fill_value=0.0).over("queue"),
        )
        .filter(pl.col("times") > 0)
        .collect()
    )
