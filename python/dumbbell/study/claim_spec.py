"""What a claim of a study is, as data: the authors' statement, and the checks that decide it.

A study file lists its claims as ``[[claim]]`` tables with one or more ``[[claim.check]]`` each.
There are few kinds of check; all their expectations and tolerances are numbers in the file.
`dumbbell.claims` evaluates them.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dumbbell.study.figure_spec import Selection

Quantifier = Literal["all", "most", "median", "any"]
"""How many of the values must satisfy a check: each, more than half, the median, at least one."""

Number = int | float


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Case(_Spec):
    """One evaluation of a closed form."""

    args: dict[str, Number] = {}
    """Arguments of the formula, in the units of its parameter names."""

    expected: Number
    """What the authors state."""


class Arithmetic(_Spec):
    """A closed form gives the stated numbers."""

    type: Literal["arithmetic"]

    formula: str = Field(examples=["bdp_packets"])
    """Name of a formula in `dumbbell.theory`."""

    cases: tuple[Case, ...] = Field(alias="case", min_length=1)
    """What it is evaluated for."""

    tolerance: float = Field(0.0, ge=0)
    """Largest relative difference from the stated number."""


class Parameters(_Spec):
    """The presets hold the parameter values that the study states."""

    type: Literal["parameters"]

    presets: dict[str, dict[str, int]] = Field(min_length=1)
    """Algorithm with preset -> parameter -> value, in the algorithm's own units."""


class Measured(_Spec):
    """A check over the runs of one test."""

    test: str
    """Name of the test whose runs decide."""

    where: Selection = {}
    """Grid points that are meant; all if empty."""

    metric: str = Field(examples=["ratio_min_max"])
    """Name of a metric; all of them are listed below."""

    @property
    def selections(self) -> tuple[Selection, ...]:
        """All selections of grid points that the check makes."""
        return (self.where,)


class Band(Measured):
    """A metric lies between two bounds."""

    type: Literal["band"]

    low: float | None = None
    """Smallest value that agrees."""

    high: float | None = None
    """Largest value that agrees."""

    of: Literal["points", "runs"] = "points"
    """What is judged: the mean of each grid point, or each run."""

    quantifier: Quantifier = "all"
    """How many of them must lie in the band."""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.low is None and self.high is None:
            raise ValueError("a band needs low or high")
        return self


class Order(Measured):
    """A metric is larger in one group of grid points than in another.

    Points of the groups that agree in all other axes are compared pair by pair. A pair is
    in order if its medians are, by `factor`, and its means differ by more than the standard
    error of their difference.
    """

    type: Literal["order"]

    larger: Selection
    """The group with the larger metric."""

    smaller: Selection
    """The group with the smaller metric."""

    factor: float = Field(1.0, gt=0)
    """By how much it is larger."""

    quantifier: Literal["all", "most", "any"] = "all"
    """How many of the pairs must be in order."""

    @property
    def selections(self) -> tuple[Selection, ...]:
        """All selections of grid points that the check makes."""
        return (self.where, self.larger, self.smaller)


class Ratio(Measured):
    """A metric's ratio between two groups of grid points lies between two bounds."""

    type: Literal["ratio"]

    of: Selection
    """The numerator's group."""

    to: Selection
    """The denominator's group."""

    low: float | None = None
    """Smallest ratio that agrees."""

    high: float | None = None
    """Largest ratio that agrees."""

    quantifier: Quantifier = "all"
    """How many of the ratios of pairs must lie between the bounds."""

    @property
    def selections(self) -> tuple[Selection, ...]:
        """All selections of grid points that the check makes."""
        return (self.where, self.of, self.to)


class Trend(Measured):
    """A metric rises or falls along an axis.

    Per series (the points that agree in all other axes): its ends differ in the direction by
    more than the standard error of their difference and by `factor`, and no step goes the
    other way by more than two of them.
    """

    type: Literal["trend"]

    axis: str
    """The axis; its values in the order of the test."""

    direction: Literal["rising", "falling"]
    """Where the metric goes."""

    factor: float = Field(1.0, ge=1)
    """By how much the ends differ at least."""

    quantifier: Literal["all", "most", "any"] = "all"
    """How many of the series must follow."""


class RatioTrend(Measured):
    """A metric's ratio between two groups of grid points rises or falls along an axis.

    Per pair of points that agree in all other axes: the ratios at the ends of the axis differ in
    the direction by more than the standard error of their difference.
    """

    type: Literal["ratio-trend"]

    of: Selection
    """The numerator's group."""

    to: Selection
    """The denominator's group."""

    axis: str
    """The axis; its values in the order of the test."""

    direction: Literal["rising", "falling"]
    """Where the ratio goes."""

    quantifier: Literal["all", "most", "any"] = "all"
    """How many of the pairs must follow."""

    @model_validator(mode="after")
    def _groups_leave_the_axis(self) -> Self:
        if self.axis in {*self.of, *self.to}:
            raise ValueError(f"the groups must leave {self.axis} open: the ratio goes along it")
        return self

    @property
    def selections(self) -> tuple[Selection, ...]:
        """All selections of grid points that the check makes."""
        return (self.where, self.of, self.to)


class Theory(Measured):
    """A metric agrees with a closed form."""

    type: Literal["theory"]

    theory: str = Field(examples=["reno-response"])
    """Name of a curve in `dumbbell.theory`."""

    tolerance: float = Field(gt=0)
    """Largest relative difference from it."""

    quantifier: Quantifier = "all"
    """How many of the grid points must agree."""


class Ranking(Measured):
    """Two values of one axis rank the values of another alike.

    The rank correlation (Spearman's) is taken over the means of the ranked axis, averaged over
    the other axes.
    """

    type: Literal["ranking"]

    axis: str
    """The axis with two values to compare."""

    values: tuple[str, str]
    """The two values."""

    ranked: str = "algorithm"
    """The axis whose values are ranked."""

    low: float = Field(ge=-1, le=1)
    """Smallest rank correlation that agrees."""


Check = Annotated[
    Arithmetic | Parameters | Band | Order | Ratio | Trend | RatioTrend | Theory | Ranking,
    Field(discriminator="type"),
]


class Claim(_Spec):
    """A statement of the study's authors, and what decides whether it is reproduced."""

    id: str = Field(pattern=r"^[A-Z][0-9]{2}$", examples=["E01"])
    """Its number."""

    source: str = Field(examples=["Fig. 4"])
    """Where the study states it."""

    text: str
    """What is claimed."""

    kind: Literal["ARITH", "N", "ORD", "QUAL", "RPT"]
    """Arithmetic, a number, an ordering, a qualitative shape, or reported without being a gate."""

    quirk: str = ""
    """What of the authors' testbed the claim may depend on; empty: nothing."""

    expectation: str
    """What a faithful reproduction can meet, in words."""

    checks: tuple[Check, ...] = Field(alias="check", min_length=1)
    """All must agree."""

    reason: str = ""
    """Why it is not reproduced, once that is known."""
