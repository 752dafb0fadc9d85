"""Closeness of engines: estimates, verdicts, distances of windows, and lengths of cycles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fidelity import oracles
from fidelity.agreement import cycles, distance
from fidelity.agreement.measures import CONFIDENCE
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.algorithms import catalogue
from dumbbell.inference import equivalence
from dumbbell.inference.equivalence import Verdict
from dumbbell.inference.estimates import Student
from dumbbell.inference.statistics import Estimate, t_quantile
from dumbbell.theory.fluid import Path


def estimate(value: float, reach: float | None) -> Estimate:
    """Make an estimate with an interval of this reach."""
    error = math.inf if reach is None else reach / t_quantile(3, CONFIDENCE)
    return Student(value, 4, CONFIDENCE, error, 3)


@pytest.mark.parametrize(
    ("mean", "reach", "expected"),
    [
        (0.0, 0.9, Verdict.AGREES),
        (0.5, 0.5, Verdict.AGREES),
        (0.5, 0.6, Verdict.UNDECIDABLE),
        (1.5, 0.6, Verdict.UNDECIDABLE),
        (1.5, 0.4, Verdict.DIFFERS),
        (-1.5, 0.4, Verdict.DIFFERS),
        (0.0, 5.0, Verdict.UNDECIDABLE),
        (0.0, None, Verdict.UNDECIDABLE),
    ],
)
def test_a_verdict_is_about_the_whole_interval(
    mean: float, reach: float | None, expected: Verdict
) -> None:
    assert equivalence.verdict(estimate(mean, reach), -1, 1) is expected


@given(st.floats(-10, 10), st.floats(0, 10), st.floats(0.01, 5))
def test_a_narrower_interval_contradicts_no_verdict(mean: float, reach: float, band: float) -> None:
    wide = equivalence.verdict(estimate(mean, reach), -band, band)
    narrow = equivalence.verdict(estimate(mean, reach / 2), -band, band)
    assert wide in (narrow, Verdict.UNDECIDABLE)


TRACES = st.lists(st.floats(1, 1e5), min_size=1, max_size=30).map(np.array)


@given(TRACES, TRACES)
def test_the_distance_of_windows_is_symmetric(one: distance.Trace, other: distance.Trace) -> None:
    assert distance.between(one, other) == pytest.approx(distance.between(other, one))
    assert distance.between(one, other) >= 0


@given(TRACES)
def test_windows_that_differ_in_their_order_have_no_distance(trace: distance.Trace) -> None:
    assert distance.between(trace, np.sort(trace)) == pytest.approx(0, abs=1e-9)


@given(TRACES, st.floats(0, 1e5))
def test_a_larger_window_is_as_far_as_it_is_larger(trace: distance.Trace, shift: float) -> None:
    expected = shift / (trace.mean() + shift / 2)
    assert distance.between(trace, trace + shift) == pytest.approx(expected, abs=1e-9)


def test_a_flow_without_samples_is_far_from_one_with_some() -> None:
    some, none = np.array([1.0]), np.empty(0)
    assert distance.between(some, none) == 1
    assert distance.between(none, none) == 0
    assert distance.of_runs((some, none), (some, some)) == 0.5


def _runs(seed: int, count: int, shift: float = 0.0) -> list[distance.Traces]:
    random = np.random.default_rng(seed)
    return [(random.normal(100 + random.normal(0, 5) + shift, 10, 200),) for _ in range(count)]


def test_what_runs_of_one_engine_differ_in_is_the_yardstick() -> None:
    same = distance.compare(_runs(1, 6), _runs(2, 10))
    assert same is not None
    assert same.across > 0.03
    assert same.excess.value == pytest.approx(0, abs=0.02)
    other = distance.compare(_runs(1, 6), _runs(2, 10, shift=100))
    assert other is not None
    assert other.across == pytest.approx(100 / 150, abs=0.05)
    assert other.excess.value == pytest.approx(other.across - sum(other.within) / 2)
    assert other.excess.low > 0.3
    assert distance.compare(_runs(1, 1), _runs(2, 3)) is None


def test_cycles_are_those_of_the_closed_forms() -> None:
    path = Path(bdp_packets=333.0, rtt_s=0.04, queue_bdp=0.5)
    reno = cycles.between_overflows_s(catalogue.algorithm("reno"), path)
    expected = oracles.aimd_epoch_s(333, 166.5, 0.04)
    assert reno == pytest.approx(expected, rel=0.1)
    assert cycles.between_overflows_s(catalogue.algorithm("scalable"), path) < reno / 4
    # What follows rates settles within some round trips.
    assert cycles.between_overflows_s(catalogue.algorithm("bbr"), path) == pytest.approx(1.0)
    # Reno's window is sqrt(3 / (2 p)); a packet in 1/p is lost.
    losses = cycles.between_losses_s(catalogue.algorithm("reno"), path, 1e-3)
    assert losses == pytest.approx(0.04 / (1e-3 * math.sqrt(1500)))
    assert cycles.between_losses_s(catalogue.algorithm("bbr"), path, 1e-3) == losses
