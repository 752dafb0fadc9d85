"""Losses, marks, retransmissions and reductions of the window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl

from dumbbell.contract.summary import FlowSummary
from dumbbell.quantities.rates import ratio
from dumbbell.quantities.registry import Best, of_flows, of_queue
from dumbbell.quantities.view import FlowsView, QueueView

_RECOVERY_EVENTS: Final = ("congestion", "retransmit", "timeout", "recovered")


def _counted(view: FlowsView, name: str) -> int:
    """Return what the summary of the run has counted of the flows."""
    return sum(getattr(flow, name) for flow in view.summaries)


@of_flows("retransmitted", best=Best.LOWEST, percent=True)
def retransmitted_share(view: FlowsView) -> float | None:
    """Retransmitted segments as a share of all sent segments."""
    return ratio(sum(view.grown("retransmitted_segs")), sum(view.grown("sent_segs")))


@of_flows("retransmitted segments", "segs", best=Best.LOWEST)
def retransmitted_segs(view: FlowsView) -> float | None:
    """Retransmitted segments."""
    grown = view.grown("retransmitted_segs")
    return sum(grown) if grown else None


@of_flows("timeouts", best=Best.LOWEST)
def timeouts(view: FlowsView) -> float | None:
    """Retransmission timeouts; a part of a run needs recorded events of kind `timeout`."""
    if view.whole:
        return float(_counted(view, "timeouts"))
    events = view.events("timeout")
    return None if events is None else float(events.height)


def _packets(view: FlowsView, name: str) -> float | None:
    """Return a share of the packets that the flows sent in the whole run."""

    def sent(flow: FlowSummary) -> int:
        # A duplicate may be dropped or marked as well, so it is one of the packets.
        return flow.sent_segs + flow.duplicated_packets

    return ratio(_counted(view, name), sum(map(sent, view.summaries))) if view.whole else None


@of_flows("dropped", best=Best.LOWEST, percent=True)
def dropped_share(view: FlowsView) -> float | None:
    """Share of the flows' packets that full queues refused; only for the whole run (`@run`)."""
    return _packets(view, "dropped_packets")


@of_flows("lost at random", percent=True)
def lost_share(view: FlowsView) -> float | None:
    """Share of the flows' packets that were lost at random; only for the whole run (`@run`)."""
    return _packets(view, "lost_packets")


@of_flows("marked", percent=True)
def marked_share(view: FlowsView) -> float | None:
    """Share of the flows' packets that arrived with a mark; only for the whole run (`@run`)."""
    return _packets(view, "marked_packets")


@of_flows("marks counted", percent=True)
def counted_marks(view: FlowsView) -> float | None:
    """Ratio of counted to arrived marks (Accurate ECN); only for the whole run (`@run`)."""
    flows = [flow for flow in view.summaries if flow.counted_marks is not None]
    counted = sum(flow.counted_marks or 0 for flow in flows)
    return ratio(counted, sum(flow.marked_packets for flow in flows)) if view.whole else None


@of_queue("drops", "packets", best=Best.LOWEST)
def dropped_packets(view: QueueView) -> float | None:
    """Packets that the full queue refused."""
    return view.grown("dropped_packets")


@of_queue("marks", "packets")
def marked_packets(view: QueueView) -> float | None:
    """Packets that the queue marked (ECN)."""
    return view.grown("marked_packets")


@of_flows("congestion events", "1/s", several=True)
def congestion_per_s(view: FlowsView) -> float | None:
    """Congestion events per second; reductions less than a round trip apart are one event."""
    reductions = view.once(_congestion)
    return None if reductions is None else len(np.unique(reductions[0])) / view.span.seconds


@of_flows("synchronisation", index=True)
def sync(view: FlowsView) -> float | None:
    """Share of all flows' congestion events in which at least one of these flows backed off."""
    reductions = view.everyone.once(_congestion)
    if reductions is None:
        return None
    events, flows = reductions
    backed_off = events[np.isin(flows, view.connections)]
    return ratio(float(len(np.unique(backed_off))), len(np.unique(events)))


def _congestion(view: FlowsView) -> tuple[np.ndarray, np.ndarray] | None:
    """Gather the flows' window reductions into congestion events of the network.

    Reductions belong to one event if they follow one another within a round-trip time. Returns the
    number of the event of each reduction, and its connection; None without a record of them.
    """
    cuts = view.events("congestion")
    if cuts is None:
        return None
    cuts = cuts.sort("time_ns")
    rtts_us = [summary.rtt_mean_us or 0 for summary in view.run.run.summary.flows]
    # Paths may differ in length. The longest RTT counts, so that one overflow is not two events.
    gaps_ns = np.diff(cuts["time_ns"].to_numpy(), prepend=0)
    return np.cumsum(gaps_ns > 1000 * max(rtts_us)), cuts["flow"].to_numpy()


@of_flows("cut per retransmission")
def cut_per_resent(view: FlowsView) -> float | None:
    """Reduction of the window per retransmitted segment, in recoveries without timeouts."""
    events = view.events(*_RECOVERY_EVENTS)
    if events is None:
        return None
    given_up, resent = 0, 0
    for events_of_flow in events.partition_by("flow"):
        for cut, again in _recoveries(events_of_flow):
            given_up += cut
            resent += again
    return given_up / resent if resent else None


def _recoveries(events: pl.DataFrame) -> Iterator[tuple[int, int]]:
    """Yield the cut of each whole recovery of one flow and how many segments it sent again.

    The window before is that at the beginning of the reduction. The window after is the threshold
    at its end, since some stacks leave the window below that at first.
    """
    before_segs: int | None = None
    resent = 0
    wanted = events.select(pl.col("kind").cast(pl.String), "cwnd_segs", "ssthresh_segs")
    for kind, cwnd_segs, ssthresh_segs in wanted.iter_rows():
        if kind == "congestion":
            before_segs, resent = cwnd_segs, 0
        # After a timeout the window starts again from 1, which says nothing of the reduction.
        elif kind == "timeout":
            before_segs = None
        elif kind == "retransmit":
            resent += 1
        elif before_segs is not None:
            yield before_segs - ssthresh_segs, resent
            before_segs = None
