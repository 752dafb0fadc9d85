"""Data that a sender has to send, and the times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import (
    NS_PER_S,
    Duration,
    Time,
    Volume,
    format_time,
    parse_time,
)
from dumbbell.scenario.model_rates import AppRateSpec, app_rate_steps, check_app_rate
from dumbbell.scenario.tables import Abbreviable, Table


class Start(Abbreviable):
    """When a flow starts: at one time, or at a random one drawn from the scenario's seed."""

    abbreviation = {"type": "string", "format": "time"}  # noqa: RUF012 - it is a ClassVar

    earliest: Time = Field(alias="from", examples=["30s"])
    """The earliest start."""

    latest: Time = Field(alias="to", examples=["90s"])
    """The latest start."""

    @model_validator(mode="before")
    @classmethod
    def _fixed(cls, value: Any) -> Any:
        if isinstance(value, Mapping | Start):
            return value
        parse_time(value)  # what is wrong is the time, which names no `from` and no `to`
        return {"from": value, "to": value}

    @model_validator(mode="after")
    def _ordered(self) -> Start:
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


class Bulk(Table):
    """As much as the network takes, or the flow's `bytes`."""

    kind: Literal["bulk"]


class _Requests(Table):
    bytes: Volume = Field(examples=["10kb"])
    """Size of a request."""

    pause: Time = Field("0s", validate_default=True, examples=["10ms"])
    """Time between the end of a request and the next one, in which the application thinks."""

    random: bool = False
    """True if pauses are random: exponential, with `pause` as their mean."""

    period: Duration | None = Field(None, examples=["100ms"])
    """Time between the beginnings of requests, instead of a pause. Requests begin at multiples of
    it, counted from the start of the flow. Multiples that pass during a request are skipped."""

    @model_validator(mode="after")
    def _one_rhythm(self) -> Self:
        if self.period is not None and (self.pause or self.random):
            key = "pause" if self.pause else "random"
            raise InputError("a period has no pause", key=key, valid="no such key here")
        if self.random and not self.pause:
            raise InputError(
                "random pauses need a mean", key="pause", value="0s", valid="more than 0s"
            )
        return self


class Rpc(_Requests):
    """Requests, each sent after the last one was acknowledged; for several at once, set `count`."""

    kind: Literal["rpc"]


class Incast(_Requests):
    """Queries that all flows of the table answer at the same time, each with `bytes`.

    The next query begins when all answers to the last were acknowledged.
    """

    kind: Literal["incast"]


class OnOff(Table):
    """Phases of sending and of silence.

    Datagrams keep their rate on average over all phases of sending, even if each phase is short.
    """

    kind: Literal["on-off"]

    on: Duration = Field(examples=["1s"])
    """Length of a phase of sending."""

    off: Duration = Field(examples=["2s"])
    """Length of a silence."""

    random: bool = False
    """True if the lengths are random, exponential with these means."""


class AppLimited(Table):
    """Data that the application produces at a rate, so that it is the limit, not the network.

    The application hands over full segments, the first one at the start. Segments that the network
    cannot carry yet wait.
    """

    kind: Literal["app-limited"]

    rate: AppRateSpec = Field(
        examples=["5mbit", [{"at": "0s", "rate": "2mbit"}, {"at": "30s", "rate": "8mbit"}]]
    )
    """Payload per second: a constant, a list of changes over the run with `0bit` for silence, or a
    file of such changes."""

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """The rate as it changes: times of the run in ns, and bits per second from then on."""
        return app_rate_steps(self.rate)

    def check_segment(self, payload_bytes: int) -> None:
        """Raise InputError for a rate at which a full segment takes no time."""
        most = 8 * payload_bytes * NS_PER_S
        check_app_rate(
            self.rate, "workload.rate", most, "a segment must take a nanosecond at least"
        )


AnyWorkload = Bulk | Rpc | Incast | OnOff | AppLimited

WorkloadSpec = Annotated[AnyWorkload, Field(discriminator="kind")]
