"""Ranking: two values of one axis rank the values of another equally."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np
from pydantic import Field

from dumbbell.algorithms.labels import label_of
from dumbbell.base.keys import numbered
from dumbbell.inference import statistics
from dumbbell.inference.statistics import Sample as Array
from dumbbell.judging import words
from dumbbell.judging.evidence import Finding, Lack
from dumbbell.judging.runs import Source
from dumbbell.judging.spec import Measured
from dumbbell.plan.grid import Selection
from dumbbell.quantities.names import AxisName, Use, What


class Ranking(Measured):
    """Two values of one axis produce the same ranking of another axis.

    Means are averaged over the other axes, and then ranked along the ranked axis. The check
    compares the two rankings by Spearman's rank correlation. Its interval comes from resampled
    runs.
    """

    type: Literal["ranking"]

    statement: Literal["number", "order", "expectation"] = "order"
    """Source of the statement: the authors' number, their order or shape, or our expectation."""

    axis: AxisName
    """The axis with two values to compare."""

    values: tuple[str, str]
    """The two values."""

    ranked: AxisName = "algorithm"
    """The axis whose values are ranked."""

    low: float = Field(ge=-1, le=1)
    """Smallest rank correlation that agrees."""

    def uses(self) -> Iterator[Use]:
        """Yield every name that it refers to."""
        yield from super().uses()
        for key, value in numbered("values", self.values):
            yield Use(key, What.VALUE, (self.axis, value), self.test)

    @property
    def groups(self) -> tuple[Selection, ...]:
        """The points of the two values."""
        return ({self.axis: list(self.values)},)

    def expected(self, source: Source) -> str:  # noqa: ARG002 - a correlation has no unit
        """Return what has an equal ranking, in words."""
        one, other = map(label_of, self.values)
        return (
            f"{self.axis} {one} and {other} rank {self.ranked} equally, with a rank correlation of "
            f"at least {words.RATIO.value(self.low)}"
        )

    def findings(self, source: Source) -> Iterator[Finding]:
        """Compare the two rankings."""
        points = self.points(source)
        sides = [points.select({self.axis: value}) for value in self.values]
        there = [{sample.axes[self.ranked] for sample in side} for side in sides]
        ranked = [value for value in points.test.axes[self.ranked] if value in there[0] & there[1]]
        # Two values rank equally or in reverse by chance, half of the time each.
        if len(ranked) < 3:
            raise Lack(f"fewer than three values of {self.ranked} to rank")
        samples = [sample for side in sides for sample in side]
        members = [
            [
                [
                    number
                    for number, sample in enumerate(samples)
                    if sample in side and sample.axes[self.ranked] == value
                ]
                for value in ranked
            ]
            for side in sides
        ]
        values = [sample.values for sample in samples]
        # Ranks jump, so no formula gives the error of their correlation. Resampled runs show it.
        estimate = statistics.resampled(values, partial(_correlation, members))
        yield points.finding(
            estimate,
            f"{words.RATIO.estimate(estimate)}, of {words.count(len(ranked), 'value')}",
            *samples,
            low=self.low,
            margin=estimate.value - self.low,
        )


def _correlation(members: Sequence[Sequence[list[int]]], means: Array) -> Array:
    """Return the rank correlation of two sides; each value's mean is that of its members."""
    one, other = (
        np.stack([means[:, numbers].mean(axis=1) for numbers in side], axis=1) for side in members
    )
    return _spearman(one, other)


def _spearman(one: Array, other: Array) -> Array:
    """Return the rank correlation of each row of both; 0 where all values of a row are equal."""
    # Spearman's is Pearson's correlation of the ranks. The short formula fails for equal values.
    centred = [ranks - ranks.mean(axis=1, keepdims=True) for ranks in map(_ranks, (one, other))]
    product = (centred[0] * centred[1]).sum(axis=1)
    size = np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
    correlations: Array = np.divide(product, size, out=np.zeros_like(product), where=size > 0)
    return correlations


def _ranks(values: Array) -> Array:
    """Return the rank of each value in its row; equal values share theirs."""
    smaller = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    alike = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks: Array = smaller + (alike + 1) / 2
    return ranks
