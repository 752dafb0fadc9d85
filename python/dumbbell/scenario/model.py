"""The scenario file: what a user writes, checked.

`Scenario` mirrors the TOML file key by key. `Scenario.resolve` turns it into the plain
integers that an engine runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dumbbell import catalogue, documents
from dumbbell.errors import InputError, unknown
from dumbbell.scenario.resolve import FLOWS_MAX, HEADER_BYTES, ResolvedScenario, check, resolve
from dumbbell.units import (
    Bytes,
    Duration,
    EdgeRate,
    Integer,
    Interval,
    Probability,
    Queue,
    Rate,
    Time,
    Volume,
    format_time,
)

LossPlace = Literal["sender", "bottleneck", "receiver", "reverse"]


class _Table(BaseModel):
    """A table of the file: its keys are fixed, its values do not change."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, serialize_by_alias=True
    )


class _Abbreviable(_Table):
    """A table for which a single text may stand, too."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        table = handler.resolve_ref_schema(handler(core_schema))
        described: dict[str, Any] = {
            key: table.pop(key) for key in ("title", "description") if key in table
        }
        return {**described, "anyOf": [{"type": "string"}, table]}


class Stack(_Abbreviable):
    """The TCP stack of all hosts: a profile, with single switches set otherwise."""

    profile: str = Field("linux-6", examples=["linux-6", "linux-2.6.6"])
    """Name of the profile."""

    switches: Mapping[str, bool | int | str] = Field({}, examples=[{"quick_acks": 0}])
    """Switches that differ from the profile."""

    @model_validator(mode="before")
    @classmethod
    def _name_only(cls, value: Any) -> Any:
        return {"profile": value} if isinstance(value, str) else value

    @field_validator("profile")
    @classmethod
    def _known_profile(cls, name: str) -> str:
        return catalogue.stack_profile(name).name

    @model_validator(mode="after")
    def _known_switches(self) -> Self:
        for name, value in self.switches.items():
            try:
                catalogue.stacks().check_switch(self.profile, name, value)
            except InputError as error:
                raise error.at(key=f"switches.{name}") from None
        return self

    @model_serializer(mode="wrap")
    def _compact(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self) if self.switches else self.profile


class Start(_Abbreviable):
    """When a flow starts: at one time, or at a random one drawn from the scenario's seed."""

    earliest: Time = Field(alias="from", examples=["30s"])
    """The earliest start."""

    latest: Time = Field(alias="to", examples=["90s"])
    """The latest start."""

    @model_validator(mode="before")
    @classmethod
    def _fixed(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | Start) else {"from": value, "to": value}

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.latest < self.earliest:
            raise InputError(
                f"earlier than from = {format_time(self.earliest)}",
                key="to",
                value=format_time(self.latest),
                valid="from <= to",
            )
        return self

    @model_serializer(mode="wrap")
    def _compact(self, handler: SerializerFunctionWrapHandler) -> Any:
        return format_time(self.earliest) if self.earliest == self.latest else handler(self)


class Loss(_Table):
    """Random loss: each packet that passes the place is lost with the same probability."""

    place: LossPlace = Field(examples=["receiver"])
    """Where packets are lost: as data leaves its `sender`, before the queue of the `bottleneck`,
    as data reaches its `receiver`, or acknowledgements before the `reverse` bottleneck."""

    probability: Probability = Field(examples=[1e-5, "1%"])
    """Share of the packets that are lost, each independently of the others."""


class Reverse(_Table):
    """The path of the acknowledgements."""

    rate: Rate | None = Field(None, examples=["250mbit"])
    """Rate of its bottleneck; by default that of the forward path."""

    queue: Queue = Field("1000p", validate_default=True, examples=["1000p", "1bdp"])
    """Limit of its drop-tail queue."""


class Network(_Table):
    """A dumbbell: senders, one shared bottleneck with a drop-tail queue, receivers."""

    rate: Rate = Field(examples=["250mbit", "1gbit"])
    """Rate of the bottleneck."""

    rtt: Duration | None = Field(None, examples=["42ms"])
    """Two-way propagation time of flows that set none of their own; a queue in `bdp`
    refers to it."""

    delay: Time = Field("0s", validate_default=True, examples=["5ms"])
    """One-way propagation time of the shared bottleneck, part of every flow's `rtt`."""

    queue: Queue = Field(examples=["175p", "256kb", "10ms", "0.2bdp"])
    """Limit of the bottleneck's drop-tail queue, the packet being sent not counted: in packets,
    bytes, time at the bottleneck's rate, or multiples of the bandwidth-delay product. Time and
    BDP become whole packets of the largest packet size, rounded down; a BDP share holds at
    least one packet."""

    edge_rate: EdgeRate = Field("unlimited", validate_default=True, examples=["1gbit", "unlimited"])
    """Rate of each sender's access link."""

    edge_jitter: Time = Field("0s", validate_default=True, examples=["10us"])
    """Each packet is held up to this long in its sender, uniformly and in order; breaks phase
    effects between flows."""

    overhead: Literal["none", "ip", "ethernet"] = Field("ip", examples=["ethernet"])
    """What a packet occupies on every link beside its IP bytes: `ethernet` adds 38 (preamble,
    header, checksum, gap); `ip` and `none` add nothing."""

    reverse: Reverse = Field(Reverse(), examples=[{"queue": "1bdp"}])
    """How acknowledgements travel back."""

    loss: tuple[Loss, ...] = Field((), examples=[[{"place": "receiver", "probability": 1e-5}]])
    """Places of random loss."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.rtt is not None and self.rtt < 2 * self.delay:
            raise InputError(
                f"smaller than twice the bottleneck's delay of {format_time(self.delay)}",
                key="rtt",
                value=format_time(self.rtt),
                valid=f"at least {format_time(2 * self.delay)}",
            )
        places = [loss.place for loss in self.loss]
        for index, place in enumerate(places):
            if place in places[:index]:
                raise InputError(
                    "loss at this place is set twice",
                    key=f"loss.{index}.place",
                    value=place,
                    valid="one [[network.loss]] per place",
                )
        return self


class Flow(_Table):
    """One or more equal bulk flows, each between a host pair of its own."""

    algorithm: str = Field(examples=["htcp", "htcp@li2007"])
    """Congestion control, optionally with `@` and the name of a preset."""

    count: Integer = Field(1, examples=[2])
    """How many such flows."""

    rtt: Duration | None = Field(None, examples=["162ms"])
    """Two-way propagation time of the whole path; by default the network's."""

    start: Start = Field(
        "0s", validate_default=True, examples=["10s", {"from": "30s", "to": "90s"}]
    )
    """When the flow starts; a range gives each flow a random start."""

    stop: Time | None = Field(None, examples=["600s"])
    """When the flow stops; by default at the end of the run."""

    bytes: Volume | None = Field(None, examples=["10mb"])
    """How much the flow sends; by default it never runs out of data."""

    packet: Bytes = Field(1500, examples=[1500, 9000])
    """Size of its full IP packets, of which 52 bytes are IP and TCP headers."""

    parameters: Mapping[str, Integer] = Field({}, examples=[{"delta_l": 500}])
    """Parameters of the algorithm that differ from the preset (`dumbbell algorithms show`)."""

    label: str | None = Field(None, min_length=1, examples=["late flow"])
    """Name of the flow in tables and figures, numbered if `count` is more than 1; by default
    the algorithm and a number."""

    @field_validator("algorithm")
    @classmethod
    def _known_algorithm(cls, choice: str) -> str:
        catalogue.split_preset(choice)
        return choice

    @field_validator("count")
    @classmethod
    def _count_limits(cls, count: int) -> int:
        if not 1 <= count <= FLOWS_MAX:
            raise InputError("impossible number of flows", valid=f"1 to {FLOWS_MAX}")
        return count

    @field_validator("packet")
    @classmethod
    def _packet_limits(cls, packet: int) -> int:
        if not HEADER_BYTES < packet <= 65535:
            raise InputError(
                f"an IP packet holds {HEADER_BYTES} bytes of headers, some data and "
                "at most 65535 bytes",
                valid=f"{HEADER_BYTES + 1} to 65535",
            )
        return packet

    @model_validator(mode="after")
    def _possible(self) -> Self:
        algorithm, _ = catalogue.split_preset(self.algorithm)
        for name, value in self.parameters.items():
            try:
                algorithm.check_parameter(name, value)
            except InputError as error:
                raise error.at(key=f"parameters.{name}") from None
        if self.stop is not None and self.stop <= self.start.latest:
            raise InputError(
                f"not after the start at {format_time(self.start.latest)}",
                key="stop",
                value=format_time(self.stop),
                valid=f"more than {format_time(self.start.latest)}",
            )
        return self


class Record(_Table):
    """What a run leaves behind, beside its summary."""

    interval: Interval = Field("100ms", validate_default=True, examples=["100ms", "none"])
    """Time between samples of flows and queues; `none` takes no samples."""

    events: tuple[str, ...] = Field(
        ("congestion", "timeout", "drop", "loss", "retransmit"),
        examples=[["congestion", "drop"]],
    )
    """Kinds of events to record."""

    algorithm_state: bool = Field(False, examples=[True])
    """Whether to sample the algorithm's own variables too (table `internals`)."""

    @field_validator("events")
    @classmethod
    def _known_events(cls, events: tuple[str, ...]) -> tuple[str, ...]:
        names = catalogue.schema().codes["kind"]
        for event in events:
            if event not in names:
                raise unknown("kind of event", event, names)
        return events


class Scenario(_Table):
    """One experiment: a network and the flows that share it."""

    title: str = Field("", examples=["Two H-TCP flows"])
    """What the scenario is about; does not influence the run."""

    duration: Duration = Field(examples=["600s"])
    """Length of the run in simulated time."""

    seed: Integer = Field(1, examples=[1])
    """Where all randomness comes from; equal seeds give equal runs."""

    stack: Stack = Field(
        Stack(), examples=["linux-6", {"profile": "linux-6", "switches": {"quick_acks": 0}}]
    )
    """The TCP stack: the name of a profile, or a table with switches."""

    network: Network = Field(examples=[{"rate": "250mbit", "rtt": "42ms", "queue": "0.2bdp"}])
    """The path."""

    flow: tuple[Flow, ...] = Field(examples=[[{"algorithm": "htcp", "count": 2}]])
    """The flows, as an array of tables."""

    record: Record = Field(Record(), examples=[{"interval": "10ms"}])
    """What to record."""

    @field_validator("seed")
    @classmethod
    def _seed_limits(cls, seed: int) -> int:
        if not 0 <= seed < 2**64:
            raise InputError("not a seed", valid="0 to 2^64 - 1")
        return seed

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check(self)
        return self

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a scenario file; any problem is an InputError naming file and key."""
        return cls.parse(documents.read_toml(path), str(path))

    @classmethod
    def parse(cls, data: Mapping[str, Any], source: str | None = None) -> Self:
        """Validate the content of a scenario file that was read from `source`."""
        return documents.validate(cls, data, source)

    def resolve(self) -> ResolvedScenario:
        """Return the integers that an engine runs; random starts are drawn here."""
        return resolve(self)
