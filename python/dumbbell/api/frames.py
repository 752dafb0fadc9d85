"""The tables of a run as people read them: in seconds, milliseconds and Mbit/s.

Counters grow from the start of a flow. A rate is the mean since the sample before, or since the
start of the flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from dumbbell.base.seconds import seconds
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.modes import readable
from dumbbell.engines.result import Run
from dumbbell.quantities.series import NO_SSTHRESH
from dumbbell.scenario import facts

_TIME_S: Final = seconds().alias("time_s")
_MBIT_PER_BYTE: Final = 8e-6
_WHO: Final = ("label", "algorithm")


def flows(run: Run) -> pl.DataFrame:
    """Return the samples of TCP flows; see `Run.flows`."""
    headers = _of_flows([flow.header_bytes for flow in run.scenario.flows])
    starts_ns = _of_flows([flow.start_ns for flow in run.scenario.flows])
    sent = pl.col("sent_bytes") + pl.col("sent_segs") * headers
    ssthresh = pl.col("ssthresh_segs")
    return run.tables["flows"].select(
        _TIME_S,
        *_WHO,
        pl.col("state").cast(pl.String),
        "cwnd_segs",
        pl.when(ssthresh != NO_SSTHRESH).then(ssthresh).alias("ssthresh_segs"),
        "in_flight_segs",
        (pl.col("rtt_us") / 1e3).alias("rtt_ms"),
        (pl.col("srtt_us") / 1e3).alias("srtt_ms"),
        _rate(pl.col("received_bytes"), starts_ns).alias("goodput_mbit_per_s"),
        _rate(sent, starts_ns).alias("throughput_mbit_per_s"),
        "retransmitted_segs",
        "congestion_events",
    )


def queues(run: Run) -> pl.DataFrame:
    """Return the samples of queues; see `Run.queues`."""
    names = {number: link.name for number, link in enumerate(facts.sampled_links(run.scenario))}
    return run.tables["queues"].select(
        _TIME_S,
        pl.col("queue").replace_strict(names, return_dtype=pl.String),
        "backlog_packets",
        "backlog_bytes",
        _rate(pl.col("departed_bytes"), pl.lit(0), "queue").alias("throughput_mbit_per_s"),
        "dropped_packets",
        "lost_packets",
        "marked_packets",
    )


def datagrams(run: Run) -> pl.DataFrame:
    """Return the samples of flows of datagrams; see `Run.datagrams`."""
    starts_ns = _of_flows([flow.start_ns for flow in run.scenario.flows])
    arrived, delay_ns = _grown(pl.col("received_packets")), _grown(pl.col("delay_sum_ns"))
    return run.tables["datagrams"].select(
        _TIME_S,
        *_WHO,
        _rate(pl.col("received_bytes"), starts_ns).alias("goodput_mbit_per_s"),
        pl.when(arrived > 0).then(delay_ns / arrived / 1e6).alias("one_way_delay_ms"),
        "received_packets",
        "lost_packets",
    )


def delays(run: Run) -> pl.DataFrame:
    """Return the histograms of delays; see `Run.delays`."""
    names = {number: link.name for number, link in enumerate(facts.sampled_links(run.scenario))}
    return run.tables["delays"].select(
        _TIME_S,
        pl.col("queue").replace_strict(names, default=None, return_dtype=pl.String),
        *_WHO,
        (pl.col("delay_ns") / 1e6).alias("delay_ms"),
        "packets",
    )


def events(run: Run) -> pl.DataFrame:
    """Return what happened to flows; see `Run.events`."""
    ssthresh = pl.col("ssthresh_segs")
    return run.tables["events"].select(
        _TIME_S,
        pl.col("kind").cast(pl.String),
        *_WHO,
        "segment",
        "cwnd_segs",
        pl.when(ssthresh != NO_SSTHRESH).then(ssthresh).alias("ssthresh_segs"),
    )


def requests(run: Run) -> pl.DataFrame:
    """Return finished requests and transfers; see `Run.requests`."""
    latency_ms = (pl.col("latency_ns") / 1e6).alias("latency_ms")
    return run.tables["requests"].select(_TIME_S, *_WHO, "number", "bytes", latency_ms)


def internals(run: Run) -> pl.DataFrame:
    """Return the algorithms' variables; see `Run.internals`."""
    return run.tables["internals"].select(_TIME_S, *_WHO, pl.exclude("time_ns", "flow", *_WHO))


def modes(run: Run) -> pl.DataFrame:
    """Return changes of the algorithms' modes; see `Run.modes`."""
    frame = readable(run.tables["modes"], run.scenario)
    return frame.select(_TIME_S, *_WHO, pl.exclude("time_ns", "flow", *_WHO))


def _of_flows(values: Sequence[int]) -> pl.Expr:
    known = dict(enumerate(values))
    return pl.col("flow").replace_strict(known, default=0, return_dtype=pl.Int64)


def _grown(counter: pl.Expr, over: str = "flow") -> pl.Expr:
    return counter.cast(pl.Int64) - counter.cast(pl.Int64).shift(1, fill_value=0).over(over)


def _rate(counter_bytes: pl.Expr, starts_ns: pl.Expr, over: str = "flow") -> pl.Expr:
    """Return the Mbit/s since the sample before, or since the start; null where no time passed."""
    now_ns = pl.col("time_ns").cast(pl.Int64)
    before_ns = now_ns.shift(1).over(over).fill_null(starts_ns)
    elapsed_s = (now_ns - before_ns) / NS_PER_S
    return pl.when(elapsed_s > 0).then(_grown(counter_bytes, over) / elapsed_s * _MBIT_PER_BYTE)
