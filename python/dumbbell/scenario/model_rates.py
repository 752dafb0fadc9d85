"""Rates, delays and probabilities of a link, also changing ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    ValidationInfo,
    model_validator,
)

from dumbbell.base.errors import InputError, placed
from dumbbell.base.keys import numbered
from dumbbell.base.units import (
    Delay,
    EdgeRate,
    Integer,
    Probability,
    Rate,
    Share,
    StepRate,
    Time,
    Volume,
    format_rate,
    format_time,
)
from dumbbell.scenario.model_traces import DelayTrace, LossTrace, Trace
from dumbbell.scenario.tables import Table
from dumbbell.scenario.traces import read_rates


class RateStep(Table):
    """A rate from some time on."""

    at: Time = Field(examples=["0s", "30s"])
    """When; the first entry at `0s`, later ones in order."""

    rate: StepRate = Field(examples=["100mbit", "0bit"])
    """The rate from then on; `0bit` is an outage."""


class DelayStep(Table):
    """A delay from some time on."""

    at: Time = Field(examples=["0s", "30s"])
    """When; the first entry at `0s`, later ones in order."""

    delay: Delay = Field(examples=["10ms"])
    """One-way propagation time from then on; packets keep their order when it falls."""

    route: Integer = Field(0, examples=[1])
    """Number of the route that packets take from then on. Those of one route keep their order, and
    may overtake those of another. Packets under way finish on their route."""


class LossStep(Table):
    """A probability of loss from some time on."""

    at: Time = Field(examples=["0s", "30s"])
    """When; the first entry at `0s`, later ones in order."""

    probability: Share = Field(examples=[1e-5, "1%", 1])
    """The probability from then on; with 1, everything is lost until the next entry."""


class TokenBucket(Table):
    """A token bucket (tbf): bursts pass at the peak rate, and the long-term rate is limited."""

    rate: Rate = Field(examples=["100mbit"])
    """Rate at which the bucket fills."""

    burst: Volume = Field(examples=["64kb"])
    """Size of the bucket; at least one packet."""

    peak: Rate | None = Field(None, examples=["1gbit"])
    """Rate at which a burst passes; by default it passes at once."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.peak is not None and self.peak < self.rate:
            raise InputError(
                f"less than the rate of {format_rate(self.rate)}",
                key="peak",
                value=format_rate(self.peak),
                valid=f"at least {format_rate(self.rate)}",
            )
        return self


def is_schedule(value: Any) -> bool:
    """Return True if an array is a schedule, that is, of tables with a time each."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return isinstance(value[0], _Step) or (isinstance(value[0], Mapping) and "at" in value[0])


_Step: Final = (RateStep, DelayStep, LossStep)


def _rate_kind(value: Any) -> str:
    """Return the form of a rate, by which pydantic chooses its type."""
    if isinstance(value, list | tuple):
        return "changing rate"
    if isinstance(value, Trace) or (isinstance(value, Mapping) and "trace" in value):
        return "trace"
    return "token bucket" if isinstance(value, Mapping | TokenBucket) else "constant rate"


def _kind(value: Any) -> str:
    """Return "schedule", "trace" or "constant", by which pydantic chooses a type."""
    if isinstance(value, list | tuple):
        return "schedule"
    return "trace" if isinstance(value, Mapping | DelayTrace | LossTrace) else "constant"


def _in_order(steps: Any) -> Any:
    """Raise InputError for a schedule that does not begin at 0 s, or is not in order."""
    previous = -1
    for number, step in enumerate(steps, start=1):
        if number == 1 and step.at > 0:
            raise InputError("the first entry is for the beginning", key="1.at", valid="0s")
        if step.at <= previous:
            raise InputError(
                "not after the entry before it",
                key=f"{number}.at",
                value=format_time(step.at),
                valid=f"more than {format_time(previous)}",
            )
        previous = step.at
    return steps


def _not_silent(steps: tuple[RateStep, ...]) -> tuple[RateStep, ...]:
    if not any(step.rate for step in steps):
        raise InputError("nothing ever departs", valid="a rate of more than 0bit at some time")
    return steps


RateSteps = Annotated[
    tuple[RateStep, ...],
    Field(min_length=1),
    AfterValidator(_in_order),
    AfterValidator(_not_silent),
]

RateSpec = Annotated[
    Annotated[Rate, Tag("constant rate")]
    | Annotated[RateSteps, Tag("changing rate")]
    | Annotated[Trace, Tag("trace")]
    | Annotated[TokenBucket, Tag("token bucket")],
    Discriminator(_rate_kind),
]
"""A rate: constant, a schedule, a trace or a token bucket."""

OpenRateSpec = Annotated[
    Annotated[EdgeRate, Tag("constant rate")]
    | Annotated[RateSteps, Tag("changing rate")]
    | Annotated[Trace, Tag("trace")]
    | Annotated[TokenBucket, Tag("token bucket")],
    Discriminator(_rate_kind),
]
"""The same, or `unlimited`, which is None."""


class RateFile(Table):
    """Rates that a file lists."""

    file: str = Field(examples=["media.txt"])
    """The file, relative to the one that names it. Each line has a time of the run and the rate
    from then on, such as `2.5s 3mbit`. The first time is `0s`, and `0bit` is silence."""

    _steps: tuple[tuple[int, int], ...] = PrivateAttr()

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        path = ((info.context or {}).get("folder", Path()) / self.file).absolute()
        with placed(key="file"):
            self._steps = read_rates(path)
        object.__setattr__(self, "file", str(path))
        return self

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """Times in ns, and bits per second from then on."""
        return self._steps


def _app_kind(value: Any) -> str:
    return "file" if isinstance(value, RateFile | Mapping) else _kind(value)


AppRateSpec = Annotated[
    Annotated[Rate, Tag("constant")]
    | Annotated[RateSteps, Tag("schedule")]
    | Annotated[RateFile, Tag("file")],
    Discriminator(_app_kind),
]
"""A rate at which data comes about: constant, a schedule or a file."""

AnyAppRate = int | tuple[RateStep, ...] | RateFile
"""The same once it has been read."""


def app_rate_steps(rate: AnyAppRate) -> tuple[tuple[int, int], ...]:
    """Return a rate as it changes: times of the run in ns, and bits per second from then on."""
    match rate:
        case int():
            return ((0, rate),)
        case RateFile():
            return rate.steps
        case _:
            return tuple((step.at, step.rate) for step in rate)


def check_app_rate(rate: AnyAppRate, key: str, most: int, problem: str) -> None:
    """Raise InputError for a rate of more than so many bits per second."""
    for place, (_, rate_bps) in numbered(key, app_rate_steps(rate)):
        if rate_bps > most:
            where = {int: key, RateFile: f"{key}.file"}.get(type(rate), f"{place}.rate")
            raise InputError(
                problem,
                key=where,
                value=format_rate(rate_bps),
                valid=f"at most {format_rate(most)}",
            )


@dataclass(frozen=True, slots=True)
class PacketRate:
    """A rate in packets per second, whatever their sizes."""

    packets_per_s: int


AnyRate = int | tuple[RateStep, ...] | Trace | TokenBucket | PacketRate | None
"""A rate once it has been read."""

DelaySpec = Annotated[
    Annotated[Delay, Tag("constant")]
    | Annotated[
        tuple[DelayStep, ...], Field(min_length=1), AfterValidator(_in_order), Tag("schedule")
    ]
    | Annotated[DelayTrace, Tag("trace")],
    Discriminator(_kind),
]
"""A one-way delay: constant, a schedule or a trace."""

AnyDelay = int | tuple[DelayStep, ...] | DelayTrace
"""A delay once it has been read."""


def delay_steps(delay: AnyDelay, duration_ns: int = 0) -> list[list[int]]:
    """Return a delay as it changes; a trace repeats until the duration, and is whole at least."""
    match delay:
        case int():
            return [[0, delay]]
        case DelayTrace():
            return delay.steps(duration_ns)
        case _:
            return [[step.at, step.delay] for step in delay]


def route_steps(delay: AnyDelay, duration_ns: int = 0) -> list[list[int]] | None:
    """Return the routes of a delay as they change; None if packets always take the same."""
    match delay:
        case int():
            return None
        case DelayTrace():
            routes = delay.routes(duration_ns)
        case _:
            steps = [(step.at, step.route) for step in delay]
            routes = [
                [at, route]
                for number, (at, route) in enumerate(steps)
                if number == 0 or route != steps[number - 1][1]
            ]
    return routes if len(routes) > 1 else None


def first_delay_ns(delay: AnyDelay) -> int:
    """Return a delay at the beginning of the run."""
    return delay_steps(delay)[0][1]


def _not_deaf(steps: tuple[LossStep, ...]) -> tuple[LossStep, ...]:
    if all(step.probability == 1 for step in steps):
        raise InputError("nothing ever passes", valid="a probability of less than 1 at some time")
    return steps


ProbabilitySpec = Annotated[
    Annotated[Probability, Tag("constant")]
    | Annotated[
        tuple[LossStep, ...],
        Field(min_length=1),
        AfterValidator(_in_order),
        AfterValidator(_not_deaf),
        Tag("schedule"),
    ]
    | Annotated[LossTrace, Tag("trace")],
    Discriminator(_kind),
]
"""A probability of loss: constant, a schedule or a trace."""
