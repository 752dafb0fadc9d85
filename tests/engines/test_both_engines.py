"""One scenario, two engines: they report the same things in the same words."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import polars as pl
import pytest

from dumbbell import _core, api
from dumbbell.conformance import kernel
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


def test_both_engines_do_the_same_in_every_callback() -> None:
    scenario = Scenario.parse({**SCENARIO, "duration": "1s"}, "both.toml")
    reports = kernel.on_testbed(scenario.resolve().json)
    assert [report["algorithm"] for report in reports] == ["cubic", "reno"]
    for report in reports:
        assert sum(report["callbacks"].values()) > 100
        assert (report["differing"], report["lost_records"], report["mismatches"]) == (0, 0, [])


LAGGING: Any = {
    "duration": "4s",
    "network": {"rate": "20mbit", "rtt": "20ms", "queue": "0.5bdp"},
    "flow": [{"algorithm": "cubic", "read_rate": "10mbit", "read_bytes": "14480b"}],
    "record": {"interval": "100ms"},
}


def test_an_application_that_lags_acknowledges_by_reads_in_both() -> None:
    lagging = Scenario.parse(LAGGING, "lagging.toml")
    real = api.simulate(lagging, engine="testbed", retries=0)
    judge_unless_held_up("; ".join(validity.reasons(real.summary)))
    for run in (real, api.simulate(lagging)):
        late = run.scan("queues").filter(pl.col("queue") == 1, pl.col("time_ns") >= 2 * 10**9)
        data = run.scan("flows").filter(pl.col("time_ns") >= 2 * 10**9)
        acks, received_bytes = (
            table.select(pl.col(name).last().cast(int) - pl.col(name).first().cast(int))
            .collect()
            .item()
            for table, name in ((late, "departed_packets"), (data, "received_bytes"))
        )
        assert received_bytes * 8 / 2 == pytest.approx(10e6, rel=0.05)
        assert received_bytes / acks == pytest.approx(14_480, rel=0.1)


def test_receive_buffers_of_the_testbed_end_a_slow_start_of_nv_earlier() -> None:
    """NV ends its slow start after 30 samples, and larger buffers have more ACKs in it."""
    tables: Any = {
        "duration": "1500ms",
        "stack": "linux-6",
        "network": {"rate": "20mbit", "rtt": "230ms", "queue": "1bdp"},
        "flow": [{"algorithm": "nv"}],
        "record": {"interval": "100ms"},
    }
    scenario = Scenario.parse(tables, "nv.toml")
    switches = json.loads(_core.testbed_host_switches(scenario.resolve().json))
    hosts = {"stack": {"profile": "linux-6", "switches": switches}}
    real = api.simulate(scenario, engine="testbed", retries=0)
    judge_unless_held_up("; ".join(validity.reasons(real.summary)))
    alike = api.simulate(Scenario.parse({**tables, **hosts}, "nv.toml"))
    ends = [
        run.scan("flows").select(pl.col("ssthresh_segs").last()).collect().item()
        for run in (real, alike, api.simulate(scenario))
    ]
    assert ends == [29, 29, 49]


CROWDED: Any = {
    "duration": "4s",
    "network": {"rate": "100mbit", "rtt": "20ms", "queue": "1000p"},
    "flow": [{"algorithm": "reno", "count": 20, "host": "sender", "start": "1s"}],
}
"""Twenty flows of one host, to be sent over an interface of 20 Mbit/s with room for ten packets.

They start when even a busy machine has equipped the hosts of the kernel with it.
"""


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


def _opening(place: str, lost: str, duration: str, **flow: Any) -> Scenario:
    """Return a flow of 40 ms that opens its connection, over a way that loses all for a time."""
    losses = [{"at": "0s", "probability": 1}, {"at": lost, "probability": 0}]
    loss = {"place": place, "probability": losses}
    tables: Any = {
        "duration": duration,
        "stack": {"profile": "linux-6", "switches": {"handshake": True}},
        "network": {"rate": "100mbit", "rtt": "40ms", "queue": "1bdp", "loss": [loss]},
        "flow": [{"algorithm": "reno", "bytes": "14480b", **flow}],
        "record": {"events": ["start"]},
    }
    return Scenario.parse(tables, "opening.toml")


@pytest.mark.parametrize(
    ("place", "lost", "made_ms", "done_ms"),
    [
        ("bottleneck", "1us", 40, 80),
        ("bottleneck", "500ms", 1_040, 1_080),
        # The second loss leaves a window of one segment: 1, 2, 4 and 3 segments.
        ("bottleneck", "1500ms", 2_040, 2_200),
        # The SYN-ACK answers the first SYN, so nothing was lost but time.
        ("reverse", "500ms", 1_040, 1_080),
    ],
)
def test_a_lost_handshake_is_repeated_alike_in_both(
    place: str, lost: str, made_ms: int, done_ms: int
) -> None:
    start = {"start": "100us"} if lost == "1us" else {}
    # The last answer may be late, but nothing is waited for after it.
    scenario = _opening(place, lost, f"{done_ms + 300}ms", **start)
    for engine in ("simulator", "testbed"):
        run = api.simulate(scenario, engine=engine, retries=0)
        judge_unless_held_up("; ".join(validity.reasons(run.summary)))
        (made_ns,) = run.scan("events").collect()["time_ns"]
        (latency_ns,) = run.scan("requests").collect()["latency_ns"]
        # Linux's timers end with a tick, of which eight are up to 80 ms. A busy machine counts its
        # ticks late, so that a timer that begins meanwhile ends up to 10 ms early.
        assert made_ms - 20 <= made_ns / 1e6 <= made_ms + 90, engine
        assert done_ms - 20 <= latency_ns / 1e6 <= done_ms + 90, engine
        assert latency_ns - made_ns == pytest.approx(1e6 * (done_ms - made_ms), rel=0.1), engine


def test_a_late_flow_waits_for_the_queue_of_others_in_both() -> None:
    late = {"algorithm": "reno", "start": "2s", "switches": {"handshake": True}}
    tables: Any = {
        "duration": "3s",
        "network": {"rate": "20mbit", "rtt": "20ms", "queue": "100p"},
        "flow": [{"algorithm": "cubic", "label": "early"}, {**late, "label": "late"}],
        "record": {"events": ["start"], "interval": "10ms"},
    }
    for engine in ("simulator", "testbed"):
        run = api.simulate(Scenario.parse(tables, "late.toml"), engine=engine, retries=0)
        judge_unless_held_up("; ".join(validity.reasons(run.summary)))
        waited_ms = run.scan("events").collect()["time_ns"][-1] / 1e6 - 2_000
        # The queue holds 60 ms, of which CUBIC leaves a part.
        assert 30 < waited_ms < 85, engine
        samples = run.scan("flows").collect().filter(flow=1)
        assert samples["srtt_us"][0] / 1e3 == pytest.approx(waited_ms, rel=0.2), engine
