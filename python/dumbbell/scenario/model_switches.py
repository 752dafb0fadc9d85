"""Switches whose ports share a memory."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field, field_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import Number, Volume, format_bytes
from dumbbell.scenario.tables import Name, Table


class Switch(Table):
    """A switch whose queues share its memory by dynamic thresholds (Choudhury and Hahne 1998).

    Each queue may hold `alpha` times the memory that is free at the moment. A port has one queue,
    or with `classes` one for each class. So each of `n` full queues holds `alpha / (1 + n alpha)`
    of the memory. The limits of the queues apply as well. Packets being sent do not count.
    """

    memory: Volume = Field(examples=["12mb", "150kb"])
    """Size of its memory."""

    alpha: Number = Field(1.0, examples=[1, 0.5, 8])
    """Largest share of a queue, relative to the free memory."""

    @field_validator("alpha")
    @classmethod
    def _above_zero(cls, alpha: float) -> float:
        if alpha == 0:
            raise InputError("no packet ever waits", value=0, valid="more than 0")
        return alpha


class NodeSwitch(Switch):
    """A node of a graph whose outgoing links share its memory."""

    node: Name = Field(examples=["b"])
    """Name of the node."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a switch, its place in the file and its number."""

    key: str
    number: int
    switch: Switch

    def resolved(self, wire_bytes: int) -> dict[str, int | float]:
        """Return it in base units; one that lets no packet wait is an InputError."""
        size_bytes, alpha = self.switch.memory, self.switch.alpha
        # A queue alone grows until q = alpha (B - q), where it meets its threshold.
        largest_bytes = int(alpha * size_bytes / (1 + alpha))
        if largest_bytes < wire_bytes:
            raise InputError(
                f"a queue alone may hold {format_bytes(largest_bytes)} of it, less than one packet",
                key=f"{self.key}.memory",
                value=format_bytes(size_bytes),
                valid=f"so much that alpha / (1 + alpha) of it is at least "
                f"{format_bytes(wire_bytes)}, the largest packet on the wire",
            )
        return {"switch": self.number, "bytes": size_bytes, "alpha": alpha}
