"""Metrics over single samples, on runs whose samples are known exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dumbbell.analysis import goodput_samples, testbed_10g
from dumbbell.analysis.run_metrics import run_metrics
from dumbbell.analysis.window import Sampled
from dumbbell.study.model import PlannedRun, Samples
from test_metrics import PAYLOAD_BYTES, FlowTrace, constant, measured, planned, played

MBIT_PER_SEG = PAYLOAD_BYTES * 8e-6
RULES = Samples()


def stepping(*rates: float) -> FlowTrace:
    """Send at each of these rates in turn, a second each, counted from the flow's start."""
    return FlowTrace(lambda time_s: rates[(int(np.ceil(time_s)) - 1) % len(rates)])


def test_quantiles_are_of_the_samples_of_one_second() -> None:
    found = measured(planned(flows=1, interval="500ms"), stepping(100, 200, 300, 400))
    # The window begins with the first sample, so that the first whole second is the second one.
    samples = [100, 200, 300, 400] * 25
    expected = np.quantile(samples[1:], [0, 0.25, 0.5, 0.75, 1]) * MBIT_PER_SEG
    names = ("min", "q25", "q50", "q75", "max")
    assert [found[f"goodput_{name}_mbit"] for name in names] == pytest.approx(list(expected))
    assert found["goodput_iqr_mbit"] == pytest.approx(expected[3] - expected[1])


def test_samples_are_of_all_flows_together() -> None:
    found = measured(planned(interval="1s"), constant(300), constant(200))
    assert found["goodput_min_mbit"] == pytest.approx(500 * MBIT_PER_SEG)
    assert found["goodput_max_mbit"] == pytest.approx(500 * MBIT_PER_SEG)
    assert found["goodput_apart_mbit"] == pytest.approx(100 * MBIT_PER_SEG)


def test_the_interval_is_the_study_s() -> None:
    plan = planned(flows=1, interval="500ms")
    coarse = replace(plan, samples=Samples.model_validate({"interval": "2s"}))
    run = played(plan, [stepping(100, 300)])
    of_two = goodput_samples.samples_mbit(Sampled(run, plan.measure), coarse.samples)
    assert of_two == pytest.approx(np.full(of_two.size, 200 * MBIT_PER_SEG))
    assert run_metrics(run, coarse)["goodput_iqr_mbit"] == pytest.approx(0)
    assert run_metrics(run, plan)["goodput_iqr_mbit"] == pytest.approx(200 * MBIT_PER_SEG)


@pytest.mark.parametrize("interval", ["300ms", "2s"])
def test_samples_that_do_not_fit_the_interval_have_no_quantiles(interval: str) -> None:
    found = measured(planned(start_s=20, interval=interval), constant(300), constant(300))
    assert found["goodput_q50_mbit"] is None
    assert found["convergence_samples_s"] is None
    assert found["spread_mbit"] is None


def test_a_constant_rate_converges_after_16_samples() -> None:
    """1 - 0.9^n reaches 0.8 at n = 16."""
    found = measured(planned(start_s=20, interval="1s"), constant(300), constant(300))
    assert found["convergence_samples_s"] == 16
    assert testbed_10g.ewma_samples(0.1, 0.8) == 16


def test_the_spread_of_a_constant_rate_is_what_the_average_still_lacks() -> None:
    found = measured(planned(start_s=20, interval="1s"), constant(300), constant(300))
    lacking = [0.9**n for n in range(16, 81)]
    rate = 300 * MBIT_PER_SEG
    assert found["spread_mbit"] == pytest.approx(rate * sum(lacking) / 80)
    assert found["spread_after_mbit"] == pytest.approx(rate * sum(lacking) / len(lacking))


def test_a_start_between_samples_counts_from_there() -> None:
    found = measured(planned(start_s=20.25, interval="250ms"), constant(300), constant(300))
    assert found["convergence_samples_s"] == pytest.approx(15.75)


def test_only_the_late_flow_is_judged() -> None:
    swinging, steady = stepping(100, 900), constant(300)
    late = measured(planned(start_s=20, interval="1s"), swinging, steady)
    assert late["convergence_samples_s"] == 16
    early = measured(planned(start_s=20, interval="1s"), steady, swinging)
    assert early["spread_mbit"] is not None
    assert late["spread_mbit"] is not None
    assert early["spread_mbit"] > late["spread_mbit"]


def test_the_moving_average_is_the_paper_s() -> None:
    found = goodput_samples.short_term_mbit(np.array([10.0, 0.0, 20.0]), 0.1)
    assert list(found) == pytest.approx([1.0, 0.9, 0.81 + 2.0])


def test_flows_that_start_together_have_no_convergence() -> None:
    found = measured(planned(interval="1s"), constant(300), constant(300))
    assert found["convergence_samples_s"] is None
    alone = measured(planned(flows=1, interval="1s"), constant(300))
    assert alone["convergence_samples_s"] is None
    assert alone["goodput_apart_mbit"] is None


def test_a_flow_that_gets_nothing_never_converges() -> None:
    found = measured(planned(start_s=20, interval="1s"), constant(300), constant(0))
    assert found["convergence_samples_s"] is None


def test_a_rate_that_fades_never_reaches_its_average_again() -> None:
    """All is sent in the first second: the moving average gets to a tenth of it, then falls."""
    burst = FlowTrace(lambda time_s: 1000.0 if time_s <= 1 else 0.0)
    found = measured(planned(start_s=20, interval="1s"), constant(300), burst)
    # The average over 80 s is an 80th of the burst, the moving average a tenth: at once.
    assert found["convergence_samples_s"] == 1


def test_without_samples_there_are_no_quantiles() -> None:
    assert goodput_samples.quantiles_of(np.empty(0)) == dict.fromkeys(
        ("min", "q25", "q50", "q75", "max")
    )


def test_plans_carry_the_rules() -> None:
    assert planned().samples == RULES
    assert isinstance(planned(), PlannedRun)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (testbed_10g.ethernet_goodput_gbit(), 14600 / 1538),
        (testbed_10g.loss_probability(15, 900), 15 / (900e10 / 12304)),
        (testbed_10g.rings_rtt_ms(4), 24.2),
        (testbed_10g.planned_runs(6, 4, 2, 5, left_out=4), 220),
        (testbed_10g.ewma_samples(0.5, 0.5), 1),
    ],
)
def test_formulas(value: float, expected: float) -> None:
    assert value == pytest.approx(expected)
