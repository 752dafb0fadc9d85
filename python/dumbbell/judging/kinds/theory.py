"""Theory: a quantity agrees with a curve at each grid point."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

from pydantic import Field

from dumbbell.judging.evidence import Finding, Lack, Quantifier
from dumbbell.judging.runs import Source
from dumbbell.judging.spec import Measured, Statistic
from dumbbell.judging.words import Named
from dumbbell.quantities.names import CurveName
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import quantities
from dumbbell.theory import curves


class Theory(Measured):
    """A quantity agrees with a closed form, with the whole of its interval."""

    type: Literal["theory"]

    statement: Literal["number", "order", "expectation"] = "number"
    """Source of the statement: the authors' number, their order or shape, or our expectation."""

    theory: CurveName = Field(examples=["sawtooth_utilisation"])
    """Name of a curve from the list below."""

    tolerance: float = Field(gt=0)
    """Largest relative difference from the curve."""

    statistic: Statistic = Field("mean", examples=["median", "q25", "worst"])
    """Value of a grid point's runs that is compared: their `mean`, `median`, a quantile (`q25`), or
    the `worst` or `best` finished run. A failure of the best run, or success of the worst, counts
    only when all planned runs are finished."""

    quantifier: Quantifier = "all"
    """Number of grid points that must agree."""

    def named(self, source: Source) -> Named:
        """Return the statistic of the quantity in words."""
        return super().named(source).of(self.statistic)

    def expected(self, source: Source) -> str:  # noqa: ARG002 - each point has its own bounds
        """Say what it is compared with."""
        curve = curves.curve(self.theory)
        return f"within {100 * self.tolerance:g} % of {curve.what} ({self.theory})"

    def findings(self, source: Source) -> Iterator[Finding]:
        """Compare each grid point for which the curve has a value."""
        columns = [
            column
            for column in curves.curve(self.theory).columns
            # The rest are axes and their numbers, which every run has.
            if parse(column).name in quantities()
        ]
        points, named = self.points(source, also=tuple(columns)), self.named(source)
        axes = list(points.test.axes)
        rows = curves.along(self.theory, points.runs, axes).iter_rows(named=True)
        expected = {tuple(row[axis] for axis in axes): row["theory"] for row in rows}
        if not expected:
            raise Lack(f"the curve {self.theory} has no value at these grid points")
        for sample in points.samples:
            curve = expected.get(tuple(sample.axes[axis] for axis in axes))
            # A closed form need not cover every grid point.
            if curve is None:
                continue
            margin = partial(self._margin, curve)
            estimate = sample.estimate(self.statistic, margin, named)
            yield points.finding(
                estimate,
                f"{named.estimate(estimate)} where the curve has {named.value(curve)}",
                sample,
                bounds=named.bounds,
                low=curve - self.tolerance * abs(curve),
                high=curve + self.tolerance * abs(curve),
                where=points.where(sample.axes),
                margin=margin(estimate.value),
            )

    def _margin(self, curve: float, value: float) -> float:
        """Return how far inside the tolerance a value is, as a share of the curve's."""
        off = abs(value - curve)
        return self.tolerance - (off / abs(curve) if curve else off)
