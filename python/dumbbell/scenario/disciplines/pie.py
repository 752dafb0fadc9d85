"""Proportional integral controller enhanced."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, field_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import Duration, Limit, Number, Time
from dumbbell.scenario.disciplines.base import Discipline

_UPDATE_MIN_NS: Final = 10_000


class ProportionalIntegral(Discipline):
    """A discipline whose probability follows the delay, and the delay's change."""

    drops_by_chance = True

    @field_validator("alpha", "beta", check_fields=False)
    @classmethod
    def _weights(cls, weight: float) -> float:
        if weight == 0:
            raise InputError("must be more than 0")
        return weight

    @field_validator("update", check_fields=False)
    @classmethod
    def _update_limit(cls, update: int) -> int:
        if update < _UPDATE_MIN_NS:
            raise InputError("too short: each update is computed", valid="at least 10us")
        return update


class Pie(ProportionalIntegral):
    """Proportional integral controller enhanced (RFC 8033): controls the delay by random drops."""

    title = "PIE"

    discipline: Literal["pie"]

    limit: Limit = Field("1000p", validate_default=True, examples=["1000p"])
    """Limit of the queue."""

    target: Duration = Field("15ms", validate_default=True, examples=["15ms"])
    """Target of the waiting time."""

    update: Duration = Field("15ms", validate_default=True, examples=["15ms"])
    """Time between updates of the drop probability (T_UPDATE), at least 10 us."""

    alpha: Number = Field(0.125, examples=[0.125, 10])
    """Weight of the delay's distance from the target, per second."""

    beta: Number = Field(1.25, examples=[1.25, 100])
    """Weight of the delay's trend, per second."""

    burst: Time = Field("150ms", validate_default=True, examples=["150ms", "0s"])
    """Longest burst that passes without drops after an idle time (MAX_BURST)."""

    ecn: bool = False
    """True if ECN-capable packets are marked instead of dropped while the probability is low."""
