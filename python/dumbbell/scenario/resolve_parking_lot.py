"""A parking lot as links and paths: bottlenecks in a row."""

from __future__ import annotations

from dumbbell.base.errors import InputError
from dumbbell.scenario.model_flows import AnyTraffic
from dumbbell.scenario.model_network import ParkingLot
from dumbbell.scenario.model_rates import first_delay_ns
from dumbbell.scenario.resolve_links import Wire
from dumbbell.scenario.routes import Path, placed, split


class ParkingLotTopology:
    """The hops on the way forward, then those of the way back, both from the first on."""

    def __init__(self, network: ParkingLot) -> None:
        self._network = network
        hops = range(network.hops)
        self.wires = (*map(self._there, hops), *map(self._back, hops))

    def _there(self, hop: int) -> Wire:
        network = self._network
        has_queue_for_each = isinstance(network.queue, tuple)
        return Wire(
            name=f"hop {hop + 1}",
            key="network",
            rate=network.at_hop("rate", hop),
            delay=network.at_hop("delay", hop),
            queue=network.at_hop("queue", hop),
            losses=placed(network, "bottleneck", hop + 1),
            impairments=network,
            sampled=True,
            queue_key=f"queue.{hop + 1}" if has_queue_for_each else "queue",
        )

    def _back(self, hop: int) -> Wire:
        network, back = self._network, self._network.reverse
        return Wire(
            name=f"hop {hop + 1} reverse",
            key="network.reverse",
            rate=network.at_hop("rate", hop) if back.rate is None else back.rate,
            delay=network.at_hop("delay", hop) if back.delay is None else back.delay,
            queue=back.queue,
            losses=placed(network, "reverse", hop + 1),
            impairments=back,
        )

    def path(self, traffic: AnyTraffic) -> Path:
        """Return a flow's path: over its hops and back over the same."""
        first, last = self._hops(traffic)
        there = [hop - 1 for hop in range(first, last + 1)]
        back = [self._network.hops + hop for hop in reversed(there)]
        if traffic.direction == "reverse":
            there, back = back, there
        own_ns = sum(first_delay_ns(self.wires[number].delay) for number in (*there, *back))
        data, acks = split(traffic, self._network.rtt or own_ns, self.wires, there, back)
        return Path(data, acks, (traffic.direction, there[0]))

    def _hops(self, traffic: AnyTraffic) -> tuple[int, int]:
        first, last = traffic.hops or (1, self._network.hops)
        if not 1 <= first <= last <= self._network.hops:
            raise InputError(
                "no such hops",
                key="hops",
                value=[first, last],
                valid=f"[first, last] with 1 <= first <= last <= {self._network.hops}",
            )
        return first, last
