"""Band: a quantity lies between two bounds at each grid point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.judging.evidence import Finding, Quantifier
from dumbbell.judging.runs import Source
from dumbbell.judging.spec import Numbered, Statistic
from dumbbell.judging.words import Named


class Band(Numbered):
    """A quantity lies between two bounds, with the whole of its interval."""

    type: Literal["band"]

    statement: Literal["number", "order", "expectation"] = "number"
    """Source of the statement: the authors' number, their order or shape, or our expectation."""

    low: float | None = None
    """Smallest value that agrees."""

    high: float | None = None
    """Largest value that agrees."""

    statistic: Statistic = Field("mean", examples=["median", "q25", "worst"])
    """Value of a grid point's runs that is compared: their `mean`, `median`, a quantile (`q25`), or
    the `worst` or `best` finished run. A failure of the best run, or success of the worst, counts
    only when all planned runs are finished."""

    seen_in: float = Field(1.0, gt=0, le=1, examples=[0.1])
    """Share of runs in which the authors saw it, for `statistic = "best"`. If no run shows it, this
    counts only after enough runs: with that share, the chance of not seeing it must be at most 2.5
    %. A share of 0.1 needs 36 runs."""

    quantifier: Quantifier = "all"
    """Number of grid points that must be in the band."""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.low is None and self.high is None:
            raise InputError("a band needs low or high", key="low")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InputError("below low", key="high", value=self.high, valid=f"{self.low} or more")
        return self

    @model_validator(mode="after")
    def _is_rare_in_the_best_run(self) -> Self:
        if self.seen_in < 1 and self.statistic != "best":
            raise InputError(
                "what some runs show is judged by the best of them",
                key="statistic",
                value=self.statistic,
                valid='"best"',
            )
        return self

    def named(self, source: Source) -> Named:
        """Return the statistic of the quantity in words."""
        return super().named(source).of(self.statistic)

    def expected(self, source: Source) -> str:
        """Say what the bounds are."""
        return self.named(source).between(self.low, self.high)

    def findings(self, source: Source) -> Iterator[Finding]:
        """Compare each grid point with the bounds."""
        points, named = self.points(source), self.named(source)
        for sample in points.samples:
            estimate = sample.estimate(self.statistic, self._margin, named, self.seen_in)
            yield points.finding(
                estimate,
                named.estimate(estimate),
                sample,
                bounds=named.bounds,
                low=-math.inf if self.low is None else self.low,
                high=math.inf if self.high is None else self.high,
                where=points.where(sample.axes),
                margin=self._margin(estimate.value),
            )

    def _margin(self, value: float) -> float:
        """Return how far inside the bounds a value is; negative if it is outside."""
        above = math.inf if self.low is None else value - self.low
        below = math.inf if self.high is None else self.high - value
        return min(above, below)
