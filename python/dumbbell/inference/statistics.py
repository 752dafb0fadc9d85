"""Statistics of repeated runs: estimates, corrections for many comparisons, runs needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from dumbbell.inference.estimates import (
    CONFIDENCE,
    RUNS_MIN,
    Complement,
    Estimate,
    Exact,
    Observed,
    Quantile,
    Ratio,
    Resampled,
    Share,
    Student,
    t_quantile,
)

__all__ = [
    "CONFIDENCE",
    "RUNS_MIN",
    "Estimate",
    "Exact",
    "Observed",
    "at_least",
    "average",
    "combined",
    "difference",
    "geometric_mean",
    "harm",
    "holm",
    "jackknifed",
    "mean",
    "paired",
    "quantile",
    "quotient",
    "ratio",
    "ratio_of_averages",
    "resampled",
    "runs_needed",
    "share",
    "t_quantile",
]

_EQUAL: Final = 1e-12
"""Values that differ by no larger a share of the largest are the same but for rounding."""

Sample = npt.NDArray[np.float64]


def mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Estimate the mean of repetitions; of runs that are all equal it is exact."""
    middle, error, freedom = _moments(values)
    if error == 0:
        return Exact(middle, len(values), confidence)
    return Student(middle, len(values), confidence, error, freedom)


def average(samples: Sequence[Sequence[float]], confidence: float = CONFIDENCE) -> Estimate:
    """Estimate the mean of the means of independent samples, each of which weighs the same.

    Its interval shows chance within the samples, not their differences from each other.
    """
    moments = [_moments(sample) for sample in samples]
    count = len(moments)
    # Welch and Satterthwaite's formula takes the terms of a sum, so each mean is divided first.
    parts = [(value / count, error / count, freedom) for value, error, freedom in moments]
    value = sum(part for part, *_ in parts)
    return combined(value, parts, min(map(len, samples)), confidence)


def share(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Estimate in which share of runs something happens; each value is 0 or 1."""
    return Share(float(np.mean(values)), len(values), confidence)


def quantile(values: Sequence[float], share: float, confidence: float = CONFIDENCE) -> Estimate:
    """Estimate a quantile of repetitions, such as ``share = 0.5`` for the median."""
    value = float(np.quantile(values, share))
    if len(values) >= RUNS_MIN and _alike(np.asarray(values, dtype=float)):
        return Exact(value, len(values), confidence)
    return Quantile(value, len(values), confidence, tuple(sorted(values)), share)


def paired(
    one: Sequence[float], other: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """Estimate by how much `one` exceeds `other`, run by run.

    For runs that share what is random, such as which packets are lost: that part cancels.
    """
    # The size of the values, not of the gaps, is the measure of rounding: gaps near 0 may consist
    # of nothing else, and would look like chance.
    scale = max(map(abs, (*one, *other)), default=0.0)
    gaps = np.subtract(one, other)
    if len(gaps) >= RUNS_MIN and np.ptp(gaps) <= _EQUAL * scale:
        return Exact(float(gaps.mean()), len(gaps), confidence)
    return mean(gaps.tolist(), confidence)


def difference(
    one: Sequence[float], other: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """Estimate by how much the mean of `one` exceeds that of `other` (Welch 1947)."""
    first, second = _moments(one), _moments(other)
    return combined(first[0] - second[0], [first, second], min(len(one), len(other)), confidence)


def ratio(
    one: Sequence[float],
    other: Sequence[float],
    confidence: float = CONFIDENCE,
    *,
    pairs: bool = False,
) -> Estimate:
    """Estimate the mean of `one` over the mean of `other`, neither of which is negative.

    Its interval is that of the logarithm (relative errors of both means, as Welch 1947), so that
    `other` over `one` gives the inverse. With `pairs` the runs are taken pair by pair. Of runs
    that are all 0 the mean is exactly 0 and the ratio 0 or infinite, and 1 if both are.
    """
    top, bottom = float(np.mean(one)), float(np.mean(other))
    runs = min(len(one), len(other))
    if top > 0 and bottom > 0:
        return _ratio_of(_log_ratio(one, other, confidence, pairs), top / bottom)
    value = 1.0 if top == bottom else (math.inf if top > bottom else 0.0)
    # Against runs that are all 0, how far above 0 the others are does not matter, if they are.
    rest = [mean(values, confidence) for values in (one, other) if any(values)]
    if top >= 0 and bottom >= 0 and all(estimate.low > 0 for estimate in rest) and runs >= RUNS_MIN:
        return Exact(value, runs, confidence)
    # An infinite error leaves the ratio open: no interval, and no p-value that decides.
    return Student(value, runs, confidence, math.inf, 1.0)


def ratio_of_averages(
    ones: Sequence[Sequence[float]],
    others: Sequence[Sequence[float]],
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Estimate the `average` of some samples over that of others, as `ratio` does of two samples.

    Of averages that are not both positive it has no interval.
    """
    if len(ones) == len(others) == 1:
        return ratio(ones[0], others[0], confidence)
    top, bottom = average(ones, confidence), average(others, confidence)
    runs = min(top.runs, bottom.runs)
    if top.value <= 0 or bottom.value <= 0:
        value = 1.0 if top.value == bottom.value else (math.inf if top.value > 0 else 0.0)
        return Student(value, runs, confidence, math.inf, 1.0)
    value = top.value / bottom.value
    parts = [_relative(top), _relative(bottom)]
    return _ratio_of(combined(math.log(value), parts, runs, confidence), value)


def harm(
    other_kind: Sequence[float],
    own_kind: Sequence[float],
    confidence: float = CONFIDENCE,
    *,
    more_is_better: bool = True,
) -> Estimate:
    """Estimate the harm to a flow (Ware et al. 2019, "Beyond Jain's Fairness Index").

    `other_kind` is what the flow has next to another algorithm, `own_kind`, pair by pair, what it
    has next to its own. Of goodput it is the share that is gone, (own kind - other kind) / own
    kind; of what is better if less, such as delay, (other kind - own kind) / other kind. 0: none;
    1: nothing is left; below 0 the flow is better off than among its own kind.
    """
    worse, better = (other_kind, own_kind) if more_is_better else (own_kind, other_kind)
    # Harm may be negative, so it has no logarithm. The share that is kept always has one.
    kept = ratio(worse, better, confidence, pairs=True)
    return Complement(1 - kept.value, kept.runs, confidence, kept)


def quotient(one: Estimate, other: Estimate) -> Estimate:
    """Estimate the ratio of two independent ratios."""
    runs, confidence = min(one.runs, other.runs), one.confidence
    parts = [_logarithm(estimate) for estimate in (one, other)]
    if not (0 < one.value < math.inf and 0 < other.value < math.inf):
        value = math.inf if one.value > other.value else float(one.value == other.value)
        return Student(value, runs, confidence, math.inf, 1.0)
    logarithm = combined(parts[0][0] - parts[1][0], parts, runs, confidence)
    return _ratio_of(logarithm, one.value / other.value)


def geometric_mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Estimate the geometric mean of ratios, of which that of the inverses is the inverse.

    The plain mean of a ratio and of its inverse can both be above 1. Where a ratio is not positive
    there is no logarithm, and it is the plain mean.
    """
    if min(values) <= 0:
        return mean(values, confidence)
    logarithm = mean([math.log(value) for value in values], confidence)
    return _ratio_of(logarithm, math.exp(logarithm.value))


def combined(
    value: float,
    parts: Sequence[tuple[float, float, float]],
    runs: int,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Estimate a sum or difference of independent estimates.

    Parameters
    ----------
    value
        The sum.
    parts
        Of each estimate its value, standard error and degrees of freedom.
    runs
        The smallest number of runs of a part.
    """
    variances = [error**2 for _, error, _ in parts]
    variance = sum(variances)
    if variance == 0:
        return Exact(value, runs, confidence)
    # Below, each share of an infinite variance would be inf / inf.
    if math.isinf(variance):
        return Student(value, runs, confidence, math.inf, 1.0)
    # The equation of Welch and Satterthwaite in shares of the variance, which cannot underflow.
    freedom = 1 / sum(
        (part / variance) ** 2 / freedom
        for part, (_, _, freedom) in zip(variances, parts, strict=True)
    )
    return Student(value, runs, confidence, math.sqrt(variance), freedom)


def jackknifed(
    statistic: Callable[[Sequence[int], Sequence[int]], float],
    one: int,
    other: int,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Estimate a statistic of two samples of these sizes (Efron and Stein 1981).

    `statistic` takes the indices of the members of both; each is left out in turn. It must have a
    value for one member less, so samples of two have no interval here.
    """
    ones, others = list(range(one)), list(range(other))
    whole, runs = statistic(ones, others), min(one, other)
    if runs < 3:
        return Student(whole, runs, confidence, math.inf, 1.0)
    parts = [
        [statistic([*ones[:out], *ones[out + 1 :]], others) for out in ones],
        [statistic(ones, [*others[:out], *others[out + 1 :]]) for out in others],
    ]
    # The jackknife has (n - 1) / n times the sum of squares; `np.var` divides that sum by n.
    variance = sum((len(part) - 1) * float(np.var(part)) for part in parts)
    # The degrees of freedom of the smaller sample: the cautious choice, as its interval is wider.
    return Student(whole, runs, confidence, math.sqrt(variance), runs - 1.0)


def resampled(
    samples: Sequence[Sequence[float]],
    statistic: Callable[[Sample], Sample],
    confidence: float = CONFIDENCE,
    *,
    draws: int = 1999,
) -> Estimate:
    """Estimate a statistic of the means of independent samples (Efron's bootstrap).

    `statistic` takes means of shape (draws, samples) and returns one value for each draw. Draws
    are the same in every call.
    """
    means = np.array([[float(np.mean(sample)) for sample in samples]])
    value, runs = float(statistic(means)[0]), min(map(len, samples))
    if runs < RUNS_MIN:
        return Resampled(value, runs, confidence, ())
    # A fixed seed, so that the same runs get the same verdict each time they are judged.
    random = np.random.default_rng(0)
    again = [random.choice(sample, (draws, len(sample))).mean(axis=1) for sample in samples]
    resamples = np.sort(statistic(np.stack(again, axis=1)))
    return Resampled(value, runs, confidence, tuple(resamples.tolist()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm 1979).

    The chance that any of them is at most alpha though its hypothesis is true is at most alpha,
    however they depend on each other.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        # Holm steps down: none may be rejected after a smaller p-value that was not.
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def at_least(count: int, p_values: Sequence[float]) -> float:
    """Return the p-value of: at least `count` of the alternatives hold (Benjamini, Heller 2008).

    Valid however they depend on each other. For one of them it is the smallest of Holm's
    p-values; for all of them the largest p-value itself, which needs no correction (Berger 1982).
    """
    if count <= 0:
        return 0.0
    return min(1.0, (len(p_values) - count + 1) * sorted(p_values)[count - 1])


def runs_needed(is_decided: Callable[[int], bool], least: int, most: int) -> int | None:
    """Return the smallest number of runs that is expected to decide; None if `most` does not.

    `is_decided` is called with numbers of runs, for `Estimate.with_runs`; if some number decides,
    more are taken to decide, too.
    """
    below, enough = least - 1, least
    # Doubling first: most checks need few runs, and each call judges all findings again.
    while not is_decided(enough):
        if enough >= most:
            return None
        below, enough = enough, min(2 * enough, most)
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if is_decided(middle) else (middle, enough)
    return enough


def _moments(values: Sequence[float] | Sample) -> tuple[float, float, float]:
    """Return mean, standard error and degrees of freedom; the error of one value is infinite."""
    sample = np.asarray(values, dtype=float)
    if sample.size < RUNS_MIN:
        return float(sample.mean()), math.inf, 1.0
    if _alike(sample):
        # The mean of equal numbers may differ from them in its last bit. Their median does not.
        return float(np.median(sample)), 0.0, math.inf
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return float(sample.mean()), error, sample.size - 1.0


def _alike(sample: Sample) -> bool:
    return bool(np.ptp(sample) <= _EQUAL * np.abs(sample).max())


def _ratio_of(logarithm: Estimate, value: float) -> Estimate:
    """Return the ratio that has this logarithm."""
    if isinstance(logarithm, Student):
        return Ratio(value, logarithm.runs, logarithm.confidence, logarithm)
    return Exact(value, logarithm.runs, logarithm.confidence)


def _logarithm(ratio: Estimate) -> tuple[float, float, float]:
    """Return the logarithm of a ratio, its standard error and its degrees of freedom."""
    if isinstance(ratio, Ratio):
        return ratio.logarithm.value, ratio.logarithm.error, ratio.logarithm.freedom
    value = math.log(ratio.value) if 0 < ratio.value < math.inf else math.inf
    return (value, 0.0, math.inf) if isinstance(ratio, Exact) else (value, math.inf, 1.0)


def _relative(average: Estimate) -> tuple[float, float, float]:
    """Return an average, its relative standard error and its degrees of freedom."""
    if isinstance(average, Student):
        return average.value, average.error / average.value, average.freedom
    return average.value, 0.0, math.inf


def _log_ratio(
    one: Sequence[float], other: Sequence[float], confidence: float, pairs: bool
) -> Estimate:
    (top, *first), (bottom, *second) = _moments(one), _moments(other)
    value, runs = math.log(top / bottom), min(len(one), len(other))
    # The delta method: the error of a logarithm is the relative error, to first order. Within pairs
    # the errors are not independent, so it is the error of the differences of relative values.
    if pairs:
        relative = np.asarray(one) / top - np.asarray(other) / bottom
        are_equal = relative.size >= RUNS_MIN and np.ptp(relative) <= _EQUAL
        error, freedom = (0.0, math.inf) if are_equal else _moments(relative)[1:]
        return combined(value, [(value, error, freedom)], runs, confidence)
    parts = [(top, first[0] / top, first[1]), (bottom, second[0] / bottom, second[1])]
    return combined(value, parts, runs, confidence)
