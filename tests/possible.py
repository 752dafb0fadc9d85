"""What holds for every run."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.contract.scenario import Flow, LinkConfig
from dumbbell.running.result import Run
from dumbbell.scenario import facts

S = 10**9


def assert_possible(run: Run) -> None:
    """Packets are conserved at flows and queues, and links carry what they can at most."""
    for flow in run.summary.flows:
        assert flow.sent_segs + flow.duplicated_packets == (
            flow.received_packets
            + flow.dropped_packets
            + flow.lost_packets
            + flow.in_flight_packets
        ), flow
    for queue in run.summary.queues:
        assert queue.arrived_packets + queue.duplicated_packets == (
            queue.departed_packets
            + queue.dropped_packets
            + queue.lost_packets
            + queue.backlog_packets
        ), queue
    seconds = run.summary.duration_ns / S
    sampled = [link for link in run.scenario.links if link.sampled]
    for link, queue in zip(sampled, run.summary.queues, strict=True):
        assert link.name == queue.name
        rate_bps = facts.mean_rate_bps(link, 0, run.summary.duration_ns)
        if rate_bps is not None:
            assert 8 * queue.departed_bytes <= rate_bps * seconds + 8 * _at_once(link), queue
    _assert_goodputs(run)


def _at_once(link: LinkConfig) -> int:
    """Return what may have begun before: a packet, or the tokens of a full bucket."""
    bucket = link.rate and link.rate.token_bucket
    return (bucket.burst_bytes if bucket else 0) + 9100


def _assert_goodputs(run: Run) -> None:
    for flow, told in zip(run.scenario.flows, run.summary.flows, strict=True):
        for link in _bounding(run, flow):
            rate_bps = facts.mean_rate_bps(link, flow.start_ns, run.summary.duration_ns)
            if rate_bps is not None:
                seconds = (run.summary.duration_ns - flow.start_ns) / S
                allowed = rate_bps * seconds + 8 * _at_once(link)
                assert 8 * told.received_bytes <= allowed, (told.label, link.name)


def _bounding(run: Run, flow: Flow) -> Iterator[LinkConfig]:
    """Yield the links that a flow cannot be faster than, the last one first.

    What a later link doubles has not passed the earlier ones twice; TCP counts it once.
    """
    for hop in reversed(flow.forward.hops):
        link = run.scenario.links[hop.link]
        yield link
        if link.duplicate and flow.transport.udp is not None:
            return
