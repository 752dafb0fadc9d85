"""Fair queueing."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dumbbell.base.units import Limit, Queue, Volume
from dumbbell.scenario.disciplines.base import Discipline, Passing, size_at
from dumbbell.scenario.sizing import Sizing, whole_packets


class Fq(Discipline):
    """A queue for each flow, served in turn (Linux's fq, but senders pace their flows)."""

    discipline: Literal["fq"]

    limit: Limit = Field("10000p", validate_default=True, examples=["10000p"])
    """Limit of all queues together."""

    flow_limit: Queue = Field("100p", validate_default=True, examples=["100p", "1p"])
    """Limit of one flow."""

    quantum: Volume = Field(3028, examples=[3028, 300])
    """Bytes that a flow may send in its turn."""

    initial_quantum: Volume = Field(15140, examples=[15140, 300])
    """Bytes that a flow may send in its first turn."""

    def fields(self, sizing: Sizing, passing: Passing) -> dict[str, Any]:
        """Return the parameters in base units, by the keys of the engine."""
        fields = super().fields(sizing, passing)
        del fields["flow_limit"]
        packets = size_at("flow_limit", self.flow_limit, sizing, whole_packets)
        return {**fields, "flow_limit_packets": packets}
