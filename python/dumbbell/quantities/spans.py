"""Parts of a run: from one instant to a later one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dumbbell.base.units import NS_PER_S

LATE_SHARE: Final = 0.5
"""The window `late` is this last part of the main one: free of what slow start does."""

FINAL_SHARE: Final = 0.2
"""The window `final` is this last part of the main one: where the flows have come to."""


@dataclass(frozen=True)
class Span:
    """A part of a run, from one instant to a later one."""

    start_ns: int
    end_ns: int

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end_ns - self.start_ns) / NS_PER_S

    def last(self, share: float) -> Span:
        """Return the last part of it."""
        return Span(round(self.end_ns - share * (self.end_ns - self.start_ns)), self.end_ns)

    def inside(self, other: Span) -> Span | None:
        """Return the part of it that lies in another one; None if there is no such part."""
        start_ns, end_ns = max(self.start_ns, other.start_ns), min(self.end_ns, other.end_ns)
        return Span(start_ns, end_ns) if start_ns < end_ns else None
