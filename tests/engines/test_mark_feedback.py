"""Congestion marks that senders know, by the agreement of both ends."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dumbbell.contract.summary import FlowSummary
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.scenario.model import Scenario

EVERY_SEGMENT: Final = {"quick_acks": 1_000_000_000}


def _run(algorithm: str, switches: dict[str, Any], lost: float = 0.0, **keys: Any) -> Run:
    queue = {"discipline": "step", "limit": "400p", "threshold": "20p"}
    loss = [{"place": "reverse", "probability": lost}] if lost else []
    table = {
        "duration": "8s",
        "network": {"rate": "40mbit", "rtt": "20ms", "queue": queue, "loss": loss},
        "stack": {"profile": "linux-6", "switches": switches},
        "flow": [{"algorithm": algorithm, **keys}],
        "record": {"interval": "100ms"},
    }
    scenario = Scenario.parse(table, "a test").resolve()
    return Run.of(scenario, SimulatorEngine().run(scenario))


def _flow(run: Run) -> FlowSummary:
    (flow,) = run.summary.flows
    return flow


def test_if_every_ack_arrives_counts_say_what_the_echo_of_dctcp_says() -> None:
    echo = _run("dctcp", EVERY_SEGMENT)
    counts = _run("dctcp", {**EVERY_SEGMENT, "accecn": True, "accecn_option": "never"})
    assert _flow(counts).counted_marks == _flow(counts).marked_packets > 1000
    assert _flow(echo).counted_marks is None
    assert counts.tables["flows"].equals(echo.tables["flows"])


@pytest.mark.parametrize(("option", "excess"), [("always", 0.0), ("changes", 0.2)])
@pytest.mark.parametrize("gro_segs", [0, 30])
def test_lost_and_merged_acks_cost_no_marks(option: str, excess: float, gro_segs: int) -> None:
    merging = {"gro_segs": gro_segs, "gro_flush_ns": 5_000_000}
    flow = _flow(_run("dctcp", {"accecn": True, "accecn_option": option, **merging}, 0.2))
    assert flow.counted_marks is not None
    assert flow.marked_packets > 500
    # Those of the last round trip are on their way. While there are marks, an ACK without the
    # option stands for the worst.
    assert -0.02 <= flow.counted_marks / flow.marked_packets - 1 <= excess


def test_without_the_option_lost_acks_let_the_sender_assume_the_worst() -> None:
    flow = _flow(_run("dctcp", {"accecn": True, "accecn_option": "never"}, 0.4))
    assert flow.counted_marks is not None
    assert flow.counted_marks > flow.marked_packets + 100


@pytest.mark.parametrize(("peer", "ecn"), [("classic", "classic"), ("off", "off")])
def test_a_connection_has_what_both_ends_speak(peer: str, ecn: str) -> None:
    asks = {"ecn": "classic", "accecn": True, "ecn_peer": peer}
    agreed, plain = _run("cubic", asks), _run("cubic", {"ecn": ecn})
    assert agreed.tables["flows"].equals(plain.tables["flows"])
    assert _flow(agreed).counted_marks is None


def test_the_option_takes_room_in_each_segment() -> None:
    def payload(option: str) -> int:
        switches = {"ecn": "classic", "accecn": True, "accecn_option": option}
        flow = _flow(_run("cubic", switches, bytes="1mb"))
        return flow.sent_bytes // flow.sent_segs

    assert payload("changes") - payload("always") == pytest.approx(12, abs=2)


def test_a_window_is_reduced_once_a_round_trip_whatever_is_counted() -> None:
    runs = [
        _run("reno", {"ecn": "classic", **EVERY_SEGMENT, **counts})
        for counts in ({}, {"accecn": True, "accecn_option": "never"})
    ]
    classic, counted = (_flow(run).congestion_events for run in runs)
    assert classic == pytest.approx(counted, abs=1)
    assert _flow(runs[1]).counted_marks == _flow(runs[1]).marked_packets
