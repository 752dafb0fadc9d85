"""Controlled delay, of one queue or of a queue for each flow."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import Count, Duration, Limit, Volume, format_time
from dumbbell.scenario.disciplines.base import Discipline


class _Delay(Discipline):
    """A discipline that holds the time in the queue to a target."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        target: int | None = getattr(self, "target", None)
        interval: int | None = getattr(self, "interval", None)
        if target is not None and interval is not None and target >= interval:
            raise InputError(
                f"not shorter than the interval of {format_time(interval)}",
                key="target",
                value=format_time(target),
                valid=f"less than {format_time(interval)}",
            )
        return self


class CoDel(_Delay):
    """Controlled delay (RFC 8289): drops if waits stay above a target for an interval."""

    title = "CoDel"

    discipline: Literal["codel"]

    limit: Limit = Field("1000p", validate_default=True, examples=["1000p"])
    """Limit of the queue."""

    target: Duration = Field("5ms", validate_default=True, examples=["5ms"])
    """Acceptable waiting time."""

    interval: Duration = Field("100ms", validate_default=True, examples=["100ms"])
    """Time for which a longer wait is tolerated; about the largest usual round-trip time."""

    ecn: bool = False
    """True if ECN-capable packets are marked instead of dropped."""


class FqCoDel(_Delay):
    """A queue for each flow, served in turn, each with CoDel (RFC 8290)."""

    title = "FQ-CoDel"

    discipline: Literal["fq-codel"]

    limit: Limit = Field("10240p", validate_default=True, examples=["10240p"])
    """Limit of all queues together."""

    target: Duration = Field("5ms", validate_default=True, examples=["5ms"])
    """Acceptable waiting time."""

    interval: Duration = Field("100ms", validate_default=True, examples=["100ms"])
    """Time for which a longer wait is tolerated."""

    queues: Count = Field(1024, examples=[1024, 4, 1])
    """Number of queues that flows are hashed to."""

    quantum: Volume = Field(1514, examples=[1514, 300, 9038])
    """Bytes that a queue may send in its turn."""

    ecn: bool = True
    """True if ECN-capable packets are marked instead of dropped."""
