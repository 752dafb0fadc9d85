"""A fidelity check: scenarios, an expected number, a measure, and a band around the number.

A check is data. It expects one number from an oracle. The band limits the distance of the measured
number from it, and `why` is the reason why it is not narrower.
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
    """Largest distance of the measured value below and above the expected one."""

    below: float
    above: float
    relative: bool = False
    """True if both are shares of the expected value."""

    def limits(self, expected: float) -> tuple[float, float]:
        """Return the smallest and the largest value that is still within."""
        unit = abs(expected) if self.relative else 1.0
        return expected - self.below * unit, expected + self.above * unit

    def holds(self, measured: float, expected: float) -> bool:
        """Return True if a value is within; a value that is not a number never is."""
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
        Name of the check, unique.
    oracle
        The theory that expects it, with its source.
    scenarios
        The scenarios to run; the same check may need several seeds.
    expected
        The number, or how it is computed.
    measure
        From the runs to a number in the same unit.
    band, why
        The allowed distance, and its reason.
    unit
        Of both numbers.
    needs
        Switches of the TCP stack without which an engine cannot do this.
    repeated
        True if every scenario is run a second time; the measure gets those runs last.
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
