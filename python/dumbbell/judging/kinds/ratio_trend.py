"""Trend of a ratio: a quantity's ratio between two groups rises or falls along an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from dumbbell.algorithms.labels import label_of
from dumbbell.base.errors import InputError
from dumbbell.inference.statistics import quotient
from dumbbell.judging import words
from dumbbell.judging.evidence import Finding, Lack
from dumbbell.judging.runs import Pair, Points, Source
from dumbbell.judging.spec import Measured
from dumbbell.quantities.names import AxisName, Chosen


class RatioTrend(Measured):
    """A quantity's ratio between two groups of grid points rises or falls along an axis.

    Pairs are points that agree in all other axes. The ratio at the end of the axis is divided by
    that at its beginning. The whole interval of this quotient lies above 1 if the trend is rising,
    and below 1 if it is falling.
    """

    noun: ClassVar[str] = "pairs"

    type: Literal["ratio-trend"]

    statement: Literal["number", "order", "expectation"] = "order"
    """Source of the statement: the authors' number, their order or shape, or our expectation."""

    of: Chosen
    """The numerator's group."""

    to: Chosen
    """The denominator's group."""

    axis: AxisName
    """The axis. Its values count in the order of the test."""

    direction: Literal["rising", "falling"]
    """Direction of the ratio."""

    quantifier: Literal["all", "most", "any"] = "all"
    """Number of pairs that must show the trend. For `most`, the pairs at one place (that agree in
    the other axes) count together."""

    @model_validator(mode="after")
    def _groups_leave_the_axis(self) -> Self:
        for key, group in (("of", self.of), ("to", self.to)):
            if self.axis in group:
                problem = f"the groups must leave {self.axis} open: the ratio goes along it"
                raise InputError(problem, key=f"{key}.{self.axis}")
        return self

    @property
    def groups(self) -> tuple[Chosen, ...]:
        """The two groups that are compared."""
        return self.of, self.to

    def expected(self, source: Source) -> str:  # noqa: ARG002 - a ratio has no unit
        """Say where the ratio goes."""
        of, to = words.selection(self.of, self.to), words.selection(self.to, self.of)
        return f"ratio of {of} over {to} {self.direction} along {self.axis}"

    def findings(self, source: Source) -> Iterator[Finding]:
        """Follow each pair."""
        points = self.points(source)
        order = {value: number for number, value in enumerate(points.test.axes[self.axis])}
        by_place: dict[tuple[str, ...], list[Pair]] = {}
        for pair in points.pairs(self.of, self.to):
            ends = (pair.one.axes, pair.other.axes)
            place = tuple(end[name] for end in ends for name in end if name != self.axis)
            by_place.setdefault(place, []).append(pair)
        for pairs in by_place.values():
            if len(pairs) < 2:
                raise Lack(f"fewer than two values of {self.axis} have been run")
            yield self._followed(
                points, sorted(pairs, key=lambda pair: order[pair.one.axes[self.axis]])
            )

    def _followed(self, points: Points, pairs: Sequence[Pair]) -> Finding:
        ends = (pairs[0], pairs[-1])
        first, last = (end.one.over(end.other) for end in ends)
        at_ends = [
            f"{words.RATIO.value(ratio.value)} at {label_of(end.one.axes[self.axis])}"
            for ratio, end in zip((first, last), ends, strict=True)
        ]
        grown = quotient(last, first) if self.direction == "rising" else quotient(first, last)
        others = {name: value for name, value in pairs[0].place.items() if name != self.axis}
        place = points.where(others)
        return points.finding(
            grown,
            f"from {at_ends[0]} to {at_ends[1]}, "
            f"{self.direction} by a factor of {words.RATIO.estimate(grown)}",
            *(sample for end in ends for sample in (end.one, end.other)),
            low=1.0,
            is_strict=True,
            where=", ".join(filter(None, (pairs[0].against, place))),
            place=place,
            margin=grown.value,
        )
