"""Round-trip times and delays in queues, of the whole run and of a part of it."""

from __future__ import annotations

import polars as pl
import pytest

from synthetic_runs import Taken, constant, measured, planned, played, with_flows, with_table


def test_rtt_inflation_is_relative_to_the_empty_path() -> None:
    """The path has 100 ms; by hand, flows of 150 and 250 ms take twice that on average."""
    plan = planned()
    run = played(plan, [constant(500), constant(500)])
    assert Taken(run, plan)["rtt_inflation@run"] == pytest.approx(1)
    apart = with_flows(run, {"rtt_mean_us": 150_000}, {"rtt_mean_us": 250_000})
    assert Taken(apart, plan)["rtt_inflation@run"] == pytest.approx(2)
    assert Taken(apart, plan)["rtt_mean_ms@run"] == pytest.approx(200)
    nothing = with_flows(run, {"rtt_mean_us": None}, {"rtt_mean_us": None})
    assert Taken(nothing, plan)["rtt_inflation@run"] is None
    assert Taken(nothing, plan)["rtt_mean_ms@run"] is None


def test_the_smallest_and_the_largest_of_the_whole_run_are_exact() -> None:
    plan = planned()
    run = with_flows(
        played(plan, [constant(500), constant(500)]),
        {"rtt_min_us": 90_000, "rtt_max_us": 300_000},
        {"rtt_min_us": None, "rtt_max_us": None},
    )
    values = Taken(run, plan)
    assert (values["rtt_min_ms@run"], values["rtt_max_ms@run"]) == (90, 300)
    assert values["rtt_min_ms[2]@run"] is None
    assert (values["rtt_min_ms"], values["rtt_max_ms"]) == (100, 100)


def test_in_a_window_round_trip_times_are_those_at_its_samples() -> None:
    """From 50 s on the round trip of flow 1 takes 1 ms more with each sample."""
    rising = constant(500, rtt_us=lambda time_s: max(0, time_s - 50) * 2000 + 100_000)
    plan = planned(windows={"late-on": {"from": "50.5s", "to": "100s"}})
    values = measured(plan, rising, constant(500, rtt_us=lambda _: 50_000))
    # 100 samples from 101 to 200 ms.
    assert values["rtt_mean_ms[1]@late-on"] == pytest.approx(150.5)
    assert values["rtt_mean_ms@late-on"] == pytest.approx((150.5 + 50) / 2)
    assert values["rtt_inflation[1]@late-on"] == pytest.approx(1.505)
    assert values["rtt_min_ms[1]@late-on"] == pytest.approx(101)
    assert values["rtt_max_ms[1]@late-on"] == pytest.approx(200)
    assert values["rtt_p50_ms[1]@late-on"] == pytest.approx(150)
    assert values["rtt_p95_ms[1]@late-on"] is None  # of 200 at least
    # Of both: 100 samples of 50 ms, and then the others.
    assert values["rtt_p50_ms@late-on"] == pytest.approx(50)
    assert values["rtt_p95_ms@late-on"] == pytest.approx(190)
    assert values["rtt_p99_ms@late-on"] is None  # of 1000 at least


def test_samples_without_a_round_trip_do_not_count() -> None:
    plan = planned(flows=1)
    run = played(plan, [constant(500)])
    flows = run.scan("flows", named=False).collect()
    odd = pl.int_range(pl.len()) % 2 == 1
    holed = flows.with_columns(rtt_us=pl.when(odd).then(None).otherwise(pl.col("rtt_us")))
    assert Taken(with_table(run, "flows", holed), plan)["rtt_mean_ms"] == pytest.approx(100)
    empty = flows.with_columns(rtt_us=pl.lit(None, dtype=pl.Float64))
    values = Taken(with_table(run, "flows", empty), plan)
    for name in ("rtt_mean_ms", "rtt_min_ms", "rtt_max_ms", "rtt_p50_ms", "rtt_inflation"):
        assert values[name] is None


def test_queueing_delay_is_what_the_bytes_before_it_take() -> None:
    """30 kB at 12 Mbit/s are 20 ms; with each sample of the second half 150 bytes, 0.1 ms, more."""
    plan = planned()
    run = played(plan, [constant(500), constant(500)])
    values = Taken(run, plan)
    assert values["queueing_delay_mean_ms@run"] == pytest.approx(20)
    assert values["queueing_delay_mean_ms"] == values["queueing_delay_p50_ms"] == pytest.approx(20)
    number = pl.int_range(1, pl.len() + 1) - 100
    backlog = 30_000 + 150 * pl.max_horizontal(number, 0)
    queues = run.scan("queues", named=False).with_columns(backlog_bytes=backlog).collect()
    values = Taken(with_table(run, "queues", queues), plan)
    assert values["queueing_delay_p50_ms"] == pytest.approx(20)
    assert values["queueing_delay_p95_ms"] == pytest.approx(20 + 9)
    assert values["queueing_delay_p99_ms"] is None
    assert values["queueing_delay_p50_ms@late"] == pytest.approx(20 + 5)
    assert values["queueing_delay_mean_ms@late"] == pytest.approx(20 + 5.05, abs=0.06)


def test_where_nothing_has_a_rate_no_delay_is_known() -> None:
    link = {"from": "a", "to": "b", "delay": "3ms"}
    plan = planned(
        flows=[{"label": "x", "from": "a", "to": "b"}],
        network={"topology": "graph", "link": [link]},
    )
    run = played(plan, [constant(500)])
    name = plan.resolved.scenario.links[0].name
    values = Taken(run, plan)
    assert values["utilisation"] is None
    for wanted in ("utilisation", "queueing_delay_mean_ms", "queueing_delay_p50_ms"):
        assert values[f"{wanted}[{name}]"] is None
        assert values[f"{wanted}[{name}]@run"] is None
    assert values[f"dropped_packets[{name}]@run"] == 10
    assert values["slowdown_mean"] is None


@pytest.mark.parametrize("name", ["rtt_mean_ms", "rtt_p50_ms", "rtt_max_ms", "cwnd_mean_segs"])
def test_a_flow_that_has_ended_has_no_samples(name: str) -> None:
    """The table of flows repeats the last values of a flow to the end of the run."""
    flows = [{"label": "early", "stop": "50s"}, {"label": "late", "start": "40s"}]
    plan = planned(flows=flows, windows={"after": {"from": "60s"}, "both": {"from": "30s"}})
    traces = [
        constant(500, rtt_us=lambda _: 300_000, window=lambda _: 300),
        constant(500, rtt_us=lambda _: 100_000, window=lambda _: 100),
    ]
    values = Taken(played(plan, traces), plan)
    assert values[f"{name}[early]@after"] is None
    assert values[f"{name}@after"] == 100
    assert values[f"{name}[early]@both"] == 300
