"""Extent of runs, all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dumbbell.base.units import NS_PER_S
from dumbbell.contract.summary import Summary


@dataclass(frozen=True)
class Extent:
    """Sum over a number of results.

    Attributes
    ----------
    runs
        Number of results.
    simulated_s
        Sum of their durations, in simulated seconds.
    packets
        Data packets that reached their receivers.
    size_bytes
        All their files.
    """

    runs: int = 0
    simulated_s: float = 0.0
    packets: int = 0
    size_bytes: int = 0

    @classmethod
    def of(cls, duration_ns: int, summary: Summary, size_bytes: int) -> Extent:
        """Return that of one result, whose scenario is so long."""
        return cls(1, duration_ns / NS_PER_S, summary.packets, size_bytes)

    def __add__(self, other: Extent) -> Extent:
        return Extent(
            self.runs + other.runs,
            self.simulated_s + other.simulated_s,
            self.packets + other.packets,
            self.size_bytes + other.size_bytes,
        )


NOTHING: Final = Extent()
