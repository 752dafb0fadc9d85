"""The way of a flow's packets through the network, without the access links of its hosts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from dumbbell.base.errors import InputError
from dumbbell.base.keys import numbered
from dumbbell.base.units import format_time
from dumbbell.scenario.model_flows import AnyTraffic
from dumbbell.scenario.model_links import LinkLoss
from dumbbell.scenario.model_network import AnyNetwork, Dumbbell, ParkingLot
from dumbbell.scenario.model_rates import first_delay_ns
from dumbbell.scenario.resolve_links import Losses, Wire, active


@dataclass(frozen=True, slots=True)
class Hop:
    """A link on the way, by its number, and the propagation delay before it."""

    wire: int
    delay_ns: int = 0


@dataclass(frozen=True, slots=True)
class Way:
    """Links in order, and the propagation delay after the last."""

    hops: tuple[Hop, ...]
    delay_ns: int = 0


@dataclass(frozen=True, slots=True)
class Path:
    """There and back."""

    data: Way
    back: Way
    entry: Hashable
    """The place where its sender is connected."""


class Topology(Protocol):
    """A network as links and the paths over them."""

    @property
    def wires(self) -> Sequence[Wire]:
        """The shared links."""
        ...

    def path(self, traffic: AnyTraffic) -> Path:
        """Return the path of a flow; the key of an InputError is that inside the flow."""
        ...


def split(
    traffic: AnyTraffic,
    base_ns: int | None,
    wires: Sequence[Wire],
    data: Sequence[int],
    back: Sequence[int],
) -> tuple[Way, Way]:
    """Give a flow what its round-trip time exceeds the delay of the links by.

    One half, rounded down, lies before the first shared link of its data, the other after the last
    one of its acknowledgements.
    """
    shared_ns = sum(first_delay_ns(wires[number].delay) for number in (*data, *back))
    rtt_ns = traffic.rtt or base_ns
    if rtt_ns is None:
        raise InputError("is missing", key="rtt", valid="set it, or network.rtt for all flows")
    if rtt_ns < shared_ns:
        raise InputError(
            f"smaller than the delay of its links, there and back {format_time(shared_ns)}",
            key="rtt",
            value=format_time(rtt_ns),
            valid=f"at least {format_time(shared_ns)}",
        )
    # Rounded down here and taken from the total below, so that both add up to the round-trip time.
    before_ns = (rtt_ns - shared_ns) // 2
    first, *others = data
    hops = (Hop(first, before_ns), *map(Hop, others))
    return Way(hops), Way(tuple(map(Hop, back)), rtt_ns - shared_ns - before_ns)


def placed(network: AnyNetwork, place: str, hop: int | None = None) -> Losses:
    """Return the losses at a place of the network, with their keys."""
    if not isinstance(network, Dumbbell | ParkingLot):
        return ()
    return active(tuple(_placed(network, place, hop)))


def _placed(
    network: Dumbbell | ParkingLot, place: str, hop: int | None
) -> Iterator[tuple[str, LinkLoss]]:
    for key, loss in numbered("network.loss", network.loss):
        at: int | None = getattr(loss, "hop", None)
        if loss.place == place and at in (None, hop):
            yield key, loss
