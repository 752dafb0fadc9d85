"""Quick charts of one run, for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal

import altair as alt
import polars as pl

from dumbbell.errors import unknown

if TYPE_CHECKING:
    from dumbbell.result import Run

Kind = Literal["cwnd", "goodput", "rtt", "queue"]

# More points than a chart has pixels tell nothing; Altair refuses more than 5000 rows.
_POINTS_MAX: Final = 4000


def draw(run: Run, what: Kind) -> alt.Chart:
    """Draw one quantity of a run over time."""
    if what not in _SERIES:
        raise unknown("chart", what, _SERIES)
    title, series = _SERIES[what]
    data = _thinned(series(run))
    chart: alt.Chart = (
        alt.Chart(data)
        .mark_line(interpolate="linear")
        .encode(
            x=alt.X("time_s:Q", title="time (s)"),
            y=alt.Y("value:Q", title=title),
            color=alt.Color("label:N", title=None, sort=None),
            tooltip=["label:N", "time_s:Q", "value:Q"],
        )
        .properties(width=600, height=240)
    )
    return chart


def _cwnd(run: Run) -> pl.DataFrame:
    return _select(run.scan("flows"), pl.col("cwnd_segs").cast(pl.Float64))


def _rtt(run: Run) -> pl.DataFrame:
    return _select(run.scan("flows"), pl.col("rtt_us") / 1e3)


def _goodput(run: Run) -> pl.DataFrame:
    received_bits = pl.col("received_bytes").cast(pl.Float64).diff().over("flow") * 8
    elapsed_us = pl.col("time_ns").cast(pl.Float64).diff().over("flow") / 1e3
    return _select(run.scan("flows"), received_bits / elapsed_us)


def _queue(run: Run) -> pl.DataFrame:
    names = [queue["name"] for queue in run.summary["queues"]]
    forward = run.scan("queues").filter(pl.col("queue").cast(pl.UInt8) == 0)
    return _select(
        forward.with_columns(label=pl.lit(names[0])), pl.col("backlog_packets").cast(pl.Float64)
    )


_SERIES: Final[Mapping[str, tuple[str, Callable[[Run], pl.DataFrame]]]] = {
    "cwnd": ("congestion window (segments)", _cwnd),
    "goodput": ("goodput (Mbit/s)", _goodput),
    "rtt": ("round-trip time (ms)", _rtt),
    "queue": ("bottleneck queue (packets)", _queue),
}


def _select(table: pl.LazyFrame, value: pl.Expr) -> pl.DataFrame:
    return table.select(
        label=pl.col("label").cast(pl.String),
        time_s=pl.col("time_ns") / 1e9,
        value=value,
    ).collect()


def _thinned(data: pl.DataFrame) -> pl.DataFrame:
    """Keep the smallest and the largest value of each bin, so that no peak is lost."""
    if data.height <= _POINTS_MAX:
        return data
    bins = max(1, _POINTS_MAX // (2 * data["label"].n_unique()))
    span_s = float(data["time_s"].max() or 1)  # type: ignore[arg-type]
    position = (pl.col("time_s") * (bins / span_s)).floor()
    extremes = [pl.col("value").arg_min(), pl.col("value").arg_max()]
    return (
        data.drop_nulls("value")
        .group_by("label", position.alias("bin"), maintain_order=True)
        .agg(pl.col("time_s", "value").gather(pl.concat_list(extremes).explode()))
        .explode("time_s", "value")
        .drop("bin")
        .unique(maintain_order=True)
        .sort("label", "time_s", maintain_order=True)
    )
