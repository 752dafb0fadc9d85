"""Estimates against tables and by simulation, tests against bounds, corrections, runs needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.inference import statistics
from dumbbell.inference.estimates import Resampled
from dumbbell.inference.statistics import Estimate, Exact, Sample

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8)
POSITIVE = st.lists(st.floats(1e-3, 1e6), min_size=2, max_size=8)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=20)

Sampled = Callable[[np.random.Generator], Estimate]


def test_a_mean_has_students_interval() -> None:
    # t(0.95, 2) = 2.920 and t(0.975, 2) = 4.303, as in every table; the deviation is 1.
    estimate = statistics.mean([1.0, 2.0, 3.0])
    assert estimate.value == 2
    assert estimate.high - 2 == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    narrower = statistics.mean([1.0, 2.0, 3.0], confidence=0.9)
    assert 2 - narrower.low == pytest.approx(2.920 / math.sqrt(3), rel=1e-3)


def test_one_run_has_no_interval() -> None:
    for estimate in (statistics.mean([5.0]), statistics.quantile([5.0], 0.5)):
        assert estimate.value == 5
        assert not estimate.has_interval
        assert estimate.as_dict() == {"value": 5, "low": None, "high": None}
        assert estimate.above(4) > 0.4
    assert statistics.mean([5.0]).with_runs(100).high == math.inf


def test_runs_that_are_all_alike_are_exact() -> None:
    for estimate in (
        statistics.mean([0.1, 0.1, 0.1]),
        statistics.quantile([0.1, 0.1], 0.5),
        statistics.difference([1.1, 1.1], [1.0, 1.0]),
        statistics.paired([3.1, 2.1, 1.1], [3.0, 2.0, 1.0]),
    ):
        assert estimate.interval == pytest.approx((0.1, 0.1))
        assert estimate.above(0) == 0
        assert estimate.below(0) == 1
    exact = statistics.mean([0.1, 0.1, 0.1])
    assert exact.above(0.1) == exact.below(0.1) == 1
    assert exact.above(0.1, or_at=True) == exact.below(0.1, or_at=True) == 0


def test_what_runs_share_cancels_in_pairs() -> None:
    shared = [10.0, 20.0, 60.0]
    more = [11.0, 21.5, 60.5]
    assert statistics.paired(more, shared).value == pytest.approx(1)
    assert statistics.paired(more, shared).high < 3
    assert statistics.difference(more, shared).value == pytest.approx(1)
    assert statistics.difference(more, shared).high > 30
    doubled = [20.0, 41.0, 119.0]
    assert statistics.ratio(doubled, shared, pairs=True).high < 2.1
    assert statistics.ratio(doubled, shared).high > 10


def test_one_pair_of_runs_bounds_no_ratio() -> None:
    for estimate in (statistics.ratio([1.0], [2.0], pairs=True), statistics.harm([1.0], [2.0])):
        assert estimate.value == 0.5
        assert not math.isfinite(estimate.high - estimate.low)


def test_samples_of_different_sizes_are_compared_as_welch_does() -> None:
    # Equal variances 1 and 10 values each: 18 degrees of freedom, t(0.95, 18) = 1.734.
    one = [float(value) for value in np.linspace(-1, 1, 10)]
    spread = float(np.std(one, ddof=1))
    estimate = statistics.difference([value + 3 for value in one], one, 0.9)
    assert estimate.high - 3 == pytest.approx(1.734 * spread * math.sqrt(2 / 10), rel=1e-3)
    # One sample alone varies: its own two degrees of freedom.
    estimate = statistics.difference([0.0] * 5, [1.0, 2.0, 3.0], 0.9)
    assert estimate.value == -2
    assert estimate.high + 2 == pytest.approx(2.920 / math.sqrt(3), rel=1e-3)
    assert statistics.difference([1.0], [1.0, 2.0]).interval == (-math.inf, math.inf)


@given(VALUES, VALUES)
def test_samples_changed_about_only_change_the_sign(
    one: Sequence[float], other: Sequence[float]
) -> None:
    there, back = statistics.difference(one, other), statistics.difference(other, one)
    assert there.value == pytest.approx(-back.value)
    assert there.low == pytest.approx(-back.high)


@given(POSITIVE, POSITIVE)
def test_a_ratio_turned_over_is_its_inverse(one: Sequence[float], other: Sequence[float]) -> None:
    there, back = statistics.ratio(one, other), statistics.ratio(other, one)
    assert there.value == pytest.approx(1 / back.value)
    assert there.above(2) == pytest.approx(back.below(0.5), abs=1e-9)
    if there.low > 1e-300 and there.high < 1e300:
        assert there.low == pytest.approx(1 / back.high, rel=1e-6)
    assert there.low >= 0


def test_ratios_to_nothing() -> None:
    none, some, hardly = [0.0, 0.0], [1.0, 1.1], [0.0, 0.2]
    assert statistics.ratio(some, none).interval == (math.inf, math.inf)
    assert statistics.ratio(none, some).interval == (0, 0)
    assert statistics.ratio(none, none).interval == (1, 1)
    assert not statistics.ratio(hardly, none).has_interval
    assert not statistics.ratio([1.0], [0.0]).has_interval


def test_harm_is_what_a_flow_loses_next_to_another_algorithm() -> None:
    """Ware et al. 2019: of goodput more is better, of delay less."""
    goodput = statistics.harm([2.6, 2.4, 2.5], [10.0, 10.0, 10.0])
    assert goodput.value == pytest.approx(0.75)
    assert goodput.low < 0.75 < goodput.high < 1
    assert goodput.above(0.2) < 0.001
    assert goodput.below(0.2) > 0.999
    assert goodput.with_runs(12).high < goodput.high
    delay = statistics.harm([60.0, 80.0], [35.0, 35.0], more_is_better=False)
    assert delay.value == pytest.approx(0.5)
    assert statistics.harm([5.0, 5.0], [5.0, 5.0]).interval == (0, 0)
    assert statistics.harm([0.0, 0.0], [5.0, 5.0]).interval == (1, 1)
    better_off = statistics.harm([15.0, 14.0], [10.0, 10.0])
    assert better_off.value == pytest.approx(-0.45)
    assert statistics.harm([0.0, 0.0], [0.0, 0.0], more_is_better=False).value == 0


@given(POSITIVE)
def test_ratios_of_single_runs_are_averaged_as_their_inverses_are(values: Sequence[float]) -> None:
    there = statistics.geometric_mean(values)
    back = statistics.geometric_mean([1 / value for value in values])
    assert there.value == pytest.approx(1 / back.value, rel=1e-6)
    assert there.above(2) == pytest.approx(back.below(0.5), abs=1e-6)
    # Plain means say that each of two flows gets more than the other.
    assert statistics.mean([0.5, 2.0]).value > 1
    assert statistics.geometric_mean([0.5, 2.0]).value == pytest.approx(1)
    assert statistics.geometric_mean([0.0, 2.0]).value == 1


def test_a_ratio_of_ratios_has_the_errors_of_both() -> None:
    one = statistics.ratio([8.0, 9.0, 10.0], [3.0, 3.1, 2.9])
    other = statistics.ratio([4.0, 4.5, 5.0], [3.0, 3.1, 2.9])
    estimate = statistics.quotient(one, other)
    assert estimate.value == pytest.approx(2)
    # Both relative errors are sqrt((1/9)^2 + (0.1/3)^2) / sqrt(3), in squares together.
    reach = statistics.t_quantile(4.714) * math.sqrt(2) * math.hypot(1 / 9, 0.1 / 3) / math.sqrt(3)
    assert math.log(estimate.high / 2) == pytest.approx(reach, rel=0.06)
    assert math.log(2 / estimate.low) == pytest.approx(math.log(estimate.high / 2))
    exact = statistics.ratio([3.0, 3.0], [1.5, 1.5])
    assert statistics.quotient(exact, exact).interval == (1, 1)
    # An exact ratio adds no error.
    halved = statistics.quotient(one, exact)
    assert halved.interval == pytest.approx((one.low / 2, one.high / 2))
    nothing = statistics.ratio([0.0, 0.0], [1.0, 1.1])
    assert not statistics.quotient(nothing, one).has_interval


def test_a_share_of_runs_has_the_exact_interval() -> None:
    # Clopper and Pearson's interval of 0 of 5 ends at 1 - 0.025^(1/5), of 2 of 10 as in tables.
    assert statistics.share([0.0] * 5).interval == pytest.approx((0, 1 - 0.025**0.2))
    estimate = statistics.share([1.0] * 2 + [0.0] * 8)
    assert estimate.interval == pytest.approx((0.0252, 0.5561), abs=1e-4)
    assert statistics.share([1.0] * 5).above(1, or_at=True) == 0
    assert statistics.share([1.0] * 4 + [0.0]).above(1, or_at=True) == 1


def test_a_median_has_the_interval_of_order_statistics() -> None:
    # Of 6 values all lie on one side of the median with a chance of 2/64; of 5 of 2/32.
    assert statistics.quantile([1, 2, 3, 4, 5, 6], 0.5).interval == (1, 6)
    assert statistics.quantile([1, 2, 3, 4, 5], 0.5).interval == (-math.inf, math.inf)
    # The tables have ranks 2 and 9 of 10, and 6 and 15 of 20.
    assert statistics.quantile(range(1, 11), 0.5).interval == (2, 9)
    assert statistics.quantile(range(1, 21), 0.5).interval == (6, 15)
    assert statistics.quantile(range(1, 11), 0.25).low == -math.inf


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_an_end_of_resampled_runs_is_where_the_p_value_is_the_tail(confidence: float) -> None:
    draws = tuple(rank / 2000 for rank in range(1, 2000))
    estimate = Resampled(0.5, 20, confidence, draws)
    tail = pytest.approx((1 - confidence) / 2)
    assert estimate.above(estimate.low - 1e-9) == tail
    assert estimate.below(estimate.high + 1e-9) == tail
    assert estimate.above(estimate.low + 1e-9) > (1 - confidence) / 2 + 1e-9


def _lognormal(random: np.random.Generator, mean: float, runs: int) -> list[float]:
    return [float(value) for value in mean * random.lognormal(-0.02, 0.2, runs)]


def _chances(random: np.random.Generator) -> list[float]:
    return [float(value) for value in random.random(8) < 0.3]


def _spearman(means: Sample) -> Sample:
    return means[:, 0] + means[:, 1]


@pytest.mark.parametrize(
    ("estimate", "truth", "least"),
    [
        (lambda random: statistics.mean(random.normal(3, 1, 4).tolist()), 3, 0.94),
        (
            lambda random: statistics.difference(
                random.normal(5, 1, 5).tolist(), random.normal(3, 4, 3).tolist()
            ),
            2,
            0.93,
        ),
        (
            lambda random: statistics.ratio(_lognormal(random, 6, 5), _lognormal(random, 3, 5)),
            2,
            0.94,
        ),
        (lambda random: statistics.quantile(random.exponential(1, 12).tolist(), 0.5), 0.693, 0.94),
        (lambda random: statistics.share(_chances(random)), 0.3, 0.95),
        (
            lambda random: statistics.resampled(
                [random.normal(1, 1, 10).tolist(), random.normal(2, 1, 10).tolist()],
                _spearman,
                draws=199,
            ),
            3,
            0.88,
        ),
    ],
    ids=["mean", "difference", "ratio", "median", "share", "resampled"],
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    estimate: Sampled, truth: float, least: float
) -> None:
    random = np.random.default_rng(1)
    intervals = [estimate(random) for _ in range(1000)]
    held = sum(interval.low <= truth <= interval.high for interval in intervals) / len(intervals)
    assert least <= held <= 0.995
    # Neither side alone is missed more often than it may be, nor do p-values say otherwise.
    for tail in (
        [interval.above(truth) for interval in intervals],
        [interval.below(truth) for interval in intervals],
    ):
        assert sum(p <= 0.025 for p in tail) / len(intervals) <= (1 - least) * 0.75


ESTIMATES = st.one_of(
    VALUES.map(statistics.mean),
    VALUES.map(lambda values: statistics.quantile(values, 0.4)),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=20).map(statistics.share),
    st.tuples(POSITIVE, POSITIVE).map(lambda both: statistics.ratio(*both)),
    st.tuples(VALUES, VALUES).map(lambda both: statistics.difference(*both)),
)


@given(ESTIMATES, st.floats(-1e3, 1e3))
def test_an_interval_and_its_p_values_say_the_same(estimate: Estimate, bound: float) -> None:
    assert estimate.low <= estimate.value <= estimate.high
    for end, p in (
        (estimate.low - bound, estimate.above(bound)),
        (bound - estimate.high, estimate.below(bound)),
    ):
        if abs(end) > 1e-9 * (1 + abs(bound)):
            assert (p <= 0.025) == (end > 0)
    assert estimate.above(bound) <= estimate.above(bound + 1)
    assert estimate.below(bound) >= estimate.below(bound + 1)


@given(ESTIMATES)
def test_more_runs_narrow_an_interval(estimate: Estimate) -> None:
    more = estimate.with_runs(64 * estimate.runs)
    assert more.value == pytest.approx(estimate.value)
    assert (
        more.high - more.low <= (estimate.high - estimate.low) * (1 + 1e-9)
        or not estimate.has_interval
    )


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = [1.0, 2.0, 6.0]

    def difference(ones: Sequence[int], others: Sequence[int]) -> float:
        return float(np.mean([values[number] for number in ones])) + 0 * len(others)

    estimate = statistics.jackknifed(difference, 3, 3)
    assert estimate.value == 3
    assert estimate.interval == pytest.approx(statistics.mean(values).interval)
    assert not statistics.jackknifed(difference, 2, 3).has_interval


def test_holm() -> None:
    # Holm's own procedure: the smallest against alpha/3, the next against alpha/2.
    assert statistics.holm([0.03, 0.01, 0.2]) == pytest.approx([0.06, 0.03, 0.2])
    assert statistics.holm([0.01, 0.01, 0.01]) == pytest.approx([0.03] * 3)
    assert statistics.holm([0.9, 0.8]) == [1, 1]


@given(P_VALUES)
def test_holm_is_monotone_and_between_none_and_bonferroni(p_values: list[float]) -> None:
    corrected = statistics.holm(p_values)
    ordered = [corrected[i] for i in sorted(range(len(p_values)), key=lambda i: p_values[i])]
    assert ordered == sorted(ordered)
    for p, after in zip(p_values, corrected, strict=True):
        assert p <= after <= min(1, len(p_values) * p) or after == pytest.approx(p)


@given(P_VALUES)
def test_at_least_some_of_many(p_values: list[float]) -> None:
    assert statistics.at_least(1, p_values) == pytest.approx(min(statistics.holm(p_values)))
    assert statistics.at_least(len(p_values), p_values) == max(p_values)
    assert statistics.at_least(0, p_values) == 0
    worse = [min(1, p + 0.1) for p in p_values]
    for count in range(1, len(p_values) + 1):
        assert statistics.at_least(count, p_values) <= statistics.at_least(count, worse)


def test_families_keep_their_error_rate() -> None:
    """Of 20 true hypotheses Holm rejects any in at most 5 % of families; uncorrected in most."""
    random = np.random.default_rng(2)
    families = [
        [statistics.mean(random.normal(0, 1, 4).tolist()).above(0) for _ in range(20)]
        for _ in range(400)
    ]
    assert sum(min(family) <= 0.05 for family in families) > 200
    assert sum(min(statistics.holm(family)) <= 0.05 for family in families) <= 30


@pytest.mark.parametrize("bound", [1.9, 1.5, 0.5])
def test_the_runs_needed_are_the_fewest_that_decide(bound: float) -> None:
    estimate = statistics.mean([1.0, 2.0, 3.0])

    def decided(runs: int) -> bool:
        return estimate.with_runs(runs).low > bound

    needed = statistics.runs_needed(decided, 4, 10_000)
    assert needed is not None
    assert decided(needed)
    assert needed == 4 or not decided(needed - 1)
    assert statistics.runs_needed(lambda runs: estimate.with_runs(runs).low > 2, 4, 10_000) is None


def test_the_runs_needed_were_enough_more_often_than_not() -> None:
    """A mean of 1 with a deviation of 1 against 0.5: t(18) sqrt(1/19) is just below 0.5."""
    exact = statistics.mean([0.0, 1.0, 2.0])
    needed = statistics.runs_needed(lambda runs: exact.with_runs(runs).low > 0.5, 4, 1000)
    assert needed == 18
    random = np.random.default_rng(3)
    enough = [statistics.mean(random.normal(1, 1, needed).tolist()).low > 0.5 for _ in range(400)]
    assert 0.4 < sum(enough) / len(enough) < 0.7


def test_exact_values_need_no_more_runs() -> None:
    assert Exact(1.0, 1, 0.95).with_runs(5).interval == (1, 1)


def test_a_ratio_of_averages_has_the_errors_within_the_samples_alone() -> None:
    ones, others = [[3.0, 3.1, 3.2], [9.0, 9.1, 9.3]], [[2.0, 2.1, 2.2], [8.0, 8.0, 8.1]]
    ratio = statistics.ratio_of_averages(ones, others)
    inverse = statistics.ratio_of_averages(others, ones)
    assert ratio.value == pytest.approx((3.1 + 27.4 / 3) / (2.1 + 24.1 / 3))
    assert inverse.interval == pytest.approx((1 / ratio.high, 1 / ratio.low))
    # As one sample, 2 and 8 would be chance and decide nothing.
    assert statistics.ratio([*ones[0], *ones[1]], [*others[0], *others[1]]).low < 1 < ratio.low
    alone = statistics.ratio_of_averages(ones[:1], others[:1])
    assert alone == statistics.ratio(ones[0], others[0])
    exact = statistics.ratio_of_averages([[4.0, 4.0], [2.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]])
    assert exact.interval == (2.0, 2.0)
    none = statistics.ratio_of_averages(ones, [[0.0, 0.0], [0.0, 0.0]])
    assert (none.value, none.has_interval) == (math.inf, False)


def test_the_average_of_samples_has_the_errors_of_all() -> None:
    """By hand: means 2 and 6; standard errors 1 and 2 of two runs each, so one degree each."""
    estimate = statistics.average([[1.0, 3.0], [4.0, 8.0]])
    assert estimate.value == pytest.approx(4.0)
    error, freedom = math.sqrt(0.5**2 + 1.0**2), 1.25**2 / (0.25**2 + 1.0**2)
    reach = statistics.t_quantile(freedom) * error
    assert estimate.interval == pytest.approx((4 - reach, 4 + reach))
    # However far samples differ from each other, and of single runs there is no interval.
    assert statistics.average([[1.0, 1.0], [9.0, 9.0]]).interval == (5.0, 5.0)
    assert not statistics.average([[1.0], [9.0]]).has_interval
