"""Flows that nothing but chance tells apart: tables and figures show many of them as one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from dumbbell.contract.scenario import Route, Scenario
from dumbbell.quantities.subjects import Flow
from dumbbell.scenario import facts

FEW: Final = 3
"""Equal flows up to which each is shown alone."""


def kinds(scenario: Scenario, flows: Sequence[Flow]) -> list[tuple[Flow, ...]]:
    """Return the equal flows of a run together, in the order of their first ones.

    Equal flows share the name before their number, algorithm, path, packets and kind of traffic.
    Starts, ends and amounts of data may differ: these are often drawn. Flows without samples share
    name and algorithm.
    """
    by_kind: dict[Hashable, list[Flow]] = {}
    for flow in flows:
        by_kind.setdefault(_kind(scenario, flow), []).append(flow)
    return [tuple(members) for members in by_kind.values()]


def shown(scenario: Scenario, flows: Sequence[Flow], few: float = FEW) -> list[tuple[Flow, ...]]:
    """Return the flows of each row or band: equal ones together if there are more than `few`.

    Those without samples are always together.
    """
    rows: list[tuple[Flow, ...]] = []
    for members in kinds(scenario, flows):
        is_one = len(members) > few or not members[0].first.sampled
        rows += [members] if is_one else [(flow,) for flow in members]
    return rows


def name_of(flows: Sequence[Flow]) -> str:
    """Name a flow with its connections, or equal flows and their number."""
    label, connections = flows[0].label, len(flows[0].connections)
    if len(flows) > 1:
        return f"{facts.family(label)} × {len(flows)}"
    return f"{label} ({connections} connections)" if connections > 1 else label


def _kind(scenario: Scenario, flow: Flow) -> Hashable:
    first = flow.first
    called = (facts.family(flow.label), facts.choice(first))
    if not first.sampled:
        return called
    tcp, udp = first.transport.tcp, first.transport.udp
    return (
        *called,
        flow.group,
        udp if tcp is None else (str(tcp.stack), str(tcp.parameters), _demand(flow)),
        first.packet_bytes,
        len(flow.connections),
        facts.base_rtt_ns(scenario, first),
        _shared(scenario, first.forward),
        _shared(scenario, first.reverse),
    )


def _demand(flow: Flow) -> Hashable:
    return flow.is_greedy, flow.is_transfer, flow.request_bytes


def _shared(scenario: Scenario, route: Route) -> tuple[int, ...]:
    """Return the links with a queue of interest: each host may have an access link of its own."""
    return tuple(hop.link for hop in route.hops if scenario.links[hop.link].sampled)
