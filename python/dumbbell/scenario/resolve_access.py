"""The hosts of the flows: their access links, and what happens to data as it arrives."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from dumbbell.base.errors import InputError
from dumbbell.base.units import parse_limit
from dumbbell.scenario.disciplines import AnyQueue
from dumbbell.scenario.disciplines.drop_tail import UNLIMITED, Fifo
from dumbbell.scenario.hosts import Host, host_queue, jitter_ns
from dumbbell.scenario.model_network import AnyNetwork
from dumbbell.scenario.model_rates import PacketRate
from dumbbell.scenario.model_stack import Stack
from dumbbell.scenario.resolve_flows import Source
from dumbbell.scenario.resolve_links import Wire, active
from dumbbell.scenario.routes import Path, placed


class Access:
    """The access links of senders (`edge 1` and so on), rings, and links before receivers.

    They exist only where something happens on them. Hosts are numbered as flows first name them;
    `stack` is the one of those that choose none, and `wires` are the shared links.
    """

    def __init__(
        self,
        network: AnyNetwork,
        stack: Stack,
        sources: Sequence[Source],
        paths: Sequence[Path],
        wires: Sequence[Wire],
    ) -> None:
        self.wires: list[Wire] = []
        self._network = network
        self._stack = stack
        self._shared = wires
        self._queues: dict[str, AnyQueue] = {}
        self._sending = placed(network, "sender")
        self._receiving = placed(network, "receiver")
        hosts: dict[Hashable, Host] = {}
        for source, path in zip(sources, paths, strict=True):
            host = hosts.setdefault(source.host, Host(path.entry))
            host.sends.append((source, path))
            if host.entry != path.entry:
                raise InputError(
                    "this host also sends into the network at another place",
                    key=f"{source.key}.host",
                    value=source.traffic.host,
                    valid="a separate host for each place",
                )
        edges = self._edges(hosts)
        self.edges = [edges.get(source.host) for source in sources]
        """Number of each flow's access link; None where it has none."""
        self.receivers = self._receivers([source.label for source in sources])
        """Number of the link before each flow's receiver; None where it has none."""
        self.rings = self._rings(sources)
        """Number of the link that is the ring of each flow's receiving host; None without rings."""

    def _edges(self, hosts: Mapping[Hashable, Host]) -> dict[Hashable, int | None]:
        """Add the access links of hosts."""
        steady = [host for host in hosts.values() if not host.is_random]
        flows = sum(len(host.sends) for host in steady)
        # A lone flow has no other to be in phase with.
        jittered = steady if flows > 1 else ()
        # By identity: hosts are still being filled, so they have no hash.
        jitters = {id(host): jitter_ns(self._shared, host) for host in jittered}
        return {
            name: self._add(self._edge(number, host, jitters.get(id(host), 0)))
            for number, (name, host) in enumerate(hosts.items(), start=1)
        }

    def _receivers(self, labels: Sequence[str]) -> list[int | None]:
        if not self._receiving:
            return [None] * len(labels)
        return [
            self._add(self._receiver(number, label)) for number, label in enumerate(labels, start=1)
        ]

    def _rings(self, sources: Sequence[Source]) -> list[int | None]:
        """Add the rings of receiving hosts: one for all that a host sends to one place."""
        network = self._network
        if network.receive_rate is None:
            return [None] * len(sources)
        limit = network.receive_ring
        queue = UNLIMITED if limit is None else Fifo(limit=parse_limit(f"{limit}p"))
        rate = PacketRate(network.receive_rate)
        rings: dict[Hashable, int | None] = {}
        for source in sources:
            host = _receiving_host(source)
            if host not in rings:
                name = f"ring {len(rings) + 1}"
                rings[host] = self._add(Wire(name=name, key="network", rate=rate, queue=queue))
        return [rings[_receiving_host(source)] for source in sources]

    def _add(self, wire: Wire) -> int | None:
        if wire.is_transparent:
            return None
        self.wires.append(wire)
        return len(self._shared) + len(self.wires) - 1

    def _edge(self, number: int, host: Host, jitter_ns: int) -> Wire:
        network = self._network
        queue = network.edge_queue
        if queue is None:
            queue = UNLIMITED if network.edge_rate is None else self._queue(host)
        return Wire(
            name=f"edge {number}",
            key="network",
            rate=network.edge_rate,
            queue=queue,
            losses=active(self._sending, [source.label for source, _ in host.sends]),
            queue_key="edge_queue",
            exit_jitter=jitter_ns if network.edge_jitter is None else network.edge_jitter,
            is_interface=network.edge_rate is not None,
        )

    def _queue(self, host: Host) -> AnyQueue:
        source = host.sends[0][0]
        if source.key not in self._queues:
            traffic = source.traffic
            self._queues[source.key] = host_queue(traffic.stack or self._stack, traffic.switches)
        return self._queues[source.key]

    def _receiver(self, number: int, label: str) -> Wire:
        losses = active(self._receiving, [label])
        return Wire(name=f"receiver {number}", key="network", losses=losses)


def _receiving_host(source: Source) -> Hashable:
    """Return the identity of the host that a flow's data reaches."""
    return source.host, source.traffic.target
