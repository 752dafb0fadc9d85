"""Time series of a run, for display: windows, rates, delays, an algorithm's own parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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

_MBIT_PER_BYTE: Final = 8e-6

Flows = Collection[int] | None
"""Numbers of the flows that are meant; None: all."""


@dataclass(frozen=True)
class Measure:
    """How a quantity is read from a run, and what its axis says."""

    title: str
    read: Callable[[Run, Flows], pl.DataFrame]
    per_count: float | None = None
    """If it is a counter: what is shown is its rate of change, of which one per second is this."""
    from_zero: bool = True
    """Whether its axis begins at zero."""
    adds_up: bool = True
    """Whether the connections of a flow are shown by their sum; else by their mean."""
    of_flows: bool = True
    """Whether its lines are flows; else they are queues."""


def series(
    run: Run,
    quantity: Quantity,
    start_s: float | None = None,
    end_s: float | None = None,
    *,
    flows: Flows = None,
    spans: int | None = None,
) -> pl.DataFrame:
    """Return ``label``, ``time_s`` and ``value`` of each flow or queue, thinned for display.

    Rates are exact means over `spans` parts of the time shown; of anything else the first, lowest
    and highest sample of each part is kept. By default these are as many as a figure has room for.
    """
    measure = MEASURES[quantity]
    first_s = 0.0 if start_s is None else start_s
    last_s = run.summary["duration_ns"] / 1e9 if end_s is None else end_s
    frame = _whole(measure.read(run, flows).drop_nulls("value"), measure)
    if measure.per_count is not None:
        zeros = _flow_starts(run, flows) if measure.of_flows else _queue_starts(frame)
        frame = pl.concat([zeros, frame]).unique(["label", "time_s"], maintain_order=True)
    frame = frame.filter(pl.col("time_s").is_between(first_s, last_s))
    if measure.per_count is not None:
        return _rates(frame, (last_s - first_s) / (spans or _RATE_SPANS), measure.per_count)
    parts = frame.partition_by("label", maintain_order=True)
    return pl.concat(
        [thin(part, "time_s", "value", spans or _BUCKETS) for part in parts] or [frame]
    )


def _whole(frame: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Turn the lines of connections into those of the flows that they carry together."""
    labels = {label: facts.whole(label) for label in frame["label"].unique()}
    if not measure.of_flows or all(label == whole for label, whole in labels.items()):
        return frame
    value = pl.col("value").sum() if measure.adds_up else pl.col("value").mean()
    named = frame.with_columns(pl.col("label").replace(labels))
    return named.group_by("label", "time_s", maintain_order=True).agg(value)


def _flow_starts(run: Run, flows: Flows) -> pl.DataFrame:
    """Return what every counter is when its flow starts."""
    sampled = [
        flow
        for number, flow in enumerate(run.scenario["flows"])
        if flow["sampled"] and (flows is None or number in flows)
    ]
    firsts = [sampled[numbers[0]] for numbers in facts.bundles(sampled)]
    return pl.DataFrame(
        {
            "label": [facts.whole(flow["label"]) for flow in firsts],
            "time_s": [flow["start_ns"] / 1e9 for flow in firsts],
            "value": [0.0] * len(firsts),
        },
        schema=_SERIES,
    )


def _queue_starts(counters: pl.DataFrame) -> pl.DataFrame:
    """Return what every counter of a queue is when the run begins."""
    labels = counters["label"].unique(maintain_order=True)
    zeros = pl.DataFrame({"label": labels}, schema={"label": pl.String})
    return zeros.select("label", time_s=pl.lit(0.0), value=pl.lit(0.0))


def _rates(counters: pl.DataFrame, span_s: float, per_count: float) -> pl.DataFrame:
    """Turn counters into the exact mean rates between samples `span_s` or more apart.

    A rate stands at the end of its span.
    """
    span = (pl.col("time_s") / span_s).ceil()
    ends = counters.group_by("label", span.alias("span"), maintain_order=True).last()
    elapsed_s = pl.col("time_s").diff().over("label")
    grown = pl.col("value").diff().over("label")
    return ends.select("label", "time_s", value=grown / elapsed_s * per_count).drop_nulls("value")


def _flows(column: str, per_unit: float = 1.0) -> Callable[[Run, Flows], pl.DataFrame]:
    def read(run: Run, flows: Flows) -> pl.DataFrame:
        wanted = _of(run.scan("flows"), flows)
        return wanted.select(*_WHEN, value=pl.col(column) / per_unit).collect()

    return read


def _of(samples: pl.LazyFrame, flows: Flows) -> pl.LazyFrame:
    return samples if flows is None else samples.filter(pl.col("flow").is_in(list(flows)))


def _queues(column: str) -> Callable[[Run, Flows], pl.DataFrame]:
    """Read the queues that data passes; a single one is just the bottleneck."""

    def read(run: Run, _: Flows) -> pl.DataFrame:
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
                value=pl.col(column).cast(pl.Float64),
            )
            .collect()
        )

    return read


def _internal(name: str) -> Callable[[Run, Flows], pl.DataFrame]:
    """Read what an algorithm reports as `name`, or as `name_milli` in thousandths."""

    def read(run: Run, flows: Flows) -> pl.DataFrame:
        parts = [
            run.scan("internals")
            .filter(pl.col("flow") == index)
            .select(*_WHEN, value=pl.col(column) / per_unit)
            for index, flow in enumerate(run.scenario["flows"])
            if "tcp" in flow["transport"] and (flows is None or index in flows)
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
    "throughput_mbit": Measure(
        "throughput (Mbit/s)", _flows("sent_bytes"), per_count=_MBIT_PER_BYTE
    ),
    "goodput_mbit": Measure("goodput (Mbit/s)", _flows("received_bytes"), per_count=_MBIT_PER_BYTE),
    "alpha": Measure("α (segments per RTT)", _internal("alpha"), from_zero=False, adds_up=False),
    "beta": Measure("β (share of cwnd kept)", _internal("kept"), from_zero=False, adds_up=False),
    "queue_packets": Measure("queue (packets)", _queues("backlog_packets"), of_flows=False),
    "drops_per_s": Measure(
        "drops (packets/s)", _queues("dropped_packets"), per_count=1.0, of_flows=False
    ),
    "retransmissions_per_s": Measure(
        "retransmitted (segments/s)", _flows("retransmitted_segs"), per_count=1.0
    ),
}
