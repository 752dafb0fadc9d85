"""Oscillation of goodput: how far, how slowly, and whether it dies out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dumbbell.quantities.counters import Values
from dumbbell.quantities.goodput_samples import Samples
from synthetic_runs import FlowTrace, constant, measured, planned


def swinging(period_s: float, swing: float = 100.0, damping_s: float = math.inf) -> FlowTrace:
    def rate(time_s: float) -> float:
        return 300 + swing * math.exp(-time_s / damping_s) * math.sin(
            2 * math.pi * time_s / period_s
        )

    return FlowTrace(rate)


def following(rates: Values) -> FlowTrace:
    return FlowTrace(lambda time_s: float(rates[int(time_s)]))


@pytest.mark.parametrize("period_s", [4.0, 7.4, 10.0, 23.0])
def test_the_period_is_that_of_a_sine(period_s: float) -> None:
    values = measured(planned(flows=1, interval="1s"), swinging(period_s))
    assert values["oscillation_period_s"] == pytest.approx(period_s, rel=0.03)


def test_multiples_of_the_period_are_not_the_period() -> None:
    """Of 7.4 s, samples a second apart resemble themselves best after two periods or five."""
    plan = planned(flows=1, interval="1s", duration="2000s")
    values = measured(plan, swinging(7.4))
    assert values["oscillation_period_s"] == pytest.approx(7.4, rel=0.01)


def test_a_sawtooth_has_its_period() -> None:
    plan = planned(flows=1, interval="1s")
    values = measured(plan, FlowTrace(lambda time_s: 200 + 10 * (time_s % 20)))
    assert values["oscillation_period_s"] == pytest.approx(20, rel=0.03)


def test_the_interval_of_samples_is_the_study_s() -> None:
    rules = Samples.model_validate({"interval": "2s"})
    plan = planned(flows=1, interval="500ms", settings=[rules])
    assert measured(plan, swinging(10))["oscillation_period_s"] == pytest.approx(10, rel=0.05)


def test_noise_has_no_period() -> None:
    """Of 200 runs of noise at most 5 % may seem to have one."""
    seeming = 0
    for seed in range(200):
        noise = np.random.default_rng(seed).normal(300, 50, 101)
        values = measured(planned(flows=1, interval="1s"), following(noise))
        seeming += values["oscillation_period_s"] is not None
    assert seeming <= 10


def test_what_only_grows_or_stays_has_no_period() -> None:
    for trace in (constant(300), FlowTrace(lambda time_s: 3 * time_s)):
        values = measured(planned(flows=1, interval="1s"), trace)
        assert values["oscillation_period_s"] is None


def test_variation_is_the_deviation_over_the_mean() -> None:
    square = FlowTrace(lambda time_s: 400 if math.ceil(time_s) % 2 else 200)
    values = measured(planned(flows=1, interval="1s"), square)
    samples = [400.0, 200.0] * 50
    expected = np.std(samples[1:], ddof=1) / np.mean(samples[1:])
    assert values["goodput_variation"] == pytest.approx(expected)
    assert measured(planned(flows=1), constant(300))["goodput_variation"] == pytest.approx(0)


def test_flows_together_may_not_oscillate() -> None:
    one = FlowTrace(lambda time_s: 300 + 100 * math.sin(time_s))
    other = FlowTrace(lambda time_s: 300 - 100 * math.sin(time_s))
    values = measured(planned(interval="1s"), one, other)
    assert values["goodput_variation"] == pytest.approx(0, abs=1e-9)
    assert values["goodput_variation[1]"] is not None
    assert values["goodput_variation[1]"] > 0.2


def test_damping_compares_the_halves_of_a_window() -> None:
    plan = planned(flows=1, interval="1s", windows={"after": {"from": "20s", "to": "60s"}})
    steady = measured(plan, swinging(5))
    assert steady["oscillation_damping@after"] == pytest.approx(1, rel=0.1)
    dying = measured(plan, swinging(5, damping_s=20))
    # The second half begins a time constant after the first.
    assert dying["oscillation_damping@after"] == pytest.approx(math.exp(-1), rel=0.1)
    assert measured(plan, constant(300))["oscillation_damping@after"] is None


def test_a_few_samples_tell_nothing() -> None:
    plan = planned(flows=1, interval="1s", windows={"main": {"from": "90s", "to": "97s"}})
    values = measured(plan, swinging(4))
    assert values["oscillation_period_s"] is None
    assert values["oscillation_damping"] is None


def window(period_s: float, damping_s: float = math.inf) -> FlowTrace:
    def segs(time_s: float) -> float:
        return 300 + 100 * math.exp(-time_s / damping_s) * math.sin(2 * math.pi * time_s / period_s)

    return FlowTrace(lambda _: 300, window=segs)


def test_windows_oscillate_too() -> None:
    """They do so from sample to sample, whatever the interval of goodput samples is."""
    plan = planned(flows=2, interval="200ms", windows={"after": {"from": "20s", "to": "60s"}})
    values = measured(plan, window(4, damping_s=20), window(8))
    assert values["cwnd_period_s[1]@after"] == pytest.approx(4, rel=0.03)
    assert values["cwnd_period_s[2]@after"] == pytest.approx(8, rel=0.03)
    assert values["cwnd_period_s@after"] == pytest.approx(6, rel=0.03)
    assert values["cwnd_damping[1]@after"] == pytest.approx(math.exp(-1), rel=0.1)
    assert values["cwnd_damping[2]@after"] == pytest.approx(1, rel=0.1)
    still = measured(plan, FlowTrace(lambda _: 300), FlowTrace(lambda _: 300))
    assert still["cwnd_period_s[1]@after"] is None
    assert still["cwnd_damping[1]@after"] is None
