"""A path like the one that was measured: rate, base RTT, buffer and loss, to start from.

What is fitted is what the flows themselves show, so each value says what it rests on. A path that
they never filled has at least this rate; a queue that they never overran holds at least this much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.measured.measurement import MeasuredFlow, Measurement, algorithm_of
from dumbbell.units import NS_PER_S, format_rate, format_time, parse_rate, parse_time

_DIGITS: Final = 3
"""Of a fitted rate."""

PACKET_BYTES: Final = 1500
_MSS_BYTES: Final = 1448
_WINDOW_S: Final = 1.0
_RTTS: Final = 10
"""Goodput in a window of a second, or of so many round trips, is a path's rate, ..."""

_STEADY: Final = 0.9
"""... as the quantile of the windows: single ones also hold what had been waiting."""

_IS_QUEUE: Final = 0.1
"""A queue that makes the RTT longer by more than this share of it is one that fills."""

_QUEUE_MS: Final = 1.0
_QUEUE_MIN: Final = 10
"""Packets: TCP sends as many at once."""

_FULL: Final = 0.99
"""Quantile of the RTTs at which the buffer is full: a longer one may be the hosts'."""


@dataclass(frozen=True)
class Fitted:
    """One value of a path, as scenario files write it, and what it rests on."""

    value: str
    why: str


@dataclass(frozen=True)
class Path:
    """A path: what of it was fitted, and what was given."""

    rate: Fitted
    rtt: Fitted
    queue: Fitted
    loss: Fitted

    def rows(self) -> list[tuple[str, str, str]]:
        """Return name, value and reason of each."""
        return [(name, fitted.value, fitted.why) for name, fitted in vars(self).items()]


def path(measured: Measurement, given: Mapping[str, str]) -> Path:
    """Fit a path; values that are `given`, by the names of its fields, stay as they are.

    Raises InputError if the file has no RTT and none is given.
    """
    known = {name: Fitted(value, "given") for name, value in given.items()}
    least_ms = [flow.rtt_min_ms for flow in measured.flows if flow.rtt_min_ms is not None]
    if "rtt" in given:
        base_ms = parse_time(given["rtt"]) / 1e6
    elif least_ms:
        base_ms = min(least_ms)
    else:
        raise InputError(
            "no RTT is in the file",
            source=str(measured.file),
            valid="the sender's side of the test; or --rtt, of the path while nothing waits",
        )
    full_ms = [found for flow in measured.flows if (found := flow.rtt_quantile_ms(_FULL))]
    queueing_ms = max(max(full_ms) - base_ms, 0.0) if full_ms else None
    fills = queueing_ms is not None and queueing_ms > max(_QUEUE_MS, _IS_QUEUE * base_ms)
    share = _retransmitted_share(measured.flows)
    rate = known.get("rate") or _rate(measured, base_ms / 1000, fills or bool(share))
    return Path(
        rate=rate,
        rtt=known.get("rtt") or _rtt(base_ms, parse_rate(rate.value)),
        queue=known.get("queue") or _queue(queueing_ms, parse_rate(rate.value), fills, share),
        loss=known.get("loss") or _loss(fills, share),
    )


def _rate(measured: Measurement, base_s: float, is_filled: bool) -> Fitted:
    """Fit the rate on the wire with which the flows go where they are fastest."""
    total = measured.total
    step_s = interval_ms(measured) / 1000
    samples = max(1, math.ceil(max(_WINDOW_S, _RTTS * base_s) / step_s))
    windows = total["goodput_mbit_per_s"].rolling_mean(min(samples, len(total))).drop_nulls()
    goodput = windows.quantile(_STEADY, "linear") or 0.0
    if goodput <= 0:
        raise InputError("no flow has a goodput above zero", source=str(measured.file))
    sizes = [flow.mss_bytes for flow in measured.flows if flow.mss_bytes is not None]
    mss_bytes = min(max(sizes, default=_MSS_BYTES), _MSS_BYTES)
    wire_bps = goodput * 1e6 * (mss_bytes + PACKET_BYTES - _MSS_BYTES) / mss_bytes
    rounded_bps = round(wire_bps, _DIGITS - math.ceil(math.log10(wire_bps)))
    why = f"{_STEADY:.0%} quantile of the goodput of all flows in windows, with headers"
    if not is_filled:
        why += "; nothing shows that they filled the path, so it may be more"
    return Fitted(format_rate(round(rounded_bps)), why)


def _rtt(shortest_ms: float, rate_bps: int) -> Fitted:
    packet_ns = 8 * PACKET_BYTES * NS_PER_S / rate_bps
    base_ns = max(round(shortest_ms * 1e6 - packet_ns), 1)
    microseconds = round(base_ns, -3) or base_ns
    return Fitted(format_time(microseconds), "the shortest RTT, less a packet's time at this rate")


def _retransmitted_share(flows: Sequence[MeasuredFlow]) -> float | None:
    told = [flow for flow in flows if flow.retransmitted is not None and flow.segments]
    segments = sum(flow.segments or 0 for flow in told)
    return sum(flow.retransmitted or 0 for flow in told) / segments if segments else None


def _queue(queueing_ms: float | None, rate_bps: int, fills: bool, share: float | None) -> Fitted:
    if queueing_ms is None:
        return Fitted("1bdp", "no RTTs tell it, so it is a guess")
    packets = round(queueing_ms / 1000 * rate_bps / (8 * PACKET_BYTES))
    why = f"{queueing_ms:.3g} ms between the shortest RTT and the {_FULL:.0%} quantile"
    if not fills:
        why += ": hardly any queue was seen, so it may be more"
    elif share is None:
        why += "; whether it overflowed is not in the file"
    elif not share:
        why += "; nothing was lost, so it may be more"
    return Fitted(f"{max(packets, _QUEUE_MIN)}p", why)


def _loss(fills: bool, share: float | None) -> Fitted:
    if not share:
        reason = (
            "retransmissions are not in the file" if share is None else "nothing was sent again"
        )
        return Fitted("0", reason)
    if fills:
        return Fitted("0", f"{share:.2g} of the segments were sent again; a full queue explains it")
    return Fitted(f"{share:.2g}", "segments that were sent again while hardly anything waited")


def scenario(measured: Measurement, fitted: Path, algorithm: str | None) -> dict[str, Any]:
    """Return the scenario file of the fitted path with the flows that were measured."""
    network: dict[str, Any] = {
        "rate": fitted.rate.value,
        "rtt": fitted.rtt.value,
        "queue": fitted.queue.value,
    }
    if fitted.loss.value != "0":
        network["loss"] = [{"place": "bottleneck", "probability": fitted.loss.value}]
    flows = [_flow(flow, measured, algorithm) for flow in measured.flows]
    return {
        "title": f"Like {measured.file.name}",
        "duration": f"{math.ceil(measured.duration_s * 10) / 10:g}s",
        "network": network,
        "flow": flows,
        "record": {
            "interval": f"{interval_ms(measured)}ms",
            "events": ["congestion", "retransmit"],
        },
    }


def interval_ms(measured: Measurement) -> int:
    """Return the interval at which the simulated flows are sampled: like the measured ones."""
    times = max((flow.samples["time_s"] for flow in measured.flows), key=len)
    if len(times) < 2:
        return 100
    step = times.sort().diff().median()
    return max(1, round(1000 * step)) if isinstance(step, float) else 100


def _flow(flow: MeasuredFlow, measured: Measurement, algorithm: str | None) -> dict[str, Any]:
    content: dict[str, Any] = {
        "algorithm": algorithm_of(flow, algorithm, str(measured.file)),
        "label": flow.label,
    }
    if flow.start_s > 0.05:
        content["start"] = f"{flow.start_s:.3f}s"
    if measured.duration_s - flow.end_s > 1:
        content["stop"] = f"{flow.end_s:.3f}s"
    return content
