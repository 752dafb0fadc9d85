"""How close two engines are: estimates with intervals, and verdicts on their differences.

Whether two things agree is not what a test for a difference says, which a wide interval passes
too. The question is turned round, as in tests of equivalence (two one-sided tests, Schuirmann
1987): two engines *agree* if the whole interval of their difference lies within the band, they
*differ* if all of it lies outside, and else the runs *cannot decide* it. At a level of 5 % the
interval of that test is the one of 90 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

CONFIDENCE: Final = 0.90


class Verdict(StrEnum):
    """What the runs say about a difference."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNDECIDABLE = "undecidable"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval; no interval where there are too few values for one."""

    mean: float
    reach: float | None
    """Half the interval's length."""

    @property
    def low(self) -> float | None:
        """The interval's lower end."""
        return None if self.reach is None else self.mean - self.reach

    @property
    def high(self) -> float | None:
        """The interval's upper end."""
        return None if self.reach is None else self.mean + self.reach

    def as_dict(self) -> dict[str, float | None]:
        """Return plain data for JSON."""
        return {"mean": self.mean, "low": self.low, "high": self.high}


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of repetitions with Student's interval."""
    sample = np.asarray(values, dtype=float)
    if sample.size < 2:
        return Estimate(float(sample.mean()), None)
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return Estimate(float(sample.mean()), _reach(error, sample.size - 1))


def paired(one: Sequence[float], other: Sequence[float]) -> Estimate:
    """Return by how much `one` exceeds `other`, run by run.

    For runs that share what is random, such as which packets are lost: that part cancels.
    """
    return estimate([a - b for a, b in zip(one, other, strict=True)])


def unpaired(one: Sequence[float], other: Sequence[float]) -> Estimate:
    """Return by how much the mean of `one` exceeds that of `other` (Welch 1947)."""
    samples = [np.asarray(values, dtype=float) for values in (one, other)]
    difference = float(samples[0].mean() - samples[1].mean())
    if min(sample.size for sample in samples) < 2:
        return Estimate(difference, None)
    parts = [float(sample.var(ddof=1)) / sample.size for sample in samples]
    variance = sum(parts)
    if variance == 0:
        return Estimate(difference, 0.0)
    # The equation of Welch and Satterthwaite in shares of the variance, which cannot underflow.
    freedom = 1 / sum(
        (part / variance) ** 2 / (sample.size - 1)
        for part, sample in zip(parts, samples, strict=True)
    )
    return Estimate(difference, _reach(math.sqrt(variance), freedom))


def jackknifed(
    statistic: Callable[[Sequence[int], Sequence[int]], float], one: int, other: int
) -> Estimate:
    """Return a statistic of two samples with its interval (Efron and Stein 1981).

    `statistic` takes the indices of the members of both; each is left out in turn. It must have a
    value for one member less, so samples of two have no interval here.
    """
    ones, others = list(range(one)), list(range(other))
    whole = statistic(ones, others)
    if min(one, other) < 3:
        return Estimate(whole, None)
    parts = [
        [statistic([*ones[:out], *ones[out + 1 :]], others) for out in ones],
        [statistic(ones, [*others[:out], *others[out + 1 :]]) for out in others],
    ]
    variance = sum((len(part) - 1) * float(np.var(part)) for part in parts)
    return Estimate(whole, _reach(math.sqrt(variance), min(one, other) - 1))


def _reach(error: float, freedom: float) -> float:
    return error * float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))


def verdict(difference: Estimate, low: float, high: float) -> Verdict:
    """Judge a difference by the band from `low` to `high`."""
    if difference.low is None or difference.high is None:
        return Verdict.UNDECIDABLE
    if low <= difference.low and difference.high <= high:
        return Verdict.AGREES
    if difference.low > high or difference.high < low:
        return Verdict.DIFFERS
    return Verdict.UNDECIDABLE
