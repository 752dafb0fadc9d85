"""The limit of a transfer is recognised, reported, and put into the scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from command_line import unmeasured
from dumbbell.base.errors import InputError
from dumbbell.base.units import parse_rate, parse_time
from dumbbell.experiments.imports import fitting, limits, playing, reading
from dumbbell.experiments.imports.fitting import Path as Fitted
from dumbbell.experiments.imports.measurement import SAMPLES, MeasuredFlow, Measurement
from measured_files import iperf3, stream, written

BYTES = 1_375_000
"""Of a second at 11 Mbit/s; at an RTT of 40 ms 55 kB are outstanding."""


def at(test: dict[str, Any], second: int) -> dict[str, Any]:
    """Return what a test has in a second; what changes is a function of it."""
    return {key: value(second) if callable(value) else value for key, value in test.items()}


def fitted(folder: Path, **test: Any) -> tuple[Fitted, dict[str, Any]]:
    """Return path and scenario of a lone flow of ten seconds; `test` changes it."""
    settings: dict[str, Any] = {
        key: test.pop(key) for key in ("target_bitrate", "fqrate") if key in test
    }
    intervals = [{"streams": [stream(0, second, **at(test, second))]} for second in range(10)]
    start = {"tcp_mss_default": 1448, "test_start": {"protocol": "TCP"} | settings}
    end = {"streams": [], "sender_tcp_congestion": "cubic"}
    measurement = reading.read(written(folder, iperf3(intervals=intervals, start=start, end=end)))
    path = fitting.path(measurement, {})
    return path, playing.scenario(measurement, path, None)


def flat(**changes: Any) -> dict[str, Any]:
    """Return a transfer in which nothing waits and nothing is lost."""
    return {"rtt": lambda second: 40_000 + 100 * (second % 3), "retransmits": 0, **changes}


@pytest.mark.parametrize(
    ("test", "kind", "why", "spec"),
    [
        (
            flat(snd_wnd=56_000, snd_cwnd=200_000),
            "window",
            "receiver's window of 56 kB",
            {"tcp_bpf": {"receive_buffer": "56472b"}},
        ),
        (
            flat(snd_wnd=3_000_000, snd_cwnd=200_000),
            "window",
            "3.6 times what was outstanding",
            {"tcp_bpf": {"receive_buffer": "55024b"}},
        ),
        (
            flat(target_bitrate=11_000_000),
            "application",
            "target was 11 Mbit/s",
            {"workload": {"kind": "app-limited", "rate": "11mbit"}},
        ),
        (flat(fqrate=11_400_000), "application", "target was 11.4 Mbit/s", None),
        (flat(target_bitrate=50_000_000, snd_cwnd=200_000), "window", "times what was", None),
        (
            flat(bytes=lambda second: BYTES * (second % 2), snd_cwnd=200_000),
            "application",
            "whose rate changes",
            None,
        ),
        (flat(snd_cwnd=lambda second: 40_000 + 3000 * second), "start", "still opening", {}),
        (flat(retransmits=9), "losses", "lost while hardly anything waited", {}),
        (
            {"rtt": lambda second: 40_000 + 5000 * (second % 5), "retransmits": 1},
            "path",
            "packets waited",
            {},
        ),
    ],
)
def test_what_limited_a_transfer_is_recognised(
    tmp_path: Path, test: dict[str, Any], kind: str, why: str, spec: dict[str, Any] | None
) -> None:
    path, scenario = fitted(tmp_path, **test)
    (limit,) = path.limits
    assert (limit.kind, why in limit.why) == (kind, True), limit
    (flow,) = scenario["flow"]
    limited = {key: flow[key] for key in ("tcp_bpf", "workload") if key in flow}
    if spec is not None:
        assert limited == spec
    # What nothing filled has room for more, whatever the flow had.
    assert path.rate.is_shown == (kind == "path")
    if kind != "path":
        assert parse_rate(path.rate.value) >= 1.9 * parse_rate("11.4mbit") * (
            0.5 if why == "whose rate changes" else 1
        )
        assert "or more" in path.rate.why


@pytest.mark.parametrize(("rtt_ms", "fills"), [(100.2, False), (140.0, True)])
def test_an_ack_that_a_timer_delays_is_no_queue(rtt_ms: float, fills: bool) -> None:
    rows = [
        {"time_s": at / 10, "goodput_mbit_per_s": 80.0, "rtt_ms": rtt_ms, "rtt_high_ms": 140.0}
        for at in range(40)
    ]
    samples = pl.DataFrame(rows, schema=SAMPLES)
    flow = MeasuredFlow(
        "1", "cubic", 0.0, 4.0, samples, segments=30_000, retransmitted=0, rtt_min_ms=100.0
    )
    assert limits.signs([flow], 100.0, given=False).fills is fills


def test_losses_without_round_trips_have_no_known_cause() -> None:
    rows = [
        {"time_s": at / 10, "goodput_mbit_per_s": 80.0, "retransmitted": 1.0} for at in range(40)
    ]
    samples = pl.DataFrame(rows, schema=SAMPLES)
    flow = MeasuredFlow("1", "cubic", 0.0, 4.0, samples, segments=30_000, retransmitted=40)
    path = fitting.path(Measurement(Path("data.pcap"), "pcap", 4.0, [flow]), {"rtt": "40ms"})
    assert [path.limits[0].kind, path.limits[0].why, path.loss.why] == snapshot(
        [
            "unknown",
            "segments were lost, and no RTTs show whether packets waited",
            "0.0013 of the segments were sent again; no RTTs show whether a full queue explains it",
        ]
    )
    assert not path.loss.is_shown
    assert parse_rate(path.rate.value) < 90e6, "there is no evidence that it is more"


def test_losses_are_not_those_of_a_queue_that_nothing_shows_to_be_full(tmp_path: Path) -> None:
    """Packets wait at times, and segments are lost in other seconds than in the worst."""
    rows = [
        {
            "time_s": at / 10,
            "goodput_mbit_per_s": 50.0,
            "rtt_ms": 10.0 + (12.0 if at % 8 == 7 else 5.0 if at % 2 else 0.0),
            "retransmitted": 4.0 if at % 8 == 1 else 0.0,
        }
        for at in range(40)
    ]
    flow = MeasuredFlow(
        "1",
        "bbr",
        0.0,
        4.0,
        pl.DataFrame(rows, schema=SAMPLES),
        segments=17_000,
        retransmitted=20,
        rtt_min_ms=10.0,
        target_mbit_per_s=50.0,
        goodput_mbit_per_s=50.0,
    )
    path = fitting.path(Measurement(tmp_path / "data.json", "iperf3", 4.0, [flow]), {})
    reasons = [fitted.why for fitted in (path.rate, path.queue, path.loss)]
    assert reasons == snapshot(
        [
            "nothing filled the path, which has 51.8mbit or more; so much limits nothing",
            "12 ms between the shortest RTT and the longest; no loss shows that it was full, so it may be more",
            "0.0012 of the segments were sent again; nothing shows that a queue was full then, so it may be more",
        ]
    )
    assert not path.loss.is_shown


def test_an_application_that_pauses_does_so_in_the_scenario(tmp_path: Path) -> None:
    _, scenario = fitted(tmp_path, **flat(bytes=lambda second: BYTES * (second % 2)))
    rates = scenario["flow"][0]["workload"]["rate"]
    assert [step["rate"] for step in rates] == ["0bit", "11mbit"] * 5
    assert [step["at"] for step in rates[:3]] == ["0s", "1.000s", "2.000s"]


@pytest.mark.parametrize("mbit_per_s", [0.1, 1, 100])
def test_the_time_of_a_packet_comes_off_no_rtt_at_a_rate_that_is_not_the_links(
    tmp_path: Path, mbit_per_s: float
) -> None:
    path, _ = fitted(tmp_path, **flat(bytes=mbit_per_s * 125_000, target_bitrate=mbit_per_s * 1e6))
    assert parse_time(path.rtt.value) == parse_time("40ms")
    # Nor does it make the simulated one longer.
    assert 12_000 / parse_rate(path.rate.value) < 0.05 * 0.04


def test_a_base_rtt_that_cannot_be_told_is_not_made_up(tmp_path: Path) -> None:
    path, _ = fitted(tmp_path, bytes=31_250, rtt=lambda second: 48_000 + 30_000 * (second % 3))
    assert path.rate.value == "259kbit"
    assert path.rtt.value == "48ms"
    assert path.rtt.why == snapshot(
        "the shortest RTT, hardly more than a packet's time, so it may be less"
    )
    assert not path.rtt.is_shown


def in_turn() -> dict[str, Any]:
    """Return flows one after the other, of 3.5 and of 3 Mbit/s, and a long one of 50 kbit/s."""
    rates = [3.5] * 10 + [0.0] * 10 + [3.0] * 10 + [0.05] * 70
    return {
        "intervals": [
            {"streams": [stream(0, second, bytes=rate * 125_000)]}
            for second, rate in enumerate(rates)
        ]
    }


def at_half_seconds() -> dict[str, Any]:
    """Return a sender of 19.8 Mbit/s whose writes of 128 kB are counted every half second."""
    block, written_blocks, intervals = 131_072, 0, []
    for number in range(60):
        blocks = int((number + 1) * 0.5 * 19.8e6 / 8 / block) + 8 - written_blocks
        written_blocks += blocks
        part = stream(0, number, start=number / 2, end=number / 2 + 0.5, bytes=blocks * block)
        intervals.append({"streams": [part]})
    return {"intervals": intervals}


@pytest.mark.parametrize(("make", "mbit_per_s"), [(in_turn, 3.5), (at_half_seconds, 19.8)])
def test_the_rate_is_that_of_the_busy_time(
    tmp_path: Path, make: Callable[[], dict[str, Any]], mbit_per_s: float
) -> None:
    path = fitting.path(reading.read(written(tmp_path, iperf3(**make()))), {})
    assert parse_rate(path.rate.value) == pytest.approx(mbit_per_s * 1e6 * 1500 / 1448, rel=0.02)


def test_losses_with_a_short_queue_are_chance(tmp_path: Path) -> None:
    """The queue is long every fifth second, and segments are lost in the others."""
    path, scenario = fitted(
        tmp_path,
        rtt=lambda second: 60_000 if second % 5 == 4 else 40_000,
        retransmits=lambda second: 0 if second % 5 in (4, 0) else 9,
    )
    assert float(path.loss.value) == pytest.approx(54 / 9550, rel=0.05)
    assert unmeasured(path.loss.why) == snapshot(
        "N of the segments were sent again, mostly while the queue was short"
    )
    assert scenario["network"]["loss"]


def test_a_flow_that_met_nothing_is_not_limited_by_a_path_that_others_filled(
    tmp_path: Path,
) -> None:
    """The second flow has 50 kbit/s at the RTT of the empty path, next to one that fills it."""
    intervals = [
        {
            "streams": [
                stream(0, second),
                stream(1, second, bytes=6_250 * (second % 2), rtt=40_000, retransmits=0),
            ]
        }
        for second in range(10)
    ]
    end = {"streams": [], "sender_tcp_congestion": "cubic"}
    measurement = reading.read(written(tmp_path, iperf3(intervals=intervals, end=end)))
    path = fitting.path(measurement, {})
    assert [limit.kind for limit in path.limits] == ["path", "application"]
    assert "nothing waited" in path.limits[1].why


def test_a_path_that_loses_everything_is_an_error_of_the_measurement(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        fitted(tmp_path, **flat(retransmits=10**6))
    assert caught.value.key is None
    assert str(caught.value.source).endswith("measured.json")
    assert "loss" in str(caught.value.valid)
