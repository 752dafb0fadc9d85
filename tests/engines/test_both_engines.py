"""One scenario, two engines: they report the same things in the same words."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from dumbbell import _core, api
from dumbbell.engines import validity
from dumbbell.engines.result import Run
from dumbbell.scenario.model import Scenario
from held_up import judge_unless_held_up
from kernel_interface import slow_interfaces

pytestmark = [
    pytest.mark.testbed,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0 or not _core.TESTBED,
        reason="the testbed needs Linux, root and libelf",
    ),
]

SCENARIO = {
    "duration": "2s",
    "network": {
        "rate": "20mbit",
        "rtt": "20ms",
        "queue": "0.5bdp",
        "loss": [{"place": "receiver", "probability": 2e-3}],
    },
    "flow": [
        {"algorithm": "cubic"},
        {"algorithm": "reno", "workload": {"kind": "rpc", "bytes": "20kb", "pause": "0s"}},
    ],
    "record": {
        "interval": "100ms",
        "algorithm_state": True,
        "events": ["start", "congestion", "drop", "loss", "retransmit"],
    },
}


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Scenario.parse(SCENARIO, "both.toml")


@pytest.fixture(scope="module")
def runs(scenario: Scenario) -> tuple[Run, Run]:
    """Return the scenario's runs on the simulator and on the testbed, kept up with or not."""
    simulated, real = (
        api.simulate(scenario, engine=engine, retries=0) for engine in ("simulator", "testbed")
    )
    return simulated, real


@pytest.mark.parametrize("table", ["flows", "queues", "events", "internals", "requests"])
def test_tables_have_the_same_columns_and_rows_in_both(table: str, runs: tuple[Run, Run]) -> None:
    simulated, real = (run.scan(table).collect() for run in runs)
    assert real.schema == simulated.schema
    assert real.height > 0
    if table in {"flows", "internals", "queues"}:
        assert real["time_ns"].to_list() == simulated["time_ns"].to_list()


def test_summaries_have_the_same_keys_and_like_numbers(runs: tuple[Run, Run]) -> None:
    simulated, real = (run.summary for run in runs)
    assert (simulated.testbed is None, real.testbed is None) == (True, False)
    assert simulated.queues[0].name == real.queues[0].name
    judge_unless_held_up("; ".join(validity.reasons(real)))
    for one, other in zip(simulated.flows, real.flows, strict=True):
        assert 0.3 < other.received_bytes / one.received_bytes < 3
        assert (other.rtt_min_us or 0) >= 20_000


def test_a_run_on_the_kernel_is_another_result(runs: tuple[Run, Run]) -> None:
    simulated, real = runs
    assert simulated.key != real.key
    assert simulated.scenario == real.scenario


def test_both_engines_do_the_same_in_every_callback(scenario: Scenario) -> None:
    reports = json.loads(_core.testbed_parity(scenario.resolve().json))
    assert [report["algorithm"] for report in reports] == ["cubic", "reno"]
    for report in reports:
        assert sum(report["callbacks"].values()) > 100
        assert (report["differing"], report["lost_records"], report["mismatches"]) == (0, 0, [])


CROWDED: Any = {
    "duration": "3s",
    "network": {"rate": "100mbit", "rtt": "20ms", "queue": "1000p"},
    "flow": [{"algorithm": "reno", "count": 20, "host": "sender"}],
}
"""Twenty flows of one host, to be sent over an interface of 20 Mbit/s with room for ten packets."""


def test_what_a_full_host_refuses_is_congestion_and_no_loss_in_both() -> None:
    with slow_interfaces("20mbit", 10) as refusals:
        real = api.simulate(Scenario.parse(CROWDED, "crowded.toml"), engine="testbed", retries=0)
    judge_unless_held_up("; ".join(validity.reasons(real.summary)))
    host = {"edge_rate": "20mbit", "edge_queue": "10p"}
    known = {**CROWDED, "network": {**CROWDED["network"], **host}}
    simulated = api.simulate(Scenario.parse(known, "known.toml"))
    refused = sum(flow.local_drops or 0 for flow in simulated.summary.flows)
    assert min(refused, refusals.packets) > 100
    for run in (real, simulated):
        flows = run.summary.flows
        assert sum(flow.congestion_events for flow in flows) > 100
        assert sum(flow.dropped_packets for flow in flows) == 0
        # A late ACK may cost a timeout.
        assert sum(flow.retransmitted_segs for flow in flows) < refused / 20
