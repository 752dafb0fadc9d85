"""P-TCP: one flow that several connections carry."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import InputError
from dumbbell.contract.scenario import Transport
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.quantities import flow_totals, series, taking
from dumbbell.quantities.latencies import latencies
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from sample_runs import demand, flows, passed, resolved, table, tcp
from scenario_checks import assert_accepted
from scenario_refusals import assert_refused

P_TCP: dict[str, Any] = {"algorithm": "reno", "label": "p-tcp", "parallel": 4}
PLAIN: dict[str, Any] = {"algorithm": "reno", "label": "plain"}


def changed(*entries: dict[str, Any], **network: Any) -> dict[str, Any]:
    data = table({"flow": list(entries), "duration": "20s"})
    data["network"] |= {"rate": "20mbit", "rtt": "20ms", **network}
    data["record"] = {"interval": "100ms", "events": ["congestion"]}
    return data


def run(*entries: dict[str, Any], **network: Any) -> Run:
    scenario = Scenario.parse(changed(*entries, **network), "a.toml").resolve()
    assert_accepted(scenario)
    return Run.of(scenario, SimulatorEngine().run(scenario))


def taken(done: Run, quantity: str) -> float:
    value = taking.of_run(done, [quantity])[quantity]
    assert value is not None
    return value


def test_connections_share_start_path_algorithm_and_bytes() -> None:
    late = {**P_TCP, "start": {"from": "1s", "to": "3s"}, "bytes": 4003}
    by_label = flows(resolved({"flow": [late, {"algorithm": "cubic"}]}))
    assert list(by_label) == ["p-tcp 1/4", "p-tcp 2/4", "p-tcp 3/4", "p-tcp 4/4", "cubic 1"]
    *connections, _ = by_label.values()
    sizes = [demand(flow).transfer for flow in connections]
    assert sizes == [1003, 1000, 1000, 1000]
    alike = [
        msgspec.structs.replace(
            flow,
            label="",
            transport=Transport(tcp=msgspec.structs.replace(tcp(flow), demand="endless")),
        )
        for flow in connections
    ]
    assert alike == [alike[0]] * 4


def test_connections_have_one_host() -> None:
    parallel = resolved({"flow": [P_TCP, PLAIN], "network.edge_rate": "1gbit"})
    edges = {label: passed(parallel, label)[0] for label in flows(parallel)}
    assert edges == {**{f"p-tcp {n}/4": "edge 1" for n in (1, 2, 3, 4)}, "plain": "edge 2"}


def test_a_single_connection_is_a_plain_flow() -> None:
    assert resolved({"flow.1.parallel": 1}).scenario == resolved().scenario


def test_several_flows_have_connections_each() -> None:
    parallel = resolved({"flow": [{**P_TCP, "count": 2, "parallel": 2}]})
    labels = ["p-tcp 1 1/2", "p-tcp 1 2/2", "p-tcp 2 1/2", "p-tcp 2 2/2"]
    assert list(flows(parallel)) == labels
    assert facts.bundles(parallel.scenario.flows) == [[0, 1], [2, 3]]
    assert {facts.whole(label) for label in labels} == {"p-tcp 1", "p-tcp 2"}
    assert {facts.family(label) for label in labels} == {"p-tcp"}


def test_other_flows_start_when_they_did_without() -> None:
    late = {**PLAIN, "start": {"from": "1s", "to": "30s"}}
    alone = flows(resolved({"flow": [{**P_TCP, "parallel": 1}, late]}))
    beside = flows(resolved({"flow": [P_TCP, late]}))
    assert alone["plain"].start_ns == beside["plain"].start_ns


@pytest.mark.parametrize(
    ("entry", "key", "problem"),
    [
        ({**P_TCP, "parallel": 0}, "parallel", "impossible number of connections"),
        ({**P_TCP, "parallel": -1}, "parallel", "impossible number of connections"),
        ({**P_TCP, "parallel": 10_001}, "parallel", "impossible number of connections"),
        ({**P_TCP, "parallel": "many"}, "parallel", "not a whole number"),
        ({"transport": "udp", "rate": "1mbit", "parallel": 2}, "parallel", "not for UDP"),
        ({**P_TCP, "bytes": 3}, "parallel", "more connections than the 3 bytes"),
        (
            {**P_TCP, "workload": {"kind": "rpc", "bytes": "10kb"}},
            "parallel",
            "the workload rpc is not divided",
        ),
        (
            {**P_TCP, "workload": {"kind": "on-off", "on": "1s", "off": "1s"}},
            "parallel",
            "the workload on-off is not divided",
        ),
        ({"algorithm": "reno", "label": "bulk 3/16"}, "label", "connections of a flow"),
    ],
)
def test_what_cannot_be_divided_is_refused(entry: dict[str, Any], key: str, problem: str) -> None:
    assert_refused(table({"flow": [entry]}), f"flow.1.{key}", problem)


def test_flows_of_one_label_are_refused_however_many_connections_they_have() -> None:
    for other in ({**P_TCP, "parallel": 1}, {**P_TCP, "parallel": 3}, P_TCP):
        data = table({"flow": [P_TCP, other]})
        assert_refused_to_resolve(data)


def assert_refused_to_resolve(data: dict[str, Any]) -> None:
    assert_refused(data, "flow.label", "several flows have this label")


def test_the_connections_count_among_all_flows() -> None:
    entries = [{**P_TCP, "parallel": 6000}, {"algorithm": "reno", "count": 5000}]
    assert_refused(table({"flow": entries}), "flow", "too many flows")


def test_quantities_are_of_the_sum() -> None:
    done = run(P_TCP, {**PLAIN, "start": "2s"}, edge_jitter="1ms")
    rates = [taken(done, f"goodput_mbit_per_s[{n}]") for n in (1, 2)]
    with pytest.raises(InputError) as refused:
        taken(done, "goodput_mbit_per_s[3]")
    assert str(refused.value) == snapshot('"3": unknown flow or group; valid: 1 to 2, p-tcp, plain')
    assert taken(done, "goodput_mbit_per_s") == pytest.approx(sum(rates))
    assert taken(done, "goodput_mbit_per_s[p-tcp]") == rates[0]
    assert taken(done, "share[1]") == pytest.approx(0.8, abs=0.08)
    received = [flow.received_bytes for flow in done.summary.flows]
    last = done.tables["flows"].filter(pl.col("time_ns") == pl.col("time_ns").max())
    assert last["received_bytes"].to_list() == received
    # From the start of the second flow to the end.
    first = done.tables["flows"].filter(pl.col("time_ns") == 2_000_000_000, pl.col("flow") < 4)
    grown = sum(received[:4]) - int(first["received_bytes"].sum())
    assert rates[0] == pytest.approx(8 * grown / 18 / 1e6)
    assert taken(done, "sync[1]") > taken(done, "sync[2]") > 0
    assert taken(done, "cwnd_mean_segs[1]") > 2 * taken(done, "cwnd_mean_segs[2]")
    shares = taken(done, "share[2]") / taken(done, "share[1]")
    assert taken(done, "ratio_min_max") == pytest.approx(shares)


def test_lines_of_figures_are_of_the_sum() -> None:
    done = run(P_TCP, PLAIN)
    windows = series.take(done, "cwnd_segs")
    assert windows["label"].unique(maintain_order=True).to_list() == ["p-tcp", "plain"]
    first_ns = done.tables["flows"]["time_ns"][0]
    expected = done.tables["flows"].filter(pl.col("time_ns") == first_ns, pl.col("flow") < 4)[
        "cwnd_segs"
    ]
    assert windows.filter(pl.col("label") == "p-tcp")["value"][0] == expected.sum()
    trips = series.take(done, "rtt_ms").filter(pl.col("label") == "p-tcp")
    assert max(trips["value"].to_list()) < 40
    rates = series.take(done, "goodput_mbit_per_s").filter(pl.col("label") == "p-tcp")
    assert rates["value"].mean() == pytest.approx(16, rel=0.15)


def test_a_transfer_ends_with_its_last_connection() -> None:
    done = run({**P_TCP, "bytes": "2mb"}, {**PLAIN, "bytes": "100kb"})
    frame = latencies(done)
    assert frame["flows"].to_list() == ["p-tcp", "plain"]
    assert frame["count"].to_list() == frame["finished"].to_list() == [1, 1]
    assert frame["unfinished"].to_list() == [0, 0]
    requests = done.tables["requests"].filter(pl.col("flow") < 4)
    assert requests.height == 4
    assert frame["latency_max_ms"][0] == max(requests["latency_ns"].to_list()) / 1e6
    assert frame["requests_mbit_per_s"][0] == pytest.approx(8 * 2 / 20)


def test_a_transfer_whose_last_connection_has_not_ended_is_not_finished() -> None:
    done = run({**P_TCP, "bytes": "44mb"}, edge_jitter="0s")
    finished = done.tables["requests"].height
    frame = latencies(done)
    assert 0 < finished < 4, "the scenario is to end between the connections"
    assert (frame["finished"][0], frame["unfinished"][0]) == (0, 1)


def test_a_transfer_has_one_latency_among_the_quantities() -> None:
    done = run({**P_TCP, "bytes": "2mb", "start": "1s"})
    assert taken(done, "requests_per_s") == pytest.approx(1 / 19, rel=0.02)
    assert taken(done, "latency_max_ms[1]") > 800


def test_the_totals_have_one_row() -> None:
    shown = flow_totals.flows(run(P_TCP, PLAIN))
    assert [row[0] for row in shown.rows] == ["p-tcp (4 connections)", "plain"]
    several = flow_totals.flows(run({**P_TCP, "count": 2, "sampled": False}, PLAIN))
    assert [row[0] for row in several.rows] == ["p-tcp × 2", "plain"]
