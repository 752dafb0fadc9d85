"""Series over time: every byte is in them, and names that refer to nothing are refused."""

from __future__ import annotations

import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell import api
from dumbbell.base.errors import InputError
from dumbbell.engines.result import Run
from dumbbell.quantities import series
from dumbbell.quantities.series import thin
from dumbbell.results.results import Results
from dumbbell.scenario.model import Scenario

WHERE = {"rate": "10mbit", "rtt": "20ms"}


def run_of(small: Results, algorithm: str) -> Run:
    run = small.stored_run("fairness", {"algorithm": algorithm, **WHERE})
    assert run is not None
    return run


def test_rates_keep_every_byte(small: Results) -> None:
    run = run_of(small, "reno")
    for flow, summary in zip(run.scenario.flows, run.summary.flows, strict=True):
        headers = summary.sent_segs * flow.header_bytes
        totals = {
            "goodput_mbit_per_s": summary.received_bytes,
            "throughput_mbit_per_s": summary.sent_bytes + headers,
        }
        for name, total in totals.items():
            rates = series.take(run, name).filter(pl.col("label") == flow.label)
            ends = [flow.start_ns / 1e9, *rates["time_s"]]
            spans = [after - before for before, after in itertools.pairwise(ends)]
            bits = sum(rate * span * 1e6 for rate, span in zip(rates["value"], spans, strict=True))
            assert bits / 8 == pytest.approx(total, rel=1e-3)


def test_throughput_is_at_most_the_rate_of_the_link(small: Results) -> None:
    """IP packets are counted, as a link counts them."""
    total = (
        series.take(run_of(small, "reno"), "throughput_mbit_per_s", 4.0, 12.0, spans=8)
        .group_by("time_s")
        .agg(pl.col("value").sum())["value"]
    )
    assert total.max() == pytest.approx(10, rel=0.05)


def test_a_flow_that_stopped_has_no_window_any_more_and_a_goodput_of_zero() -> None:
    flows = [
        {"algorithm": "cubic", "label": "stays"},
        {"algorithm": "reno", "label": "stops", "start": "1s", "stop": "2s"},
    ]
    network = {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"}
    table = {"duration": "4s", "network": network, "flow": flows}
    run = api.simulate(Scenario.parse(table, "two flows"))
    for name, last_s in (("cwnd_segs", {"stays": 4, "stops": 2}), ("goodput_mbit_per_s", {})):
        lines = series.take(run, name)
        for label in ("stays", "stops"):
            end_s = lines.filter(pl.col("label") == label)["time_s"].max()
            assert end_s == pytest.approx(last_s.get(label, 4), abs=0.1)
    rates = series.take(run, "goodput_mbit_per_s").filter(pl.col("label") == "stops")
    assert rates["value"].to_list()[-1] == 0


@pytest.mark.parametrize("name", ["goodput", "cwnd", "queue"])
def test_a_line_ends_where_the_run_does(name: str) -> None:
    """15 s of 1e-9 s each are more than 15 s for a float."""
    network = {"rate": "100kbit", "rtt": "20ms", "queue": "10p"}
    run = api.simulate({"duration": "15s", "network": network, "flow": [{"algorithm": "reno"}]})
    assert run.series(name)["time_s"].max() == 15
    assert run.flows["time_s"].max() == run.queues["time_s"].max() == 15


def test_lines_are_in_the_order_of_the_flows() -> None:
    """Else a flow has another colour in each plot."""
    flows = [
        {"algorithm": "cubic", "label": "first"},
        {"algorithm": "reno", "label": "second", "start": "500ms"},
        {"algorithm": "reno", "label": "third", "start": "1s"},
    ]
    network = {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"}
    table = {"duration": "2s", "network": network, "flow": flows}
    run = api.simulate(Scenario.parse(table, "three flows"))
    for name in ("cwnd_segs", "goodput_mbit_per_s"):
        labels = series.take(run, name)["label"].unique(maintain_order=True)
        assert labels.to_list() == ["first", "second", "third"], name


def test_there_is_no_threshold_before_the_first_reduction(small: Results) -> None:
    run = run_of(small, "reno")
    assert run.tables["flows"]["ssthresh_segs"].max() == series.NO_SSTHRESH
    thresholds = series.take(run, "ssthresh_segs")["value"].to_list()
    assert thresholds
    assert max(thresholds) < 1000


def test_any_variable_that_an_algorithm_exports_is_a_series(small: Results) -> None:
    run = run_of(small, "highspeed")
    assert series.take(run, "state:alpha")["value"].min() == 1
    assert series.take(run, "state:kept")["value"].min() == pytest.approx(0.5, abs=0.01)
    assert series.take(run_of(small, "reno"), "state:alpha").is_empty()


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("cwmd_segs", "cwnd_segs"),
        ("goodput_mbit", "goodput_mbit_per_s"),
        ("state:alfa", "state:alpha"),
    ],
)
def test_a_name_of_no_series_is_refused(name: str, near: str) -> None:
    with pytest.raises(InputError) as refused:
        series.named(name)
    assert refused.value.near == near


def test_axes_say_title_and_unit() -> None:
    assert series.named("rtt_ms").axis == "RTT (ms)"
    assert series.named("state:alpha").axis == "alpha"


def test_what_was_sent_again_is_found_in_samples_and_in_events(small: Results) -> None:
    run = run_of(small, "highspeed")
    assert "retransmit" not in run.scenario.record.events
    frame = series.resent(run)
    resent = {flow.label: flow.retransmitted_segs for flow in run.summary.flows}
    assert dict(frame.group_by("label").agg(pl.col("segs").sum()).iter_rows()) == resent
    part = series.resent(run, 4.0, 6.0)
    assert part["time_s"].is_between(4, 6).all()
    assert 0 < part["segs"].sum() < frame["segs"].sum()


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=400), st.integers(1, 20))
def test_thinning_keeps_ends_and_extremes(values: list[int], buckets: int) -> None:
    frame = pl.DataFrame({"x": [float(x) for x in range(len(values))], "y": values})
    kept = thin(frame, "x", "y", buckets)
    assert kept["x"].is_sorted()
    assert kept["y"].min() == min(values)
    assert kept["y"].max() == max(values)
    assert (kept["x"][0], kept["x"][-1]) == (frame["x"][0], frame["x"][-1])
    assert kept.height <= max(len(values) if len(values) <= 3 * buckets else 0, 3 * buckets + 1)
