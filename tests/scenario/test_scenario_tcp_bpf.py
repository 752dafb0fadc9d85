"""TCP-BPF: its keys in a scenario, and their effect."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell.api import simulate
from dumbbell.scenario.model import Scenario
from sample_runs import plain, table
from scenario_checks import assert_accepted
from scenario_refusals import assert_refused

NOTHING = {
    "cwnd_clamp_segs": None,
    "initial_window_segs": None,
    "send_buffer_bytes": None,
    "receive_buffer_bytes": None,
    "base_rtt_us": None,
}


def scenario(settings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return table({"flow": [{"algorithm": "reno", "tcp_bpf": settings}], **changes})


def resolved(settings: dict[str, Any]) -> dict[str, Any]:
    whole = Scenario.parse(scenario(settings), "a.toml").resolve()
    assert_accepted(whole)
    tcp_bpf: dict[str, Any] = plain(whole)["flows"][0]["transport"]["tcp"]["tcp_bpf"]
    return tcp_bpf


def test_settings_are_resolved_to_base_units() -> None:
    settings = {
        "cwnd_clamp": "100p",
        "initial_window": "32 packets",
        "send_buffer": "150kb",
        "receive_buffer": 150_000,
        "base_rtt": "80us",
    }
    assert resolved(settings) == {
        "cwnd_clamp_segs": 100,
        "initial_window_segs": 32,
        "send_buffer_bytes": 150_000,
        "receive_buffer_bytes": 150_000,
        "base_rtt_us": 80,
    }
    assert resolved({"cwnd_clamp": "100p"}) == {**NOTHING, "cwnd_clamp_segs": 100}


def test_arriving_flows_are_steered_too() -> None:
    arrivals = {"algorithm": "cubic", "rate": 20, "size": "10kb", "tcp_bpf": {"send_buffer": "9kb"}}
    whole = Scenario.parse(table({"arrivals": [arrivals]}), "a.toml").resolve()
    assert_accepted(whole)
    settings = plain(whole)["flows"][-1]["transport"]["tcp"]["tcp_bpf"]
    assert settings == {**NOTHING, "send_buffer_bytes": 9_000}


@pytest.mark.parametrize(
    ("settings", "key", "problem"),
    [
        ({}, "", "sets nothing"),
        ({"cwnd_clamp": "0p"}, ".cwnd_clamp", "more than 0"),
        ({"cwnd_clamp": 100}, ".cwnd_clamp", "a text with a unit"),
        ({"cwnd_clamp": "100kb"}, ".cwnd_clamp", "unknown unit of a number of packets"),
        ({"cwnd_clamp": "1.5p"}, ".cwnd_clamp", "finer than 1 packet"),
        ({"cwnd_clamp": "9p", "initial_window": "10p"}, ".initial_window", "cwnd_clamp = 9p"),
        ({"send_buffer": "1kb"}, ".send_buffer", "impossible size"),
        ({"receive_buffer": "2gb"}, ".receive_buffer", "impossible size"),
        ({"base_rtt": "0us"}, ".base_rtt", "more than 0"),
        ({"base_rtt": "80500ns"}, ".base_rtt", "whole microseconds"),
        ({"base_rtt": "1h"}, ".base_rtt", "31 bits"),
        ({"cwnd_clmap": "9p"}, ".cwnd_clmap", "unknown key"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, Any], key: str, problem: str) -> None:
    assert_refused(scenario(settings), f"flow.1.tcp_bpf{key}", problem)


def test_a_buffer_holds_a_packet() -> None:
    flow = {"algorithm": "reno", "packet": 9000, "tcp_bpf": {"receive_buffer": "8kb"}}
    assert_refused(table({"flow": [flow]}), "flow.1.tcp_bpf.receive_buffer", "9000 bytes")


def test_datagrams_are_not_steered() -> None:
    flow = {"transport": "udp", "rate": "1mbit", "tcp_bpf": {"cwnd_clamp": "9p"}}
    assert_refused(table({"flow": [flow]}), "flow.1.tcp_bpf", "not for UDP")


def test_two_clamped_flows_share_equally() -> None:
    """Brakmo 2017, Figure 5: CUBIC with TCP-BPF is perfectly fair."""
    network = {"rate": "100mbit", "rtt": "10ms", "queue": "300p"}
    steered = {"algorithm": "cubic", "tcp_bpf": {"cwnd_clamp": "100p"}}
    data = table(
        {"duration": "20s", "network": network, "flow": [steered, {**steered, "start": "5s"}]}
    )
    run = simulate(Scenario.parse(data, "a.toml"))
    assert run.flows["cwnd_segs"].max() == 100
    flows = run.tables["flows"]
    late = flows.filter(flows["time_ns"] >= 10**10)
    first, last = (late.filter(late["flow"] == flow)["acked_bytes"] for flow in (0, 1))
    shares = [part[-1] - part[0] for part in (first, last)]
    assert shares[0] == pytest.approx(shares[1], rel=0.02)
