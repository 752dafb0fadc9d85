"""Estimates of a quantity from runs: a value with an interval, which can be compared with a bound.

An `Estimate` is what some runs say about a quantity. It has an interval, in which the true value
lies with its ``confidence``, and it can be compared with a bound. ``Estimate.above`` and
``Estimate.below`` are one-sided p-values, the chance of such runs if the true value lay at the
bound. Both say the same: an end of the interval lies beyond a bound where the p-value is at most
``(1 - confidence) / 2``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Self

import numpy as np

from dumbbell.base.labels import UNBOUNDED, Bounds, cut

CONFIDENCE: Final = 0.95
"""Confidence of all intervals that are shown, unless another one is named."""

RUNS_MIN: Final = 2
"""Fewer runs have no variance, so no interval."""


@dataclass(frozen=True)
class Estimate(ABC):
    """An estimate of a quantity from some runs.

    Attributes
    ----------
    value
        The estimate itself.
    runs
        Number of its runs; of two samples, the smaller number.
    confidence
        Of its interval.
    """

    value: float
    runs: int
    confidence: float

    @property
    @abstractmethod
    def interval(self) -> tuple[float, float]:
        """Its ends; infinite where the runs do not say."""

    @abstractmethod
    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return the chance of such runs if the true value did not lie above the bound.

        With `or_at`, if it did not lie above or at it; that matters for exact values only.
        """

    @abstractmethod
    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return the chance of such runs if the true value did not lie below the bound."""

    @abstractmethod
    def with_runs(self, runs: int) -> Self:
        """Return the estimate to expect of so many runs: the same value, the same variance."""

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.interval[1]

    @property
    def has_interval(self) -> bool:
        """True if the runs bound it on any side."""
        return not (self.low == -math.inf and self.high == math.inf)

    def as_dict(self, bounds: Bounds = UNBOUNDED) -> dict[str, float | None]:
        """Return ``value``, ``low`` and ``high``, cut at bounds; what is not finite is None."""
        low, high = self.interval
        if self.has_interval:
            low, high = cut(self.value, low, high, bounds)
        ends = {"value": self.value, "low": low, "high": high}
        return {name: end if math.isfinite(end) else None for name, end in ends.items()}


@dataclass(frozen=True)
class Exact(Estimate):
    """A value without chance: of arithmetic, of one given run, of runs that are all equal."""

    @property
    def interval(self) -> tuple[float, float]:
        """The value twice."""
        return self.value, self.value

    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return 0 if it lies above, else 1."""
        return float(not (self.value > bound or (or_at and self.value == bound)))

    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return 0 if it lies below, else 1."""
        return float(not (self.value < bound or (or_at and self.value == bound)))

    def with_runs(self, runs: int) -> Self:
        """Return the same."""
        return replace(self, runs=runs)


@dataclass(frozen=True)
class Observed(Exact):
    """The value of one of the runs, such as the worst of those that were made.

    Attributes
    ----------
    needed
        Of how many runs it has to be the worst or the best one to say anything.
    """

    needed: int = 1

    @property
    def interval(self) -> tuple[float, float]:
        """The value twice; infinite where the runs are too few."""
        return super().interval if self._says else (-math.inf, math.inf)

    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return 0 if it lies above, else 1; neither where the runs are too few."""
        # 0.5 is beyond every tail, so that too few runs decide neither way.
        return super().above(bound, or_at=or_at) if self._says else 0.5

    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return 0 if it lies below, else 1; neither where the runs are too few."""
        return super().below(bound, or_at=or_at) if self._says else 0.5

    @property
    def _says(self) -> bool:
        return self.runs >= self.needed


@dataclass(frozen=True)
class Student(Estimate):
    """A mean, a difference of means or the like, whose error follows Student's t.

    Attributes
    ----------
    error
        Standard error; infinite if the runs are too few to have one.
    freedom
        Degrees of freedom.
    """

    error: float
    freedom: float

    @property
    def interval(self) -> tuple[float, float]:
        """Student's interval."""
        if math.isinf(self.error):
            return -math.inf, math.inf
        reach = self.error * t_quantile(self.freedom, self.confidence)
        return self.value - reach, self.value + reach

    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value of a one-sided t test."""
        return self._tail(self.value - bound, or_at)

    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value of a one-sided t test."""
        return self._tail(bound - self.value, or_at)

    def _tail(self, gap: float, or_at: bool) -> float:
        if self.error == 0:
            # A value without error is compared as `Exact` is: the t statistic would divide by zero.
            return float(not (gap > 0 or (or_at and gap == 0)))
        if math.isinf(self.error):
            # One run supports neither side: 0.5 is beyond every tail, and no p-value is missing.
            return 0.5
        return float(_special().stdtr(self.freedom, -gap / self.error))

    def with_runs(self, runs: int) -> Self:
        """Let the error shrink with the root of the number of runs."""
        if self.runs < RUNS_MIN:
            return self
        # Welch's degrees of freedom are proportional to n - 1, too, if both samples grow alike.
        freedom = self.freedom * (runs - 1) / (self.runs - 1)
        error = self.error * math.sqrt(self.runs / runs)
        return replace(self, runs=runs, error=error, freedom=freedom)


@dataclass(frozen=True)
class Ratio(Estimate):
    """A ratio of means; its logarithm is what has an interval, so that of 1/ratio is its inverse.

    Attributes
    ----------
    logarithm
        Estimate of its natural logarithm.
    """

    logarithm: Student

    @property
    def interval(self) -> tuple[float, float]:
        """Student's interval of the logarithm, taken back."""
        return _exp(self.logarithm.low), _exp(self.logarithm.high)

    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value on the scale of the logarithm; all ratios are positive."""
        return self.logarithm.above(math.log(bound), or_at=or_at) if bound > 0 else 0.0

    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value on the scale of the logarithm."""
        return self.logarithm.below(math.log(bound), or_at=or_at) if bound > 0 else 1.0

    def with_runs(self, runs: int) -> Self:
        """Let the error of the logarithm shrink."""
        return replace(self, runs=runs, logarithm=self.logarithm.with_runs(runs))


@dataclass(frozen=True)
class Complement(Estimate):
    """The remainder of a share, such as harm from the share that is kept: 1 less another estimate.

    Attributes
    ----------
    rest
        The other one.
    """

    rest: Estimate

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the other interval, taken from 1."""
        low, high = self.rest.interval
        return 1 - high, 1 - low

    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value that the other lies below what is left."""
        return self.rest.below(1 - bound, or_at=or_at)

    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value that the other lies above what is left."""
        return self.rest.above(1 - bound, or_at=or_at)

    def with_runs(self, runs: int) -> Self:
        """Take the other one of so many runs."""
        return replace(self, runs=runs, rest=self.rest.with_runs(runs))


@dataclass(frozen=True)
class Share(Estimate):
    """In which share of runs something happens, with Clopper and Pearson's exact interval."""

    @property
    def _count(self) -> int:
        return round(self.value * self.runs)

    @property
    def interval(self) -> tuple[float, float]:
        """The exact interval; with few runs it is wide even where all runs are equal."""
        count, runs, tail = self._count, self.runs, (1 - self.confidence) / 2
        # The binomial's tail, as a function of the share, is an incomplete beta function. Where all
        # runs are equal, that end is 0 or 1 itself (Clopper and Pearson 1934).
        low = _special().betaincinv(count, runs - count + 1, tail) if count else 0.0
        high = _special().betaincinv(count + 1, runs - count, 1 - tail) if count < runs else 1.0
        return float(low), float(high)

    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value of the binomial test; 0 for a bound of 1 that these runs reach."""
        # At a true share of 1 the binomial's p-value is 1 for any number of runs, which could never
        # reach a bound of 1. Runs that all show it count as reaching it.
        if bound < 0 or (or_at and (bound == 0 or self.value == bound == 1)):
            return 0.0
        return _at_least(self._count, self.runs, min(bound, 1.0))

    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value of the binomial test; 0 for a bound of 0 that these runs reach."""
        # By way of the complement, so that the ends 0 and 1 follow one rule.
        return replace(self, value=1 - self.value).above(1 - bound, or_at=or_at)

    def with_runs(self, runs: int) -> Self:
        """Keep the share as closely as whole runs allow."""
        return replace(self, runs=runs, value=round(self.value * runs) / runs)


@dataclass(frozen=True)
class Quantile(Estimate):
    """A quantile with the interval of order statistics, whatever the distribution.

    Attributes
    ----------
    sample
        The values in ascending order.
    share
        Share of the values below the quantile, such as 0.5 for the median.
    """

    sample: tuple[float, ...]
    share: float

    @property
    def interval(self) -> tuple[float, float]:
        """The values of two runs; infinite where too few lie on a side (below 6 for a median)."""
        # All runs lie above a median with a chance of 0.5^n, which is below 2.5 % from n = 6 on.
        tail = (1 - self.confidence) / 2
        ranks = np.arange(self.runs)
        fewer = _special().bdtr(ranks, self.runs, self.share) <= tail
        more = _special().bdtrc(ranks, self.runs, self.share) <= tail
        low = self.sample[int(fewer.sum()) - 1] if fewer.any() else -math.inf
        high = self.sample[int(np.argmax(more))] if more.any() else math.inf
        return low, high

    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value of the sign test."""
        # Runs at the bound itself count against the value, except with `or_at`.
        below = int(np.searchsorted(self.sample, bound, side="left" if or_at else "right"))
        return _at_most(below, self.runs, self.share)

    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return the p-value of the sign test."""
        below = int(np.searchsorted(self.sample, bound, side="right" if or_at else "left"))
        return _at_least(below, self.runs, self.share)

    def with_runs(self, runs: int) -> Self:
        """Stretch the sample."""
        # Evenly spaced ranks repeat each run equally often, so the shape of the sample stays.
        stretched = tuple(self.sample[rank * self.runs // runs] for rank in range(runs))
        return replace(self, runs=runs, sample=stretched)


@dataclass(frozen=True)
class Resampled(Estimate):
    """Any statistic, with the interval of what it is for resampled runs (the bootstrap).

    Attributes
    ----------
    draws
        The statistic of each resampling, in ascending order.
    """

    draws: tuple[float, ...]

    @property
    def interval(self) -> tuple[float, float]:
        """Percentiles of the draws."""
        if not self.draws:
            return -math.inf, math.inf
        # Of 1999 draws the 50th from each side, so that it says the same as the p-values. What is
        # added makes up for a confidence that is no binary fraction.
        rank = max(1, int((len(self.draws) + 1) * (1 - self.confidence) / 2 + 1e-9))
        return self.draws[rank - 1], self.draws[-rank]

    def above(self, bound: float, *, or_at: bool = False) -> float:
        """Return the share of draws that are not above."""
        return self._tail(int(np.searchsorted(self.draws, bound, "left" if or_at else "right")))

    def below(self, bound: float, *, or_at: bool = False) -> float:
        """Return the share of draws that are not below."""
        below = int(np.searchsorted(self.draws, bound, "right" if or_at else "left"))
        return self._tail(len(self.draws) - below)

    def _tail(self, against: int) -> float:
        # The runs themselves are one more draw. Else no draw against it would be a certainty, which
        # so few draws cannot show (Phipson and Smyth 2010).
        return (against + 1) / (len(self.draws) + 1)

    def with_runs(self, runs: int) -> Self:
        """Draw the draws together around the value."""
        if not self.draws:
            return self
        # The error of a mean shrinks with the root of its runs, and the draws are of means.
        shrunk = math.sqrt(self.runs / runs)
        draws = (self.value + shrunk * (draw - self.value) for draw in self.draws)
        return replace(self, runs=runs, draws=tuple(draws))


def t_quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors Student's interval reaches to each side."""
    return float(_special().stdtrit(freedom, (1 + confidence) / 2))


def _exp(power: float) -> float:
    """Return e to this power, infinite where it overflows."""
    # From 709.8 on `math.exp` raises OverflowError, and the interval would be lost with it.
    return math.exp(power) if power < 700 else math.inf


def _at_most(count: float, runs: int, share: float) -> float:
    """Return the chance that at most so many runs show what each shows with this chance."""
    return float(_special().bdtr(count, runs, share)) if count >= 0 else 0.0


def _at_least(count: float, runs: int, share: float) -> float:
    return float(_special().bdtrc(count - 1, runs, share)) if count > 0 else 1.0


@cache
def _special() -> Any:
    """Import `scipy.special`, which takes a fifth of a second, when something of it is needed."""
    from scipy import special  # type: ignore[import-untyped]  # noqa: PLC0415

    return special
