"""Trend: a quantity rises or falls along an axis."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from dumbbell.algorithms.labels import label_of
from dumbbell.judging import words
from dumbbell.judging.evidence import Finding, step_back
from dumbbell.judging.runs import Points, Sample, Source
from dumbbell.judging.spec import Measured, Resolution
from dumbbell.quantities.names import AxisName


class Trend(Measured):
    """A quantity rises or falls along an axis.

    A series is the points that agree in all other axes. The whole interval of the difference
    between its two ends lies in the direction. With a `factor`, this is the interval of their
    ratio. No step is in the other direction, after a correction for the number of steps.
    """

    noun: ClassVar[str] = "series"

    type: Literal["trend"]

    statement: Literal["number", "order", "expectation"] = "order"
    """Source of the statement: the authors' number, their order or shape, or our expectation."""

    axis: AxisName
    """The axis. Its values count in the order of the test."""

    direction: Literal["rising", "falling"]
    """Direction of the quantity."""

    factor: float = Field(1.0, ge=1)
    """Smallest ratio between the ends."""

    resolution: Resolution = 0.0
    """Relative difference that the authors could not have seen. A series whose values all lie this
    close to its first one is tied, and the other series decide. If all series are tied, the check
    is a tie."""

    quantifier: Literal["all", "most", "any"] = "all"
    """Number of series that must show the trend."""

    def expected(self, source: Source) -> str:  # noqa: ARG002 - no bounds with a unit
        """Say where it goes."""
        factor = f" at least {words.RATIO.value(self.factor)} times" if self.factor > 1 else ""
        return f"{self.direction}{factor} along {self.axis}{words.tie(self.resolution)}"

    def findings(self, source: Source) -> Iterator[Finding]:
        """Follow each series."""
        points = self.points(source)
        for samples in points.series(self.axis):
            yield self._followed(points, samples, source)

    def _followed(self, points: Points, samples: Sequence[Sample], source: Source) -> Finding:
        named, is_rising = self.named(source), self.direction == "rising"
        # A falling series is judged as a rising one that is read backwards.
        upwards = samples if is_rising else samples[::-1]
        smallest, largest = upwards[0], upwards[-1]
        ratio, more = largest.over(smallest), largest.more_than(smallest)
        steps = tuple(above.more_than(below) for below, above in itertools.pairwise(upwards))
        between = self._between(source, samples[0], samples[-1])
        against = step_back(steps)
        if against is not None:
            step = (upwards[against], upwards[against + 1])
            between += f", but {self._between(source, *(step if is_rising else step[::-1]))}"
        if self.factor == 1:
            change = f"{'up' if is_rising else 'down'} by {named.apart.estimate(more)}"
        else:
            change = f"{self.direction} by a factor of {words.RATIO.estimate(ratio)}"
        others = {name: value for name, value in samples[0].axes.items() if name != self.axis}
        return points.finding(
            more if self.factor == 1 else ratio,
            f"{between}, {change}" if against is None else f"{between}; at the ends {change}",
            *samples,
            brief=between,
            bounds=named.apart.bounds if self.factor == 1 else words.RATIO.bounds,
            low=0.0 if self.factor == 1 else self.factor,
            is_strict=self.factor == 1,
            ratios=tuple(sample.over(samples[0]) for sample in samples[1:]),
            resolution=self.resolution,
            steps=steps,
            where=points.where(others),
            margin=ratio.value,
        )

    def _between(self, source: Source, first: Sample, second: Sample) -> str:
        """Say from which value to which the quantity goes between two points."""
        first_value, second_value = (
            f"{self.named(source).value(point.mean)} at {label_of(point.axes[self.axis])}"
            for point in (first, second)
        )
        return f"from {first_value} to {second_value}"
