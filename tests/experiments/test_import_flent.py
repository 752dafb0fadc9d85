"""Output of Flent's tests: series that are flows, their directions, and notes."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import InputError
from dumbbell.experiments.imports import fitting, playing, reading
from dumbbell.experiments.imports.measurement import MeasuredFlow
from dumbbell.scenario.model import Scenario
from measured_files import flent, written

COUNT = 20


def with_series(*names: str, **metadata: Any) -> dict[str, Any]:
    """Return a file with these series of 4.5, and pings that begin at 20 ms and grow to 39 ms."""
    content = flent()
    content["results"] = {name: [4.5] * COUNT for name in names}
    content["results"]["Ping (ms) ICMP"] = [20.0 + place for place in range(COUNT)]
    content["metadata"] |= {"SYSCTLS": {"net.ipv4.tcp_congestion_control": "cubic"}, **metadata}
    return content


def flows(folder: Path, content: Any) -> dict[str, MeasuredFlow]:
    return {flow.label: flow for flow in reading.read(written(folder, content)).flows}


@pytest.mark.parametrize(
    ("series", "labels"),
    [
        (["TCP upload", "TCP download"], ["upload", "download"]),
        (["TCP upload::1", "TCP upload avg", "TCP upload fairness"], ["upload::1"]),
        (["TCP upload BE1 a", "TCP upload fairness"], ["upload BE1 a"]),
        (["TCP download Torrent", "TCP download Torrent sum", "TCP totals"], ["download Torrent"]),
        (["TCP upload BE", "TCP upload BE::tcp_pacing_rate"], ["upload BE"]),
        (["TCP upload::1 (CS0)", "TCP upload total"], ["upload::1 (CS0)"]),
        (["TCP cubic 2", "TCP stream 1"], ["cubic 2", "stream 1"]),
        (["TCP upload", "HTTP latency", "VoIP::jitter", "SCTP upload CS0"], ["upload"]),
    ],
)
def test_series_are_flows_or_not(tmp_path: Path, series: list[str], labels: list[str]) -> None:
    assert list(flows(tmp_path, with_series(*series))) == labels


def test_what_the_file_says_of_a_series_comes_before_its_name(tmp_path: Path) -> None:
    meta = {
        "TCP upload sum": {"RUNNER": "NetperfDemoRunner", "UNITS": "Mbits/s"},
        "TCP upload both": {"RUNNER": "SumRunner"},
        "TCP upload index": {"UNITS": "Idx"},
        "TCP BE": {"COMMAND": "netperf -H host -t TCP_MAERTS -l 60"},
    }
    by_label = flows(tmp_path, with_series(*meta, SERIES_META=meta))
    assert {label: flow.direction for label, flow in by_label.items()} == {
        "upload sum": "forward",
        "BE": "reverse",
    }


def test_both_directions_of_a_test_have_a_bottleneck_each(tmp_path: Path) -> None:
    names = [f"TCP {way} BE{number}" for way in ("upload", "download") for number in (1, 2)]
    measurement = reading.read(written(tmp_path, with_series(*names)))
    path = fitting.path(measurement, {})
    assert (path.rate.value, path.reverse_rate and path.reverse_rate.value) == (
        "9.32mbit",
        "9.32mbit",
    )
    scenario = playing.scenario(measurement, path, "cubic")
    assert [flow.get("direction") for flow in scenario["flow"]] == [
        None,
        None,
        "reverse",
        "reverse",
    ]
    Scenario.parse(scenario)


HOSTS = {
    "REMOTE_METADATA": {
        host: {"SYSCTLS": {"net.ipv4.tcp_congestion_control": algorithm}}
        for host, algorithm in (("a", "reno"), ("b", "bbr"))
    }
}


def netperf_to(host: str) -> dict[str, Any]:
    command = f"/usr/bin/netperf -P 0 -4 -H {host} -p 12865 -t TCP_MAERTS -l 60"
    return {"SERIES_META": {"TCP download BE": {"COMMAND": command}}}


@pytest.mark.parametrize(
    ("name", "metadata", "wanted"),
    [
        ("TCP upload", {"SERIES_META": {"TCP upload": {"CONG_CONTROL": "bbr"}}}, "bbr"),
        ("TCP upload BBR CS1", {}, "bbr"),
        ("TCP download Westwood BE", {}, "westwood"),
        ("TCP upload BE", {"TEST_PARAMETERS": {"tcp_cong_control": "reno"}}, "reno"),
        ("TCP upload BE", {}, "cubic"),
        ("TCP download BE", {}, None),
        (
            "TCP download BE",
            {"REMOTE_METADATA": {"b": {"SYSCTLS": {"net.ipv4.tcp_congestion_control": "reno"}}}},
            "reno",
        ),
        ("TCP download BE", HOSTS | netperf_to("b"), "bbr"),
        ("TCP download BE", HOSTS | netperf_to("10.0.0.9"), None),
    ],
)
def test_algorithms_are_found_where_the_file_names_them(
    tmp_path: Path, name: str, metadata: dict[str, Any], wanted: str | None
) -> None:
    (flow,) = flows(tmp_path, with_series(name, **metadata)).values()
    assert flow.algorithm == wanted


def test_retransmissions_are_found_where_netperf_says_them(tmp_path: Path) -> None:
    meta = {"TCP_MSS": 1448, "TCP_RETRANSMIT": "12", "BYTES_SENT": 1_448_000}
    content = with_series("TCP upload", SERIES_META={"TCP upload": meta})
    (flow,) = flows(tmp_path, content).values()
    assert (flow.mss_bytes, flow.retransmitted, flow.segments) == (1448, 12, 1012)
    meta["TCP_RETRANSMIT"] = "-1"
    assert flows(tmp_path, content)["upload"].retransmitted is None


def test_flows_to_several_hosts_have_the_pings_of_theirs(tmp_path: Path) -> None:
    content = with_series("TCP upload BE1 near", "TCP upload BE2 far")
    content["results"]["Ping (ms) ICMP near"] = [10.0] * COUNT
    content["results"]["Ping (ms) ICMP far"] = [50.0] * COUNT
    content["results"]["Ping (ms) avg"] = [30.0] * COUNT
    measurement = reading.read(written(tmp_path, content))
    assert [flow.rtt_min_ms for flow in measurement.flows] == [10, 50]
    scenario = playing.scenario(measurement, fitting.path(measurement, {}), None)
    assert [flow.get("rtt") for flow in scenario["flow"]] == [None, "50.000ms"]


def test_a_ping_knows_the_path_before_the_flows_begin(tmp_path: Path) -> None:
    content = with_series("TCP upload")
    content["results"]["TCP upload"][:5] = [None] * 5
    (flow,) = flows(tmp_path, content).values()
    assert (flow.start_s, flow.rtt_min_ms) == (1.0, 20)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, bytes])
def test_compressed_files_are_read(tmp_path: Path, compress: Any) -> None:
    file = tmp_path / "both.flent"
    file.write_bytes(compress(json.dumps(with_series("TCP upload")).encode()))
    assert [flow.label for flow in reading.read(file).flows] == ["upload"]


@pytest.mark.parametrize(
    ("place", "value", "wanted"),
    [
        ("TCP upload", -4.5, "results.TCP upload.4 = -4.5"),
        ("TCP upload", 1e308, "results.TCP upload.4 = 1e+308"),
        ("TCP upload", "9", 'results.TCP upload.4 = "9"'),
        ("TCP upload", float("nan"), 'TCP upload = "NaN": not a number'),
        ("Ping (ms) ICMP", -3, "results.Ping (ms) ICMP.4 = -3"),
        ("Ping (ms) ICMP", 1.7e308, "results.Ping (ms) ICMP.4 = 1.7e+308"),
        ("x_values", 1e308, "x_values.4 = 1e+308"),
        ("x_values", 0.1, "x_values.4 = 0.1: not after the time before it"),
    ],
)
def test_numbers_that_no_test_has_are_refused(
    tmp_path: Path, place: str, value: Any, wanted: str
) -> None:
    content = with_series("TCP upload")
    (content if place == "x_values" else content["results"])[place][3] = value
    with pytest.raises(InputError) as caught:
        reading.read(written(tmp_path, content))
    message = str(caught.value)
    assert wanted in message
    assert "valid:" in message


def test_what_is_too_large_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_TEXT_BYTES_MAX", 1_000_000)
    file = tmp_path / "bomb.flent.gz"
    file.write_bytes(gzip.compress(b'{"results": [' + b"[]," * 400_000))
    assert file.stat().st_size < 10_000
    with pytest.raises(InputError, match="too large; valid: at most 1 MB of text"):
        reading.read(file)
