"""`dumbbell import`: measurements of other tools, next to simulated runs of a path like theirs."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from command_line import Command, assert_refused, line
from dumbbell import api
from dumbbell.base.errors import InputError
from dumbbell.base.units import parse_rate, parse_time
from dumbbell.engines import captures
from dumbbell.experiments.imports import beside, fitting, playing, rates, reading
from dumbbell.scenario.model import Scenario
from measured_files import flent, iperf3, mutated, stream, written

PATH = {"rate": "20mbit", "rtt": "40ms", "queue": "50p"}


def test_a_report_of_iperf3_is_read(tmp_path: Path) -> None:
    measurement = reading.read(written(tmp_path, iperf3()))
    assert (measurement.tool, measurement.duration_s, len(measurement.flows)) == (
        "iperf 3.18",
        10.0,
        2,
    )
    first = measurement.flows[0]
    assert first.algorithm == "cubic"
    assert first.samples.height == 10
    assert first.samples["time_s"].to_list() == [second + 0.5 for second in range(10)]
    assert first.goodput_mbit_per_s == pytest.approx(11)
    assert (first.rtt_min_ms, first.rtt_mean_ms) == (39.5, 50)
    assert first.retransmitted == 2
    assert first.segments == 9496 + 2
    assert rates.total(measurement.flows).megabits.tolist() == pytest.approx([22] * 10)


def test_the_stream_of_events_says_the_same(tmp_path: Path) -> None:
    content = iperf3()
    events = [{"event": "start", "data": content["start"]}]
    events += [{"event": "interval", "data": interval} for interval in content["intervals"]]
    events += [{"event": "end", "data": content["end"]}]
    file = tmp_path / "stream.json"
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    one, other = reading.read(file), reading.read(written(tmp_path, content))
    assert [
        flow.samples.equals(same.samples) for flow, same in zip(one.flows, other.flows, strict=True)
    ]
    assert [flow.label for flow in one.flows] == ["stream 1", "stream 2"]


def test_a_path_is_fitted_and_says_what_it_rests_on(tmp_path: Path) -> None:
    measurement = reading.read(written(tmp_path, iperf3()))
    path = fitting.path(measurement, {})
    assert path.rate.value == "22.8mbit"  # 22 Mbit/s of data with headers of 52 bytes in 1500
    assert path.rtt.value == "38.974ms"  # a packet takes 0.53 ms
    assert path.queue.value == "39p"  # 20.5 ms at that rate
    assert (path.loss.value, path.loss.why) == snapshot(
        ("0", "0.00021 of the segments were sent again; a full queue explains it")
    )
    fixed = fitting.path(measurement, {"queue": "7p", "loss": "1e-3"})
    assert (fixed.queue.value, fixed.queue.why, fixed.loss.value) == ("7p", "given", "1e-3")


def test_losses_without_a_queue_are_random_ones(tmp_path: Path) -> None:
    intervals = [
        {"streams": [stream(0, second, rtt=40_000, retransmits=9)]} for second in range(10)
    ]
    measurement = reading.read(written(tmp_path, iperf3(intervals=intervals)))
    path = fitting.path(measurement, {})
    assert float(path.loss.value) == pytest.approx(90 / (9496 + 90), rel=0.05)
    scenario = playing.scenario(measurement, path, None)
    assert scenario["network"]["loss"][0]["place"] == "bottleneck"
    Scenario.parse(scenario)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"intervals": []}, "no stream has an interval"),
        ({"error": "unable to connect", "intervals": []}, "iperf3 failed: unable to connect"),
        ({"start": {}}, "start.test_start: is missing"),
        ({"start": {"test_start": {}}}, "start.test_start: not as iperf3 writes it"),
        ({"intervals": [{"streams": [{"socket": "x"}]}]}, "intervals.1.streams.1.socket"),
    ],
)
def test_what_a_report_lacks_is_named(tmp_path: Path, changes: dict[str, Any], wanted: str) -> None:
    file = written(tmp_path, iperf3(**changes))
    with pytest.raises(InputError) as caught:
        reading.read(file)
    assert wanted in str(caught.value)
    assert str(file) in str(caught.value)


def test_the_server_of_a_reverse_test_says_what_it_sent(tmp_path: Path) -> None:
    start = {"version": "iperf 3.18", "test_start": {"protocol": "TCP", "reverse": 1}}
    file = written(tmp_path, iperf3(start=start, server_output_json=iperf3()))
    assert reading.read(file).flows[0].rtt_min_ms == 39.5


def test_a_data_file_of_flent_is_read(tmp_path: Path) -> None:
    file = tmp_path / "tcp_nup.flent.gz"
    file.write_bytes(gzip.compress(json.dumps(flent()).encode()))
    measurement = reading.read(file)
    (flow,) = measurement.flows
    assert (measurement.tool, flow.label, flow.algorithm) == (
        "Flent 2.1.1 tcp_nup",
        "upload::1",
        "reno",
    )
    assert (flow.start_s, flow.rtt_min_ms, flow.goodput_mbit_per_s) == (0.2, 40.0, 9.5)
    path = fitting.path(measurement, {})
    assert path.loss.why == snapshot("retransmissions are not in the file")
    assert path.queue.why == snapshot(
        "18.8 ms between the shortest RTT and the longest; whether it overflowed is not in the file"
    )


def test_flows_without_rtts_of_their_own_have_those_of_the_ping(tmp_path: Path) -> None:
    content = flent()
    del content["results"]["TCP upload::1::tcp_rtt"]
    measurement = reading.read(written(tmp_path, content))
    assert measurement.flows[0].rtt_mean_ms == 41.0
    assert any("ping" in note for note in measurement.notes)


def test_series_of_another_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="3 values for 20 times"):
        reading.read(written(tmp_path, flent(**{"TCP upload::2": [1.0, 2.0, 3.0]})))


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return what sender and receiver of a known path would have captured."""
    folder = tmp_path_factory.mktemp("captures")
    flow = [{"algorithm": "reno", "label": "first"}]
    scenario = Scenario.parse({"duration": "12s", "network": PATH, "flow": flow})
    run = api.simulate(scenario.resolve(capture=True))
    files = captures.paths(folder / "known")
    assert run.captures is not None
    for file, content in zip(files, run.captures, strict=True):
        file.write_bytes(content)
    return files


@pytest.mark.parametrize("side", [0, 1])
def test_the_path_of_a_capture_is_found_again(capture: tuple[Path, Path], side: int) -> None:
    measurement = reading.read(capture[side])
    (flow,) = measurement.flows
    assert any("at the receiver" in note for note in measurement.notes) == (side == 1)
    path = fitting.path(measurement, {})
    assert float(path.rate.value.removesuffix("mbit")) == pytest.approx(20, rel=0.02)
    assert float(path.rtt.value.removesuffix("ms")) == pytest.approx(40, abs=1.5)
    assert int(path.queue.value.removesuffix("p")) == pytest.approx(50, abs=6)
    assert path.loss.value == "0"
    assert flow.retransmitted
    assert flow.mss_bytes == 1448


def test_captures_of_nothing_are_refused(tmp_path: Path, capture: tuple[Path, Path]) -> None:
    empty = tmp_path / "empty.pcapng"
    content = capture[0].read_bytes()
    empty.write_bytes(content[:100])
    with pytest.raises(InputError, match=r"no TCP connection|damaged"):
        reading.read(empty)
    empty.write_bytes(content[:4] + b"\0" * 50)
    with pytest.raises(InputError, match="damaged"):
        reading.read(empty)


@pytest.mark.usefixtures("unconverted")
def test_a_measurement_is_shown_beside_runs_of_a_path_like_it(
    dumbbell: Command, capture: tuple[Path, Path]
) -> None:
    output = dumbbell(
        "import", str(capture[0]), "--algorithm", "reno", "--runs", "2", "--report", "site",
        "--scenario", "like.toml",
    )  # fmt: skip
    assert output.code == 0, output.err
    assert "evidence" in output.out
    page = Path("site/index.html")
    assert "measured and simulated" in page.read_text()
    svg = (page.parent / "figures/beside.svg").read_text()
    assert "goodput (Mbit/s)" in svg
    assert (page.parent / "data/beside.csv").stat().st_size > 1000
    data = dumbbell("import", str(capture[0]), "--algorithm", "reno", "--runs", "2", "--json").json
    (flow,) = data["flows"]
    for name in ("goodput_mbit_per_s", "rtt_mean_ms"):
        assert flow["simulated"][name] == pytest.approx(flow["measured"][name], rel=0.05)
    again = dumbbell("simulate", "like.toml", "--json")
    assert again.code == 0
    assert line(Path("like.toml").read_text(), "dumbbell") == snapshot(
        "# Fitted by `dumbbell import` to known-sender.pcapng."
    )


def test_what_cannot_be_told_from_a_file_is_asked_for(
    dumbbell: Command, capture: tuple[Path, Path], tmp_path: Path
) -> None:
    output = dumbbell("import", str(capture[0]), "--fit-only")
    assert_refused(output)
    assert "--algorithm" in output.err
    intervals = [{"streams": [stream(0, second, rtt=None)]} for second in range(3)]
    end = {"streams": [], "sender_tcp_congestion": "bbr2"}
    file = written(tmp_path, iperf3(intervals=intervals, end=end))
    assert "--rtt, of the path" in dumbbell("import", str(file)).err
    assert "none of ours" in dumbbell("import", str(file), "--rtt", "10ms").err
    output = dumbbell(
        "import", str(file), "--rtt", "10ms", "--algorithm", "bbr", "--fit-only", "--json"
    )
    assert output.json["path"]["queue"] == snapshot(
        {
            "value": "1bdp",
            "why": "no RTTs show it, so it is a guess",
        }
    )
    assert_refused(dumbbell("import", str(file), "--rate", "fast"))
    assert_refused(dumbbell("import", "nowhere.json"))
    assert_refused(dumbbell("import", "."))


def test_long_measurements_are_thinned_for_figures() -> None:
    samples = pl.DataFrame({"time_s": range(5000), "rtt_ms": [1.0] * 5000})
    thin = beside.thinned(samples)
    assert thin.height == 600
    assert thin["rtt_ms"].unique().to_list() == [1.0]
    assert thin["time_s"].is_sorted()


@given(make=st.sampled_from([iperf3, flent]), seed=st.integers(0, 2**32))
def test_a_file_with_anything_in_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, make: Callable[[], Any], seed: int
) -> None:
    file = tmp_path_factory.mktemp("any") / "measured.json"
    file.write_text(mutated(make(), random.Random(seed)))
    try:
        measurement = reading.read(file)
        path = fitting.path(measurement, {}, "reno")
        Scenario.parse(playing.scenario(measurement, path, "reno"))
    except InputError as error:
        message = str(error)
        assert str(file) in message
        return
    assert parse_time(path.rtt.value) >= 1000
    assert parse_rate(path.rate.value) >= 1000
