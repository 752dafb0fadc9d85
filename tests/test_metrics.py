"""Metrics of runs whose rates, reductions and queues are known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from dumbbell.analysis import metrics
from dumbbell.analysis.run_metrics import METRICS, Metrics, run_metrics
from dumbbell.errors import InputError
from dumbbell.running.engine import Output
from dumbbell.running.result import Run
from dumbbell.running.store import Store
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Convergence, Measure, PlannedRun, Study

RATE_MBIT = 12.0
"""1000 packets of 1500 bytes per second."""

PAYLOAD_BYTES = 1448


@dataclass(frozen=True)
class FlowTrace:
    """What a flow does: segments per second as a function of time, and its reductions."""

    segs_per_s: Callable[[float], float]
    cuts_s: Sequence[float] = ()
    retransmitted: float = 0.0
    window: Callable[[float], float] = lambda _: 10.0


def planned(
    *,
    start_s: float = 0.0,
    flows: int = 2,
    interval: str = "500ms",
    measure: Measure | None = None,
    sizes: Mapping[int, str] | None = None,
) -> PlannedRun:
    """Plan a run of 100 s at 12 Mbit/s and 100 ms: a BDP of 100 packets."""
    table: dict[str, Any] = {
        "duration": "100s",
        "network": {"rate": "12mbit", "rtt": "100ms", "queue": "1bdp"},
        "flow": [{"algorithm": "reno", "label": f"flow {n}"} for n in range(1, flows + 1)],
        "record": {"interval": interval, "events": ["congestion"]},
    }
    table["flow"][-1]["start"] = f"{start_s}s"
    for index, size in (sizes or {}).items():
        table["flow"][index]["bytes"] = size
    resolved = Scenario.parse(table).resolve()
    return PlannedRun("test", {}, 0, resolved, measure or Measure(), Convergence())


def played(plan: PlannedRun, traces: Sequence[FlowTrace]) -> Run:
    """Make the result of a run in which the flows behave as their traces say."""
    data = plan.resolved.data
    interval_ns = data["record"]["interval_ns"]
    times = np.arange(interval_ns, data["duration_ns"] + 1, interval_ns)
    flows = [
        _flow_samples(index, flow, trace, times)
        for index, (flow, trace) in enumerate(zip(data["flows"], traces, strict=True))
    ]
    queues = pl.DataFrame(
        {
            "time_ns": times,
            "queue": pl.Series([0] * len(times), dtype=pl.UInt8),
            "departed_bytes": (times / 1e9 * 1_000_000).astype(np.uint64),
            "dropped_packets": (times // 10**10).astype(np.uint64),
        }
    )
    tables = {"flows": pl.concat(flows), "queues": queues, "events": _events(traces)}
    summary = {
        "flows": [{"rtt_mean_us": 100_000, "timeouts": index} for index in range(len(traces))],
        "queues": [
            {
                "backlog_packets_max": 90,
                "waiting_bytes_mean": 30_000,
                "dropped_packets": 10,
                "marked_packets": 3,
            }
        ],
    }
    return Run.of(plan.resolved, Output(summary, tables))


def _flow_samples(
    index: int, flow: Mapping[str, Any], trace: FlowTrace, times: np.ndarray[Any, Any]
) -> pl.DataFrame:
    own = times[times > flow["start_ns"]]
    steps_s = np.diff(np.concatenate(([flow["start_ns"]], own))) / 1e9
    rates = np.array([trace.segs_per_s((time - flow["start_ns"]) / 1e9) for time in own])
    sent = np.cumsum(rates * steps_s)
    return pl.DataFrame(
        {
            "time_ns": own,
            "flow": pl.Series([index] * len(own), dtype=pl.UInt32),
            "sent_segs": sent,
            "sent_bytes": sent * PAYLOAD_BYTES,
            "retransmitted_segs": sent * trace.retransmitted,
            "received_bytes": sent * (1 - trace.retransmitted) * PAYLOAD_BYTES,
            "cwnd_segs": [trace.window(time / 1e9) for time in own],
        }
    )


def _events(traces: Sequence[FlowTrace]) -> pl.DataFrame:
    rows = sorted((cut, index) for index, trace in enumerate(traces) for cut in trace.cuts_s)
    return pl.DataFrame(
        {
            "time_ns": pl.Series([round(cut * 1e9) for cut, _ in rows], dtype=pl.UInt64),
            "kind": pl.Series(["congestion"] * len(rows), dtype=pl.String),
            "flow": pl.Series([index for _, index in rows], dtype=pl.UInt32),
        }
    )


def constant(rate: float, **others: Any) -> FlowTrace:
    return FlowTrace(lambda _: rate, **others)


def measured(plan: PlannedRun, *traces: FlowTrace) -> Metrics:
    return run_metrics(played(plan, traces), plan)


def test_rates_of_two_constant_flows() -> None:
    found = measured(planned(start_s=10), constant(600), constant(200, retransmitted=0.01))
    assert found["throughput_mbit_1"] == pytest.approx(7.2)
    assert found["throughput_mbit_2"] == pytest.approx(2.4)
    assert found["throughput_mbit"] == pytest.approx(9.6)
    assert found["goodput_mbit_1"] == pytest.approx(7.2 * PAYLOAD_BYTES / 1500)
    assert found["goodput_mbit_2"] == pytest.approx(2.4 * 0.99 * PAYLOAD_BYTES / 1500)
    assert found["utilisation"] == pytest.approx(8 / 12, rel=1e-6)
    assert found["loss_overhead"] == pytest.approx(0.01 * 200 / 800)
    assert found["ratio_12"] == pytest.approx(3)
    assert found["ratio_21"] == pytest.approx(1 / 3)
    assert found["ratio_min_max"] == pytest.approx(1 / 3)
    assert found["share_1"] == pytest.approx(0.75)
    assert found["jain"] == pytest.approx(0.8)


def test_the_window_begins_when_both_flows_are_active() -> None:
    late = constant(500)
    early = FlowTrace(lambda time_s: 1000 if time_s <= 50 else 500)
    found = measured(planned(start_s=50), early, late)
    assert found["ratio_min_max"] == pytest.approx(1)
    assert found["throughput_mbit"] == pytest.approx(12)


def test_a_start_between_samples_is_rounded_up() -> None:
    """Counters are exact only at samples, so the window starts at the next one."""
    late = FlowTrace(lambda time_s: 0 if time_s <= 5 else 100)
    found = measured(planned(start_s=50.2, interval="5s"), constant(100), late)
    # Flow 2 idles until 55.2 s: its sample at 55 s still reads 0, from 60 s on it sends.
    assert found["throughput_mbit_2"] == pytest.approx(100 * 12e-3)


def test_length_and_skip_limit_the_window() -> None:
    rising = FlowTrace(lambda time_s: 10 if time_s <= 40 else 1000)
    measure = Measure.model_validate({"length": "40s"})
    found = measured(planned(measure=measure), rising, constant(10))
    assert found["ratio_min_max"] == pytest.approx(1)
    skipping = Measure.model_validate({"skip": 0.5})
    found = measured(planned(measure=skipping), rising, constant(1000))
    assert found["ratio_min_max"] == pytest.approx(1)


def test_the_final_ratio_is_of_the_last_fifth() -> None:
    converging = FlowTrace(lambda time_s: 100 if time_s <= 79 else 500)
    found = measured(planned(), constant(500), converging)
    assert found["ratio_final"] == pytest.approx(1)
    assert found["ratio_min_max"] is not None
    assert found["ratio_min_max"] < 0.5


def test_the_overhead_is_that_of_the_last_half() -> None:
    plan = planned()
    run = played(plan, [constant(500), constant(500)])
    early = pl.col("sent_segs").clip(upper_bound=20_000) * 0.1
    tables = {"queues": run.queues, "events": run.events}
    flows = run.flows.with_columns(retransmitted_segs=early)
    altered = Run.of(plan.resolved, Output(run.summary, {**tables, "flows": flows}))
    assert run_metrics(altered, plan)["loss_overhead"] == 0


def test_a_single_flow_has_no_ratio() -> None:
    found = measured(planned(flows=1), constant(500))
    assert found["ratio_12"] is None
    assert found["ratio_min_max"] is None
    assert found["jain"] == pytest.approx(1)
    assert found["convergence_fairness_s"] is None
    assert found["converged_fairness"] is None


def test_a_starved_flow() -> None:
    found = measured(planned(), constant(500), constant(0))
    assert found["ratio_12"] is None
    assert found["ratio_21"] == 0
    assert found["ratio_min_max"] == 0
    assert found["share_2"] == 0


def test_nothing_was_sent() -> None:
    found = measured(planned(), constant(0), constant(0))
    assert found["ratio_min_max"] is None
    assert found["loss_overhead"] is None
    assert found["throughput_mbit"] == 0


WINDOW_S = 2.0
"""The BDP of 100 packets gives 0.15 s, so the shortest window counts."""


def test_convergence_of_a_constant_rate_takes_ln_5_windows() -> None:
    found = measured(planned(start_s=20, interval="10ms"), constant(500), constant(500))
    assert found["convergence_own_s"] == pytest.approx(math.log(5) * WINDOW_S, abs=0.02)
    assert found["convergence_fairness_s"] == pytest.approx(math.log(5) * WINDOW_S, abs=0.02)
    assert found["converged_fairness"] == 1


def test_the_window_grows_with_the_bdp() -> None:
    plan = planned(start_s=20, interval="10ms")
    rules = Convergence.model_validate({"window_per_packet": "100ms"})
    plan = PlannedRun(plan.test, {}, 0, plan.resolved, plan.measure, rules)
    found = run_metrics(played(plan, [constant(500), constant(500)]), plan)
    assert found["convergence_own_s"] == pytest.approx(math.log(5) * 10, abs=0.05)


def test_the_two_definitions_differ() -> None:
    """A flow that stays at half the other's rate reaches its own average, but never fairness."""
    found = measured(planned(start_s=20, interval="100ms"), constant(500), constant(250))
    assert found["convergence_own_s"] == pytest.approx(math.log(5) * WINDOW_S, abs=0.2)
    assert found["convergence_fairness_s"] is None
    assert found["converged_fairness"] == 0
    assert found["convergence_bound_s"] == pytest.approx(80, abs=0.2)
    assert found["diverged"] == 0


def test_slow_growth_converges_when_it_gets_there() -> None:
    """A ramp lags its average by one window: 400 of 500 at 40 s, seen 2 s later."""
    ramp = FlowTrace(lambda time_s: min(10 * time_s, 500))
    found = measured(planned(start_s=20, interval="100ms"), constant(500), ramp)
    assert found["convergence_fairness_s"] == pytest.approx(42, abs=0.3)
    assert found["convergence_bound_s"] == found["convergence_fairness_s"]


def test_divergence_after_convergence_is_seen() -> None:
    falling = FlowTrace(lambda time_s: 500 if time_s < 40 else 50)
    found = measured(planned(start_s=20, interval="100ms"), constant(500), falling)
    assert found["converged_fairness"] == 1
    assert found["diverged"] == 1


def test_coarse_samples_show_no_convergence() -> None:
    found = measured(planned(start_s=20, interval="5s"), constant(500), constant(500))
    assert found["convergence_own_s"] is None
    assert found["converged_fairness"] is None
    assert found["convergence_bound_s"] is None


def test_reductions_within_a_round_trip_are_one_event() -> None:
    one = constant(500, cuts_s=[10.0, 30.0, 50.0, 70.0])
    other = constant(500, cuts_s=[10.05, 50.09, 50.15, 90.0])
    found = measured(planned(), one, other)
    # Events at 10, 30, 50, 70 and 90 s; the three reductions around 50 s are one.
    assert found["sync_1"] == pytest.approx(4 / 5)
    assert found["sync_2"] == pytest.approx(3 / 5)
    assert found["congestion_per_s"] == pytest.approx(5 / 99.5)


def test_reductions_before_the_window_do_not_count() -> None:
    found = measured(planned(start_s=50), constant(9, cuts_s=[1, 2, 60]), constant(9, cuts_s=[70]))
    assert found["sync_1"] == pytest.approx(1 / 2)


def test_no_reductions_no_synchronisation() -> None:
    found = measured(planned(), constant(500), constant(500))
    assert found["sync_1"] is None
    assert found["congestion_per_s"] == 0


def test_window_statistics() -> None:
    swinging = constant(500, window=lambda time_s: 10.0 if int(2 * time_s) % 2 else 30.0)
    found = measured(planned(), swinging, constant(500))
    assert found["cwnd_mean_1"] == pytest.approx(20, rel=0.02)
    assert found["cwnd_variation_1"] == pytest.approx(0.5, rel=0.02)
    assert found["cwnd_variation_2"] == 0


def test_the_summary_is_passed_on() -> None:
    found = measured(planned(), constant(500), constant(500))
    assert found["rtt_mean_ms_2"] == 100
    assert found["queue_mean"] == 20
    assert found["queue_max"] == 90
    assert found["drops"] == 10
    assert found["marks"] == 3
    assert found["timeouts"] == 1


def test_rtt_inflation_is_relative_to_the_empty_path() -> None:
    """The path has 100 ms; by hand, flows of 150 and 250 ms take twice that on average."""
    plan = planned()
    run = played(plan, [constant(500), constant(500)])
    assert run_metrics(run, plan)["rtt_inflation"] == pytest.approx(1)
    for flow, rtt_us in zip(run.summary["flows"], (150_000, 250_000), strict=True):
        flow["rtt_mean_us"] = rtt_us
    assert run_metrics(run, plan)["rtt_inflation"] == pytest.approx(2)
    for flow in run.summary["flows"]:
        flow["rtt_mean_us"] = None
    assert run_metrics(run, plan)["rtt_inflation"] is None


def test_every_metric_is_described_and_every_description_exists() -> None:
    plan = planned(flows=3, sizes={0: "1mb"})
    found = measured(plan, constant(500), constant(500), constant(1))
    for name in found:
        assert metrics.metric(name).what
    assert {known.column for known in METRICS} <= set(found)


def test_unknown_metrics_have_near_names() -> None:
    with pytest.raises(InputError, match='did you mean "utilisation"'):
        metrics.metric("utilization")
    with pytest.raises(InputError, match="unknown metric"):
        metrics.metric("jain_1")


def test_averages_have_student_intervals() -> None:
    runs = pl.DataFrame(
        {
            "algorithm": ["a"] * 5 + ["b"] * 2 + ["c"],
            "value": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, None, None],
        }
    )
    found = metrics.aggregate(runs, ["algorithm"], "value").to_dicts()
    five, one, none = found
    # Five values: s = sqrt(2.5), t(0.975, 4) = 2.776.
    assert five["mean"] == 3
    assert five["median"] == 3
    assert five["se"] == pytest.approx(math.sqrt(0.5))
    assert five["high"] == pytest.approx(3 + 2.776 * math.sqrt(0.5), abs=1e-3)
    assert five["low"] == pytest.approx(3 - 2.776 * math.sqrt(0.5), abs=1e-3)
    assert (five["n"], five["runs"]) == (5, 5)
    assert (one["mean"], one["se"], one["low"], one["n"], one["runs"]) == (7, None, None, 1, 2)
    assert (none["mean"], none["n"], none["runs"]) == (None, 0, 1)


def test_table_has_axes_numbers_and_only_finished_runs(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(
        """
        study = { name = "small", title = "Small", authors = [], year = 2026 }
        [[test]]
        name = "pair"
        title = "Two flows"
        runs = 2
        axes = { algorithm = ["reno", "htcp"], rtt = ["50ms", "100ms"] }
        [test.scenario]
        duration = "100s"
        network = { rate = "12mbit", rtt = "{rtt}", queue = "1bdp" }
        flow = [{ algorithm = "{algorithm}", count = 2 }]
        record = { interval = "500ms", events = ["congestion"] }
        """
    )
    study = Study.load(path)
    store = Store(tmp_path / "results")
    assert metrics.table(study, "pair", store).height == 0
    for plan in study.runs(where={"algorithm": "reno"}):
        run = played(plan, [constant(600), constant(200)])
        tables = {
            name: run.scan(name).drop("label", "algorithm", strict=False).collect()
            for name in ("flows", "queues", "events")
        }
        store.put(plan.resolved, Output(run.summary, tables))
    found = metrics.table(study, "pair", store)
    assert found.columns[:3] == ["algorithm", "rtt", "repetition"]
    assert found["algorithm"].unique().to_list() == ["reno"]
    assert sorted(found["rtt_ms"].to_list()) == [50, 50, 100, 100]
    assert found["ratio_12"].to_list() == pytest.approx([3] * 4)
    assert metrics.table(study, "pair", store, where={"rtt": "50ms"}, runs=1).height == 1
