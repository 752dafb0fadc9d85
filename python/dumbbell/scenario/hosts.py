"""Defaults of hosts, for keys that a scenario leaves out: queues, holds and clocks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base.units import NS_PER_S, PACKET_BITS, parse_limit, parse_queue
from dumbbell.scenario import draws
from dumbbell.scenario.disciplines import AnyQueue
from dumbbell.scenario.disciplines.codel import FqCoDel
from dumbbell.scenario.disciplines.drop_tail import Fifo
from dumbbell.scenario.disciplines.fq import Fq
from dumbbell.scenario.model_flows import Arrivals
from dumbbell.scenario.model_hosts import CLOCK_PPM, Hosts
from dumbbell.scenario.model_stack import Stack, Switches
from dumbbell.scenario.resolve_flows import Source
from dumbbell.scenario.resolve_links import Wire
from dumbbell.scenario.routes import Path
from dumbbell.scenario.sizing import nominal_rate_bps

JITTER_NS_MAX: Final = 10**6
"""Hosts delay packets by no more than this unless the scenario sets it."""

CHUNK_PACKETS: Final = 44
"""Packets in the largest chunk of segmentation offload, 64 KB."""

_PPB: Final = 10**9


@dataclass(slots=True)
class Host:
    """A sending host: where it is connected, and the flows that it sends over which paths."""

    entry: Hashable
    sends: list[tuple[Source, Path]] = field(default_factory=list)

    @property
    def is_random(self) -> bool:
        """True if all that it sends begins at random."""
        return all(isinstance(source.traffic, Arrivals) for source, _ in self.sends)


def host_queue(stack: Stack, switches: Switches) -> AnyQueue:
    """Return the queue of a network card in the time of a stack, as Linux had it.

    Packets that wait as one chunk count as one in Linux, and separately here.
    """
    profile = catalogue.stack_profile(stack.profile)
    # The later wins: a flow's switches over its stack's, and these over the profile's.
    chosen = {**profile.switches, **stack.switches, **switches}
    chunk = CHUNK_PACKETS if chosen["tso"] else 1
    if chosen["pacing"] == "fq":
        flow_limit = parse_queue(f"{100 * chunk}p")
        return Fq(discipline="fq", limit=parse_limit(f"{10_000 * chunk}p"), flow_limit=flow_limit)
    if profile.host_queue == "fq-codel":
        return FqCoDel(discipline="fq-codel", limit=parse_limit(f"{10_240 * chunk}p"))
    return Fifo(discipline="fifo", limit=parse_limit(f"{1_000 * chunk}p"))


def jitter_ns(wires: Sequence[Wire], host: Host) -> int:
    """Return how long a host holds packets up at most: a service time of the slowest link.

    That is what breaks phase effects (Floyd and Jacobson, "On traffic phase effects in
    packet-switched gateways", 1992).
    """
    passed = {hop.wire for _, path in host.sends for hop in path.data.hops}
    rates = (nominal_rate_bps(wires[number].rate) for number in passed)
    slowest = min((rate for rate in rates if rate), default=None)
    return 0 if slowest is None else min(PACKET_BITS * NS_PER_S // slowest, JITTER_NS_MAX)


def clocked(links: Iterable[dict[str, Any]], hosts: Hosts, seed: int) -> Iterator[dict[str, Any]]:
    """Yield links in base units, the rates of interfaces as their hosts' clocks have them."""
    ppm = CLOCK_PPM if hosts.clock_ppm is None else hosts.clock_ppm
    most = round(ppm * 1000)
    for link in links:
        if not link["interface"]:
            yield link
            continue
        assert hosts.edge_rate is not None, "an interface has a rate"
        # Drawn from the name of the link, so that another host does not change this one's clock.
        off = draws.integer(2 * most + 1, "clock", seed, link["name"]) - most
        yield {**link, "rate": {"constant": max(1, hosts.edge_rate * (_PPB + off) // _PPB)}}
