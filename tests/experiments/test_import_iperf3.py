"""Output of all versions of iperf3: both ends, both directions, parts, and several reports."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from command_line import line
from dumbbell.base.errors import InputError
from dumbbell.experiments.imports import fitting, playing, reading
from dumbbell.experiments.imports.measurement import Measurement
from dumbbell.scenario.model import Scenario
from measured_files import iperf3, received, stream, written


def read(folder: Path, content: Any) -> Measurement:
    return reading.read(written(folder, content))


def refused(folder: Path, content: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, content)
    message = str(caught.value)
    assert "measured.json" in message
    return message


def start(**test: Any) -> dict[str, Any]:
    return {
        "version": "iperf 3.18",
        "tcp_mss_default": 1448,
        "test_start": {"protocol": "TCP", "reverse": 0, **test},
    }


def bidirectional() -> dict[str, Any]:
    """Return 11 Mbit/s there and 5.5 Mbit/s back at once."""
    both = [{"streams": [stream(0, second), received(2, second)]} for second in range(10)]
    return iperf3(intervals=both, start=start(bidir=1))


def test_both_directions_are_kept(tmp_path: Path) -> None:
    measurement = read(tmp_path, bidirectional())
    assert [flow.direction for flow in measurement.flows] == ["forward", "reverse"]
    assert [flow.goodput_mbit_per_s for flow in measurement.flows] == pytest.approx([11, 5.5])
    path = fitting.path(measurement, {})
    scenario = playing.scenario(measurement, path, None)
    assert "direction" not in scenario["flow"][0]
    assert scenario["flow"][1]["direction"] == "reverse"
    assert (scenario["network"]["rate"], scenario["network"]["reverse"]["rate"]) == (
        "11.4mbit",
        "5.7mbit",
    )
    Scenario.parse(scenario)


def test_the_way_of_a_single_direction_is_the_way_forward(tmp_path: Path) -> None:
    intervals = [{"streams": [received(0, second)]} for second in range(10)]
    measurement = read(tmp_path, iperf3(intervals=intervals, start=start(reverse=1)))
    path = fitting.path(measurement, {"rtt": "20ms"})
    (flow,) = playing.scenario(measurement, path, None)["flow"]
    assert "direction" not in flow
    assert path.rate.value == "5.7mbit"
    with pytest.raises(InputError) as refused:
        fitting.path(measurement, {})
    assert refused.value.problem == snapshot("no RTT is in the file")


def test_receivers_count_what_arrived_and_senders_know_the_rest(tmp_path: Path) -> None:
    at_server = {
        **iperf3(intervals=[{"streams": [received(0, second)]} for second in range(10)]),
        "start": {**start(), "accepted_connection": {"host": "10.0.0.1"}},
    }
    one = iperf3(intervals=[{"streams": [stream(0, second)]} for second in range(10)])
    (flow,) = read(tmp_path, {**one, "server_output_json": at_server}).flows
    assert flow.samples["goodput_mbit_per_s"].to_list() == pytest.approx([5.5] * 10)
    assert (flow.rtt_min_ms, flow.retransmitted, flow.granule_bytes) == (39.5, 2, 0)
    (alone,) = read(tmp_path, one).flows
    assert alone.goodput_mbit_per_s == pytest.approx(11)
    assert alone.granule_bytes == 131_072
    (server,) = read(tmp_path, at_server).flows
    assert (server.direction, server.rtt_min_ms) == ("forward", None)


def test_old_reports_do_not_say_who_sent(tmp_path: Path) -> None:
    intervals = [{"streams": [stream(0, second)]} for second in range(10)]
    for part in intervals:
        for entry in part["streams"]:
            del entry["sender"]
    for reverse, sends in ((0, True), (1, False)):
        (flow,) = read(tmp_path, iperf3(intervals=intervals, start=start(reverse=reverse))).flows
        assert (flow.retransmitted is not None) == sends
        assert flow.direction == ("forward" if sends else "reverse")


@pytest.mark.parametrize("unknown", [-1, None, 0])
def test_what_a_kernel_does_not_say_is_unknown(tmp_path: Path, unknown: int | None) -> None:
    lacking = {"rtt": unknown, "snd_cwnd": unknown, "retransmits": -1 if unknown else unknown}
    content = iperf3(intervals=[{"streams": [stream(0, 0, **lacking)]}], end={"streams": []})
    (flow,) = read(tmp_path, content).flows
    assert flow.rtt_min_ms is None
    assert flow.samples["congestion_window_bytes"].to_list() == [None]
    assert flow.retransmitted == (0 if unknown == 0 else None)


def test_what_was_omitted_is_left_out(tmp_path: Path) -> None:
    first = [{"streams": [stream(0, second, omitted=True, bytes=9e9)]} for second in range(2)]
    later = [{"streams": [stream(0, second)]} for second in range(10)]
    measurement = read(tmp_path, iperf3(intervals=[*first, *later], start=start(omit=2)))
    assert measurement.flows[0].samples.height == 10
    assert measurement.flows[0].samples["goodput_mbit_per_s"].max() == pytest.approx(11)
    assert line("\n".join(measurement.notes), "omitted") == snapshot(
        "the first 2 s were omitted when it was measured"
    )


def test_what_was_measured_until_an_error_is_read(tmp_path: Path) -> None:
    measurement = read(tmp_path, iperf3(error="interrupt - the client has terminated"))
    assert len(measurement.flows) == 2
    assert any("ended early (interrupt" in note for note in measurement.notes)


def test_a_last_interval_of_microseconds_says_nothing(tmp_path: Path) -> None:
    last = {"streams": [stream(0, 10, end=10.00002, bytes=131_072)]}
    content = iperf3()
    content["intervals"] = [
        {"streams": [interval["streams"][0]]} for interval in content["intervals"]
    ]
    content["intervals"].append(last)
    (flow,) = read(tmp_path, content).flows
    assert flow.samples["goodput_mbit_per_s"].max() == pytest.approx(11)


def test_several_reports_in_one_file_are_flows_of_one_path(tmp_path: Path) -> None:
    parts = [
        {**iperf3(), "start": {**start(), "timestamp": {"timesecs": 1_700_000_000 + at_s}}}
        for at_s in (0, 12, 5000)
    ]
    failed = {"start": {"version": "iperf 3.18"}, "intervals": [], "error": "no route to host"}
    file = tmp_path / "several.json"
    file.write_text("\n".join(json.dumps(report, indent="\t") for report in [*parts, failed]))
    measurement = reading.read(file)
    assert [flow.start_s for flow in measurement.flows] == [0, 0, 11, 11, 22, 22]
    assert measurement.duration_s == 32
    assert measurement.flows[2].label == "2: stream 1"
    assert any("silence" in note for note in measurement.notes)
    assert any("no route to host" in note for note in measurement.notes)
    assert fitting.path(measurement, {}).rate.value == "22.8mbit"


def test_a_stream_of_events_that_was_cut_is_read_so_far(tmp_path: Path) -> None:
    content = iperf3()
    events = [{"event": "start", "data": content["start"]}]
    events += [{"event": "interval", "data": interval} for interval in content["intervals"]]
    file = tmp_path / "cut.json"
    file.write_text("\n".join(map(json.dumps, events))[:-30])
    measurement = reading.read(file)
    assert measurement.duration_s == 9
    assert line("\n".join(measurement.notes), "ends") == snapshot(
        "the file ends within an event, which is left out"
    )


def test_datagrams_are_flows_with_a_rate(tmp_path: Path) -> None:
    intervals = [{"streams": [{**stream(0, second), "packets": 950}]} for second in range(10)]
    total = {"udp": {**stream(0, 0), "end": 10, "packets": 9500, "lost_percent": 50}}
    udp = {"protocol": "UDP", "blksize": 1448, "target_bitrate": 11_000_000}
    measurement = read(
        tmp_path, iperf3(start=start(**udp), intervals=intervals, end={"streams": [total]})
    )
    assert measurement.flows[0].goodput_mbit_per_s == pytest.approx(5.5)
    path = fitting.path(measurement, {"rtt": "20ms"})
    assert (path.limits[0].kind, path.rate.value) == ("path", "5.7mbit")
    (flow,) = playing.scenario(measurement, path, None)["flow"]
    assert flow == {
        "label": "stream 1",
        "transport": "udp",
        "packet": 1476,
        "rate": "11.212707mbit",
    }


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"rtt": -5}, "intervals.1.streams.1.rtt = -5"),
        ({"bytes": -1}, "intervals.1.streams.1.bytes = -1"),
        ({"bytes": 1e308}, "intervals.1.streams.1.bytes"),
        ({"start": "nan"}, 'intervals.1.streams.1.start = "nan"'),
        ({"start": float("nan")}, 'start = "NaN"'),
        ({"end": float("inf")}, 'end = "Infinity"'),
        ({"end": 1e308}, "intervals.1.streams.1.end"),
        ({"start": 5, "end": 4}, "intervals.1.streams.1.end = 4.0: time goes back"),
        ({"start": 0, "end": 1e-300}, "intervals: no stream has an interval of 0.1 ms"),
    ],
)
def test_numbers_that_no_test_has_are_refused(
    tmp_path: Path, change: dict[str, Any], wanted: str
) -> None:
    message = refused(tmp_path, iperf3(intervals=[{"streams": [stream(0, 0, **change)]}]))
    assert wanted in message
    assert "valid:" in message


def test_times_that_go_back_are_refused(tmp_path: Path) -> None:
    intervals = [{"streams": [stream(0, second)]} for second in (0, 1, 0)]
    message = refused(tmp_path, iperf3(intervals=intervals))
    assert message.partition("measured.json: ")[2] == snapshot(
        "intervals.3.streams.1.start = 0.0: time goes back from 2 s; valid: intervals in order of time"
    )


def test_deep_and_endless_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "measured.json"
    for text in ('{"start":' * 3000 + "1" + "}" * 3000, '{"start":{}, "intervals":' + "[" * 10**6):
        file.write_text(text)
        with pytest.raises(InputError, match=r"nested too deeply|ends within"):
            reading.read(file)


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="needs iperf3")
@pytest.mark.parametrize(
    ("options", "ways", "has_rtt"),
    [
        (["--parallel", "2"], ["forward", "forward"], True),
        (["--reverse"], ["reverse"], False),
        (["--reverse", "--get-server-output"], ["reverse"], True),
        (["--bidir"], ["forward", "reverse"], True),
        (["--udp"], ["forward"], False),
    ],
)
def test_what_iperf3_writes_here_is_read(
    tmp_path: Path, options: list[str], ways: list[str], *, has_rtt: bool
) -> None:
    """On loopback, 400 kB at 8 Mbit/s; the test does not check the speed."""
    for number, file in enumerate(on_loopback(tmp_path, options)):
        measurement = reading.read(file)
        assert [flow.direction for flow in measurement.flows] == ways
        assert all(flow.goodput_mbit_per_s for flow in measurement.flows)
        assert all(flow.target_mbit_per_s == 8 for flow in measurement.flows)
        if number == 0:
            assert (measurement.flows[0].rtt_min_ms is not None) == has_rtt


def on_loopback(folder: Path, options: list[str]) -> tuple[Path, Path]:
    """Return the reports of both ends of a test: of the client, and of the server."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
    shared = ["--json", "--interval", "0.1", "--port", port]
    server = folder / "server.json"
    with (
        server.open("w") as log,
        subprocess.Popen(["iperf3", "--server", "--one-off", *shared], stdout=log) as running,
    ):
        command = ["iperf3", "--client", "127.0.0.1", "--bitrate", "8M", "--bytes", "400K"]
        for _ in range(50):
            done = subprocess.run([*command, *shared, *options], capture_output=True, check=False)
            if done.returncode == 0 and "error" not in json.loads(done.stdout):
                break
            time.sleep(0.1)
        else:
            running.kill()
            pytest.fail(done.stdout.decode())
    client = folder / "client.json"
    client.write_bytes(done.stdout)
    return client, server
