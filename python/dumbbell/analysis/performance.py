"""Efficiency and performance as Mani and Mbarek 2012 define them, and which flow is ahead.

Section 2.3: a flow's average rate q_i, the mean Q of all n flows, and the efficiency E = Q/Q_opt,
where Q_opt is what an ideal network gives each of them. Section 2.4: the fairness F is Jain's index
of x_i/x_opt, which is that of the x_i, as all x_opt are equal. Section 2.5: the performance is
alpha E + (1 - alpha) F.

Interpretation: q_i is goodput. Throughput counts what the queue dropped and what was sent again,
so that with it a wasteful algorithm would come out as more efficient than an ideal network. Q_opt
then is the payload that the bottleneck carries when it never idles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from dumbbell.analysis.window import Counters, Sampled, Window
from dumbbell.scenario import facts

WEIGHTS: Final[Mapping[str, float]] = {
    "performance_efficient": 0.8,
    "performance_balanced": 0.5,
    "performance_fair": 0.2,
}
"""The three alphas of Fig. 6: for a network rather efficient, balanced, rather fair."""

DESCRIBED: Final = (
    ("efficiency", "", "mean goodput of the flows / what an ideal bottleneck gives each"),
    *(
        (name, "", f"{weight:g} efficiency + {1 - weight:g} jain")
        for name, weight in WEIGHTS.items()
    ),
    ("share_max", "", "largest share of a flow of the throughput of all sampled flows"),
    ("leader_kept", "", "1 if one flow sent most in both halves of the window, else 0"),
    (
        "cut_per_resent",
        "",
        "segments of window given up per segment sent again, over the last half of the window",
    ),
)
"""Name, unit and meaning of each metric."""

_RECOVERY_EVENTS: Final = ("congestion", "retransmit", "timeout", "recovered")


def efficiency(total_mbit: float, rate_mbit: float, flows: float = 1) -> float:
    """Return E = Q/Q_opt of flows that achieve a total where the bottleneck allows a rate."""
    mean_mbit, optimum_mbit = total_mbit / flows, rate_mbit / flows
    return mean_mbit / optimum_mbit


def performance(efficiency: float, fairness: float, weight: float) -> float:
    """Return the weighted sum of efficiency and fairness; `weight` is alpha."""
    return weight * efficiency + (1 - weight) * fairness


def of_run(sampled: Sampled, fairness: float | None) -> Iterator[tuple[str, float | None]]:
    """Yield the metrics of a run, given Jain's index of its throughputs."""
    window = sampled.window
    efficient = None if window is None else _efficiency(sampled, window)
    yield "efficiency", efficient
    for name, weight in WEIGHTS.items():
        if efficient is None or fairness is None:
            yield name, None
        else:
            yield name, performance(efficient, fairness, weight)
    sent = [] if window is None else _sent_bytes(sampled, window.start_ns, window.end_ns)
    yield "share_max", max(sent) / sum(sent) if sum(sent) else None
    yield "leader_kept", None if window is None else _leader_kept(sampled, window)
    yield "cut_per_resent", _cut_per_resent(sampled)


def _measured(sampled: Sampled) -> list[tuple[Counters, dict[str, Any]]]:
    """Return the flows of which there are samples."""
    both = zip(sampled.flow_counters, sampled.flows, strict=True)
    return [(counters, flow) for counters, flow in both if counters is not None]


def _efficiency(sampled: Sampled, window: Window) -> float | None:
    rate_bps = facts.bottleneck_rate_bps(sampled.scenario, window.start_ns, window.end_ns)
    number = facts.bottleneck(sampled.scenario)
    measured = _measured(sampled)
    if not rate_bps or number is None or not measured:
        return None
    overhead_bytes = facts.sampled_links(sampled.scenario)[number]["overhead_bytes"]
    payload = np.mean(
        [
            (flow["packet_bytes"] - flow["header_bytes"]) / (flow["packet_bytes"] + overhead_bytes)
            for _, flow in measured
        ]
    )
    received_bytes = sum(
        counters.between("received_bytes", window.start_ns, window.end_ns)
        for counters, _ in measured
    )
    total_bps = 8 * received_bytes / window.seconds
    return efficiency(total_bps, float(rate_bps * payload), len(measured))


def _sent_bytes(sampled: Sampled, start_ns: int, end_ns: int) -> list[float]:
    """Return what each flow sent, headers included, as in throughputs."""
    return [
        counters.between("sent_bytes", start_ns, end_ns)
        + counters.between("sent_segs", start_ns, end_ns) * flow["header_bytes"]
        for counters, flow in _measured(sampled)
    ]


def _leader_kept(sampled: Sampled, window: Window) -> float | None:
    middle_ns = (window.start_ns + window.end_ns) // 2
    early = _sent_bytes(sampled, window.start_ns, middle_ns)
    late = _sent_bytes(sampled, middle_ns, window.end_ns)
    if len(early) < 2 or not any(early) or not any(late):
        return None
    return float(early.index(max(early)) == late.index(max(late)))


def _cut_per_resent(sampled: Sampled) -> float | None:
    """Sum up the recoveries that begin and end in the last half, without those with timeouts."""
    window = sampled.settled
    if window is None or not set(_RECOVERY_EVENTS) <= set(sampled.scenario["record"]["events"]):
        return None
    events = (
        sampled.run.scan("events")
        .filter(
            pl.col("kind").is_in(_RECOVERY_EVENTS)
            & pl.col("time_ns").is_between(window.start_ns, window.end_ns)
        )
        .select("flow", pl.col("kind").cast(pl.String), "cwnd_segs", "ssthresh_segs")
        .collect()
    )
    given_up, resent = 0, 0
    for own in events.partition_by("flow"):
        for cut, again in _recoveries(own):
            given_up += cut
            resent += again
    return given_up / resent if resent else None


def _recoveries(events: pl.DataFrame) -> Iterator[tuple[int, int]]:
    """Yield the cut of each whole recovery of one flow and how many segments it sent again.

    The window before is told when it begins; what it is to be afterwards is the threshold when it
    ends, since some stacks leave the window below that at first.
    """
    before_segs: int | None = None
    resent = 0
    for _, kind, cwnd_segs, ssthresh_segs in events.iter_rows():
        if kind == "congestion":
            before_segs, resent = cwnd_segs, 0
        elif kind == "timeout":
            before_segs = None
        elif kind == "retransmit":
            resent += 1
        elif before_segs is not None:
            yield before_segs - ssthresh_segs, resent
            before_segs = None
