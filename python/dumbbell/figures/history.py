"""Time series of a run, for display: windows, rates, delays, an algorithm's own parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from dumbbell.errors import InputError, listed
from dumbbell.figures.chart_data import thin
from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.study.figure_spec import Quantity

_BUCKETS: Final = 420
"""Spans into which a line is thinned: about two pixels of a panel each."""

_RATE_SPANS: Final = 300
"""Spans over which a rate is averaged in one panel."""


@dataclass(frozen=True)
class Measure:
    """How a quantity is read from a run, and what its axis says."""

    title: str
    read: Callable[[Run], pl.DataFrame]
    counter: bool = False
    """Whether it counts bytes, so that what is shown is its rate of change in Mbit/s."""
    from_zero: bool = True
    """Whether its axis begins at zero."""
    adds_up: bool = True
    """Whether the connections of a flow are shown by their sum; else by their mean."""


def series(
    run: Run, quantity: Quantity, start_s: float | None = None, end_s: float | None = None
) -> pl.DataFrame:
    """Return ``label``, ``time_s`` and ``value`` of each flow, thinned for display."""
    measure = MEASURES[quantity]
    first_s = 0.0 if start_s is None else start_s
    last_s = run.summary["duration_ns"] / 1e9 if end_s is None else end_s
    frame = _whole(measure.read(run).drop_nulls("value"), measure)
    if measure.counter:
        frame = pl.concat([_zeros(run), frame]).unique(["label", "time_s"], maintain_order=True)
    frame = frame.filter(pl.col("time_s").is_between(first_s, last_s))
    if measure.counter:
        return _rates(frame, (last_s - first_s) / _RATE_SPANS)
    parts = frame.partition_by("label", maintain_order=True)
    return pl.concat([thin(part, "time_s", "value", _BUCKETS) for part in parts] or [frame])


def _whole(frame: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Turn the lines of connections into those of the flows that they carry together."""
    labels = {label: facts.whole(label) for label in frame["label"].unique()}
    if all(label == whole for label, whole in labels.items()):
        return frame
    value = pl.col("value").sum() if measure.adds_up else pl.col("value").mean()
    named = frame.with_columns(pl.col("label").replace(labels))
    return named.group_by("label", "time_s", maintain_order=True).agg(value)


def _zeros(run: Run) -> pl.DataFrame:
    """Return what every counter is when its flow starts."""
    sampled = [flow for flow in run.scenario["flows"] if flow["sampled"]]
    flows = [sampled[numbers[0]] for numbers in facts.bundles(sampled)]
    return pl.DataFrame(
        {
            "label": [facts.whole(flow["label"]) for flow in flows],
            "time_s": [flow["start_ns"] / 1e9 for flow in flows],
            "value": [0.0] * len(flows),
        },
        schema=_SERIES,
    )


def _rates(counters: pl.DataFrame, span_s: float) -> pl.DataFrame:
    """Turn counters of bytes into the exact mean rates between samples `span_s` or more apart.

    A rate stands at the end of its span.
    """
    span = (pl.col("time_s") / span_s).ceil()
    ends = counters.group_by("label", span.alias("span"), maintain_order=True).last()
    elapsed_s = pl.col("time_s").diff().over("label")
    bits = 8 * pl.col("value").diff().over("label")
    return ends.select("label", "time_s", value=bits / elapsed_s / 1e6).drop_nulls("value")


def _flows(column: str, per_unit: float = 1.0) -> Callable[[Run], pl.DataFrame]:
    def read(run: Run) -> pl.DataFrame:
        return run.scan("flows").select(*_WHEN, value=pl.col(column) / per_unit).collect()

    return read


def _backlog(run: Run) -> pl.DataFrame:
    """Read the queues that data passes; a single one is just the bottleneck."""
    names = facts.data_queues(run.scenario)
    if len(names) == 1:
        names = dict.fromkeys(names, "bottleneck")
    return (
        run.scan("queues")
        .with_columns(label=pl.col("queue").replace_strict(names, default=None))
        .drop_nulls("label")
        .select(
            pl.col("label").cast(pl.String),
            time_s=pl.col("time_ns") / 1e9,
            value=pl.col("backlog_packets").cast(pl.Float64),
        )
        .collect()
    )


def _internal(name: str) -> Callable[[Run], pl.DataFrame]:
    """Read what an algorithm reports as `name`, or as `name_milli` in thousandths."""

    def read(run: Run) -> pl.DataFrame:
        parts = [
            run.scan("internals")
            .filter(pl.col("flow") == index)
            .select(*_WHEN, value=pl.col(column) / per_unit)
            for index, flow in enumerate(run.scenario["flows"])
            if "tcp" in flow["transport"]
            for column, per_unit in [_info_column(run.scenario, facts.algorithm(flow), name)]
        ]
        return pl.concat([pl.LazyFrame(schema=_SERIES), *parts]).collect()

    return read


def _info_column(data: facts.Resolved, algorithm: str, name: str) -> tuple[str, float]:
    units = {name: 1.0, f"{name}_milli": 1e3}
    names = facts.described(data, algorithm).info
    for index, info in enumerate(names):
        if info in units:
            return f"info{index}", units[info]
    raise InputError(f"{algorithm} does not report this variable", value=name, valid=listed(names))


_SERIES: Final = {"label": pl.String, "time_s": pl.Float64, "value": pl.Float64}

_WHEN: Final = (pl.col("label").cast(pl.String), (pl.col("time_ns") / 1e9).alias("time_s"))

MEASURES: Final[Mapping[Quantity, Measure]] = {
    "cwnd_segs": Measure("cwnd (segments)", _flows("cwnd_segs")),
    "ssthresh_segs": Measure("ssthresh (segments)", _flows("ssthresh_segs")),
    "in_flight_segs": Measure("in flight (segments)", _flows("in_flight_segs")),
    "rtt_ms": Measure("RTT (ms)", _flows("rtt_us", 1e3), adds_up=False),
    "throughput_mbit": Measure("throughput (Mbit/s)", _flows("sent_bytes"), counter=True),
    "goodput_mbit": Measure("goodput (Mbit/s)", _flows("received_bytes"), counter=True),
    "alpha": Measure("α (segments per RTT)", _internal("alpha"), from_zero=False, adds_up=False),
    "beta": Measure("β (share of cwnd kept)", _internal("kept"), from_zero=False, adds_up=False),
    "queue_packets": Measure("queue (packets)", _backlog),
}
