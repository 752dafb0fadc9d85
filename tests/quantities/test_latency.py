"""Latencies of requests: nearest rank, enough samples, kinds of flows, groups and slow-down."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from dumbbell.contract.summary import FlowSummary, QueueSummary, Summary
from dumbbell.engines.engine import Output
from dumbbell.engines.result import Run
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.windows import Window
from dumbbell.quantities.counters import percentile
from dumbbell.quantities.latencies import kinds, latencies
from dumbbell.quantities.view import RunView
from sample_runs import blank, resolved
from synthetic_runs import Taken

MS = 10**6
S = 10**9


@pytest.mark.parametrize(
    ("count", "per_mille", "expected"),
    [
        (20, 500, 10),  # of 1 to 20 the tenth
        (21, 500, 11),
        (100, 900, 90),
        (101, 900, 91),  # ceil(90.9)
        (1000, 990, 990),
        (10_000, 999, 9990),
        (10_001, 999, 9991),
        # Ten samples must lie beyond.
        (19, 500, None),
        (99, 900, None),
        (999, 990, None),
        (9_999, 999, None),
        (0, 500, None),
    ],
)
def test_percentiles_are_by_nearest_rank(count: int, per_mille: int, expected: int | None) -> None:
    assert percentile(np.arange(1.0, count + 1), per_mille) == expected


def rpc(size: str, **others: Any) -> dict[str, Any]:
    return {"algorithm": "reno", "workload": {"kind": "rpc", "bytes": size}, **others}


FLOWS = [
    {"algorithm": "reno", "label": "bulk"},
    rpc("10kb", label="small", count=2, start="20s", group="asking"),
    rpc("1mb", label="large", group="asking"),
    {"algorithm": "reno", "label": "file", "bytes": "1mb", "count": 2},
    {"transport": "udp", "rate": "1mbit"},
]

Request = tuple[int, int, int] | tuple[int, int, int, int]
"""Flow, issue and latency in ns, and bytes."""


def played(requests: list[Request], **changes: Any) -> Run:
    """Make the result of a run of 60 s in which flows had requests."""
    scenario = resolved({"flow": FLOWS, **changes})
    rows = pl.DataFrame(
        {
            "time_ns": pl.Series([request[1] for request in requests], dtype=pl.UInt64),
            "flow": pl.Series([request[0] for request in requests], dtype=pl.UInt32),
            "number": pl.Series(range(len(requests)), dtype=pl.UInt64),
            "bytes": pl.Series([(*request, 1000)[3] for request in requests], dtype=pl.UInt64),
            "latency_ns": pl.Series([request[2] for request in requests], dtype=pl.UInt64),
        }
    )
    times = pl.Series([s * S for s in range(1, 61)], dtype=pl.UInt64)
    counted = ("departed_bytes", "departed_packets", "dropped_packets", "marked_packets")
    queues = pl.DataFrame(
        {
            "time_ns": times,
            "queue": pl.Series([0] * 60, dtype=pl.UInt32),
            **dict.fromkeys((*counted, "backlog_packets", "backlog_bytes"), times),
        }
    )
    flows = tuple(
        blank(FlowSummary, end_ns=60 * S, start_ns=flow.start_ns)
        for flow in scenario.scenario.flows
    )
    summary = blank(Summary, duration_ns=60 * S, flows=flows, queues=(blank(QueueSummary),) * 2)
    return Run.of(scenario, Output(summary, {"requests": rows, "queues": queues}))


def taken(requests: list[Request], **changes: Any) -> Taken:
    """Return the quantities of such a run; the window is from 20 s, when the last flow starts."""
    scenario = resolved({"flow": FLOWS, **changes})
    early = Window.model_validate({"from": "0s", "to": "20s"})
    plan = PlannedRun("t", {}, 0, scenario, {"main": Window(), "early": early})
    return Taken(played(requests, **changes), plan)


def test_percentiles_do_not_depend_on_the_order() -> None:
    values = taken([(3, 30 * S, ms * MS) for ms in range(100, 0, -1)])
    expected = {
        "mean": 50.5,
        "p50": 50,
        "p90": 90,
        "p99": None,
        "p999": None,
        "max": 100,
    }
    assert {name: values[f"latency_{name}_ms[large]"] for name in expected} == expected


def test_nothing_has_no_latency() -> None:
    values = taken([])
    for name in ("mean", "p50", "p90", "p99", "p999", "max"):
        assert values[f"latency_{name}_ms"] is None
    for name in ("mean", "p50", "p99"):
        assert values[f"slowdown_{name}"] is None


def kinds_of(**changes: Any) -> list[list[int]]:
    view = RunView(played([], **changes), {"main": Window()}, {})
    return [[n for flow in kind for n in flow.connections] for kind in kinds(view.flows)]


def test_equal_flows_with_an_end_are_of_one_kind() -> None:
    assert kinds_of() == [[1, 2], [3], [4, 5]]
    assert kinds_of(flow=[rpc("10kb"), rpc("1mb"), rpc("10kb")]) == [[0, 2], [1]]


def test_latencies_of_each_kind() -> None:
    small: list[Request] = [(1 + n % 2, 20 * S + n * S, (n + 1) * MS) for n in range(20)]
    rows = latencies(played([*small, (3, S, 50 * MS), (5, S, 9 * S)])).to_dicts()
    assert [row["flows"] for row in rows] == ["small", "large", "file"]
    assert rows[0] == {
        "flows": "small",
        "algorithm": "reno",
        "count": 2,
        "finished": 20,
        "unfinished": None,
        "requests_per_s": 0.5,  # 20 in the 40 s from their start on
        "requests_mbit_per_s": pytest.approx(8 * 20_000 / 40 / 1e6),
        "latency_mean_ms": 10.5,
        "latency_p50_ms": 10,
        "latency_p90_ms": None,
        "latency_p99_ms": None,
        "latency_p999_ms": None,
        "latency_max_ms": 20,
        # 1 kB takes 82 ms of propagation and 84 us of serialisation.
        "slowdown_mean": pytest.approx(10.5 / 82.084, rel=1e-3),
        "slowdown_p50": pytest.approx(10 / 82.084, rel=1e-3),
        "slowdown_p99": None,
    }
    large = rows[1]
    assert (large["finished"], large["latency_mean_ms"], large["latency_p50_ms"]) == (1, 50, None)
    assert (rows[2]["finished"], rows[2]["unfinished"]) == (1, 1)


def test_kinds_without_a_finished_request_are_told() -> None:
    frame = latencies(played([]))
    assert frame["finished"].to_list() == [0, 0, 0]
    assert frame["latency_mean_ms"].to_list() == [None, None, None]
    assert latencies(played([], flow=[FLOWS[0]])).is_empty()


def test_what_began_and_ended_in_the_window_counts() -> None:
    inside: list[Request] = [(1, 20 * S + n, 5 * MS) for n in range(20)]
    outside: list[Request] = [(1, 19 * S, 2 * S), (2, 59 * S, 2 * S)]
    values = taken([*inside, *outside])
    assert values["requests_per_s[small]"] == 0.5
    assert values["requests_mbit_per_s[small]"] == pytest.approx(8 * 20_000 / 40 / 1e6)
    for name in ("mean", "p50", "max"):
        assert values[f"latency_{name}_ms[small]"] == 5
    assert values["latency_p90_ms[small]"] is None
    assert values["requests_per_s[file]"] == 0
    assert values["latency_mean_ms[file]"] is None
    assert values["requests_per_s[bulk]"] is None
    assert values["requests_per_s@early"] == 0
    assert values["latency_max_ms[small]@run"] == 2000  # The one that goes on beyond the end not.


def test_percentiles_of_a_group_are_over_all_its_requests() -> None:
    """50 fast requests of one flow and 50 slow ones of another: no mean of the flows' own."""
    fast: list[Request] = [(1, 30 * S, ms * MS) for ms in range(1, 51)]
    slow: list[Request] = [(3, 30 * S, (1000 + ms) * MS) for ms in range(50)]
    values = taken([*fast, *slow])
    assert values["latency_p50_ms[asking]"] == 50
    assert values["latency_p90_ms[asking]"] == 1039
    assert values["latency_mean_ms[asking]"] == pytest.approx((25.5 * 50 + 1024.5 * 50) / 100)
    assert values["latency_p90_ms[small]"] is None
    assert values["requests_per_s[asking]"] == 100 / 40


def test_slow_down_is_latency_over_that_of_an_empty_path() -> None:
    """1 MB are 691 packets of 1448 bytes with 52 and 38 bytes of headers each, at 100 Mbit/s."""
    wire_bytes = 1_000_000 + 691 * (52 + 38)
    ideal_ns = round(82 * MS + wire_bytes * 8 * 10)
    network = {"rate": "100mbit", "rtt": "82ms", "queue": "1bdp", "overhead": "ethernet"}
    requests: list[Request] = [
        (3, 30 * S, ideal_ns, 1_000_000),
        (3, 40 * S, 3 * ideal_ns, 1_000_000),
    ]
    values = taken(requests, network=network)
    assert values["slowdown_mean[large]"] == pytest.approx(2)
    assert values["slowdown_mean[file]"] is None
    assert values["slowdown_p50[large]"] is None  # Ten samples do not lie beyond.
    many: list[Request] = [(3, 30 * S, n * ideal_ns, 1_000_000) for n in range(1, 21)]
    assert taken(many, network=network)["slowdown_p50"] == pytest.approx(10)


def test_slow_down_is_that_of_the_flow_s_own_path() -> None:
    """The second flow passes a link of 10 Mbit/s, the first one of 100 Mbit/s."""
    links = [
        {"from": "a", "to": "b", "rate": "100mbit", "delay": "10ms"},
        {"from": "c", "to": "d", "rate": "10mbit", "delay": "5ms"},
    ]
    asking = {"algorithm": "reno", "workload": {"kind": "rpc", "bytes": "1448b"}}
    flows = [{**asking, "from": "a", "to": "b"}, {**asking, "from": "c", "to": "d"}]
    requests: list[Request] = [(0, S, 40 * MS, 1448), (1, S, 40 * MS, 1448)]
    network = {"topology": "graph", "link": links}
    values = taken(requests, flow=flows, network=network)
    assert values["slowdown_mean[1]@run"] == pytest.approx(40 / (20 + 0.12))
    assert values["slowdown_mean[2]@run"] == pytest.approx(40 / (10 + 1.2))
