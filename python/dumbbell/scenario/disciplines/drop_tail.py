"""Drop-tail queues: those that only have a limit, and those that mark at a backlog."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from dumbbell.base.units import Limit, Queue
from dumbbell.scenario.disciplines.base import Discipline
from dumbbell.scenario.tables import Abbreviable


class Fifo(Abbreviable, Discipline):
    """First in, first out; a full queue drops arriving packets. The limit alone is enough."""

    title = "FIFO"

    abbreviation = {"type": "string", "format": "queue"}  # noqa: RUF012 - it is a ClassVar

    discipline: Literal["fifo", "drop-tail"] = "fifo"

    limit: Limit = Field(examples=["175p", "0.2bdp", "unlimited"])
    """Limit of the queue."""

    @field_validator("discipline")
    @classmethod
    def _one_name(cls, _: str) -> str:
        return "fifo"

    @model_serializer(mode="wrap")
    def _compact(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self)["limit"]


UNLIMITED: Final = Fifo(discipline="fifo", limit=None)
"""A queue without a limit."""


class Step(Discipline):
    """Drop-tail that marks ECN-capable packets if the backlog is large (DCTCP, RFC 8257)."""

    discipline: Literal["step"]

    limit: Limit = Field(examples=["1000p", "1mb"])
    """Limit of the queue."""

    threshold: Queue = Field(examples=["65p", "100kb"])
    """Packets that find this much or more waiting are marked."""

    @classmethod
    def marks(cls, resolved: Any) -> bool:  # noqa: ARG003 - it always does
        """Return True."""
        return True
