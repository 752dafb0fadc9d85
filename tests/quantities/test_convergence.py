"""Convergence of a late flow next to another, on runs whose rates are known exactly."""

from __future__ import annotations

import math

import pytest

from dumbbell.quantities.convergence import Convergence
from synthetic_runs import FlowTrace, constant, measured, planned

WINDOW_S = 2.0
"""The BDP of 100 packets gives 0.15 s, so the shortest window counts."""


def test_convergence_of_a_constant_rate_takes_ln_5_windows() -> None:
    values = measured(planned(start_s=20, interval="10ms"), constant(500), constant(500))
    assert values["convergence_own_s"] == pytest.approx(math.log(5) * WINDOW_S, abs=0.02)
    assert values["convergence_fairness_s"] == pytest.approx(math.log(5) * WINDOW_S, abs=0.02)
    assert values["converged_fairness"] == 1


def test_the_window_grows_with_the_bdp() -> None:
    rules = Convergence.model_validate({"window_per_packet": "100ms"})
    plan = planned(start_s=20, interval="10ms", settings=[rules])
    values = measured(plan, constant(500), constant(500))
    assert values["convergence_own_s"] == pytest.approx(math.log(5) * 10, abs=0.05)


def test_the_two_definitions_differ() -> None:
    """A flow that stays at half the other's rate reaches its own average, but never fairness."""
    values = measured(planned(start_s=20, interval="100ms"), constant(500), constant(250))
    assert values["convergence_own_s"] == pytest.approx(math.log(5) * WINDOW_S, abs=0.2)
    assert values["convergence_fairness_s"] is None
    assert values["converged_fairness"] == 0
    assert values["convergence_bound_s"] == pytest.approx(80, abs=0.2)
    assert values["diverged"] == 0
    assert values["convergence_own_bound_s"] == values["convergence_own_s"]


def test_slow_growth_converges_when_it_gets_there() -> None:
    """A ramp lags its average by one window: 400 of 500 at 40 s, seen 2 s later."""
    ramp = FlowTrace(lambda time_s: min(10 * time_s, 500))
    values = measured(planned(start_s=20, interval="100ms"), constant(500), ramp)
    assert values["convergence_fairness_s"] == pytest.approx(42, abs=0.3)
    assert values["convergence_bound_s"] == values["convergence_fairness_s"]


def test_divergence_after_convergence_is_seen() -> None:
    falling = FlowTrace(lambda time_s: 500 if time_s < 40 else 50)
    values = measured(planned(start_s=20, interval="100ms"), constant(500), falling)
    assert values["converged_fairness"] == 1
    assert values["diverged"] == 1


def test_coarse_samples_show_no_convergence() -> None:
    values = measured(planned(start_s=20, interval="5s"), constant(500), constant(500))
    assert values["convergence_own_s"] is None
    assert values["converged_fairness"] is None
    assert values["convergence_bound_s"] is None
    assert values["convergence_own_bound_s"] is None


def test_without_convergence_the_bound_is_the_window() -> None:
    silent = measured(planned(start_s=20, interval="100ms"), constant(500), constant(0))
    assert silent["convergence_own_s"] is None
    assert silent["convergence_own_bound_s"] == pytest.approx(80, abs=0.2)


def test_the_order_of_the_flows_does_not_matter() -> None:
    plan = planned(flows=[{"label": "late", "start": "20s"}, {"label": "early"}], interval="10ms")
    values = measured(plan, constant(500), constant(500))
    assert values["convergence_fairness_s"] == pytest.approx(math.log(5) * WINDOW_S, abs=0.02)


def test_a_window_before_the_later_flow_tells_nothing() -> None:
    plan = planned(start_s=50, interval="100ms", windows={"before": {"from": "0s", "to": "50s"}})
    values = measured(plan, constant(500), constant(500))
    assert values["converged_fairness"] == 1
    for name in ("convergence_own_s", "convergence_bound_s", "converged_fairness", "diverged"):
        assert values[f"{name}@before"] is None


def test_a_pair_among_others_is_asked_for_by_its_group() -> None:
    pair = {"group": "pair"}
    plan = planned(
        flows=[{"label": "a", **pair}, {"label": "other"}, {"label": "b", "start": "20s", **pair}],
        interval="10ms",
    )
    values = measured(plan, constant(500), constant(1), constant(500))
    assert values["convergence_own_s"] is None
    assert values["convergence_own_s[pair]"] == pytest.approx(math.log(5) * WINDOW_S, abs=0.02)
