"""Sizes of runs, estimated from their scenarios."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from dumbbell.base.units import NS_PER_S
from dumbbell.contract.scenario import (
    Bernoulli,
    Demand,
    Flow,
    GilbertElliott,
    LinkConfig,
    LossConfig,
    Requests,
    Scenario,
    Udp,
)
from dumbbell.scenario import facts

OVERHEAD_PACKETS: Final = 100_000
"""Cost of a run besides its packets, counted in packets: 10 ms to begin, write and keep it."""

# Measured at 1 Tbit/s: what is under way of a flow that has overshot its path, and the same with
# 1,000 flows of some packets each.
_PACKET_BYTES: Final = 340
_FLOW_BYTES: Final = 24_000

_IN_FLIGHT_MAX: Final = 2**24
"""Segments that a flow has under way at most."""


def expected_packets(scenario: Scenario) -> float:
    """Return about how many packets a run takes.

    It is the number that flows have to send and the slowest link on their path can carry. If random
    losses allow only fewer, it is that number: under them a path of 10 Gbit/s may carry a
    thousandth of its rate. Datagrams count even where there is no room for them.
    """
    end_ns = scenario.duration_ns
    tcp: dict[int | None, float] = defaultdict(float)
    udp: dict[int | None, float] = defaultdict(float)
    udp_bits: dict[int | None, float] = defaultdict(float)
    size_bytes: dict[int | None, int] = {}
    slowest: dict[tuple[int, ...], int | None] = {}
    for flow in scenario.flows:
        # Thousands of flows take the same way, and the mean of a long trace is slow to compute.
        way = tuple(hop.link for hop in flow.forward.hops)
        if way not in slowest:
            slowest[way] = slowest_link(scenario, flow)
        link, packets = slowest[way], offered(scenario, flow, 0, end_ns)
        if flow.transport.udp is not None:
            udp[link] += packets
            udp_bits[link] += 8 * packets * flow.packet_bytes
        else:
            tcp[link] += min(packets, _unhindered(scenario, flow))
            size_bytes[link] = min(size_bytes.get(link, flow.packet_bytes), flow.packet_bytes)
    total = sum(udp.values())
    for link, packets in tcp.items():
        rate_bps = math.inf if link is None else link_rate_bps(scenario, link, 0, end_ns)
        # Datagrams do not yield, so TCP gets what they leave of the link.
        room_bits = max(0.0, rate_bps * end_ns / NS_PER_S - udp_bits[link])
        total += min(packets, room_bits / 8 / size_bytes[link])
    return total


def expected_work(scenario: Scenario) -> float:
    """Return about how much time a run takes, counted in packets."""
    return expected_packets(scenario) + OVERHEAD_PACKETS


def offered(scenario: Scenario, flow: Flow, start_ns: int, end_ns: int) -> float:
    """Return how many packets a flow has to send at most in a part of the run."""
    stop_ns = end_ns if flow.stop_ns is None else min(end_ns, flow.stop_ns)
    active_ns = max(0, stop_ns - max(start_ns, flow.start_ns))
    if flow.transport.udp is not None:
        bits_per_packet = 8 * flow.packet_bytes
        bits = _datagram_bits(flow.transport.udp, max(start_ns, flow.start_ns), stop_ns)
        return bits / bits_per_packet
    payload = flow.packet_bytes - flow.header_bytes
    match flow.transport.tcp and flow.transport.tcp.demand:
        case Demand(transfer=int(size)):
            return float(math.ceil(size / payload))
        case Demand(requests=Requests(bytes=size, pause_ns=pause_ns, period_ns=period_ns)):
            each_ns = max(1, facts.base_rtt_ns(scenario, flow) + pause_ns, period_ns or 0)
            return float(math.ceil(size / payload) * (1 + active_ns // each_ns))
    return math.inf


def _datagram_bits(udp: Udp, start_ns: int, stop_ns: int) -> float:
    """Return how much datagrams come to between two times."""
    steps = udp.changes_bps or ((0, udp.rate_bps),)
    ends = [at for at, _ in steps[1:]] + [max(stop_ns, steps[-1][0])]
    parts = (
        rate_bps * max(0, min(end, stop_ns) - max(at, start_ns))
        for (at, rate_bps), end in zip(steps, ends, strict=True)
    )
    return sum(parts) / NS_PER_S


def link_rate_bps(scenario: Scenario, link: int, start_ns: int, end_ns: int) -> float:
    """Return the mean rate of a link over a part of a run; infinity: it has none."""
    rate_bps = facts.mean_rate_bps(scenario.links[link], start_ns, end_ns)
    return math.inf if rate_bps is None else rate_bps


def slowest_link(scenario: Scenario, flow: Flow) -> int | None:
    """Return the slowest link that a flow's data passes, or None if none has a rate."""
    rates = {
        hop.link: link_rate_bps(scenario, hop.link, 0, scenario.duration_ns)
        for hop in flow.forward.hops
    }
    slowest = min(rates, key=rates.__getitem__)
    return None if math.isinf(rates[slowest]) else slowest


def _unhindered(scenario: Scenario, flow: Flow) -> float:
    """Return the packets of a flow if nothing but random losses and its window limited it.

    Algorithms differ widely there. The response function of HighSpeed TCP, which lies between those
    of standard and of Scalable TCP, serves for all: w = 0.12 / p^0.835 (RFC 3649, section 5).
    """
    links = (scenario.links[hop.link] for hop in flow.forward.hops)
    p = sum(_loss(link, scenario.duration_ns) for link in links if link.loss)
    window = max(1.0, 0.12 / min(p, 1.0) ** 0.835) if p > 0 else math.inf
    rtt_ns = max(1, facts.base_rtt_ns(scenario, flow))
    return min(window, _IN_FLIGHT_MAX) * scenario.duration_ns / rtt_ns


def _loss(link: LinkConfig, duration_ns: int) -> float:
    """Return the share of packets that a link loses at random, in the mean."""
    return sum(_share(loss, duration_ns) for loss in link.loss)


def _share(loss: LossConfig, duration_ns: int) -> float:
    match loss:
        case Bernoulli(probability=steps):
            ends_ns = [*(at for at, _ in steps[1:]), duration_ns]
            lost = (
                p * max(0, min(until, duration_ns) - at)
                for (at, p), until in zip(steps, ends_ns, strict=True)
            )
            return sum(lost) / duration_ns
        case GilbertElliott():
            # The share of time that a chain of two states spends in the bad one.
            bad = loss.to_bad / (loss.to_bad + loss.to_good)
            return (1 - bad) * loss.loss_good + bad * loss.loss_bad
        case _:
            return 0.0


def expected_bytes(scenario: Scenario, packets: float) -> float:
    """Return about how much memory a run of so many packets takes at most.

    It counts the packets between hosts and in queues: a bandwidth-delay product and a queue of each
    link. It is never more than all packets, or than windows allow.
    """
    flows = scenario.flows
    longest_s = max(facts.base_rtt_ns(scenario, flow) for flow in flows) / NS_PER_S
    smallest = min(flow.packet_bytes for flow in flows)
    rate_bps = facts.bottleneck_rate_bps(scenario)
    under_way = math.inf if rate_bps is None else rate_bps * longest_s / 8 / smallest
    queued = _queued(facts.sampled_links(scenario), smallest)
    windows = len(flows) * _IN_FLIGHT_MAX
    return _FLOW_BYTES * len(flows) + _PACKET_BYTES * min(under_way + queued, windows, packets)


def _queued(links: Iterable[LinkConfig], packet_bytes: int) -> float:
    """Return how many packets wait in queues at most; those of a switch share its memory."""
    alone = 0.0
    queues: dict[int, float] = defaultdict(float)
    memories: dict[int, float] = {}
    for link in links:
        if link.memory is None:
            alone += _most(link, packet_bytes)
        else:
            queues[link.memory.switch] += _most(link, packet_bytes)
            memories[link.memory.switch] = link.memory.bytes / packet_bytes
    return alone + sum(min(queues[switch], memories[switch]) for switch in memories)


def _most(link: LinkConfig, packet_bytes: int) -> float:
    """Return how many packets wait in the queue of a link at most."""
    limit = link.queue.limit
    if limit is None:
        return math.inf
    packets = math.inf if limit.packets is None else float(limit.packets)
    return packets if limit.bytes is None else min(packets, limit.bytes / packet_bytes)
