"""Random early detection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import Limit, Queue, Share
from dumbbell.scenario.disciplines.base import Discipline, Passing, size_at
from dumbbell.scenario.sizing import Sizing, exact_packets


class Red(Discipline):
    """Random early detection (Floyd and Jacobson 1993); `ared` adapts its probability."""

    title = "RED"
    drops_by_chance = True

    discipline: Literal["red", "ared"]

    limit: Limit = Field(examples=["1000p"])
    """Limit of the queue."""

    min_threshold: Queue = Field("5p", validate_default=True, examples=["5p", "0.05bdp", "1ms"])
    """Average queue from which packets are dropped or marked."""

    max_threshold: Queue | None = Field(None, examples=["15p", "40p"])
    """Average queue at which the probability is `max_probability`; by default three times
    `min_threshold`."""

    max_probability: Share = Field(0.1, examples=[0.1, "2%", 1])
    """Probability at `max_threshold`."""

    weight: Share = Field(0.002, examples=[0.002, 1])
    """Weight of a new packet in the average."""

    gentle: bool = True
    """True if the probability rises to 1 at twice `max_threshold`, rather than at once."""

    adaptive: bool = False
    """True if `max_probability` adapts (Floyd, Gummadi and Shenker 2001); true for `ared`."""

    ecn: bool = False
    """True if ECN-capable packets are marked instead of dropped."""

    @model_validator(mode="before")
    @classmethod
    def _ared(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or value.get("discipline") != "ared":
            return value
        if value.get("adaptive", True) is not True:
            raise InputError("ared is adaptive", key="adaptive", valid='true, or discipline "red"')
        return {**value, "discipline": "red", "adaptive": True}

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for key in ("max_probability", "weight"):
            if getattr(self, key) == 0:
                raise InputError("must be more than 0", key=key, value=0, valid="0 < share <= 1")
        return self

    def fields(self, sizing: Sizing, passing: Passing) -> dict[str, Any]:
        """Return the parameters in base units, by the keys of the engine."""
        least = size_at("min_threshold", self.min_threshold, sizing, exact_packets)
        most = size_at("max_threshold", self.max_threshold, sizing, exact_packets)
        assert least is not None
        most = 3 * least if most is None else most
        if most <= least:
            raise InputError(
                f"not more than min_threshold = {self.min_threshold}",
                key="max_threshold",
                value=str(self.max_threshold),
                valid="more; by default three times as much",
            )
        common = super().fields(sizing, passing)
        del common["min_threshold"], common["max_threshold"]
        return {
            "min_packets": float(least),
            "max_packets": float(most),
            **common,
        }
