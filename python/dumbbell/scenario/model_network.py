"""Networks: a dumbbell, a parking lot, or any graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.keys import numbered
from dumbbell.base.units import Count, WholeDelay, format_time
from dumbbell.scenario.model_graph import Graph
from dumbbell.scenario.model_hosts import Hosts
from dumbbell.scenario.model_links import Impairments, LinkLoss
from dumbbell.scenario.model_queues import QueueSpec
from dumbbell.scenario.model_rates import (
    DelaySpec,
    RateSpec,
    first_delay_ns,
    is_schedule,
)
from dumbbell.scenario.model_switches import Switch
from dumbbell.scenario.tables import Table

HOPS_MAX: Final = 100
"""Hops of a parking lot."""

LossPlace = Literal["sender", "bottleneck", "receiver", "reverse"]


class PlacedLoss(LinkLoss):
    """Loss at one place: at random, in bursts, or of chosen segments."""

    place: LossPlace = Field(examples=["receiver"])
    """Where packets are lost: as data leaves its `sender`, before the queue of the `bottleneck`,
    as data reaches its `receiver`, or before the queue of the `reverse` bottleneck."""


class HopLoss(PlacedLoss):
    """Loss at a place of a parking lot."""

    hop: Count | None = Field(None, examples=[2])
    """Number of the hop, for the places `bottleneck` and `reverse`; by default all."""

    @model_validator(mode="after")
    def _has_hops(self) -> Self:
        if self.hop is not None and self.place not in ("bottleneck", "reverse"):
            raise InputError(
                f"the place {self.place} has no hops", key="hop", valid="no such key here"
            )
        return self


class _ReversePath(Table):
    rate: RateSpec | None = Field(None, examples=["250mbit"])
    """Rate of its bottleneck; by default that of the way forward."""

    delay: DelaySpec | None = Field(None, examples=["5ms"])
    """One-way propagation time; by default that of the way forward."""

    queue: QueueSpec = Field("1000p", validate_default=True, examples=["1000p", "1bdp"])
    """Its queue."""


class Reverse(Impairments, _ReversePath):
    """The way back, which acknowledgements share with the data of flows in that direction."""


class _DumbbellPath(Table):
    topology: Literal["dumbbell"] = "dumbbell"

    rate: RateSpec = Field(
        examples=[
            "250mbit",
            [{"at": "0s", "rate": "100mbit"}, {"at": "30s", "rate": "50mbit"}],
            {"trace": "cellular.trace"},
            {"rate": "100mbit", "burst": "64kb"},
        ]
    )
    """Rate of the bottleneck: a constant, a list of changes, a trace, or a token bucket."""

    rtt: WholeDelay | None = Field(None, examples=["42ms"])
    """Two-way propagation time of flows that set none. A queue in `bdp` refers to it."""

    delay: DelaySpec = Field(
        "0s",
        validate_default=True,
        examples=[
            "5ms",
            [{"at": "0s", "delay": "5ms"}],
            {"trace": "delay.txt", "interval": "10ms"},
        ],
    )
    """One-way propagation time of the shared bottleneck: a constant, a list of changes, or a trace.
    It is part of every flow's `rtt`. If it changes, `rtt` is the round-trip time at the beginning
    of the run."""

    queue: QueueSpec = Field(
        examples=["175p", "256kb", "10ms", "0.2bdp", {"limit": "1000p", "discipline": "codel"}]
    )
    """The bottleneck's queue. A text is the limit of a drop-tail queue: in packets, bytes, time at
    the bottleneck's rate, or multiples of the bandwidth-delay product. The packet being sent does
    not count. Time and BDP become whole packets of the largest packet size, rounded down; a BDP
    share holds at least one packet. If the rate changes, the highest rate counts; of a trace, the
    mean rate."""


class Dumbbell(Impairments, Hosts, _DumbbellPath):
    """Senders, one shared bottleneck, receivers."""

    loss: tuple[PlacedLoss, ...] = Field(
        (), examples=[[{"place": "receiver", "probability": 1e-5}]]
    )
    """Places of loss."""

    reverse: Reverse = Field(Reverse(), examples=[{"queue": "1bdp"}])
    """The way back."""

    switch: Switch | None = Field(None, examples=[{"memory": "12mb", "alpha": 1}])
    """A switch whose ports are the bottlenecks of both directions, so that their queues share its
    memory. By default each queue has separate room. With `queue = "unlimited"` only the shared
    memory limits a queue."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        back = self.delay if self.reverse.delay is None else self.reverse.delay
        shared_ns = first_delay_ns(self.delay) + first_delay_ns(back)
        if self.rtt is not None and self.rtt < shared_ns:
            raise InputError(
                f"smaller than the delay of the bottleneck, there and back "
                f"{format_time(shared_ns)}",
                key="rtt",
                value=format_time(self.rtt),
                valid=f"at least {format_time(shared_ns)}",
            )
        _check_once([(loss.place, loss.kind) for loss in self.loss])
        return self


def _check_once(places: list[tuple[Any, ...]]) -> None:
    for before, place in enumerate(places):
        if place in places[:before]:
            raise InputError(
                "loss at this place is set twice",
                key=f"loss.{before + 1}.place",
                value=place[0],
                valid="one [[network.loss]] of a kind per place",
            )


def _each_or_all(value: Any) -> str:
    """Return the tag of an array of one value for each hop, or of a value for all; for pydantic."""
    is_each = isinstance(value, list | tuple) and not is_schedule(value)
    return "one for each hop" if is_each else "one for all hops"


HopRates = Annotated[
    Annotated[RateSpec, Tag("one for all hops")]
    | Annotated[tuple[RateSpec, ...], Tag("one for each hop")],
    Discriminator(_each_or_all),
]
HopDelays = Annotated[
    Annotated[DelaySpec, Tag("one for all hops")]
    | Annotated[tuple[DelaySpec, ...], Tag("one for each hop")],
    Discriminator(_each_or_all),
]
HopQueues = Annotated[
    Annotated[QueueSpec, Tag("one for all hops")]
    | Annotated[tuple[QueueSpec, ...], Tag("one for each hop")],
    Discriminator(_each_or_all),
]


class _ParkingLotPath(Table):
    topology: Literal["parking-lot"]

    hops: Count = Field(examples=[3])
    """Number of bottlenecks in a row."""

    rate: HopRates = Field(examples=["100mbit", ["100mbit", "50mbit", "100mbit"]])
    """Rate of the hops: one for all, or an array with one for each."""

    rtt: WholeDelay | None = Field(None, examples=["42ms"])
    """Two-way propagation time of flows that set none; by default that of their hops. A queue in
    `bdp` refers to it."""

    delay: HopDelays = Field("0s", validate_default=True, examples=["5ms", ["5ms", "10ms", "5ms"]])
    """One-way propagation time of the hops: one for all, or an array with one for each."""

    queue: HopQueues = Field(examples=["0.2bdp", ["100p", "50p", "100p"]])
    """Queue of the hops, as in a dumbbell: one for all, or an array with one for each."""


class ParkingLot(Impairments, Hosts, _ParkingLotPath):
    """Bottlenecks in a row. Other settings of a link apply to each one in forward direction."""

    loss: tuple[HopLoss, ...] = Field(
        (), examples=[[{"place": "bottleneck", "hop": 2, "probability": 1e-5}]]
    )
    """Places of loss."""

    reverse: Reverse = Field(Reverse(), examples=[{"queue": "1bdp"}])
    """The way back, the same at every hop."""

    @field_validator("hops")
    @classmethod
    def _hops_limit(cls, hops: int) -> int:
        if hops > HOPS_MAX:
            raise InputError("too many hops", valid=f"1 to {HOPS_MAX}")
        return hops

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for key in ("rate", "delay", "queue"):
            value = getattr(self, key)
            if _each_or_all(value) == "one for each hop" and len(value) != self.hops:
                raise InputError(
                    f"{len(value)} entries for {self.hops} hops",
                    key=key,
                    valid="one for each hop, or one for all without an array",
                )
        for key, loss in numbered("loss", self.loss):
            if loss.hop is not None and loss.hop > self.hops:
                valid = f"1 to {self.hops}"
                raise InputError("no such hop", key=f"{key}.hop", value=loss.hop, valid=valid)
        _check_once([(loss.place, loss.kind, loss.hop) for loss in self.loss])
        return self

    def at_hop(self, key: str, hop: int) -> Any:
        """Return a hop's rate, delay or queue; hops count from 0."""
        value = getattr(self, key)
        return value[hop] if _each_or_all(value) == "one for each hop" else value


AnyNetwork = Dumbbell | ParkingLot | Graph


def _as_dumbbell(value: Any) -> Any:
    """Let a network be a dumbbell unless it names another topology."""
    return {"topology": "dumbbell", **value} if isinstance(value, Mapping) else value


NetworkSpec = Annotated[AnyNetwork, Field(discriminator="topology"), BeforeValidator(_as_dumbbell)]
