"""Figures over time: bands of equal flows, capacity, steps, delays of datagrams."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.quantities import bands, series
from sample_runs import scenario

RATES = [
    {"at": "0s", "rate": "10mbit"},
    {"at": "2s", "rate": "4mbit"},
    {"at": "6s", "rate": "8mbit"},
]


def ran(flow: list[dict[str, Any]], **changes: Any) -> Run:
    network = {"rate": "10mbit", "rtt": "40ms", "queue": "50p", **changes.pop("network", {})}
    resolved = scenario({"duration": "8s", **changes, "network": network, "flow": flow}).resolve()
    return Run.of(resolved, SimulatorEngine().run(resolved))


def test_equal_flows_are_a_band_and_others_are_lines() -> None:
    call = {"transport": "udp", "rate": "100kbit", "label": "call"}
    run = ran([{"algorithm": "cubic", "count": 4, "label": "a"}, {"algorithm": "reno"}, call])
    bundles = bands.bundles(run)
    assert [bundle.name for bundle in bundles] == ["a × 4", "reno 1", "call"]
    assert [bundle.is_band for bundle in bundles] == [True, False, False]
    assert bundles[0].connections == [0, 1, 2, 3]


def test_a_band_of_goodput_adds_up_to_what_arrived() -> None:
    run = ran([{"algorithm": "cubic", "count": 4, "label": "a"}])
    spans = 16
    band = bands.take(run, "goodput_mbit_per_s", [0, 1, 2, 3], spans)
    assert band["time_s"].to_list() == pytest.approx([0.5 * n for n in range(spans + 1)])
    assert band["high"][0] == band["high"][1], "the first part has both its ends"
    assert (band["low"] <= band["mean"]).all()
    assert (band["mean"] <= band["high"]).all()
    arrived = sum(flow.received_bytes for flow in run.summary.flows)
    # What arrives after the last sample is in no rate.
    assert 4 * sum(band["mean"][1:]) * 0.5 * 1e6 / 8 == pytest.approx(arrived, rel=1e-4)


def test_a_rate_that_changes_is_a_capacity() -> None:
    flows = [{"algorithm": "cubic"}]
    assert not list(bands.capacity(ran(flows), 100))
    run = ran(flows, network={"rate": RATES})
    assert list(bands.capacity(run, 100)) == [(0.0, 10.0), (2.0, 4.0), (6.0, 8.0), (8.0, 8.0)]
    halves = list(bands.capacity(run, 2))  # more changes than parts: means of 0 to 4 and 4 to 8 s
    assert halves == [(0.0, 7.0), (4.0, 6.0), (8.0, 6.0)]
    carried = series.take(run, "carried_mbit_per_s", spans=8).filter(
        pl.col("label") == "bottleneck"
    )
    slow = carried.filter(pl.col("time_s").is_between(3, 6))["value"]
    assert slow.to_list() == pytest.approx([4.0] * 4, rel=0.01)


def test_the_delay_of_datagrams_over_time_is_that_of_the_empty_path() -> None:
    run = ran([{"transport": "udp", "rate": "1mbit", "packet": "500b"}])
    frame = series.take(run, "one_way_delay_ms")
    alone_ms = 20 + 8 * 500 / 10e6 * 1000
    assert frame.height == 80, "a value for each sample"
    assert frame["value"].to_list() == pytest.approx([alone_ms] * 80, abs=1e-3)
    goodput = series.take(run, "goodput_mbit_per_s")
    assert goodput["label"].unique().to_list() == ["udp 1"]
    assert goodput["value"].mean() == pytest.approx(472 / 500, rel=0.01)


def test_what_is_drawn_of_a_rate_begins_with_its_first_span() -> None:
    run = ran([{"algorithm": "reno", "start": "1s"}, {"algorithm": "cubic"}])
    taken = series.take(run, "goodput_mbit_per_s", spans=8)
    shown = series.drawn(run, "goodput_mbit_per_s", spans=8)
    assert shown.height == taken.height + 2
    starts = shown.group_by("label", maintain_order=True).first()
    assert dict(starts.select("label", "time_s").iter_rows()) == {"reno 1": 1.0, "cubic 1": 0.0}
    for (label,), part in shown.group_by("label"):
        assert part["time_s"].is_sorted()
        assert part["value"][0] == part["value"][1]
        assert part[1:].equals(taken.filter(pl.col("label") == label))
    assert series.drawn(run, "cwnd_segs").equals(series.take(run, "cwnd_segs"))


def test_windows_are_steps_and_rates_are_of_the_time_before() -> None:
    joined = {name: series.named(name).joined for name in series.SERIES}
    assert joined["cwnd_segs"] == joined["ssthresh_segs"] == "step-after"
    assert joined["goodput_mbit_per_s"] == joined["carried_mbit_per_s"] == "step-before"
    assert joined["rtt_ms"] == "linear"
    assert series.named("state:alpha").joined == "step-after"


def test_the_first_packets_of_a_flow_are_no_rate() -> None:
    """A flow that starts 1 ms before a sample has sent ten segments by then: 120 Mbit/s."""
    run = ran([{"algorithm": "reno", "start": "999ms"}], network={"rate": "100mbit"})
    frame = series.take(run, "throughput_mbit_per_s", spans=80)
    assert frame["time_s"][0] == pytest.approx(1.1)
    first_bytes = run.tables["flows"].filter(pl.col("time_ns") == 1_100_000_000)["sent_segs"][0]
    assert frame["value"][0] == pytest.approx(first_bytes * 1500 * 8e-6 / 0.101)


@pytest.mark.parametrize(("interval", "is_coarse"), [("100ms", False), ("2s", True)])
def test_samples_many_round_trips_apart_are_coarse(interval: str, is_coarse: bool) -> None:
    run = ran([{"algorithm": "reno"}], record={"interval": interval})
    assert bands.is_coarse(run) == is_coarse
    assert bands.round_trips_apart(run) == pytest.approx(2.5 if interval == "100ms" else 50)
