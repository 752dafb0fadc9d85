"""From a network and its flows to links and routes."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dumbbell.base.errors import InputError, listed, near, placed, unknown
from dumbbell.base.keys import numbered
from dumbbell.scenario import facts
from dumbbell.scenario.disciplines.base import Passing
from dumbbell.scenario.disciplines.classes import Classes
from dumbbell.scenario.model_flows import AnyTraffic, Traffic
from dumbbell.scenario.model_hosts import OVERHEAD_BYTES
from dumbbell.scenario.model_links import LinkLoss
from dumbbell.scenario.model_network import AnyNetwork, Dumbbell, ParkingLot
from dumbbell.scenario.model_rates import delay_steps
from dumbbell.scenario.resolve_access import Access
from dumbbell.scenario.resolve_dumbbell import DumbbellTopology
from dumbbell.scenario.resolve_flows import FlowResolver, Source, sources
from dumbbell.scenario.resolve_graph import GraphTopology
from dumbbell.scenario.resolve_links import Common, LinkResolver, Wire
from dumbbell.scenario.resolve_parking_lot import ParkingLotTopology
from dumbbell.scenario.routes import Hop, Path, Topology, Way

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

HOPS_MAX: Final = 255
"""Links that a packet may pass."""

_KEYS: Final = {
    "dumbbell": {"rtt", "direction"},
    "parking-lot": {"rtt", "direction", "hops"},
    "graph": {"source", "target", "via"},
}
"""Keys that flows may set about their path, by topology."""

_UNSET: Final = {
    name: Traffic.model_fields[name].get_default() for name in set.union(*_KEYS.values())
}
"""Values of these keys where none is given."""


@dataclass(frozen=True, slots=True)
class Routed:
    """A flow with its routes: the links that it passes, by number."""

    source: Source
    forward: Way
    reverse: Way


def resolve_network(
    scenario: Scenario, seed: int
) -> tuple[Iterator[dict[str, Any]], Iterator[dict[str, Any]]]:
    """Return the links and the flows of a scenario in base units; `seed` draws the flows.

    Each is made on request, as there may be 100,000 of both. Links come first; making
    them finds their errors.
    """
    topology = _topology(scenario.network)
    _check_keys(scenario)
    _check_classes(scenario, topology.wires)
    _check_groups(scenario)
    flow_sources = sources(scenario, seed, topology)
    _check_labels(flow_sources)
    paths = list(_paths(topology, flow_sources))
    access = Access(scenario.network, scenario.stack, flow_sources, paths, topology.wires)
    wires = [*topology.wires, *access.wires]
    routed = list(_routed(flow_sources, paths, access, scenario.network.host_delay))
    for flow in routed:
        _check_route(flow, wires)
    return _links(scenario, wires, routed), _flows(scenario, routed)


def _flows(scenario: Scenario, routed: Sequence[Routed]) -> Iterator[dict[str, Any]]:
    # Of thousands of flows most go the same ways, and are alike.
    route = functools.cache(_route)
    resolver = FlowResolver(scenario)
    for flow in routed:
        ways = {"forward": route(flow.forward), "reverse": route(flow.reverse)}
        yield {**resolver.resolve(flow.source), **ways}


def _topology(network: AnyNetwork) -> Topology:
    if isinstance(network, Dumbbell):
        return DumbbellTopology(network)
    return (
        ParkingLotTopology(network) if isinstance(network, ParkingLot) else GraphTopology(network)
    )


def _tables(scenario: Scenario) -> Iterator[tuple[str, AnyTraffic]]:
    yield from numbered("flow", scenario.flow)
    yield from numbered("arrivals", scenario.arrivals)


def _check_keys(scenario: Scenario) -> None:
    """Raise InputError for a flow's key about a path that its network does not have."""
    topology = scenario.network.topology
    foreign = _UNSET.keys() - _KEYS[topology]
    for key, traffic in _tables(scenario):
        for name in foreign:
            if getattr(traffic, name) != _UNSET[name]:
                places = [place for place, names in _KEYS.items() if name in names]
                raise InputError(
                    f"not in a {topology}",
                    key=f"{key}.{Traffic.model_fields[name].alias or name}",
                    valid=f"only in a {' or a '.join(places)}",
                )


def _check_classes(scenario: Scenario, wires: Sequence[Wire]) -> None:
    """Raise InputError for a class of a flow that no queue knows."""
    queues = [wire.queue for wire in wires] + [scenario.network.edge_queue]
    by_class = [entry for entry in queues if isinstance(entry, Classes) and entry.by == "class"]
    known = {entry.name: None for queue in by_class for entry in queue.classes}
    for key, traffic in _tables(scenario):
        if traffic.class_ is None or traffic.class_ in known:
            continue
        if not known:
            raise InputError(
                "no queue serves classes of flows",
                key=f"{key}.class",
                value=traffic.class_,
                valid='a queue with discipline = "classes" and by = "class"',
            )
        raise unknown("class", traffic.class_, known).at(key=f"{key}.class")


def _check_groups(scenario: Scenario) -> None:
    """Raise InputError where the name of a group is also the label of a flow outside of it."""
    tables = list(_tables(scenario))
    outside = {traffic.label for _, traffic in tables if traffic.group != traffic.label}
    for key, traffic in tables:
        if traffic.group is not None and traffic.group in outside:
            raise InputError(
                "a flow outside this group has this label",
                key=f"{key}.group",
                value=traffic.group,
                valid="a name that is no label of another flow",
            )


def _check_labels(flows: Sequence[Source]) -> None:
    known: dict[str, str] = {}
    labels: set[str] = set()
    for source in flows:
        flow = facts.whole(source.label)
        if source.label in labels or known.setdefault(flow, source.key) != source.key:
            raise InputError(
                "several flows have this label",
                key=f"{source.key.partition('.')[0]}.label",
                value=flow,
                valid="a different label for each flow",
            )
        labels.add(source.label)


def _paths(topology: Topology, flows: Sequence[Source]) -> Iterator[Path]:
    """Yield the path of each flow; equal flows share theirs."""
    known: dict[str, Path] = {}
    for source in flows:
        if source.key not in known:
            with placed(key=source.key):
                known[source.key] = topology.path(source.traffic)
        yield known[source.key]


def _routed(
    flows: Sequence[Source], paths: Sequence[Path], access: Access, host_delay_ns: int
) -> Iterator[Routed]:
    """Put the access links before, and rings and links of receivers after the shared ones."""
    between_hosts = functools.cache(functools.partial(_between_hosts, host_delay_ns=host_delay_ns))
    for source, path, edge, ring, receiver in zip(
        flows, paths, access.edges, access.rings, access.receivers, strict=True
    ):
        way = between_hosts(path.data)
        if edge is not None:
            way = Way((Hop(edge), *way.hops), way.delay_ns)
        for last in (ring, receiver):
            if last is not None:
                way = Way((*way.hops, Hop(last, way.delay_ns)))
        yield Routed(source, way, between_hosts(path.back))


def _between_hosts(way: Way, host_delay_ns: int) -> Way:
    """Add the time that packets take through the hosts at both ends.

    That of the sender lies behind its access link: what waits in that waits in the host.
    """
    first, *others = way.hops
    begun = Hop(first.wire, first.delay_ns + host_delay_ns)
    return Way((begun, *others), way.delay_ns + host_delay_ns)


def _check_route(flow: Routed, wires: Sequence[Wire]) -> None:
    ways = (flow.forward, flow.reverse)
    if any(len(way.hops) > HOPS_MAX for way in ways):
        raise InputError(
            f"its path has more than {HOPS_MAX} links",
            key=flow.source.key,
            valid=f"at most {HOPS_MAX}",
        )
    passed = [wires[hop.wire] for way in ways for hop in way.hops]
    if not flow.source.is_tcp or any(wire.rate is not None for wire in passed):
        return
    least_ns = sum(way.delay_ns + sum(hop.delay_ns for hop in way.hops) for way in ways)
    least_ns += sum(min(step[1] for step in delay_steps(wire.delay)) for wire in passed)
    if not least_ns:
        # Data and ACKs would clock each other for ever, at one instant of the simulation.
        raise InputError(
            "its packets go round in no time",
            key=flow.source.key,
            valid="a path with a delay, or with a link that has a rate",
        )


def _links(
    scenario: Scenario, wires: Sequence[Wire], routed: Sequence[Routed]
) -> Iterator[dict[str, Any]]:
    passing: list[dict[str, int]] = [{} for _ in wires]
    for number, flow in enumerate(routed):
        for hop in flow.forward.hops:
            passing[hop.wire][flow.source.label] = number
    _check_drops(wires, passing, [flow.source.label for flow in routed])
    sources = [flow.source for flow in routed]
    of_flows = Passing([source.traffic.class_ for source in sources], _hosts(sources))
    resolver = LinkResolver(_common(scenario, of_flows))
    yield from map(resolver.resolve, wires, passing)


def _common(scenario: Scenario, passing: Passing) -> Common:
    overhead_bytes = OVERHEAD_BYTES[scenario.network.overhead]
    largest = max(traffic.packet for _, traffic in _tables(scenario))
    return Common(
        overhead_bytes,
        largest + overhead_bytes,
        scenario.network.rtt,
        scenario.duration,
        passing,
    )


def _hosts(flows: Sequence[Source]) -> list[tuple[int, int]]:
    """Return numbers of each flow's sending and receiving host, which its connections share.

    None are needed where no two flows share a host.
    """
    receivers = [facts.whole(source.label) for source in flows]
    if len({source.host for source in flows}) == len(flows):
        return []
    numbers: dict[Hashable, int] = {}
    return [
        (
            numbers.setdefault(("sends", source.host), len(numbers)),
            numbers.setdefault(("receives", receiver), len(numbers)),
        )
        for source, receiver in zip(flows, receivers, strict=True)
    ]


def _check_drops(
    wires: Sequence[Wire], passing: Sequence[dict[str, int]], labels: Sequence[str]
) -> None:
    """Raise InputError for a segment that is to be lost where its flow's data does not pass."""
    passed: dict[str, set[str]] = {}
    losses: dict[str, LinkLoss] = {}
    for wire, flows in zip(wires, passing, strict=True):
        for key, loss in wire.losses:
            if loss.drops:
                losses[key] = loss
                passed.setdefault(key, set()).update(flows)
    for key, loss in losses.items():
        for place, drop in numbered(f"{key}.drops", loss.drops or ()):
            if drop.flow not in passed[key]:
                exists = drop.flow in labels
                raise InputError(
                    "its data does not pass here" if exists else "no flow has this label",
                    key=f"{place}.flow",
                    value=drop.flow,
                    valid=listed(sorted(passed[key])[:10]),
                    near=None if exists else near(drop.flow, labels),
                )


def _route(way: Way) -> dict[str, Any]:
    hops = [{"link": hop.wire, "delay_ns": hop.delay_ns} for hop in way.hops]
    return {"hops": hops, "delay_ns": way.delay_ns}
