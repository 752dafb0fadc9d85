"""Queueing delays of single packets, if they are recorded (`record.delays`).

The queueing delay of a packet is the time from its arrival at the link to the beginning of its
transmission. Delays are counted in buckets less than 1 % wide, so percentiles and means are
accurate to 0.5 %. A window counts only the periods that lie completely inside it.

For a flow, the queue is that of the slowest recorded link on the path of its data. Only packets
with the flow's data count there. Flows without samples have no value.
"""

from __future__ import annotations

import numpy as np

from dumbbell.quantities import histograms
from dumbbell.quantities.histograms import Histogram
from dumbbell.quantities.registry import DELAYS, Best, of_flows, of_queue
from dumbbell.quantities.view import FlowsView, QueueView
from dumbbell.scenario import facts


def _of_queue(view: QueueView) -> Histogram | None:
    return histograms.waiting(view.run, view.span, view.number)


def _percentile_of_queue(view: QueueView, per_mille: int) -> float | None:
    histogram = _of_queue(view)
    return None if histogram is None else histogram.percentile_ms(per_mille)


@of_queue("median queueing delay of packets", "ms", best=Best.LOWEST, needs=DELAYS)
def packet_queueing_delay_p50_ms(view: QueueView) -> float | None:
    """Median of the packets' queueing delays."""
    return _percentile_of_queue(view, 500)


@of_queue("95 % of packets' queueing delays", "ms", best=Best.LOWEST, needs=DELAYS)
def packet_queueing_delay_p95_ms(view: QueueView) -> float | None:
    """95 % of the packets waited no longer."""
    return _percentile_of_queue(view, 950)


@of_queue("99 % of packets' queueing delays", "ms", best=Best.LOWEST, needs=DELAYS)
def packet_queueing_delay_p99_ms(view: QueueView) -> float | None:
    """99 % of the packets waited no longer."""
    return _percentile_of_queue(view, 990)


@of_queue("99.9 % of packets' queueing delays", "ms", best=Best.LOWEST, needs=DELAYS)
def packet_queueing_delay_p999_ms(view: QueueView) -> float | None:
    """99.9 % of the packets waited no longer."""
    return _percentile_of_queue(view, 999)


@of_queue("largest queueing delay of a packet", "ms", best=Best.LOWEST, needs=DELAYS)
def packet_queueing_delay_max_ms(view: QueueView) -> float | None:
    """Longest wait of a packet, within 0.5 %."""
    histogram = _of_queue(view)
    return None if histogram is None else histogram.max_ms()


def _of_flows(view: FlowsView) -> Histogram | None:
    """Return how long the data of the flows waited, those of each at its own bottleneck."""
    scenario = view.run.scenario
    at: dict[int, list[int]] = {}
    for flow in view.flows:
        queue = facts.bottleneck(scenario, flow.first)
        # Data of flows without samples is counted together, so that of one is not known.
        if queue is None or not flow.first.sampled:
            return None
        at.setdefault(queue, []).extend(flow.connections)
    parts = [
        histograms.waiting(view.run, view.span, queue, connections)
        for queue, connections in at.items()
    ]
    known = [part for part in parts if part is not None]
    return _together(known) if known else None


def _together(parts: list[Histogram]) -> Histogram:
    delays_ms, places = np.unique(
        np.concatenate([part.delays_ms for part in parts]), return_inverse=True
    )
    packets = np.zeros(delays_ms.size, dtype=np.int64)
    # `packets[places] +=` would count a place once, however often it occurs.
    np.add.at(packets, places, np.concatenate([part.packets for part in parts]))
    return Histogram(delays_ms, packets)


def _percentile_of_flows(view: FlowsView, per_mille: int) -> float | None:
    histogram = view.once(_of_flows)
    return None if histogram is None else histogram.percentile_ms(per_mille)


@of_flows("queueing delay of the data", "ms", best=Best.LOWEST, needs=DELAYS)
def flow_queueing_delay_mean_ms(view: FlowsView) -> float | None:
    """Mean queueing delay of the packets with the flows' data."""
    histogram = view.once(_of_flows)
    return None if histogram is None else histogram.mean_ms()


@of_flows("median queueing delay of the data", "ms", best=Best.LOWEST, needs=DELAYS)
def flow_queueing_delay_p50_ms(view: FlowsView) -> float | None:
    """Median queueing delay of the packets with the flows' data."""
    return _percentile_of_flows(view, 500)


@of_flows("95 % of the data's queueing delays", "ms", best=Best.LOWEST, needs=DELAYS)
def flow_queueing_delay_p95_ms(view: FlowsView) -> float | None:
    """95 % of the packets with the flows' data waited no longer."""
    return _percentile_of_flows(view, 950)


@of_flows("99 % of the data's queueing delays", "ms", best=Best.LOWEST, needs=DELAYS)
def flow_queueing_delay_p99_ms(view: FlowsView) -> float | None:
    """99 % of the packets with the flows' data waited no longer."""
    return _percentile_of_flows(view, 990)
