"""The hosts of the flows: their access links, and what happens to data as it arrives."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dumbbell.errors import InputError
from dumbbell.scenario.model_links import Impairments
from dumbbell.scenario.model_network import AnyNetwork
from dumbbell.scenario.resolve_flows import Source
from dumbbell.scenario.resolve_links import Wire, active
from dumbbell.scenario.routes import Path, placed


class Access:
    """The access links of senders (`edge 1` and so on) and those before receivers.

    Both exist only where something happens on them. Hosts are numbered as flows first name them.
    """

    def __init__(
        self, network: AnyNetwork, sources: Sequence[Source], paths: Sequence[Path], first: int
    ) -> None:
        self.wires: list[Wire] = []
        self._network = network
        self._first = first
        labels: dict[Hashable, list[str]] = {}
        entries: dict[Hashable, Hashable] = {}
        for source, path in zip(sources, paths, strict=True):
            host = source.host
            labels.setdefault(host, []).append(source.label)
            if entries.setdefault(host, path.entry) != path.entry:
                raise InputError(
                    "this host sends into the network elsewhere, too",
                    key=f"{source.key}.host",
                    value=source.traffic.host,
                    valid="a host of its own for each place",
                )
        edges = {
            host: self._add(self._edge(number, names))
            for number, (host, names) in enumerate(labels.items(), start=1)
        }
        self.edges = [edges[source.host] for source in sources]
        """Number of each flow's access link; None where it has none."""
        self.receivers = [
            self._add(self._receiver(number, source.label))
            for number, source in enumerate(sources, start=1)
        ]
        """Number of the link before each flow's receiver; None where it has none."""

    def _add(self, wire: Wire) -> int | None:
        if wire.is_transparent:
            return None
        self.wires.append(wire)
        return self._first + len(self.wires) - 1

    def _edge(self, number: int, labels: Sequence[str]) -> Wire:
        network = self._network
        return Wire(
            name=f"edge {number}",
            key="network",
            rate=network.edge_rate,
            queue=network.edge_queue,
            losses=active(placed(network, "sender"), labels),
            impairments=Impairments.model_construct(jitter=network.edge_jitter, batch=0),
            queue_key="edge_queue",
        )

    def _receiver(self, number: int, label: str) -> Wire:
        losses = active(placed(self._network, "receiver"), [label])
        return Wire(name=f"receiver {number}", key="network", losses=losses)
