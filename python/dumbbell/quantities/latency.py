"""Durations of requests and transfers.

The latency of a request is the time from its issue to the acknowledgement of its last byte. That
acknowledgement is its reply. Only requests that began and ended in the window count. The slow-down
of a request is its latency divided by that over an empty path. Percentiles are by nearest rank.
They have a value only if at least ten requests lie beyond them, so the 99.9 % percentile needs
10,000 requests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import polars as pl

from dumbbell.base.units import NS_PER_S
from dumbbell.contract import scenario as contract
from dumbbell.contract.scenario import Scenario
from dumbbell.quantities.counters import Values, percentile
from dumbbell.quantities.rates import mbit_per_s
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.subjects import Flow
from dumbbell.quantities.view import FlowsView
from dumbbell.scenario import facts

_NS_PER_MS = 10**6


def finished(view: FlowsView) -> pl.DataFrame:
    """Return the requests and transfers that began and ended in the window.

    The columns are those of the table `requests`. A transfer over several connections is one row,
    of the first of them, which is done when all are.
    """
    begun = pl.col("time_ns").cast(pl.Int64)
    ended = begun + pl.col("latency_ns").cast(pl.Int64)
    requests = view.run.run.scan("requests", named=False)
    rows = requests.filter(pl.col("flow").is_in(view.connections)).collect()
    inside = (begun >= view.span.start_ns) & (ended <= view.span.end_ns)
    return _joined(rows, view.flows).filter(inside)


def _joined(requests: pl.DataFrame, flows: Sequence[Flow]) -> pl.DataFrame:
    """Join the transfers of each flow's connections to one."""
    several = [flow.connections for flow in flows if len(flow.connections) > 1]
    if not several:
        return requests
    first = {number: numbers[0] for numbers in several for number in numbers}
    needed = {numbers[0]: len(numbers) for numbers in several}
    is_part = pl.col("flow").is_in(list(first))
    parts = requests.filter(is_part).with_columns(pl.col("flow").replace(first))
    # A transfer over several connections ends with the last of its parts.
    kept = {"latency_ns": pl.col("latency_ns").max(), "bytes": pl.col("bytes").sum()}
    joined = parts.group_by("flow", maintain_order=True).agg(
        *(kept.get(name, pl.col(name).first()) for name in parts.columns if name != "flow"),
        arrived=pl.len(),
    )
    # The longest part may be the one that is still missing, so its latency is not known.
    complete = joined.filter(
        pl.col("arrived") == pl.col("flow").replace_strict(needed, return_dtype=pl.UInt32)
    )
    return pl.concat([requests.filter(~is_part), complete.select(requests.columns)])


def latencies_ms(view: FlowsView) -> Values:
    """Return the latencies of the requests and transfers that began and ended in the window."""
    latencies = view.once(finished)["latency_ns"].cast(pl.Float64)
    return latencies.to_numpy() / _NS_PER_MS


def has_messages(view: FlowsView) -> bool:
    """Return True if any of the flows sends requests or ends."""
    return any(flow.is_transfer or flow.request_bytes is not None for flow in view.flows)


@of_flows("requests", "1/s", best=Best.HIGHEST)
def requests_per_s(view: FlowsView) -> float | None:
    """Count per second of the requests or transfers that began and ended in the window."""
    return view.once(finished).height / view.span.seconds if has_messages(view) else None


@of_flows("goodput of requests", "Mbit/s", best=Best.HIGHEST)
def requests_mbit_per_s(view: FlowsView) -> float | None:
    """Payload of the requests or transfers that began and ended in the window, per second."""
    if not has_messages(view):
        return None
    return mbit_per_s(float(view.once(finished)["bytes"].sum()), view.span.seconds)


@of_flows("mean latency", "ms", best=Best.LOWEST)
def latency_mean_ms(view: FlowsView) -> float | None:
    """Mean latency of requests or transfers, from issue to the reply to the last byte."""
    values = latencies_ms(view)
    return float(values.mean()) if values.size else None


@of_flows("median latency", "ms", best=Best.LOWEST)
def latency_p50_ms(view: FlowsView) -> float | None:
    """Median latency of requests or transfers, by nearest rank."""
    return percentile(latencies_ms(view), 500)


@of_flows("90 % latency", "ms", best=Best.LOWEST)
def latency_p90_ms(view: FlowsView) -> float | None:
    """90 % of the requests or transfers took no longer; needs 100 of them."""
    return percentile(latencies_ms(view), 900)


@of_flows("99 % latency", "ms", best=Best.LOWEST)
def latency_p99_ms(view: FlowsView) -> float | None:
    """99 % of the requests or transfers took no longer; needs 1000 of them."""
    return percentile(latencies_ms(view), 990)


@of_flows("99.9 % latency", "ms", best=Best.LOWEST)
def latency_p999_ms(view: FlowsView) -> float | None:
    """99.9 % of the requests or transfers took no longer; needs 10,000 of them."""
    return percentile(latencies_ms(view), 999)


@of_flows("largest latency", "ms", best=Best.LOWEST)
def latency_max_ms(view: FlowsView) -> float | None:
    """Longest time that a request or transfer took."""
    values = latencies_ms(view)
    return float(values.max()) if values.size else None


def completions(view: FlowsView) -> pl.DataFrame:
    """Return ``bytes``, ``latency_ms`` and ``slowdown`` of each request or transfer.

    The slow-down is the latency divided by that over an empty path. An empty path takes one
    round-trip time of propagation, and the serialisation of all packets, with headers, at its
    slowest link. A rate that changes counts as its mean. Windows cost nothing there.
    """
    rows = view.once(finished).select("flow", "bytes", "latency_ns").cast(pl.Float64)
    paths = [
        {"flow": float(number), **_empty_path(view.run.scenario, view.run.scenario.flows[number])}
        for number in rows["flow"].cast(pl.Int64).unique()
    ]
    if not paths:
        return pl.DataFrame(schema=_COMPLETIONS)
    packets = (pl.col("bytes") / pl.col("payload_bytes")).ceil()
    wire_bytes = pl.col("bytes") + packets * pl.col("header_bytes")
    # Completion times over those of an empty path, as in pFabric (Alizadeh et al. 2013).
    ideal_ns = pl.col("rtt_ns") + wire_bytes * pl.col("ns_per_byte")
    joined = rows.join(pl.DataFrame(paths), on="flow", maintain_order="left")
    return joined.select(
        "bytes",
        latency_ms=pl.col("latency_ns") / _NS_PER_MS,
        slowdown=pl.col("latency_ns") / ideal_ns,
    )


_COMPLETIONS: Final = dict.fromkeys(("bytes", "latency_ms", "slowdown"), pl.Float64)


def _slowdowns(view: FlowsView) -> Values:
    return view.once(completions)["slowdown"].to_numpy()


def _empty_path(scenario: Scenario, flow: contract.Flow) -> dict[str, float]:
    """Return what an empty path does to packets of a connection; headers are those of the link."""
    slowest = facts.slowest_link(scenario, flow)
    rate_bps, overhead_bytes = (math.inf, 0) if slowest is None else slowest
    return {
        "rtt_ns": float(facts.base_rtt_ns(scenario, flow)),
        "ns_per_byte": 8 * NS_PER_S / rate_bps,
        "payload_bytes": float(flow.packet_bytes - flow.header_bytes),
        "header_bytes": float(flow.header_bytes + overhead_bytes),
    }


@of_flows("mean slow-down", best=Best.LOWEST)
def slowdown_mean(view: FlowsView) -> float | None:
    """Mean slow-down of requests or transfers, compared with an empty path."""
    values = view.once(_slowdowns)
    return float(values.mean()) if values.size else None


@of_flows("median slow-down", best=Best.LOWEST)
def slowdown_p50(view: FlowsView) -> float | None:
    """Median slow-down of requests or transfers, compared with an empty path."""
    return percentile(view.once(_slowdowns), 500)


@of_flows("99 % slow-down", best=Best.LOWEST)
def slowdown_p99(view: FlowsView) -> float | None:
    """99 % of the requests or transfers had no larger slow-down."""
    return percentile(view.once(_slowdowns), 990)
