"""Backlogs of queues.

For the whole run they are exact. For a part of it they are computed from samples.
"""

from __future__ import annotations

from dumbbell.quantities.registry import Best, of_queue
from dumbbell.quantities.view import QueueView


@of_queue("mean queue", "packets", best=Best.LOWEST)
def queue_mean_packets(view: QueueView) -> float | None:
    """Mean backlog in packets of full size; a part of a run includes the packet being sent."""
    packet_bytes = max(flow.packet_bytes for flow in view.run.scenario.flows)
    # Backlogs are of bytes on the wire.
    full_bytes = packet_bytes + view.link.overhead_bytes
    if view.whole:
        return view.summary.waiting_bytes_mean / full_bytes
    values = view.samples("backlog_bytes")
    return float(values.mean()) / full_bytes if values.size else None


@of_queue("largest queue", "packets", best=Best.LOWEST)
def queue_max_packets(view: QueueView) -> float | None:
    """Largest backlog, including the packet being sent."""
    if view.whole:
        return float(view.summary.backlog_packets_max)
    values = view.samples("backlog_packets")
    return float(values.max()) if values.size else None
