"""What a fidelity check is: scenarios, what theory expects, what is measured, how close it must be.

A check is data. What it expects is one number from an oracle; the band around it says how far the
measured number may be from it, and `why` says why not less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dumbbell.engines.result import Run

Table = Mapping[str, Any]
"""A scenario as its file would say it."""

Measure = Callable[[Sequence[Run]], float]
"""Takes the runs of a check's scenarios in their order; not a number if there is nothing to say."""


@dataclass(frozen=True)
class Band:
    """How far what is measured may be below and above what is expected."""

    below: float
    above: float
    relative: bool = False
    """Whether both are shares of what is expected."""

    def limits(self, expected: float) -> tuple[float, float]:
        """Return the smallest and the largest value that is still within."""
        unit = abs(expected) if self.relative else 1.0
        return expected - self.below * unit, expected + self.above * unit

    def holds(self, measured: float, expected: float) -> bool:
        """Tell whether a value is within; what is not a number never is."""
        low, high = self.limits(expected)
        return math.isfinite(measured) and low <= measured <= high

    def __str__(self) -> str:
        """Say it as in a table: ± 5 %, −0.1/+0.2."""
        if self.below == self.above == 0:
            return "exact"
        scale, unit = (100, " %") if self.relative else (1, "")
        if self.below == self.above:
            return f"±{self.below * scale:g}{unit}"
        return f"−{self.below * scale:g}/+{self.above * scale:g}{unit}"


EXACT = Band(0, 0)


def within(share: float, above: float | None = None) -> Band:
    """Return a band of shares of what is expected."""
    return Band(share, share if above is None else above, relative=True)


def about(distance: float, above: float | None = None) -> Band:
    """Return a band in the unit of what is expected."""
    return Band(distance, distance if above is None else above)


@dataclass(frozen=True)
class Check:
    """One fidelity check.

    Attributes
    ----------
    name
        What is checked, unique.
    oracle
        What expects it, with its source.
    scenarios
        What is run; the same check may need several seeds.
    expected
        The number, or how it is computed.
    measure
        From the runs to a number in the same unit.
    band, why
        How far it may be off, and why that far.
    unit
        Of both numbers.
    needs
        Switches of the TCP stack without which an engine cannot do this.
    repeated
        Whether every scenario is run a second time, anew; the measure gets those runs last.
    """

    name: str
    oracle: str
    scenarios: tuple[Table, ...] = field(repr=False)
    expected: float | Callable[[], float]
    measure: Measure
    band: Band
    why: str
    unit: str = ""
    needs: tuple[str, ...] = ()
    repeated: bool = False

    def expects(self) -> float:
        """Return the expected number."""
        return float(self.expected() if callable(self.expected) else self.expected)
