"""Subjects of quantities: flows by number, label or group, and queues by the name of their link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from dumbbell.base.errors import InputError, unknown
from dumbbell.quantities.spans import Span
from dumbbell.scenario import facts

if TYPE_CHECKING:
    from dumbbell.contract import scenario as contract
    from dumbbell.contract.summary import FlowSummary


class Absent(InputError):  # noqa: N818 - what is not there, not what went wrong
    """Something is not in a run that others of its test may have."""


def absent(what: str, name: str, names: Iterable[str]) -> Absent:
    """Return the error for a name that nothing in a run has."""
    error = unknown(what, name, names)
    return Absent(error.problem, value=error.value, valid=error.valid, near=error.near)


class Named(Protocol):
    """The names of a flow."""

    @property
    def number(self) -> int:
        """Its place among the flows of the scenario, from 1."""

    @property
    def label(self) -> str:
        """Its name, without the number of a connection."""

    @property
    def group(self) -> str | None:
        """The group that it belongs to, if any."""


AnyNamed = TypeVar("AnyNamed", bound=Named)


@dataclass(frozen=True)
class Flow:
    """A flow as a user knows it: one connection, or those of a `parallel` flow together.

    Attributes
    ----------
    number
        Its place among the flows of the scenario, from 1.
    label
        Its name, without the number of a connection.
    group
        The group that it belongs to, if any.
    connections
        The numbers of its connections in the tables, from 0.
    first
        The first of them.
    life
        From its start until it stopped or its transfer was complete; else to the run's end.
    """

    number: int
    label: str
    group: str | None
    connections: tuple[int, ...]
    first: contract.Flow
    life: Span

    @property
    def is_sampled(self) -> bool:
        """True if it is a TCP flow of which there are samples."""
        return self.first.sampled and self.first.transport.tcp is not None

    @property
    def is_datagrams(self) -> bool:
        """True if it is one of datagrams."""
        return self.first.transport.udp is not None

    @property
    def is_greedy(self) -> bool:
        """True if it always has data to send, all its life; those of requests and bursts pause."""
        tcp = self.first.transport.tcp
        return tcp is not None and (tcp.demand == "endless" or self.is_transfer)

    @property
    def is_transfer(self) -> bool:
        """True if it sends some bytes and ends."""
        tcp = self.first.transport.tcp
        return (
            tcp is not None and not isinstance(tcp.demand, str) and tcp.demand.transfer is not None
        )

    @property
    def request_bytes(self) -> int | None:
        """Size of the requests that it sends one after the other, in bytes; None: it sends none."""
        tcp = self.first.transport.tcp
        if tcp is None or isinstance(tcp.demand, str) or tcp.demand.requests is None:
            return None
        return tcp.demand.requests.bytes


def flows_of(scenario: contract.Scenario, summaries: Sequence[FlowSummary]) -> tuple[Flow, ...]:
    """Return the flows of a run in their order; `summaries` are those of each connection."""
    return tuple(
        _flow(number, connections, scenario.flows[connections[0]], summaries)
        for number, connections in enumerate(facts.bundles(scenario.flows), start=1)
    )


def _flow(
    number: int, connections: Sequence[int], first: contract.Flow, summaries: Sequence[FlowSummary]
) -> Flow:
    life = Span(
        first.start_ns,
        max(summaries[number_of_connection].end_ns for number_of_connection in connections),
    )
    return Flow(number, facts.whole(first.label), first.group, tuple(connections), first, life)


def named(flows: Sequence[AnyNamed], name: str) -> tuple[AnyNamed, ...]:
    """Return the flows of a name: a number, a group, a label, or what numbered labels share.

    None are found where no flow is called so.
    """
    if name.isdecimal():
        return tuple(flow for flow in flows if flow.number == int(name))
    # The most special meaning wins: a group may be named like an algorithm of its flows.
    for called in (_group, _label, _family):
        matching = tuple(flow for flow in flows if called(flow) == name)
        if matching:
            return matching
    return ()


def no_flow(name: str, flows: Sequence[Named]) -> Absent:
    """Return the error for a name or a number that no flow has."""
    error = absent("flow or group", name, names(flows))
    last = max((flow.number for flow in flows), default=0)
    if last > 0:
        error.valid = f"{'1' if last == 1 else f'1 to {last}'}, {error.valid}"
    return error


def names(flows: Iterable[Named]) -> list[str]:
    """Return what flows can be called besides their numbers, each once."""
    names_of_flows = (
        name for flow in flows for name in (flow.group, flow.label, facts.family(flow.label))
    )
    return [name for name in dict.fromkeys(names_of_flows) if name]


def _group(flow: Named) -> str | None:
    return flow.group


def _label(flow: Named) -> str:
    return flow.label


def _family(flow: Named) -> str:
    return facts.family(flow.label)
