"""Figures of runs over each other, of delays, and of one quantity against another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.algorithms.labels import label_of
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.experiments.compare import compare
from dumbbell.experiments.comparison import Comparison
from dumbbell.figures import drawing
from dumbbell.figures.figure import Figure
from dumbbell.plan.expanding import scenarios
from dumbbell.quantities import histograms, occasions
from dumbbell.quantities.view import RunView
from dumbbell.results import experiments
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.scenario import facts
from dumbbell.store.store import Store


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return compare(
        ["reno", "cubic"],
        rate="10mbit",
        rtt="20ms",
        duration="6s",
        runs=3,
        results=tmp_path_factory.mktemp("overlays") / "results",
        jobs=2,
    )


def drawn(results: Results, name: str) -> Figure:
    figure = results.study.figure(name).draw(results)
    assert drawing.rendered(figure.chart.to_dict(), ".svg").startswith(b"<svg")
    return figure


def test_a_trade_off_has_the_means_and_intervals_of_the_table(compared: Comparison) -> None:
    frame = drawn(compared.results, "trade-off").frame
    assert frame is not None
    for algorithm in ("reno", "cubic"):
        row = frame.filter(pl.col("series") == algorithm).row(0, named=True)
        for axis, quantity in (("x", "rtt_mean_ms@run"), ("y", "goodput_mbit_per_s")):
            mean = compared.means.filter(
                (pl.col("algorithm") == algorithm) & (pl.col("quantity") == quantity)
            ).row(0, named=True)
            ends = [row[axis], row[f"{axis}_low"], row[f"{axis}_high"]]
            assert ends == pytest.approx([mean["mean"], mean["low"], mean["high"]])
        assert row["n"] == 3


def test_a_trade_off_says_where_the_best_would_be(compared: Comparison) -> None:
    assert drawn(compared.results, "trade-off").notes == snapshot(
        (
            "Mean of 3 runs per point.",
            "Small dots are single runs.",
            "Better is up and to the left.",
        )
    )


def test_an_overlay_has_all_flows_of_all_runs(compared: Comparison) -> None:
    figure = drawn(compared.results, "over-time")
    assert figure.frame is not None
    lines = figure.frame.select("quantity", "of", "flow", "run").unique()
    counted = dict(lines.group_by("quantity").len().iter_rows())
    # Two algorithms, three runs, of two flows or one queue each.
    assert counted == {
        "goodput (Mbit/s)": 12,
        "cwnd (segments)": 12,
        "RTT (ms)": 12,
        "queue (packets)": 6,
    }
    assert figure.notes == snapshot(("Strong: first runs; pale: repetitions 2 to 3.",))


def test_an_overlay_may_have_a_colour_for_each_algorithm(compared: Comparison) -> None:
    spec = compared.results.study.figure("over-time")
    figure = spec.model_copy(update={"series": None, "colours": "algorithms"}).draw(
        compared.results
    )
    assert figure.frame is not None
    assert set(figure.frame["of"]) == {"reno", "cubic", "all flows"}
    chart = str(figure.chart.to_dict())
    assert all(label_of(name) in chart for name in ("reno", "cubic"))
    assert all(label in set(figure.frame["flow"]) for label in ("reno 1", "cubic 2"))


def test_percentiles_are_those_of_the_samples(compared: Comparison) -> None:
    frame = drawn(compared.results, "delays").frame
    assert frame is not None
    values = []
    for axes, view in compared.results.views("compare", {"algorithm": "reno"}):
        assert axes == {"algorithm": "reno"}
        span = view.span("main")
        assert span is not None
        samples = view.run.tables["flows"].filter(
            pl.col("time_ns").is_between(span.start_ns, span.end_ns)
        )
        values.append((samples["rtt_us"].drop_nulls() / 1e3).to_numpy())
    expected = np.quantile(np.concatenate(values), 0.5, method="inverted_cdf")
    curve = frame.filter((pl.col("delay") == "rtt") & (pl.col("of") == "reno"))
    at = curve.filter((pl.col("share") - 0.5).abs() < 0.003)["ms"]
    low, *_, high = [*at, *at]
    assert low * (1 - 1e-9) <= expected <= high * (1 + 1e-9)
    assert curve["ms"].is_sorted()
    assert curve["share"].is_sorted()


def test_a_table_has_no_percentile_beyond_which_few_samples_lie(tmp_path: Path) -> None:
    results = single(tmp_path, record={"interval": "20ms"})
    (table, *_) = drawn(results, "delays").tables
    assert table.title == "round-trip time (ms)"
    *lower, highest = table.rows[0].cells
    assert all(map(float, lower[:2]))
    assert highest == "needs 1,000"


def single(tmp_path: Path, **changes: Any) -> Results:
    """Return the runs of one scenario as an experiment."""
    scenario = {
        "duration": "5s",
        "network": {"rate": "10mbit", "rtt": "20ms", "queue": "0.5bdp"},
        "flow": [{"algorithm": "reno", "count": 2}],
        **changes,
    }
    store = Store(tmp_path / "results")
    store.create()
    content = experiments.of_scenario(scenario, tmp_path / "one.toml", [], ["simulate", "one.toml"])
    with experiments.saved(content, store.root) as study:
        runs = study.runs(seed=3)
    assert not execute(scenarios(runs), store, SimulatorEngine(), 1).failed
    return Results(study, store, [Plan(seed=3)])


def test_queueing_delays_are_those_of_all_packets_where_they_are_recorded(tmp_path: Path) -> None:
    results = single(tmp_path, record={"delays": "1s"})
    frame = drawn(results, "delays").frame
    assert frame is not None
    ((_, view),) = results.views("run", {})
    span, queue = view.span("main"), facts.bottleneck(view.scenario)
    assert span is not None
    assert queue is not None
    counted = histograms.waiting(view, span, queue)
    assert counted is not None
    curve = frame.filter(pl.col("delay") == "queueing")
    assert curve["ms"].max() == counted.max_ms()
    assert set(curve["of"]) == {"all flows"}


def test_what_happened_is_counted_once(tmp_path: Path) -> None:
    results = single(tmp_path)
    ((_, view),) = results.views("run", {})
    run = view.run
    for spans in (1, 7, 1000):
        events = occasions.take(run, spans)
        times = dict(events.group_by("what").agg(pl.col("times").sum()).iter_rows())
        assert times["lost"] == sum(queue.dropped_packets for queue in run.summary.queues)
        assert times["reduced"] == sum(flow.congestion_events for flow in run.summary.flows)
        assert all(count <= spans for count in events.group_by("label", "what").len()["len"])


def test_marks_are_those_of_the_queue(tmp_path: Path) -> None:
    queue = {"limit": "1bdp", "discipline": "step", "threshold": "5p"}
    results = single(
        tmp_path,
        network={"rate": "10mbit", "rtt": "20ms", "queue": queue},
        stack={"profile": "linux-6", "switches": {"ecn": "classic"}},
    )
    ((_, view),) = results.views("run", {})
    events = occasions.take(view.run, 50).filter(pl.col("what") == "marked")
    marked = view.run.summary.queues[0].marked_packets
    assert 0.9 * marked <= events["times"].sum() <= marked
    assert marked > 0
    drawn(results, "over-time")


@pytest.mark.parametrize(
    "changes",
    [
        {"record": {"interval": "none", "events": []}},
        {"flow": [{"transport": "udp", "rate": "1mbit"}]},
        {"flow": [{"algorithm": "reno", "count": 60}]},
        {"flow": [{"algorithm": "reno", "parallel": 3}]},
    ],
)
def test_anything_that_runs_can_be_drawn(tmp_path: Path, changes: dict[str, Any]) -> None:
    results = single(tmp_path, **changes)
    for figure in results.study.figures:
        drawn(results, figure.name)
    assert isinstance(next(iter(results.views("run", {})))[1], RunView)


def test_what_has_not_run_is_drawn_empty(tmp_path: Path) -> None:
    results = single(tmp_path)
    empty = Results(results.study, Store(tmp_path / "nothing"))
    for figure in results.study.figures:
        assert "Not run yet" in " ".join(drawn(empty, figure.name).notes)


CALL = {"transport": "udp", "rate": "100kbit", "packet": "250b", "label": "call"}


def test_equal_flows_are_one_band_and_a_call_has_its_delay(tmp_path: Path) -> None:
    flows = [CALL, {"algorithm": "reno", "count": 6, "label": "bulk"}]
    results = single(tmp_path, flow=flows, network={"rate": RATES, "rtt": "20ms", "queue": "40p"})
    figure = drawn(results, "over-time")
    frame = figure.frame
    assert frame is not None
    assert set(frame["of"]) == {"call", "bulk × 6", "all flows"}
    assert set(frame.filter(pl.col("low").is_not_null())["of"]) == {"bulk × 6"}
    delays = frame.filter(pl.col("quantity") == "one-way delay (ms)")
    assert set(delays["of"]) == {"call"}
    assert figure.notes == snapshot(
        (
            "Bands: from the least to the most of equal flows; lines are their means.",
            "Grey: what the bottleneck can carry.",
        )
    )
    assert frame["quantity"][0] == "carried (Mbit/s)"
    marks = [layer["mark"] for plot in figure.chart.to_dict()["vconcat"] for layer in _layers(plot)]
    joined = {mark["interpolate"] for mark in marks if mark["type"] == "line"}
    assert joined == {"linear", "step-after", "step-before"}


RATES = [{"at": "0s", "rate": "10mbit"}, {"at": "3s", "rate": "5mbit"}]


def _layers(plot: dict[str, Any]) -> list[dict[str, Any]]:
    layers: list[dict[str, Any]] = plot.get("layer", [plot])
    return layers


def test_the_distribution_of_one_way_delays_is_that_of_the_datagrams(tmp_path: Path) -> None:
    frame = drawn(single(tmp_path, flow=[CALL]), "delays").frame
    assert frame is not None
    delays = frame.filter(pl.col("delay") == "one-way")["ms"].to_list()
    assert delays == pytest.approx([10 + 8 * 250 / 1e4] * len(delays), rel=0.005)


def test_round_trips_of_flows_that_have_ended_are_not_counted(tmp_path: Path) -> None:
    flows = [{"algorithm": "reno", "label": "a", "stop": "2s"}, {"algorithm": "reno", "label": "b"}]
    results = single(tmp_path, flow=flows)
    ((_, view),) = results.views("run", {})
    ends_s = view.run.summary.flows[0].end_ns / 1e9
    rows = view.run.tables["flows"].filter(pl.col("flow") == 0)
    last = rows.filter(pl.col("time_ns") <= ends_s * 1e9)["rtt_us"] / 1e3
    frame = drawn(results, "delays").frame
    assert frame is not None
    curve = frame.filter((pl.col("delay") == "rtt") & (pl.col("of") == "a"))
    assert rows.height > last.len(), "samples go on after the end"
    median = float(np.quantile(last.drop_nulls().to_numpy(), 0.5, method="inverted_cdf"))
    at = curve.filter((pl.col("share") - 0.5).abs() < 0.003)["ms"]
    assert at.min() == pytest.approx(median, rel=0.02)


SIZES = [1000] * 30 + [100_000]


def test_completion_times_are_drawn_by_size(tmp_path: Path) -> None:
    flows = [
        {"algorithm": "reno", "bytes": size, "label": f"page {n}", "start": f"{100 * n}ms"}
        for n, size in enumerate(SIZES, start=1)
    ]
    figure = drawn(single(tmp_path, flow=flows), "sizes")
    frame = figure.frame
    assert frame is not None
    assert frame["bytes"].to_list() == SIZES
    times, slowdowns = figure.tables
    assert [row.x for row in times.rows] == [
        "page × 31, 316 to 1000 B",
        "page × 31, 31623 to 100000 B",
    ]
    assert times.rows[0].cells[0] == "30"
    # The jitter of hosts is as long as a packet is: 1.2 ms at most, and half of it on average.
    assert 20.8 <= float(times.rows[0].cells[1]) <= 20.85 + 1.2
    assert [row.cells[2] for row in slowdowns.rows] == ["needs 1,000", "needs 1,000"]
    assert slowdowns.rows[1].cells[1] == "needs 20"


def test_transfers_of_one_size_have_no_figure_by_size(tmp_path: Path) -> None:
    flows = [{"algorithm": "reno", "bytes": "10kb", "count": 3, "label": "page"}]
    names = [spec.name for spec in single(tmp_path, flow=flows).study.figures]
    assert names == ["over-time", "delays"]


def test_without_percentiles_there_are_dots_alone(tmp_path: Path) -> None:
    flows = [{"algorithm": "reno", "bytes": size, "label": f"page {size}"} for size in (1000, 2000)]
    figure = drawn(single(tmp_path, flow=flows), "sizes")
    assert not any(note.startswith("Lines: ") for note in figure.notes)
    assert "strokeDash" not in str(figure.chart.to_dict())


def test_a_scenario_without_samples_has_no_plot_over_time(tmp_path: Path) -> None:
    flows = [{"algorithm": "reno", "bytes": "10kb", "label": "page"}]
    results = single(tmp_path, flow=flows, record={"interval": "none"})
    assert [spec.name for spec in results.study.figures] == ["delays"]
    frame = drawn(results, "delays").frame
    assert frame is not None
    assert set(frame["delay"]) == {"completion"}
