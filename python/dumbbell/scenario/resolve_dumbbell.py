"""A dumbbell as links and paths: the bottleneck, and the one of the way back."""

from __future__ import annotations

from typing import Final

from dumbbell.scenario.model_flows import AnyTraffic
from dumbbell.scenario.model_network import Dumbbell
from dumbbell.scenario.model_switches import Memory
from dumbbell.scenario.resolve_links import Wire
from dumbbell.scenario.routes import Path, placed, split

FORWARD: Final = 0
REVERSE: Final = 1


class DumbbellTopology:
    """The two bottlenecks, in the order forward and reverse."""

    def __init__(self, network: Dumbbell) -> None:
        self._network = network
        back = network.reverse
        memory = Memory("network.switch", 0, network.switch) if network.switch else None
        self.wires = (
            Wire(
                name="forward",
                key="network",
                rate=network.rate,
                delay=network.delay,
                queue=network.queue,
                losses=placed(network, "bottleneck"),
                impairments=network,
                sampled=True,
                memory=memory,
            ),
            Wire(
                name="reverse",
                key="network.reverse",
                rate=network.rate if back.rate is None else back.rate,
                delay=network.delay if back.delay is None else back.delay,
                queue=back.queue,
                losses=placed(network, "reverse"),
                impairments=back,
                sampled=True,
                memory=memory,
            ),
        )

    def path(self, traffic: AnyTraffic) -> Path:
        """Return a flow's path: over one bottleneck there, over the other one back."""
        there, back = (FORWARD, REVERSE)
        if traffic.direction == "reverse":
            there, back = back, there
        data, acks = split(traffic, self._network.rtt, self.wires, [there], [back])
        return Path(data, acks, traffic.direction)
