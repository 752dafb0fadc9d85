"""A number that the authors of a study state, and the quotient of a measured one and it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["value", "at least", "at most", "range"]
"""A number as it is, as a limit, or as a range."""


@dataclass(frozen=True)
class Stated:
    """A number of the authors: a value, a limit or a range.

    Attributes
    ----------
    low, high
        Its ends in the unit of the quantity: the same for a value, one infinite for a limit.
    text
        It in words.
    """

    low: float
    high: float
    text: str

    @property
    def kind(self) -> Kind:
        """Its kind."""
        if self.low == self.high:
            return "value"
        if math.isinf(self.high):
            return "at least"
        return "at most" if math.isinf(self.low) else "range"

    def over(self, measured: float) -> float:
        """Return measured / stated, of a limit or a range by its nearer end.

        So that it is 1 for whatever the limit or the range allows.
        """
        if self.low <= measured <= self.high:
            return 1.0
        nearest = self.low if measured < self.low else self.high
        return measured / nearest if nearest else math.nan
