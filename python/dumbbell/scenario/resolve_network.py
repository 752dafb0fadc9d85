"""From a network and its flows to links and routes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dumbbell.errors import InputError, listed, near
from dumbbell.scenario import facts
from dumbbell.scenario.model_flows import AnyTraffic
from dumbbell.scenario.model_hosts import OVERHEAD_BYTES
from dumbbell.scenario.model_links import LinkLoss
from dumbbell.scenario.model_network import AnyNetwork, Dumbbell, ParkingLot
from dumbbell.scenario.model_rates import delay_steps
from dumbbell.scenario.resolve_access import Access
from dumbbell.scenario.resolve_dumbbell import DumbbellTopology
from dumbbell.scenario.resolve_flows import Source, resolve_flow, sources
from dumbbell.scenario.resolve_graph import GraphTopology
from dumbbell.scenario.resolve_links import Common, Wire, resolve_link
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
"""What flows may say of their path, by topology."""


@dataclass(frozen=True)
class Routed:
    """A flow with its routes: the links that it passes, by number."""

    source: Source
    forward: Way
    reverse: Way


def resolve_network(scenario: Scenario) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the links and the flows of a scenario in base units."""
    topology = _topology(scenario.network)
    _check_keys(scenario)
    found = sources(scenario, topology)
    _check_labels(found)
    paths = list(_paths(topology, found))
    access = Access(scenario.network, found, paths, len(topology.wires))
    wires = [*topology.wires, *access.wires]
    routed = list(_routed(found, paths, access))
    for flow in routed:
        _check_route(flow, wires)
    links = _links(scenario, wires, routed)
    flows = [
        {
            **resolve_flow(scenario, flow.source),
            "forward": _route(flow.forward),
            "reverse": _route(flow.reverse),
        }
        for flow in routed
    ]
    return links, flows


def _topology(network: AnyNetwork) -> Topology:
    if isinstance(network, Dumbbell):
        return DumbbellTopology(network)
    return (
        ParkingLotTopology(network) if isinstance(network, ParkingLot) else GraphTopology(network)
    )


def _tables(scenario: Scenario) -> Iterator[tuple[str, AnyTraffic]]:
    for index, flow in enumerate(scenario.flow):
        yield f"flow.{index}", flow
    for index, spec in enumerate(scenario.arrivals):
        yield f"arrivals.{index}", spec


def _check_keys(scenario: Scenario) -> None:
    """Raise InputError for what a flow says of a path that its network does not have."""
    topology = scenario.network.topology
    for key, traffic in _tables(scenario):
        for name in set.union(*_KEYS.values()) - _KEYS[topology]:
            field = type(traffic).model_fields[name]
            if getattr(traffic, name) != field.default:
                places = [place for place, names in _KEYS.items() if name in names]
                raise InputError(
                    f"not in a {topology}",
                    key=f"{key}.{field.alias or name}",
                    valid=f"only in a {' or a '.join(places)}",
                )


def _check_labels(found: Sequence[Source]) -> None:
    known: dict[str, str] = {}
    labels: set[str] = set()
    for source in found:
        flow = facts.whole(source.label)
        if source.label in labels or known.setdefault(flow, source.key) != source.key:
            raise InputError(
                "several flows have this label",
                key=f"{source.key.partition('.')[0]}.label",
                value=flow,
                valid="a different label for each flow",
            )
        labels.add(source.label)


def _paths(topology: Topology, found: Sequence[Source]) -> Iterator[Path]:
    """Yield the path of each flow; equal flows share theirs."""
    known: dict[str, Path] = {}
    for source in found:
        if source.key not in known:
            try:
                known[source.key] = topology.path(source.traffic)
            except InputError as error:
                raise error.at(key=source.key) from None
        yield known[source.key]


def _routed(found: Sequence[Source], paths: Sequence[Path], access: Access) -> Iterator[Routed]:
    """Put the access links before, and those of receivers after the shared ones."""
    for source, path, edge, receiver in zip(
        found, paths, access.edges, access.receivers, strict=True
    ):
        hops = path.data.hops if edge is None else (Hop(edge), *path.data.hops)
        way = Way(hops, path.data.delay_ns)
        if receiver is not None:
            way = Way((*hops, Hop(receiver, path.data.delay_ns)))
        yield Routed(source, way, path.back)


def _check_route(flow: Routed, wires: Sequence[Wire]) -> None:
    ways = (flow.forward, flow.reverse)
    if any(len(way.hops) > HOPS_MAX for way in ways):
        raise InputError(
            f"its path has more than {HOPS_MAX} links",
            key=flow.source.key,
            valid=f"at most {HOPS_MAX}",
        )
    passed = [wires[hop.wire] for way in ways for hop in way.hops]
    least_ns = sum(way.delay_ns + sum(hop.delay_ns for hop in way.hops) for way in ways)
    least_ns += sum(min(step[1] for step in delay_steps(wire.delay)) for wire in passed)
    if flow.source.is_tcp and not least_ns and all(wire.rate is None for wire in passed):
        raise InputError(
            "its packets go round in no time",
            key=flow.source.key,
            valid="a path with a delay, or with a link that has a rate",
        )


def _links(
    scenario: Scenario, wires: Sequence[Wire], routed: Sequence[Routed]
) -> list[dict[str, Any]]:
    passing: list[dict[str, int]] = [{} for _ in wires]
    for number, flow in enumerate(routed):
        for hop in flow.forward.hops:
            passing[hop.wire][flow.source.label] = number
    _check_drops(wires, passing, [flow.source.label for flow in routed])
    common = _common(scenario)
    return [resolve_link(*pair) for pair in zip(wires, [common] * len(wires), passing, strict=True)]


def _common(scenario: Scenario) -> Common:
    overhead_bytes = OVERHEAD_BYTES[scenario.network.overhead]
    largest = max(traffic.packet for _, traffic in _tables(scenario))
    return Common(overhead_bytes, largest + overhead_bytes, scenario.network.rtt)


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
        for index, drop in enumerate(loss.drops or ()):
            if drop.flow not in passed[key]:
                exists = drop.flow in labels
                raise InputError(
                    "its data does not pass here" if exists else "no flow has this label",
                    key=f"{key}.drops.{index}.flow",
                    value=drop.flow,
                    valid=listed(sorted(passed[key])[:10]),
                    near=None if exists else near(drop.flow, labels),
                )


def _route(way: Way) -> dict[str, Any]:
    hops = [{"link": hop.wire, "delay_ns": hop.delay_ns} for hop in way.hops]
    return {"hops": hops, "delay_ns": way.delay_ns}
