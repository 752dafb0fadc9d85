"""Ratio: that of a quantity in two groups of grid points lies between two bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from dumbbell.base.errors import InputError
from dumbbell.judging import words
from dumbbell.judging.evidence import Finding, Quantifier
from dumbbell.judging.runs import Source
from dumbbell.judging.spec import Numbered
from dumbbell.judging.words import Named
from dumbbell.quantities.names import Chosen


class Ratio(Numbered):
    """The ratio of a quantity's means in two groups of grid points lies between two bounds.

    Points of the groups that agree in all other axes are compared pair by pair. The interval is
    that of the ratio's logarithm, so it does not matter which group is the numerator.
    """

    noun: ClassVar[str] = "pairs"

    type: Literal["ratio"]

    statement: Literal["number", "order", "expectation"] = "number"
    """Source of the statement: the authors' number, their order or shape, or our expectation."""

    of: Chosen
    """The numerator's group."""

    to: Chosen
    """The denominator's group."""

    low: float | None = None
    """Smallest ratio that agrees."""

    high: float | None = None
    """Largest ratio that agrees."""

    quantifier: Quantifier = "all"
    """Number of pairs whose ratio must be between the bounds. For `most`, the pairs at one place
    (that agree in the other axes) count together."""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.low is None and self.high is None:
            raise InputError("a ratio needs low or high", key="low")
        return self

    @property
    def groups(self) -> tuple[Chosen, ...]:
        """The two groups that are compared."""
        return self.of, self.to

    def shown_as(self, source: Source) -> Named:  # noqa: ARG002 - a ratio has no unit
        """Show the authors' number as a ratio."""
        return words.TIMES

    def expected(self, source: Source) -> str:  # noqa: ARG002 - a ratio has no unit
        """Say what the bounds are, and of which groups."""
        of, to = words.selection(self.of, self.to), words.selection(self.to, self.of)
        bounds = words.RATIO.between(self.low, self.high)
        return f"ratio of {of} over {to} {bounds}"

    def findings(self, source: Source) -> Iterator[Finding]:
        """Compare each pair."""
        points, named = self.points(source), self.named(source)
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        for pair in points.pairs(self.of, self.to):
            ratio = pair.one.over(pair.other)
            both = f"{named.value(pair.one.mean)} over {named.value(pair.other.mean)}"
            yield points.finding(
                ratio,
                f"{both} is {words.RATIO.estimate(ratio)}",
                pair.one,
                pair.other,
                brief=f"{both} is {words.RATIO.value(ratio.value)}",
                low=low,
                high=high,
                where=str(pair),
                place=pair.where,
                margin=min(ratio.value - low, high - ratio.value),
            )
