"""Responsiveness under load, in round trips per minute (RPM).

draft-ietf-ippm-responsiveness-09, section 5.3.1.1, has probes on new connections (foreign) and on
the connections that make the load. TM is the trimmed mean, in ms: it leaves out the longest 5 %.

    Foreign_Responsiveness = 60000 / ((TM(tcp_f) + TM(tls_f) + TM(http_f)) / 3)
    Loaded_Responsiveness  = 60000 / TM(http_l)
    Responsiveness         = (Foreign_Responsiveness + Loaded_Responsiveness) / 2

Interpretation: the flows of the scenario are the load, and the window replaces the draft's last
four seconds. The handshakes of TCP and TLS and a small request take one round trip each. So
requests of one packet represent all three, in flows that send nothing else. For connections that
make the load, the latest round-trip time at each sample counts. It does not include time in the
buffer of the sending host, in which the draft's probe waits. If a run has only one of the two
kinds, its responsiveness is that of this kind.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from dumbbell.quantities import latency
from dumbbell.quantities.counters import Values
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.subjects import Flow
from dumbbell.quantities.view import FlowsView, known

_KEPT: Final = 0.95
_MS_PER_MINUTE: Final = 60_000
_US_PER_MS: Final = 1000


def trimmed_mean(values: Values) -> float | None:
    """Return the mean without the largest 5 %, by nearest rank; None without values."""
    kept = np.sort(values)[: math.ceil(_KEPT * values.size)]
    return float(kept.mean()) if kept.size else None


def is_probe(flow: Flow) -> bool:
    """Return True if a flow sends requests that fit into a packet."""
    payload_bytes = flow.first.packet_bytes - flow.first.header_bytes
    return flow.request_bytes is not None and flow.request_bytes <= payload_bytes


@of_flows("round trip of probes", "ms", best=Best.LOWEST)
def foreign_rtt_ms(view: FlowsView) -> float | None:
    """Mean latency of requests of one packet, without the longest 5 %."""
    probes = replace(view, flows=tuple(filter(is_probe, view.flows)))
    return trimmed_mean(latency.latencies_ms(probes)) if probes.flows else None


@of_flows("round trip of the load", "ms", best=Best.LOWEST)
def loaded_rtt_ms(view: FlowsView) -> float | None:
    """Mean RTT at the samples of flows that always have data, without the longest 5 %."""
    rtts_us = [np.empty(0)]
    for flow in view.flows:
        if flow.is_greedy:
            rtts_us += replace(view, flows=(flow,)).samples("rtt_us").values()
    return trimmed_mean(np.concatenate(rtts_us) / _US_PER_MS)


@of_flows("responsiveness", "rpm", best=Best.HIGHEST)
def responsiveness_rpm(view: FlowsView) -> float | None:
    """Round trips per minute under load: the mean of that of probes and that of the load."""
    round_trips_ms = known([foreign_rtt_ms(view), loaded_rtt_ms(view)])
    # The draft averages round trips per minute, not times: the mean of the inverses.
    return (
        sum(_MS_PER_MINUTE / round_trip_ms for round_trip_ms in round_trips_ms)
        / len(round_trips_ms)
        if round_trips_ms
        else None
    )
