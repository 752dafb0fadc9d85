"""Invariants of every run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import polars as pl

from chance import Chance
from dumbbell.contract.scenario import Classes, Flow, GilbertElliott, LinkConfig, Route, Scripted
from dumbbell.contract.summary import FlowSummary, QueueSummary
from dumbbell.engines.result import Run
from dumbbell.plan.windows import BUILT_IN
from dumbbell.quantities.rates import utilisation
from dumbbell.quantities.view import view_of
from dumbbell.scenario import facts

S = 10**9
WINDOW_MAX = 2**28

RTT_MAX_US = 2**31 - 1
"""More no sender measures, as in Linux: it is 36 minutes."""


def assert_possible(run: Run) -> None:
    """Check what no run may break.

    Packets are conserved at flows and queues. Links carry what they can at most, queues hold what
    they may, and losses are within chance. Nothing arrives before it was sent, windows have room
    for a segment, and counters only rise.
    """
    for flow, summary in zip(run.scenario.flows, run.summary.flows, strict=True):
        _assert_conserved(summary)
        _assert_delayed(run, flow, summary)
        _assert_lost_by_chance(run, flow, summary)
    for link, queue in zip(facts.sampled_links(run.scenario), run.summary.queues, strict=True):
        assert link.name == queue.name
        _assert_carried(run, link, queue)
        _assert_fits(run, link, queue)
        _assert_link_loses_by_chance(link, queue)
    _assert_used_at_most_fully(run)
    _assert_goodputs(run)
    if run.scenario.record.interval_ns is not None:
        _assert_samples(run)


def _assert_conserved(flow: FlowSummary) -> None:
    assert flow.sent_segs + flow.duplicated_packets == (
        flow.received_packets + flow.dropped_packets + flow.lost_packets + flow.in_flight_packets
    ), flow
    assert flow.retransmitted_segs <= flow.sent_segs, flow
    if flow.algorithm is not None:
        # Copies of datagrams count.
        assert flow.acked_bytes <= flow.received_bytes <= flow.sent_bytes, flow


def _assert_delayed(run: Run, flow: Flow, summary: FlowSummary) -> None:
    there_ns, back_ns = _least_ns(run, flow.forward), _least_ns(run, flow.reverse)
    if summary.rtt_min_us is not None:
        # Hosts count whole microseconds.
        base_us = (there_ns + back_ns) // 1000
        assert summary.rtt_min_us >= min(base_us, RTT_MAX_US), (summary, base_us)
    if summary.delay is not None:
        assert summary.delay.min_ns >= there_ns, summary


def _least_ns(run: Run, route: Route) -> int:
    """Return the shortest time that a route takes, whenever it is taken."""
    links = (run.scenario.links[hop.link] for hop in route.hops)
    return (
        route.delay_ns
        + sum(hop.delay_ns for hop in route.hops)
        + sum(min(delay_ns for _, delay_ns in link.delay) for link in links)
    )


def _assert_lost_by_chance(run: Run, flow: Flow, summary: FlowSummary) -> None:
    passed = [hop.link for hop in flow.forward.hops]
    losses = [loss for link in passed for loss in run.scenario.links[link].loss]
    chosen = sum(
        drop.times
        for loss in losses
        if isinstance(loss, Scripted)
        for drop in loss.drops
        if drop.flow == summary.flow
    )
    random = [loss for loss in losses if not isinstance(loss, Scripted)]
    if any(isinstance(loss, GilbertElliott) for loss in random) and len(run.scenario.flows) > 1:
        # Bursts are the link's: which flow meets them is no chance of its own.
        return
    sent = summary.sent_segs + summary.duplicated_packets
    # A copy is of a packet that may have met its loss before.
    passed_all = max(
        0, summary.received_packets + summary.lost_packets - summary.duplicated_packets
    )
    chance = Chance.of(random)
    assert chance.allows_so_few(summary.lost_packets, passed_all), (chance, summary)
    assert chance.allows_so_many(max(0, summary.lost_packets - chosen), sent), (chance, summary)


def _assert_link_loses_by_chance(link: LinkConfig, queue: QueueSummary) -> None:
    if any(isinstance(loss, Scripted) for loss in link.loss):
        return
    # What a policer drops meets no loss.
    least = queue.arrived_packets - (queue.dropped_packets if link.policer else 0)
    chance = Chance.of(link.loss)
    assert chance.allows_so_few(queue.lost_packets, least), (chance, queue)
    assert chance.allows_so_many(queue.lost_packets, queue.arrived_packets), (chance, queue)


def _assert_carried(run: Run, link: LinkConfig, queue: QueueSummary) -> None:
    assert queue.arrived_packets + queue.duplicated_packets == (
        queue.departed_packets + queue.dropped_packets + queue.lost_packets + queue.backlog_packets
    ), queue
    rate_bps = facts.mean_rate_bps(link, 0, run.summary.duration_ns)
    if rate_bps is not None:
        seconds = run.summary.duration_ns / S
        most = rate_bps * seconds + 8 * _at_once(run, link)
        assert 8 * queue.departed_bytes <= most, queue


def _assert_used_at_most_fully(run: Run) -> None:
    """Check in every window that each link sends what it can at most, and is used no more."""
    view = view_of(run)
    for link, window in itertools.product(facts.sampled_links(run.scenario), BUILT_IN):
        seen = view.of_queue(link.name, window)
        sent_bytes = None if seen is None else seen.grown("departed_bytes")
        if seen is None or sent_bytes is None or not seen.rate_bps:
            continue
        most = seen.rate_bps * seen.span.seconds + 8 * _at_once(run, link)
        assert 8 * sent_bytes <= most, (link, window)
        used = utilisation(seen)
        assert used is not None
        assert 0 <= used <= 1, (link, window, used)


def _assert_fits(run: Run, link: LinkConfig, queue: QueueSummary) -> None:
    limit = link.queue.limit
    if limit is None:
        return
    queues = _classes(link.queue.discipline) if isinstance(link.queue.discipline, Classes) else 1
    if limit.packets is not None:
        # One more is being sent.
        assert queue.backlog_packets_max <= queues * limit.packets + 1, (queue, link.queue)
    if limit.bytes is not None and run.scenario.record.interval_ns is not None:
        number = facts.sampled_links(run.scenario).index(link)
        samples = run.scan("queues", named=False).filter(pl.col("queue") == number)
        most = samples.select(pl.col("backlog_bytes").max()).collect().item() or 0
        assert most <= queues * limit.bytes + _packet_bytes(run, link), (queue, link.queue)


def _classes(discipline: Classes) -> int:
    turns, precedence = discipline.serve.round_robin, discipline.serve.priority
    if turns is not None:
        return len(turns.weights)
    assert precedence is not None
    return precedence.classes


def _packet_bytes(run: Run, link: LinkConfig) -> int:
    """Return what the largest packet occupies on a link."""
    return max(flow.packet_bytes for flow in run.scenario.flows) + link.overhead_bytes


def _at_once(run: Run, link: LinkConfig) -> int:
    """Return what may have begun before: a packet, or the tokens of a full bucket."""
    bucket = link.rate and link.rate.token_bucket
    return (bucket.burst_bytes if bucket else 0) + _packet_bytes(run, link)


def _assert_goodputs(run: Run) -> None:
    for flow, summary in zip(run.scenario.flows, run.summary.flows, strict=True):
        for link in _bounding(run, flow):
            rate_bps = facts.mean_rate_bps(link, flow.start_ns, run.summary.duration_ns)
            if rate_bps is not None:
                seconds = (run.summary.duration_ns - flow.start_ns) / S
                allowed = rate_bps * seconds + 8 * _at_once(run, link)
                assert 8 * summary.received_bytes <= allowed, (summary.label, link.name)


def _bounding(run: Run, flow: Flow) -> Iterator[LinkConfig]:
    """Yield the links that a flow cannot be faster than, the last one first.

    Packets that a later link doubles have not passed the earlier ones twice; TCP counts them once.
    """
    for hop in reversed(flow.forward.hops):
        link = run.scenario.links[hop.link]
        yield link
        if link.duplicate and flow.transport.udp is not None:
            return


COUNTERS = ("sent_segs", "retransmitted_segs", "acked_bytes", "received_bytes")


def _assert_samples(run: Run) -> None:
    falls = [pl.col(name).cast(pl.Int64).diff().over("flow").min() < 0 for name in COUNTERS]
    samples = run.scan("flows", named=False).select(
        (pl.col("cwnd_segs").min() < 1).alias("no window"),
        (pl.col("cwnd_segs").max() >= WINDOW_MAX).alias("endless window"),
        (pl.col("ssthresh_segs").min() < 1).alias("no threshold"),
        (~pl.col("time_ns").is_sorted()).alias("time that goes back"),
        pl.any_horizontal(falls).alias("a counter that falls"),
    )
    (row,) = samples.collect().to_dicts()
    assert not any(row.values()), row
