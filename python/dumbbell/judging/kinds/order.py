"""Order: a quantity is larger in one group of grid points than in another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.judging import words
from dumbbell.judging.evidence import Finding
from dumbbell.judging.runs import Pair, Points, Source
from dumbbell.judging.spec import Numbered, Resolution
from dumbbell.judging.words import Named
from dumbbell.quantities.names import Chosen


class Order(Numbered):
    """A quantity is larger in one group of grid points than in another.

    Points of the two groups that agree in all other axes form a pair. Their means are compared.
    Runs with equal seeds are compared run by run, others by Welch's interval. A pair is in order if
    the whole interval of the difference lies above 0. With a `factor`, the whole interval of the
    ratio (on a logarithmic scale) must lie above the factor.
    """

    noun: ClassVar[str] = "pairs"

    type: Literal["order"]

    statement: Literal["number", "order", "expectation"] = "order"
    """Source of the statement: the authors' number, their order or shape, or our expectation."""

    larger: Chosen
    """The group with the larger quantity."""

    smaller: Chosen
    """The group with the smaller quantity."""

    factor: float = Field(1.0, gt=0)
    """Factor that the ratio of the two must exceed."""

    resolution: Resolution = 0.0
    """Relative difference that the authors could not have seen, such as a few per cent on a full
    path. Pairs within it are tied, and the other pairs decide. If all pairs are tied, or for `most`
    more than half, the check is a tie."""

    quantifier: Literal["all", "most", "any"] = "all"
    """Number of pairs that must be in order. For `most`, the pairs at one place (that agree in the
    other axes) count together."""

    @model_validator(mode="after")
    def _states_a_factor(self) -> Self:
        if self.factor == 1 and (self.stated or self.stated_low or self.stated_high):
            problem = "the authors' number is a ratio, so it needs a factor"
            raise InputError(problem, key="factor", value=self.factor, valid="their factor or less")
        return self

    @property
    def groups(self) -> tuple[Chosen, ...]:
        """The two groups that are compared."""
        return self.larger, self.smaller

    def shown_as(self, source: Source) -> Named:  # noqa: ARG002 - a ratio has no unit
        """Show the authors' number as a ratio."""
        return words.TIMES

    def expected(self, source: Source) -> str:  # noqa: ARG002 - no bounds with a unit
        """Say which group is larger."""
        factor = f"more than {words.RATIO.value(self.factor)} times " if self.factor != 1 else ""
        larger = words.selection(self.larger, self.smaller)
        groups = f"{larger} than for {words.selection(self.smaller, self.larger)}"
        return f"{factor}larger for {groups}{words.tie(self.resolution)}"

    def findings(self, source: Source) -> Iterator[Finding]:
        """Compare each pair."""
        points = self.points(source)
        for pair in points.pairs(self.larger, self.smaller):
            yield self._compared(points, pair, source)

    def _compared(self, points: Points, pair: Pair, source: Source) -> Finding:
        named = self.named(source)
        ratio = pair.one.over(pair.other)
        both = f"{named.value(pair.one.mean)} against {named.value(pair.other.mean)}"
        # Means of 0 and below have a difference, but no logarithm of a ratio to judge.
        shown_as = named.apart if self.factor == 1 else words.RATIO
        if self.factor == 1:
            estimate = pair.one.more_than(pair.other)
            text = f"{both}, a difference of {shown_as.estimate(estimate)}"
        else:
            estimate = ratio
            text = f"{both}, a ratio of {shown_as.estimate(estimate)}"
        return points.finding(
            estimate,
            text,
            pair.one,
            pair.other,
            brief=both,
            bounds=shown_as.bounds,
            low=0.0 if self.factor == 1 else self.factor,
            is_strict=True,
            ratios=(ratio,),
            resolution=self.resolution,
            where=str(pair),
            place=pair.where,
            margin=ratio.value,
        )
