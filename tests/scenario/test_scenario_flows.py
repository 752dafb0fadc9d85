"""Flows of a scenario: their protocol, what they send, their stack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scenario_checks
from dumbbell.base.errors import InputError
from dumbbell.contract.scenario import OnOff, StackChoice, Transport, Udp
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from sample_runs import flows, plain, table, tcp
from scenario_checks import assert_accepted
from scenario_refusals import assert_refused

RPC = {"kind": "rpc", "bytes": "10kb"}
INCAST = {"kind": "incast", "bytes": "10kb"}
ON_OFF = {"kind": "on-off", "on": "1s", "off": "2s"}
PACED = {"kind": "app-limited", "rate": "5mbit"}
READS = {"read_rate": "5mbit"}


def resolve(*entries: dict[str, Any], **changes: Any) -> ResolvedScenario:
    data = table({"flow": [{"algorithm": "reno", **entry} for entry in entries], **changes})
    return scenario_checks.resolve(data)


def tcp_of(entry: dict[str, Any], **changes: Any) -> dict[str, Any]:
    tcp: dict[str, Any] = plain(resolve(entry, **changes))["flows"][0]["transport"]["tcp"]
    return tcp


@pytest.mark.parametrize(
    ("entry", "demand"),
    [
        ({}, "endless"),
        ({"workload": {"kind": "bulk"}}, "endless"),
        ({"bytes": "10mb"}, {"transfer": 10_000_000}),
        ({"bytes": "10mb", "workload": {"kind": "bulk"}}, {"transfer": 10_000_000}),
        ({"workload": RPC}, {"requests": {"bytes": 10_000, "pause_ns": 0}}),
        (
            {"workload": {**RPC, "pause": "1ms"}},
            {"requests": {"bytes": 10_000, "pause_ns": 1_000_000}},
        ),
        (
            {"workload": {**RPC, "pause": "1ms", "random": True}},
            {"requests": {"bytes": 10_000, "pause_ns": 1_000_000, "random": True}},
        ),
        (
            {"workload": {**RPC, "period": "1ms"}},
            {"requests": {"bytes": 10_000, "pause_ns": 0, "period_ns": 1_000_000}},
        ),
        (
            {"workload": INCAST, "count": 2},
            {"requests": {"bytes": 10_000, "pause_ns": 0, "query": 0}},
        ),
        ({"workload": ON_OFF}, {"on_off": {"on_ns": 10**9, "off_ns": 2 * 10**9, "random": False}}),
        ({"workload": PACED}, {"app_limited": {"rate_bps": [[0, 5_000_000]]}}),
        (
            {
                "workload": {
                    **PACED,
                    "rate": [{"at": "0s", "rate": "2mbit"}, {"at": "1s", "rate": "0bit"}],
                }
            },
            {"app_limited": {"rate_bps": [[0, 2_000_000], [10**9, 0]]}},
        ),
    ],
)
def test_what_a_flow_sends(entry: dict[str, Any], demand: Any) -> None:
    assert tcp_of(entry)["demand"] == demand


def test_requests_at_the_same_time_are_several_flows() -> None:
    run = resolve({"workload": RPC, "count": 3, "label": "client"})
    assert list(flows(run)) == ["client 1", "client 2", "client 3"]


def test_the_flows_of_one_table_answer_the_same_queries() -> None:
    run = resolve(
        {"workload": INCAST, "count": 2}, {}, {"workload": INCAST, "count": 3, "start": "1s"}
    )
    demands = [tcp(flow).demand for flow in run.scenario.flows]
    queries = [
        None if isinstance(demand, str) or demand.requests is None else demand.requests.query
        for demand in demands
    ]
    assert queries == [0, 0, None, 1, 1, 1]


RATES = [{"at": "0s", "rate": "2mbit"}, {"at": "1s", "rate": "0bit"}, {"at": "5s", "rate": "3mbit"}]
STEPS = ((0, 2_000_000), (10**9, 0), (5 * 10**9, 3_000_000))
MEDIA = "# media\n0s 2mbit\n\n1s 0bit  # silence\n5000ms 3mbit\n"


def test_media_change_their_rate(tmp_path: Path) -> None:
    """As a schedule or as a file that lists it, over TCP and over UDP."""
    (tmp_path / "media.txt").write_text(MEDIA)
    udp = {"transport": "udp"}
    for rate in (RATES, {"file": "media.txt"}):
        tcp_flow = {"algorithm": "reno", "workload": {"kind": "app-limited", "rate": rate}}
        data = table({"flow": [tcp_flow, {**udp, "rate": rate}]})
        scenario = Scenario.parse(data, str(tmp_path / "a.toml"))
        resolved = scenario.resolve()
        assert_accepted(resolved)
        flows = resolved.scenario.flows
        demand = tcp(flows[0]).demand
        assert not isinstance(demand, str)
        assert demand.app_limited is not None
        assert demand.app_limited.rate_bps == STEPS
        assert flows[1].transport == Transport(udp=Udp(rate_bps=3_000_000, changes_bps=STEPS))
        assert Scenario.parse(scenario.model_dump(), "elsewhere.toml") == scenario
    one = resolve({**udp, "algorithm": None, "rate": RATES[:1]}).scenario.flows[0]
    assert one.transport == Transport(udp=Udp(rate_bps=2_000_000))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("0s\n", "not a rate from a time on in line 1"),
        ("0s 1mb\n", "not a rate from a time on in line 1"),
        ("1s 1mbit\n", "not in order in line 1"),
        ("0s 1mbit\n0s 2mbit\n", "not in order in line 2"),
        ("0s 0bit\n", "nothing is ever sent"),
        ("", "nothing is ever sent"),
        ("0s 13tbit\n", "less than a nanosecond"),
    ],
)
def test_a_wrong_file_of_rates_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "media.txt").write_text(content)
    data = table({"flow": [{"transport": "udp", "rate": {"file": "media.txt"}}]})
    with pytest.raises(InputError) as caught:
        Scenario.parse(data, str(tmp_path / "a.toml"))
    assert caught.value.key == "flow.1.rate.file"
    assert problem in caught.value.problem


def test_udp_has_a_rate_and_smaller_headers() -> None:
    udp = {"algorithm": None, "transport": "udp", "rate": "200mbit"}
    flow = resolve(udp, {}).scenario.flows[0]
    assert flow.label == "udp 1"
    assert flow.header_bytes == 28
    assert flow.transport == Transport(udp=Udp(rate_bps=200_000_000))
    assert facts.algorithm(flow) == facts.choice(flow) == "udp"
    on_off = OnOff(on_ns=10**9, off_ns=2 * 10**9, random=True)
    flow = resolve({**udp, "workload": {**ON_OFF, "random": True}}).scenario.flows[0]
    assert flow.transport == Transport(udp=Udp(rate_bps=200_000_000, on_off=on_off))


def test_headers_without_timestamps_are_shorter() -> None:
    run = resolve(
        {},
        {"switches": {"timestamps": False}},
        {"stack": {"profile": "linux-3.16", "switches": {"timestamps": False}}},
        {"stack": "linux-3.16"},
    )
    assert [flow.header_bytes for flow in run.scenario.flows] == [52, 40, 40, 52]


def test_samples_may_be_left_out() -> None:
    flow: dict[str, Any] = {"algorithm": "reno", "count": 9_000, "sampled": False}
    run = Scenario.parse(table({"flow": [flow], "record.interval": "5ms"})).resolve()
    assert not any(flow.sampled for flow in run.scenario.flows)
    del flow["sampled"]
    assert_refused(
        table({"flow": [flow], "record.interval": "5ms"}), "record.interval", "more than 20000000"
    )


def test_a_flow_may_have_a_stack_of_its_own() -> None:
    run = resolve(
        {},
        {"stack": "linux-2.6.6"},
        {"switches": {"growth": "bytes"}},
        {"stack": {"profile": "linux-2.6.6", "switches": {"quick_acks": 0}}},
        {"stack": {"switches": {"quick_acks": 0}}, "switches": {"growth": "acks"}},
        stack={"profile": "linux-6", "switches": {"reordering_segs": 5}},
    )
    stacks = [tcp(flow).stack for flow in run.scenario.flows]
    assert stacks == [
        StackChoice(profile="linux-6", switches={"reordering_segs": 5}),
        StackChoice(profile="linux-2.6.6"),
        StackChoice(profile="linux-6", switches={"reordering_segs": 5, "growth": "bytes"}),
        StackChoice(profile="linux-2.6.6", switches={"quick_acks": 0}),
        StackChoice(profile="linux-6", switches={"quick_acks": 0, "growth": "acks"}),
    ]
    assert facts.stacks(run.scenario) == stacks


def test_switches_that_need_each_other_may_be_set_together() -> None:
    run = resolve(
        {"switches": {"sack": False, "loss_detection": "new-reno"}},
        {"switches": {"sack": False}},
        stack={"profile": "linux-6", "switches": {"loss_detection": "new-reno"}},
    )
    for flow in run.scenario.flows:
        assert tcp(flow).stack.switches == {"sack": False, "loss_detection": "new-reno"}


def test_a_switch_without_a_value_is_none() -> None:
    run = resolve({}, {"switches": {"tsq_bytes": 4000}}, stack={"switches": {"tsq_bytes": "none"}})
    switches = [tcp(flow).stack.switches for flow in run.scenario.flows]
    assert switches == [{"tsq_bytes": None}, {"tsq_bytes": 4000}]


def test_facts_of_algorithms() -> None:
    run = resolve({"algorithm": "htcp@li2007"}, {"algorithm": "cubic"}, {"algorithm": "htcp"})
    assert facts.algorithms(run.scenario) == ["cubic", "htcp"]
    assert [facts.choice(flow) for flow in run.scenario.flows] == ["htcp@li2007", "cubic", "htcp"]


@pytest.mark.parametrize(
    ("entry", "key", "problem"),
    [
        ({}, "algorithm", "is missing"),
        ({"algorithm": "reno", "rate": "1mbit"}, "rate", "finds its rate itself"),
        ({"algorithm": "reno", "workload": RPC, "bytes": "1mb"}, "bytes", "sets the size"),
        ({"algorithm": "reno", "workload": {"kind": "rcp"}}, "workload.kind", "not a known value"),
        ({"algorithm": "reno", "workload": {}}, "workload.kind", "is missing"),
        ({"algorithm": "reno", "workload": {"kind": "rpc"}}, "workload.bytes", "is missing"),
        ({"algorithm": "reno", "workload": "rpc"}, "workload", "not a table"),
        (
            {"algorithm": "reno", "workload": {**ON_OFF, "on": "0s"}},
            "workload.on",
            "more than 0",
        ),
        ({"algorithm": "reno", "workload": {"kind": "app-limited"}}, "workload.rate", "is missing"),
        (
            {"algorithm": "reno", "workload": {**PACED, "rate": "5"}},
            "workload.rate",
            "needs a unit",
        ),
        (
            {"algorithm": "reno", "workload": {**PACED, "rate": [{"at": "0s", "rate": "0bit"}]}},
            "workload.rate",
            "nothing ever departs",
        ),
        (
            {"algorithm": "reno", "workload": {**PACED, "rate": [{"at": "1s", "rate": "1bit"}]}},
            "workload.rate.1.at",
            "the first entry is for the beginning",
        ),
        (
            {"algorithm": "reno", "workload": {**PACED, "rate": "12tbit"}},
            "workload.rate",
            "a segment must take a nanosecond",
        ),
        (
            {
                "algorithm": "reno",
                "workload": {
                    **PACED,
                    "rate": [{"at": "0s", "rate": "0bit"}, {"at": "1s", "rate": "12tbit"}],
                },
            },
            "workload.rate.2.rate",
            "a segment must take a nanosecond",
        ),
        (
            {"algorithm": "reno", "workload": PACED, "bytes": "1mb"},
            "bytes",
            "the workload app-limited sets the size",
        ),
        (
            {"algorithm": "reno", "workload": PACED, "parallel": 2},
            "parallel",
            "not divided among connections",
        ),
        (
            {"transport": "udp", "rate": "1mbit", "workload": PACED},
            "workload.kind",
            "not for UDP",
        ),
        ({"algorithm": "reno", "switches": {"growht": 1}}, "switches.growht", "unknown switch"),
        ({"algorithm": "reno", "switches": {"growth": 1}}, "switches.growth", "invalid type"),
        (
            {"algorithm": "reno", "switches": {"sack": False}},
            "switches.sack",
            "needs loss_detection",
        ),
        ({"algorithm": "reno", "stack": "linux6"}, "stack.profile", "unknown stack profile"),
        ({"algorithm": "reno", "host": ""}, "host", "empty"),
        ({"algorithm": "reno", "read_bytes": "9kb"}, "read_bytes", "reads all data at once"),
        (
            {"algorithm": "reno", "workload": RPC, **READS},
            "read_rate",
            "answered when it has arrived",
        ),
        (
            {"algorithm": "reno", "tcp_bpf": {"receive_buffer": "1mb"}, **READS},
            "tcp_bpf.receive_buffer",
            "the stack sizes the buffer",
        ),
        ({"algorithm": "reno", **READS, "read_bytes": "2gib"}, "read_bytes", "than any window"),
        (
            {"algorithm": "reno", "read_rate": "9gbit", "read_bytes": "1b"},
            "read_rate",
            "a read takes less than a nanosecond",
        ),
        ({"algorithm": "reno", "stack": "rfc", **READS}, "read_rate", "has no receive buffer"),
        ({"transport": "udp", "rate": "1mbit", **READS}, "read_rate", "not for UDP"),
        ({"transport": "udp"}, "rate", "is missing"),
        ({"transport": "upd"}, "transport", "not a known value"),
        ({"transport": "udp", "rate": "1mbit", "algorithm": "reno"}, "algorithm", "not for UDP"),
        ({"transport": "udp", "rate": "1mbit", "bytes": "1mb"}, "bytes", "not for UDP"),
        ({"transport": "udp", "rate": "1mbit", "stack": "linux-6"}, "stack", "not for UDP"),
        ({"transport": "udp", "rate": "1mbit", "workload": RPC}, "workload.kind", "not for UDP"),
        ({"transport": "udp", "rate": "13tbit"}, "rate", "less than a nanosecond"),
        (
            {"transport": "udp", "rate": [{"at": "0s", "rate": "13tbit"}]},
            "rate.1.rate",
            "less than a nanosecond",
        ),
        (
            {"transport": "udp", "rate": RATES, "workload": ON_OFF},
            "workload",
            "the rate changes already",
        ),
        (
            {"algorithm": "reno", "workload": {**RPC, "period": "1s", "pause": "1ms"}},
            "workload.pause",
            "a period has no pause",
        ),
        (
            {"algorithm": "reno", "workload": {**RPC, "period": "1s", "random": True}},
            "workload.random",
            "a period has no pause",
        ),
        (
            {"algorithm": "reno", "workload": {**RPC, "random": True}},
            "workload.pause",
            "random pauses need a mean",
        ),
        (
            {"algorithm": "reno", "workload": {**RPC, "period": "0s"}},
            "workload.period",
            "more than",
        ),
        ({"algorithm": "reno", "workload": INCAST}, "count", "an incast needs more than one flow"),
        (
            {
                "algorithm": "reno",
                "workload": INCAST,
                "count": 2,
                "start": {"from": "0s", "to": "1s"},
            },
            "start",
            "start together",
        ),
        (
            {"algorithm": "reno", "workload": INCAST, "count": 2, "bytes": "1mb"},
            "bytes",
            "the workload incast sets the size",
        ),
    ],
)
def test_a_wrong_flow_is_refused(entry: dict[str, Any], key: str, problem: str) -> None:
    assert_refused(table({"flow": [entry]}), f"flow.1.{key}", problem)


def test_what_a_preset_file_lacks_is_no_value_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("parameters = { kept = 900 }\n")
    data = table({"flow": [{"algorithm": "cubic@./mine.toml"}]})
    with pytest.raises(InputError) as caught:
        Scenario.parse(data, str(tmp_path / "a.toml"))
    error = caught.value
    assert (error.source, error.key, error.value) == ("./mine.toml", "algorithm", None)


def test_an_application_lags_only_if_it_is_asked_to() -> None:
    assert "reading" not in tcp_of({})
    assert tcp_of(READS)["reading"] == {"rate_bps": 5_000_000, "block_bytes": 131_072}
    assert tcp_of({**READS, "read_bytes": "9kb"})["reading"]["block_bytes"] == 9_000
    switches = {"receive_buffer_max_bytes": 300_000}
    assert_accepted(resolve({**READS, "stack": "rfc", "switches": switches}))


@pytest.mark.parametrize(("then", "share"), [("1mbit", 1.0), ("0bit", 0.4)])
def test_an_application_whose_rate_falls_to_zero_sends_no_more(then: str, share: float) -> None:
    """Its next segment is due later than any scenario lasts (`make soak`, SEED=40)."""
    rates = [{"at": "0s", "rate": "1mbit"}, {"at": "100ms", "rate": then}]
    run = resolve({"workload": {"kind": "app-limited", "rate": rates}}, duration="360ms")
    received_bytes = SimulatorEngine().run(run).summary.flows[0].received_bytes
    assert 0 < received_bytes <= share * 1e6 / 8 * 0.36
