"""Metrics over single samples, on runs whose samples are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from dumbbell.quantities import goodput_samples
from dumbbell.quantities.goodput_samples import Samples
from synthetic_runs import (
    HALF_SAMPLED,
    MBIT_PER_SEG,
    FlowTrace,
    Taken,
    constant,
    measured,
    planned,
    played,
    stepping,
)


def test_quantiles_are_of_the_samples_of_one_second() -> None:
    values = measured(planned(flows=1, interval="500ms"), stepping(100, 200, 300, 400))
    # The window begins with the first sample, so that the first whole second is the second one.
    samples = [100, 200, 300, 400] * 25
    expected = np.quantile(samples[1:], [0, 0.25, 0.5, 0.75, 1]) * MBIT_PER_SEG
    names = ("min", "q25", "q50", "q75", "max")
    taken = [values[f"goodput_sample_{name}_mbit_per_s"] for name in names]
    assert taken == pytest.approx(list(expected))
    assert values["goodput_sample_iqr_mbit_per_s"] == pytest.approx(expected[3] - expected[1])


def test_samples_are_of_all_flows_together() -> None:
    values = measured(planned(interval="1s"), constant(300), constant(200))
    assert values["goodput_sample_min_mbit_per_s"] == pytest.approx(500 * MBIT_PER_SEG)
    assert values["goodput_sample_max_mbit_per_s"] == pytest.approx(500 * MBIT_PER_SEG)
    assert values["goodput_apart_mbit_per_s"] == pytest.approx(100 * MBIT_PER_SEG)


def test_the_interval_is_the_study_s() -> None:
    rules = Samples.model_validate({"interval": "2s"})
    plan = planned(flows=1, interval="500ms")
    coarse = planned(flows=1, interval="500ms", settings=[rules])
    run = played(plan, [stepping(100, 300)])
    of_two = Taken(run, coarse)
    everything = of_two.view.of_flows(None, None)
    assert everything is not None
    samples = goodput_samples.samples_mbit_per_s(everything)
    assert samples == pytest.approx(np.full(samples.size, 200 * MBIT_PER_SEG))
    assert of_two["goodput_sample_iqr_mbit_per_s"] == pytest.approx(0)
    of_one = Taken(run, plan)
    assert of_one["goodput_sample_iqr_mbit_per_s"] == pytest.approx(200 * MBIT_PER_SEG)


@pytest.mark.parametrize("interval", ["300ms", "2s"])
def test_samples_that_do_not_fit_the_interval_have_no_quantiles(interval: str) -> None:
    values = measured(planned(start_s=20, interval=interval), constant(300), constant(300))
    assert values["goodput_sample_q50_mbit_per_s"] is None
    assert values["convergence_samples_s"] is None
    assert values["spread_mbit_per_s"] is None


def test_a_constant_rate_converges_after_16_samples() -> None:
    """1 - 0.9^n reaches 0.8 at n = 16."""
    values = measured(planned(start_s=20, interval="1s"), constant(300), constant(300))
    assert values["convergence_samples_s"] == 16


def test_the_spread_of_a_constant_rate_is_what_the_average_still_lacks() -> None:
    values = measured(planned(start_s=20, interval="1s"), constant(300), constant(300))
    lacking = [0.9**n for n in range(16, 81)]
    rate = 300 * MBIT_PER_SEG
    assert values["spread_mbit_per_s"] == pytest.approx(rate * sum(lacking) / 80)
    assert values["spread_after_mbit_per_s"] == pytest.approx(rate * sum(lacking) / len(lacking))


def test_a_start_between_samples_counts_from_there() -> None:
    values = measured(planned(start_s=20.25, interval="250ms"), constant(300), constant(300))
    assert values["convergence_samples_s"] == pytest.approx(15.75)


def test_only_the_late_flow_is_judged() -> None:
    swinging, steady = stepping(100, 900), constant(300)
    late = measured(planned(start_s=20, interval="1s"), swinging, steady)
    assert late["convergence_samples_s"] == 16
    early = measured(planned(start_s=20, interval="1s"), steady, swinging)
    assert early["spread_mbit_per_s"] is not None
    assert late["spread_mbit_per_s"] is not None
    assert early["spread_mbit_per_s"] > late["spread_mbit_per_s"]


def test_the_moving_average_is_the_paper_s() -> None:
    averages = goodput_samples.short_term(np.array([10.0, 0.0, 20.0]), 0.1)
    assert list(averages) == pytest.approx([1.0, 0.9, 0.81 + 2.0])


def test_flows_that_start_together_have_no_convergence() -> None:
    values = measured(planned(interval="1s"), constant(300), constant(300))
    assert values["convergence_samples_s"] is None
    alone = measured(planned(flows=1, interval="1s"), constant(300))
    assert alone["convergence_samples_s"] is None
    assert alone["goodput_apart_mbit_per_s"] is None


def test_a_flow_that_gets_nothing_never_converges() -> None:
    values = measured(planned(start_s=20, interval="1s"), constant(300), constant(0))
    assert values["convergence_samples_s"] is None


def test_a_rate_that_fades_never_reaches_its_average_again() -> None:
    """All is sent in the first second: the moving average gets to a tenth of it, then falls."""
    burst = FlowTrace(lambda time_s: 1000.0 if time_s <= 1 else 0.0)
    values = measured(planned(start_s=20, interval="1s"), constant(300), burst)
    # The average over 80 s is an 80th of the burst, the moving average a tenth: at once.
    assert values["convergence_samples_s"] == 1


def test_without_samples_there_are_no_quantiles() -> None:
    values = measured(planned(interval="none"), constant(300), constant(300))
    for name in ("min", "q25", "q50", "q75", "max", "iqr"):
        assert values[f"goodput_sample_{name}_mbit_per_s"] is None


def test_the_weight_is_the_study_s() -> None:
    """1 - 0.5^n reaches 0.8 at n = 3."""
    rules = Samples.model_validate({"weight": 0.5})
    plan = planned(start_s=20, interval="1s", settings=[rules])
    assert measured(plan, constant(300), constant(300))["convergence_samples_s"] == 3


def test_samples_with_a_flow_that_is_not_sampled_are_unknown() -> None:
    values = measured(planned(flows=HALF_SAMPLED, interval="1s"), constant(300), constant(300))
    assert values["goodput_sample_max_mbit_per_s"] == pytest.approx(300 * MBIT_PER_SEG)
    assert values["goodput_sample_max_mbit_per_s[all]"] is None
