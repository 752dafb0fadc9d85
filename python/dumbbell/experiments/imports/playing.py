"""The scenario of a fitted path: flows like the measured ones, with what limited them."""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl

from dumbbell.base.units import format_rate, parse_time
from dumbbell.experiments.imports import rates
from dumbbell.experiments.imports.fitting import PACKET_BYTES, Path, directions
from dumbbell.experiments.imports.limits import Limit
from dumbbell.experiments.imports.measurement import MeasuredFlow, Measurement, algorithm_of

_SEGMENT_BYTES: Final = 1448
_UDP_HEADER_BYTES: Final = 28
_BUFFER_MIN_BYTES: Final = 2304

_STEPS_MAX: Final = 100
"""Of an application's rate that changes."""

_SAMPLES_MAX: Final = 10_000
"""Of a simulated flow."""

_LATE_S: Final = 0.05
_EARLY_S: Final = 1.0
"""A flow that starts or ends by so much after or before the others has its time in the scenario."""

_OTHER_PATH: Final = 1.25
"""A flow whose shortest RTT is so many times the path's has a longer way, ..."""

_TOGETHER_S: Final = 1.0
"""... if it began together with the first, so that it had no longer queue in its way."""


def scenario(measured: Measurement, fitted: Path, algorithm: str | None) -> dict[str, Any]:
    """Return the scenario file of the fitted path with the flows that were measured."""
    network: dict[str, Any] = {
        "rate": fitted.rate.value,
        "rtt": fitted.rtt.value,
        "queue": fitted.queue.value,
    }
    if fitted.loss.value != "0":
        network["loss"] = [{"place": "bottleneck", "probability": fitted.loss.value}]
    if fitted.reverse_rate is not None and fitted.reverse_queue is not None:
        network["reverse"] = {
            "rate": fitted.reverse_rate.value,
            "queue": fitted.reverse_queue.value,
        }
    flows = [
        _flow(flow, limit, measured, fitted, algorithm)
        for flow, limit in zip(measured.flows, fitted.limits, strict=True)
    ]
    return {
        "title": f"Like {measured.file.name}",
        "duration": f"{max(math.ceil(measured.duration_s * 10), 1) / 10:g}s",
        "network": network,
        "flow": flows,
        "record": {
            "interval": f"{interval_ms(measured)}ms",
            "events": ["congestion", "retransmit"],
        },
    }


def interval_ms(measured: Measurement) -> int:
    """Return the interval at which the simulated flows are sampled: like the measured ones.

    Of a long measurement it is longer, so that a run has room for its samples.
    """
    step_s = max(min(map(rates.interval_s, measured.flows)), measured.duration_s / _SAMPLES_MAX)
    return max(1, round(1000 * step_s))


def _flow(
    flow: MeasuredFlow, limit: Limit, measured: Measurement, fitted: Path, algorithm: str | None
) -> dict[str, Any]:
    content: dict[str, Any] = {"label": flow.label}
    if flow.transport == "udp":
        content |= {"transport": "udp", **_datagrams(flow)}
    else:
        content |= {"algorithm": algorithm_of(flow, algorithm, str(measured.file))}
    if flow.direction == "reverse" and len(directions(measured)) > 1:
        content["direction"] = "reverse"
    if flow.start_s > _LATE_S:
        content["start"] = f"{flow.start_s:.3f}s"
    if measured.duration_s - flow.end_s > _EARLY_S:
        content["stop"] = f"{flow.end_s:.3f}s"
    if flow.transport == "tcp":
        content |= _limited(flow, limit) | _own_rtt(flow, measured, fitted)
    return content


def _datagrams(flow: MeasuredFlow) -> dict[str, Any]:
    payload = flow.mss_bytes or PACKET_BYTES - _UDP_HEADER_BYTES
    sent = flow.target_mbit_per_s or flow.goodput_mbit_per_s or 0.0
    packet = min(payload + _UDP_HEADER_BYTES, PACKET_BYTES)
    return {"rate": _rate(sent * packet / (packet - _UDP_HEADER_BYTES)), "packet": packet}


def _limited(flow: MeasuredFlow, limit: Limit) -> dict[str, Any]:
    """Return the limit in the words of a scenario; the path is none of a flow's own."""
    if limit.kind == "window" and limit.window_bytes is not None:
        segments = max(round(limit.window_bytes / _SEGMENT_BYTES), 1)
        size = max(segments * _SEGMENT_BYTES, _BUFFER_MIN_BYTES)
        return {"tcp_bpf": {"receive_buffer": f"{size}b"}}
    if limit.kind == "application":
        return {"workload": {"kind": "app-limited", "rate": _application(flow)}}
    return {}


def _application(flow: MeasuredFlow) -> str | list[dict[str, str]]:
    """Return the rate of an application: its target, or its goodput over time."""
    if flow.target_mbit_per_s is not None:
        return _rate(flow.target_mbit_per_s)
    samples = flow.samples.select("time_s", "goodput_mbit_per_s").drop_nulls().sort("time_s")
    # If there are fewer samples than steps, each sample is a step.
    part = pl.int_range(pl.len()) * _STEPS_MAX // pl.len().clip(_STEPS_MAX)
    means = samples.group_by(part.alias("part"), maintain_order=True).agg(
        pl.col("time_s").min(), pl.col("goodput_mbit_per_s").mean()
    )
    half_s = rates.interval_s(flow) / 2
    times_s = [max(time_s - half_s, 0.0) for time_s in means["time_s"]]
    return [
        {"at": f"{time_s:.3f}s" if number else "0s", "rate": _rate(rate)}
        for number, (time_s, rate) in enumerate(
            zip(times_s, means["goodput_mbit_per_s"], strict=True)
        )
    ]


def _own_rtt(flow: MeasuredFlow, measured: Measurement, fitted: Path) -> dict[str, Any]:
    """Return the RTT of a flow that has a longer way than the others."""
    base_ms = parse_time(fitted.rtt.value) / 1e6
    least_ms = flow.rtt_min_ms
    first_s = min(other.start_s for other in measured.flows)
    if fitted.rtt.why == "given" or least_ms is None or least_ms < _OTHER_PATH * base_ms + 1:
        return {}
    return {"rtt": f"{least_ms:.3f}ms"} if flow.start_s - first_s <= _TOGETHER_S else {}


def _rate(mbit_per_s: float) -> str:
    return format_rate(round(mbit_per_s * 1e6))
