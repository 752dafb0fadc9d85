"""Latencies of requests: nearest rank, enough samples, and families of flows."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import dumbbell
from dumbbell.analysis.latency import families, nearest_rank, percentiles
from dumbbell.analysis.run_metrics import run_metrics
from dumbbell.running.engine import Output
from dumbbell.running.result import Run
from dumbbell.study.model import Convergence, Measure, PlannedRun
from samples import resolved

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
    assert nearest_rank(range(1, count + 1), per_mille) == expected


def test_percentiles_do_not_depend_on_the_order() -> None:
    values = pl.Series([ms * MS for ms in range(100, 0, -1)], dtype=pl.UInt64)
    assert percentiles(values) == {
        "mean_ms": 50.5,
        "p50_ms": 50,
        "p90_ms": 90,
        "p99_ms": None,
        "p999_ms": None,
        "max_ms": 100,
    }


def test_nothing_has_no_latency() -> None:
    assert set(percentiles(pl.Series(dtype=pl.UInt64)).values()) == {None}


def rpc(size: str, **others: Any) -> dict[str, Any]:
    return {"algorithm": "reno", "workload": {"kind": "rpc", "bytes": size}, **others}


FLOWS = [
    {"algorithm": "reno", "label": "bulk"},
    rpc("10kb", label="small", count=2, start="20s"),
    rpc("1mb", label="large"),
    {"algorithm": "reno", "label": "file", "bytes": "1mb", "count": 2},
    {"transport": "udp", "rate": "1mbit"},
]


def played(requests: list[tuple[int, int, int]], **changes: Any) -> Run:
    """Make the result of a run of 60 s in which flows had requests: flow, issue and latency."""
    scenario = resolved({"flow": FLOWS, **changes})
    rows = pl.DataFrame(
        {
            "time_ns": pl.Series([at for _, at, _ in requests], dtype=pl.UInt64),
            "flow": pl.Series([flow for flow, _, _ in requests], dtype=pl.UInt32),
            "number": pl.Series(range(len(requests)), dtype=pl.UInt64),
            "bytes": pl.Series([1000] * len(requests), dtype=pl.UInt64),
            "latency_ns": pl.Series([took for _, _, took in requests], dtype=pl.UInt64),
        }
    )
    times = [s * S for s in range(1, 61)]
    queues = pl.DataFrame(
        {
            "time_ns": pl.Series(times, dtype=pl.UInt64),
            "queue": pl.Series([0] * 60, dtype=pl.UInt32),
            "departed_bytes": times,
            "dropped_packets": times,
        }
    )
    told = {"rtt_mean_us": None, "timeouts": 0}
    queue = dict.fromkeys(
        ("waiting_bytes_mean", "backlog_packets_max", "dropped_packets", "marked_packets"), 0
    )
    summary = {"duration_ns": 60 * S, "flows": [told] * 7, "queues": [queue] * 2}
    return Run.of(scenario, Output(summary, {"requests": rows, "queues": queues}))


def test_equal_flows_with_an_end_are_a_family() -> None:
    assert families(resolved({"flow": FLOWS}).data) == [[1, 2], [3], [4, 5]]
    unnamed = [rpc("10kb"), rpc("1mb"), rpc("10kb")]
    assert families(resolved({"flow": unnamed}).data) == [[0, 2], [1]]


def test_latencies_of_each_family() -> None:
    small = [(1 + n % 2, 20 * S + n * S, (n + 1) * MS) for n in range(20)]
    found = dumbbell.latencies(played([*small, (3, S, 50 * MS), (5, S, 9 * S)])).to_dicts()
    assert [row["flows"] for row in found] == ["small", "large", "file"]
    assert found[0] == {
        "flows": "small",
        "algorithm": "reno",
        "count": 2,
        "finished": 20,
        "unfinished": None,
        "per_s": 0.5,  # 20 in the 40 s from their start on
        "goodput_mbit": pytest.approx(8 * 20_000 / 40 / 1e6),
        "mean_ms": 10.5,
        "p50_ms": 10,
        "p90_ms": None,
        "p99_ms": None,
        "p999_ms": None,
        "max_ms": 20,
    }
    assert (found[1]["finished"], found[1]["mean_ms"], found[1]["p50_ms"]) == (1, 50, None)
    assert (found[2]["finished"], found[2]["unfinished"]) == (1, 1)


def test_families_without_a_finished_request_are_told() -> None:
    found = dumbbell.latencies(played([]))
    assert found["finished"].to_list() == [0, 0, 0]
    assert found["mean_ms"].to_list() == [None, None, None]
    assert dumbbell.latencies(played([], flow=[FLOWS[0]])).is_empty()


def test_metrics_are_of_what_began_and_ended_in_the_window() -> None:
    """The window is from 20 s, when the last flow starts, to 60 s."""
    inside = [(1, 20 * S + n, 5 * MS) for n in range(20)]
    outside = [(1, 19 * S, 2 * S), (2, 59 * S, 2 * S)]
    run = played([*inside, *outside])
    plan = PlannedRun("t", {}, 0, resolved({"flow": FLOWS}), Measure(), Convergence())
    found = run_metrics(run, plan)
    assert found["requests_per_s_1"] == 0.5
    assert found["latency_mean_ms_1"] == found["latency_p50_ms_1"] == found["latency_max_ms_1"] == 5
    assert found["latency_p90_ms_1"] is None
    assert found["requests_per_s_3"] == 0
    assert found["latency_mean_ms_3"] is None
