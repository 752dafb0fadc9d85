"""Rates, shares, losses, windows of congestion and values of a run's summary, by hand."""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.base.errors import InputError
from dumbbell.engines.engine import Output
from dumbbell.plan.windows import Window
from dumbbell.quantities import registry, tables, taken, taking
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import Per
from dumbbell.quantities.view import RunView
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from sample_runs import completed
from synthetic_runs import (
    MBIT_PER_SEG,
    PAYLOAD_BYTES,
    FlowTrace,
    Taken,
    constant,
    measured,
    planned,
    played,
    with_flows,
    with_table,
)


def test_rates_of_two_constant_flows() -> None:
    values = measured(planned(start_s=10), constant(600), constant(200, retransmitted=0.01))
    assert values["throughput_mbit_per_s[1]"] == pytest.approx(7.2)
    assert values["throughput_mbit_per_s[2]"] == pytest.approx(2.4)
    assert values["throughput_mbit_per_s"] == pytest.approx(9.6)
    assert values["goodput_mbit_per_s[1]"] == pytest.approx(7.2 * PAYLOAD_BYTES / 1500)
    assert values["goodput_mbit_per_s[2]"] == pytest.approx(2.4 * 0.99 * PAYLOAD_BYTES / 1500)
    assert values["utilisation"] == pytest.approx(8 / 12, rel=1e-6)
    assert values["retransmitted_share@late"] == pytest.approx(0.01 * 200 / 800)
    assert values["retransmitted_segs[2]"] == pytest.approx(0.01 * 200 * 90)
    assert values["ratio_min_max"] == pytest.approx(1 / 3)
    assert values["share[1]"] == pytest.approx(0.75)
    assert values["goodput_share[1]"] == pytest.approx(600 / 798)
    assert values["jain"] == pytest.approx(0.8)


def test_fastest_slowest_and_mean() -> None:
    values = measured(planned(flows=3), constant(600), constant(200), constant(100))
    assert values["goodput_fastest_mbit_per_s"] == pytest.approx(600 * MBIT_PER_SEG)
    assert values["goodput_slowest_mbit_per_s"] == pytest.approx(100 * MBIT_PER_SEG)
    assert values["goodput_mean_mbit_per_s"] == pytest.approx(300 * MBIT_PER_SEG)
    assert values["goodput_apart_mbit_per_s"] == pytest.approx(500 * MBIT_PER_SEG)


def test_the_window_begins_when_both_flows_are_active() -> None:
    late = constant(500)
    early = FlowTrace(lambda time_s: 1000 if time_s <= 50 else 500)
    values = measured(planned(start_s=50), early, late)
    assert values["ratio_min_max"] == pytest.approx(1)
    assert values["throughput_mbit_per_s"] == pytest.approx(12)


def test_the_final_ratio_is_of_the_last_fifth() -> None:
    converging = FlowTrace(lambda time_s: 100 if time_s <= 79 else 500)
    values = measured(planned(), constant(500), converging)
    assert values["ratio_min_max@final"] == pytest.approx(1)
    assert values["ratio_min_max"] is not None
    assert values["ratio_min_max"] < 0.5


def test_the_late_overhead_is_that_of_the_last_half() -> None:
    plan = planned()
    run = played(plan, [constant(500), constant(500)])
    early = pl.col("sent_segs").clip(upper_bound=20_000) * 0.1
    flows = run.scan("flows", named=False).with_columns(retransmitted_segs=early).collect()
    values = Taken(with_table(run, "flows", flows), plan)
    assert values["retransmitted_share@late"] == 0
    assert values["retransmitted_share"] == pytest.approx(0.1 * 2 * 19_750 / 99_500)


def test_a_single_flow_has_no_ratio() -> None:
    values = measured(planned(flows=1), constant(500))
    assert values["ratio_min_max"] is None
    assert values["goodput_apart_mbit_per_s"] is None
    assert values["jain"] == pytest.approx(1)
    assert values["convergence_fairness_s"] is None
    assert values["converged_fairness"] is None


def test_a_starved_flow() -> None:
    values = measured(planned(), constant(500), constant(0))
    assert values["ratio_min_max"] == 0
    assert values["share[2]"] == 0
    assert values["goodput_slowest_mbit_per_s"] == 0


def test_nothing_was_sent() -> None:
    values = measured(planned(), constant(0), constant(0))
    assert values["ratio_min_max"] is None
    assert values["retransmitted_share@late"] is None
    assert values["throughput_mbit_per_s"] == 0
    assert values["share[1]"] is None


def test_flows_that_are_off_are_not_unfair() -> None:
    """Flow 2 stops at 40 s and flow 3 starts at 60 s: each has half of what flow 1 has."""
    plan = planned(
        flows=[{"label": "a"}, {"label": "b", "stop": "40s"}, {"label": "c", "start": "60s"}],
        windows={"before": {"from": "10s", "to": "40s"}, "gap": {"from": "45s", "to": "60s"}},
    )
    values = measured(plan, constant(500), constant(250), constant(250))
    for window in ("", "@before"):
        assert values[f"jain{window}"] == pytest.approx(0.9)
        assert values[f"ratio_min_max{window}"] == pytest.approx(0.5)
        assert values[f"goodput_slowest_mbit_per_s{window}"] == pytest.approx(250 * MBIT_PER_SEG)
        assert values[f"goodput_mean_mbit_per_s{window}"] == pytest.approx(375 * MBIT_PER_SEG)
        assert values[f"goodput_apart_mbit_per_s{window}"] == pytest.approx(250 * MBIT_PER_SEG)
    assert values["jain@gap"] == pytest.approx(1)
    assert values["ratio_min_max@gap"] is None
    assert values["goodput_mbit_per_s[c]@gap"] == 0


def test_life_time_goodput_counts_from_start_to_stop() -> None:
    plan = planned(
        flows=[{"label": "a"}, {"label": "b", "start": "20s", "stop": "30s"}],
        windows={"early": {"from": "10s", "to": "25s"}},
    )
    values = measured(plan, constant(100), constant(300))
    rates = [100 * MBIT_PER_SEG, 300 * MBIT_PER_SEG]
    for window in ("@run", "@early"):
        assert values[f"goodput_life_mbit_per_s[2]{window}"] == pytest.approx(rates[1])
        assert values[f"goodput_life_fastest_mbit_per_s{window}"] == pytest.approx(rates[1])
        assert values[f"goodput_life_slowest_mbit_per_s{window}"] == pytest.approx(rates[0])
        assert values[f"goodput_life_mbit_per_s{window}"] == pytest.approx(sum(rates) / 2)
    assert values["goodput_mbit_per_s[2]@run"] == pytest.approx(rates[1] / 10)


def test_the_whole_run_is_what_the_summary_tells() -> None:
    """Samples end before the run does, and of some flows there are none."""
    plan = planned(interval="30s", flows=[{"label": "a"}, {"label": "b", "sampled": False}])
    run = with_flows(
        played(plan, [constant(100), constant(100)]),
        {"received_bytes": 12_500_000, "sent_segs": 9000, "retransmitted_segs": 90},
        {"received_bytes": 25_000_000},
    )
    values = Taken(run, plan)
    assert values["goodput_mbit_per_s@run"] == pytest.approx(1)
    assert values["goodput_mbit_per_s[b]@run"] == pytest.approx(2)
    assert values["retransmitted_share@run"] == pytest.approx(0.01)
    assert values["utilisation@run"] == pytest.approx(8 / 12)
    assert values["goodput_mbit_per_s[b]"] is None
    assert values["goodput_mbit_per_s"] == pytest.approx(100 * MBIT_PER_SEG)


def test_without_samples_only_the_whole_run_is_known() -> None:
    plan = planned(interval="none")
    values = measured(plan, constant(100), constant(100))
    assert values["goodput_mbit_per_s@run"] == pytest.approx(200 * MBIT_PER_SEG)
    assert values["utilisation@run"] == pytest.approx(8 / 12)
    for name in (
        *("goodput_mbit_per_s", "utilisation", "dropped_packets", "queue_mean_packets", "jain"),
        *("rtt_mean_ms", "rtt_p50_ms", "queueing_delay_mean_ms", "queueing_delay_p50_ms"),
        *("goodput_variation", "starved_s", "fair_share_bound_s", "cwnd_mean_segs"),
        *("convergence_bound_s", "goodput_sample_q50_mbit_per_s", "efficiency", "share_max"),
    ):
        assert values[name] is None, name


def test_reductions_within_a_round_trip_are_one_event() -> None:
    one = constant(500, cuts_s=[10.0, 30.0, 50.0, 70.0])
    other = constant(500, cuts_s=[10.05, 50.09, 50.15, 90.0])
    values = measured(planned(), one, other)
    # Events at 10, 30, 50, 70 and 90 s; the three reductions around 50 s are one.
    assert values["sync[1]"] == pytest.approx(4 / 5)
    assert values["sync[2]"] == pytest.approx(3 / 5)
    assert values["congestion_per_s"] == pytest.approx(5 / 99.5)


def test_reductions_before_the_window_do_not_count() -> None:
    values = measured(planned(start_s=50), constant(9, cuts_s=[1, 2, 60]), constant(9, cuts_s=[70]))
    assert values["sync[1]"] == pytest.approx(1 / 2)


def test_no_reductions_no_synchronisation() -> None:
    values = measured(planned(), constant(500), constant(500))
    assert values["sync[1]"] is None
    assert values["congestion_per_s"] == 0
    silent = measured(
        planned(record={"interval": "1s", "events": []}), constant(500), constant(500)
    )
    assert silent["congestion_per_s"] is None


def test_window_statistics() -> None:
    swinging = constant(500, window=lambda time_s: 10.0 if int(2 * time_s) % 2 else 30.0)
    values = measured(planned(), swinging, constant(500))
    assert values["cwnd_mean_segs[1]"] == pytest.approx(20, rel=0.02)
    assert values["cwnd_mean_segs"] == pytest.approx(15, rel=0.02)
    assert values["cwnd_max_segs"] == values["cwnd_max_segs[1]"] == 30
    assert values["cwnd_max_segs[2]"] == 10
    assert values["cwnd_variation[1]"] == pytest.approx(0.5, rel=0.02)
    assert values["cwnd_variation[2]"] == 0


def test_the_summary_is_passed_on() -> None:
    values = measured(planned(), constant(500), constant(500))
    assert values["rtt_mean_ms[2]@run"] == 100
    assert values["queue_mean_packets@run"] == 20
    assert values["queue_max_packets@run"] == 90
    assert values["dropped_packets@run"] == 10
    assert values["marked_packets@run"] == 3
    assert values["timeouts@run"] == 1
    assert values["timeouts"] is None  # Timeouts are not recorded as events.


def test_queues_in_a_window_rest_on_samples() -> None:
    plan = planned(windows={"during": {"from": "5s", "to": "25s"}})
    values = measured(plan, constant(500), constant(500))
    assert values["dropped_packets@during"] == 2
    assert values["marked_packets@during"] == 4
    assert values["queue_mean_packets@during"] == values["queue_max_packets@during"] == 20
    assert values["queue_mean_packets[forward]@during"] == 20


@pytest.mark.parametrize(
    ("packets", "overhead", "mean"), [((1500, 1500), "ip", 20), ((1500, 9000), "ethernet", 3.32)]
)
def test_a_mean_queue_is_in_packets_of_full_size(
    packets: tuple[int, int], overhead: str, mean: float
) -> None:
    network = {"rate": "12mbit", "rtt": "100ms", "queue": "90p", "overhead": overhead}
    plan = planned(flows=[{"packet": size} for size in packets], network=network)
    values = Taken(played(plan, [constant(500), constant(500)]), plan)
    for window in ("", "@run"):
        assert values[f"queue_mean_packets{window}"] == pytest.approx(mean, rel=1e-3)


def test_a_link_is_never_used_more_than_fully() -> None:
    """A packet counts when its last bit leaves, also one that was begun before the window."""
    plan = planned(windows={"during": {"from": "5s", "to": "25s"}})
    run = played(plan, [constant(500), constant(500)])
    queues = run.scan("queues", named=False)
    begun_before = pl.when(pl.col("time_ns") > 5 * 10**9).then(1500).otherwise(0)
    full = (pl.col("time_ns") * 12 // 8000 + begun_before).alias("departed_bytes")
    values = Taken(with_table(run, "queues", queues.with_columns(full).collect()), plan)
    assert values["utilisation@during"] == 1


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("latency_mean_ms@short", "the window short is shorter than two samples 500ms apart"),
        ("latency_mean_ms", "there is nothing of it in 0.5 s to 100 s: Mean latency of requests"),
        ("packet_queueing_delay_p50_ms", "which are not recorded: record = { delays"),
        ("one_way_delay_p50_ms", 'record = { delays = "1s" }, or take one_way_delay_p50_ms@run'),
    ],
)
def test_what_has_no_value_says_why(reference: str, why: str) -> None:
    plan = planned(windows={"short": {"from": "0s", "to": "400ms"}})
    view = RunView(played(plan, [constant(500), constant(500)]), plan.windows, plan.settings)
    values = taken.Taken(view, {text: parse(text) for text in ("goodput_mbit_per_s[1]", reference)})
    assert values[reference] is None
    assert why in values.reasons[reference]
    assert f"{reference}: none, as {values.reasons[reference]}" in repr(values)
    assert values.windows["goodput_mbit_per_s[1]"] == "0.5 s to 100 s"
    assert repr(values).startswith("goodput_mbit_per_s[1]: 5.792 Mbit/s, 0.5 s to 100 s\n")


def test_a_run_without_sampled_tcp_flows_says_what_to_name() -> None:
    plan = planned(flows=[{"label": "short 1", "sampled": False}])
    view = RunView(played(plan, [constant(500)]), plan.windows, plan.settings)
    values = taken.Taken(view, {"goodput": parse("goodput_mbit_per_s")})
    assert "as goodput_mbit_per_s[short]@run" in values.reasons["goodput"]


def test_shares_of_packets_are_those_of_the_whole_run() -> None:
    plan = planned()
    counts = {"sent_segs": 990, "duplicated_packets": 10}
    run = with_flows(
        played(plan, [constant(500), constant(500)]),
        {**counts, "dropped_packets": 20, "lost_packets": 30, "marked_packets": 40},
        counts,
    )
    values = Taken(run, plan)
    for name, part in (("dropped_share", 20), ("lost_share", 30), ("marked_share", 40)):
        assert values[f"{name}[1]@run"] == pytest.approx(part / 1000)
        assert values[f"{name}@run"] == pytest.approx(part / 2000)
        assert values[name] is None


UNITS = {
    "Mbit/s": "_mbit_per_s",
    "ms": "_ms",
    "s": "_s",
    "packets": "_packets",
    "segs": "_segs",
    "1/s": "_per_s",
    "rpm": "_rpm",
    "": "",
}
"""Endings of names by unit."""


@pytest.mark.parametrize("name", registry.quantities())
def test_names_end_with_their_units(name: str) -> None:
    quantity = registry.quantity(name)
    assert quantity.name == name
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    ending = UNITS[quantity.unit]
    assert name.endswith(ending)
    longer = [other for other in UNITS.values() if len(other) > len(ending)]
    assert not name.endswith(tuple(longer)), "the name says another unit"


@pytest.mark.parametrize("name", registry.quantities())
def test_quantities_are_described(name: str) -> None:
    quantity = registry.quantity(name)
    assert quantity.title
    assert (
        quantity.title[0].islower() or quantity.title[:2].isupper() or quantity.title[0].isdigit()
    )
    assert quantity.what[0].isupper() or quantity.what[0].isdigit()
    assert not quantity.what.endswith(".")
    assert "\n" not in quantity.what
    assert len(quantity.what) < 120
    assert not (quantity.percent and quantity.unit)
    assert quantity.shown_unit == ("%" if quantity.percent else quantity.unit)
    assert Per.RUN in quantity.per
    assert (Per.QUEUE in quantity.per) == quantity.of_queue
    assert not quantity.of_queue or set(quantity.per) == {Per.QUEUE, Per.RUN}


def test_titles_tell_quantities_apart() -> None:
    titles = [quantity.title for quantity in registry.quantities().values()]
    assert len(set(titles)) == len(titles)


def test_unknown_quantities_have_near_names() -> None:
    with pytest.raises(InputError) as refused:
        registry.quantity("utilization")
    assert refused.value.near == "utilisation"
    with pytest.raises(InputError, match="unknown quantity"):
        registry.quantity("jain_1")


def test_quantities_of_several_say_nothing_of_a_flow() -> None:
    several = {
        name for name, quantity in registry.quantities().items() if Per.FLOW not in quantity.per
    }
    assert {"jain", "ratio_min_max", "convergence_bound_s", "goodput_fastest_mbit_per_s"} <= several
    assert not {"goodput_mbit_per_s", "share", "sync", "latency_p99_ms", "starved_s"} & several


def test_averages_have_student_intervals() -> None:
    runs = pl.DataFrame(
        {
            "algorithm": ["a"] * 5 + ["b"] * 2 + ["c"],
            "value": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, None, None],
        }
    )
    rows = tables.aggregate(runs, ["algorithm"], "value").to_dicts()
    five, one, none = rows
    # Five values: s = sqrt(2.5), t(0.975, 4) = 2.776.
    assert five["mean"] == 3
    assert five["median"] == 3
    assert five["se"] == pytest.approx(math.sqrt(0.5))
    assert five["high"] == pytest.approx(3 + 2.776 * math.sqrt(0.5), abs=1e-3)
    assert five["low"] == pytest.approx(3 - 2.776 * math.sqrt(0.5), abs=1e-3)
    assert (five["n"], five["runs"]) == (5, 5)
    assert (one["mean"], one["se"], one["low"], one["n"], one["runs"]) == (7, None, None, 1, 2)
    assert (none["mean"], none["n"], none["runs"]) == (None, 0, 1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_intervals_of_shares_are_shares(values: list[float]) -> None:
    runs = pl.DataFrame({"all": 0, "value": values}, schema={"all": pl.Int64, "value": pl.Float64})
    plain = tables.aggregate(runs, ["all"], "value").row(0, named=True)
    row = tables.aggregate(runs, ["all"], "value", share=True).row(0, named=True)
    if len(values) == 1:
        assert (row["low"], row["high"]) == (None, None)
        return
    assert min(0, row["mean"]) <= row["low"] <= row["mean"] <= row["high"]
    assert row["high"] <= max(1, row["mean"])
    assert row["low"] in (plain["low"], 0)
    assert row["high"] in (plain["high"], 1, row["mean"])


def test_shares_are_told_from_ratios_without_an_end() -> None:
    shares = {name for name, quantity in registry.quantities().items() if quantity.is_share}
    assert {"jain", "jain_short", "ratio_min_max", "utilisation", "retransmitted_share"} <= shares
    assert not {"goodput_mbit_per_s", "rtt_inflation", "timeouts", "ratio_21"} & shares


PAIR = """
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


def test_a_table_has_axes_numbers_and_only_finished_runs(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(PAIR)
    study = Study.load(path)
    test, store = study.test("pair"), Store(tmp_path / "results")
    references = ["goodput_mbit_per_s[1]", "jain", "goodput_mbit_per_s[3]"]

    def table(**chosen: object) -> pl.DataFrame:
        runs = taking.of_runs(study.runs(**chosen), references, store)  # type: ignore[arg-type]
        return tables.frame(test, runs, references)

    assert table().height == 0
    for plan in study.runs(where={"algorithm": "reno"}):
        run = played(plan, [constant(600), constant(200)])
        frames = {
            name: completed(name, run.scan(name, named=False).collect())
            for name in ("flows", "queues", "events")
        }
        store.put(plan.resolved, Output(run.summary, frames))
    frame = table()
    assert frame.columns == ["algorithm", "rtt", "repetition", *references, "rtt_ms"]
    assert frame["algorithm"].unique().to_list() == ["reno"]
    assert sorted(frame["rtt_ms"].to_list()) == [50, 50, 100, 100]
    assert frame["jain"].to_list() == pytest.approx([0.8] * 4)
    assert frame["goodput_mbit_per_s[3]"].to_list() == [None] * 4
    assert table(where={"rtt": "50ms"}, runs=1).height == 1
    with pytest.raises(InputError, match="unknown quantity"):
        list(taking.of_runs([], ["goodput"], store))


def test_of_a_single_run_what_is_not_there_is_refused() -> None:
    run = played(planned(), [constant(1), constant(1)])
    assert taking.of_run(run, ["jain"], {"main": Window()}) == {"jain": pytest.approx(1)}
    for reference, problem in (
        ("goodput_mbit_per_s[3]", "unknown flow or group"),
        ("goodput_mbit_per_s@during", "unknown window"),
        ("queue_max_packets[back]", "unknown queue"),
        ("jain:alpha", "takes nothing"),
        ("state", "takes a variable of an algorithm behind a colon"),
        ("state:alhpa", 'did you mean "alpha"'),
        ("jian", "unknown quantity"),
        ("Jain index", "not the name of a quantity"),
    ):
        with pytest.raises(InputError, match=problem):
            taking.of_run(run, [reference])
