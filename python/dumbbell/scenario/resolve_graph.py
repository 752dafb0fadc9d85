"""A graph as links and paths: each flow takes the path of least delay, or the one it names."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import pairwise

from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.base.keys import numbered
from dumbbell.base.units import parse_queue
from dumbbell.scenario.disciplines import AnyQueue
from dumbbell.scenario.disciplines.drop_tail import UNLIMITED, Fifo
from dumbbell.scenario.model_flows import AnyTraffic
from dumbbell.scenario.model_graph import Graph, GraphLink, GraphReverse
from dumbbell.scenario.model_rates import AnyRate, first_delay_ns
from dumbbell.scenario.model_switches import Memory
from dumbbell.scenario.resolve_links import Losses, Wire, active
from dumbbell.scenario.routes import Hop, Path, Way

DEFAULT_QUEUE = Fifo(discipline="fifo", limit=parse_queue("1000p"))


class GraphTopology:
    """Both directions of every link; those that only delay are part of the paths.

    A path over nothing else takes its last one as a link, for an engine wants one on every route.
    """

    def __init__(self, network: Graph) -> None:
        self._edges: list[Wire] = []
        self._ways: dict[str, dict[str, int]] = {}
        memories = _memories(network)
        for key, link in numbered("network.link", network.link):
            memory, back = memories.get(link.source), memories.get(link.target)
            self._join(link.source, link.target, _there(link, key, memory))
            self._join(link.target, link.source, _back(link, key, back))
        self._check_switches(memories)
        self.wires = [edge for edge in self._edges if not edge.is_transparent]
        self._numbers = {wire.name: number for number, wire in enumerate(self.wires)}
        self._routes: dict[tuple[str, ...], list[str]] = {}

    def _join(self, source: str, target: str, edge: Wire) -> None:
        self._ways.setdefault(source, {})[target] = len(self._edges)
        self._edges.append(edge)

    def _check_switches(self, memories: Mapping[str, Memory]) -> None:
        """Raise InputError for a switch that has no port at which packets wait."""
        for node, memory in memories.items():
            with placed(key=f"{memory.key}.node"):
                if node not in self._ways:
                    raise unknown("node", node, self._ways)
                if all(self._edges[number].rate is None for number in self._ways[node].values()):
                    raise InputError(
                        "nothing waits in this switch, because no link with a rate leaves it",
                        value=node,
                        valid="a node that a link with a rate leaves",
                    )

    def path(self, traffic: AnyTraffic) -> Path:
        """Return a flow's path; acknowledgements come back over the same nodes."""
        ends = {"from": traffic.source, "to": traffic.target}
        for key, node in ends.items():
            if node is None:
                raise InputError("is missing", key=key, valid=f"a node: {', '.join(self._ways)}")
        stops = (str(traffic.source), *traffic.via, str(traffic.target))
        keys = ("from", *(key for key, _ in numbered("via", traffic.via)), "to")
        for key, node in zip(keys, stops, strict=True):
            if node not in self._ways:
                raise unknown("node", node, self._ways).at(key=key)
        nodes = self._nodes(stops)
        return Path(self._way(nodes), self._way(nodes[::-1]), stops[0])

    def _nodes(self, stops: tuple[str, ...]) -> list[str]:
        """Return the nodes of the path over some stops."""
        if stops not in self._routes:
            nodes = [stops[0]]
            for source, target in pairwise(stops):
                nodes += self._shortest(source, target)
            self._routes[stops] = nodes
        return self._routes[stops]

    def _shortest(self, source: str, target: str) -> list[str]:
        """Return the nodes after `source`: least delay, then fewest links, then order in the file.

        Dijkstra's algorithm; the numbers of the links break ties.
        """
        if source == target:
            raise InputError(
                "a path joins different nodes", key="to", value=target, valid="another node"
            )
        waiting: list[tuple[int, int, tuple[int, ...], list[str]]] = [(0, 0, (), [source])]
        done = set()
        while waiting:
            delay_ns, hops, used, nodes = heapq.heappop(waiting)
            if nodes[-1] == target:
                return nodes[1:]
            # The heap may still hold longer paths to a node that was reached already.
            if nodes[-1] in done:
                continue
            done.add(nodes[-1])
            for node, number in self._ways[nodes[-1]].items():
                total_ns = delay_ns + first_delay_ns(self._edges[number].delay)
                heapq.heappush(waiting, (total_ns, hops + 1, (*used, number), [*nodes, node]))
        raise InputError(
            f"no path from {source}", key="to", value=target, valid="nodes joined by links"
        )

    def _way(self, nodes: Sequence[str]) -> Way:
        """Return the links between nodes, with the delay of those that only delay."""
        edges = [self._edges[self._ways[source][target]] for source, target in pairwise(nodes)]
        if all(edge.is_transparent for edge in edges):
            self._keep(edges[-1])
        hops, delay_ns = [], 0
        for edge in edges:
            if edge.name not in self._numbers:
                delay_ns += first_delay_ns(edge.delay)
            else:
                hops.append(Hop(self._numbers[edge.name], delay_ns))
                delay_ns = 0
        return Way(tuple(hops), delay_ns)

    def _keep(self, edge: Wire) -> None:
        """Make a link of one that only delays."""
        if edge.name not in self._numbers:
            self._numbers[edge.name] = len(self.wires)
            self.wires.append(edge)


def _memories(network: Graph) -> dict[str, Memory]:
    """Return the memory of each node that is a switch."""
    switches = enumerate(numbered("network.switch", network.switch))
    return {switch.node: Memory(key, number, switch) for number, (key, switch) in switches}


def _there(link: GraphLink, key: str, memory: Memory | None) -> Wire:
    return Wire(
        name=f"{link.source}>{link.target}",
        key=key,
        rate=link.rate,
        delay=link.delay,
        queue=_queue(link.rate, link.queue, memory),
        losses=_losses(key, link),
        impairments=link,
        sampled=True,
        memory=memory if link.rate is not None else None,
    )


def _back(link: GraphLink, key: str, memory: Memory | None) -> Wire:
    back = link.reverse
    rate = link.rate if back.rate is None else back.rate
    inherited = link.queue if rate is not None else None
    return Wire(
        name=f"{link.target}>{link.source}",
        key=f"{key}.reverse",
        rate=rate,
        delay=link.delay if back.delay is None else back.delay,
        queue=_queue(rate, inherited if back.queue is None else back.queue, memory),
        losses=_losses(f"{key}.reverse", back),
        impairments=back,
        sampled=True,
        memory=memory if rate is not None else None,
    )


def _queue(rate: AnyRate, queue: AnyQueue | None, memory: Memory | None) -> AnyQueue:
    return queue or (UNLIMITED if rate is None or memory else DEFAULT_QUEUE)


def _losses(key: str, link: GraphLink | GraphReverse) -> Losses:
    return active(tuple(numbered(f"{key}.loss", link.loss)))
