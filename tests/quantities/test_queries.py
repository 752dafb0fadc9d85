"""Queries that several flows answer at the same time, as the simulator runs them."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest

from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.quantities import taking
from dumbbell.quantities.latencies import latencies
from sample_runs import resolved

MS = 10**6
ANSWERS = 5


@cache
def ran(rhythm: str) -> Run:
    """Run five flows that answer queries next to one that does not."""
    rhythms: dict[str, dict[str, Any]] = {
        "pause": {"pause": "7ms"},
        "random": {"pause": "7ms", "random": True},
        "period": {"period": "60ms"},
    }
    workload = {"kind": "incast", "bytes": "20kb", **rhythms[rhythm]}
    data = {
        "duration": "3s",
        "network": {"rate": "10mbit", "rtt": "20ms", "queue": "30p"},
        "flow": [
            {"algorithm": "reno"},
            {
                "algorithm": "cubic",
                "count": ANSWERS,
                "label": "worker",
                "group": "workers",
                "workload": workload,
                "start": "50ms",
            },
        ],
    }
    scenario = resolved(data)
    return Run.of(scenario, SimulatorEngine().run(scenario))


def queries(run: Run) -> pl.DataFrame:
    """Return begin and end of each whole query, in order."""
    rows = run.tables["requests"].cast({"time_ns": pl.Int64, "latency_ns": pl.Int64})
    of_query = rows.group_by("number").agg(
        answers=pl.len(),
        begins=pl.col("time_ns").n_unique(),
        begin=pl.col("time_ns").min(),
        end=(pl.col("time_ns") + pl.col("latency_ns")).max(),
    )
    whole = of_query.filter(pl.col("answers") == ANSWERS).sort("number")
    assert whole["begins"].to_list() == [1] * whole.height, "all answers begin at the same time"
    assert whole.height >= 5
    return whole


def between(frame: pl.DataFrame) -> list[int]:
    """Return the times from the end of each query to the beginning of the next."""
    return (frame["begin"].shift(-1) - frame["end"]).drop_nulls().to_list()


def test_the_next_query_begins_when_the_last_answer_is_in() -> None:
    frame = queries(ran("pause"))
    assert frame["begin"][0] == 50 * MS
    assert set(between(frame)) == {7 * MS}


def test_a_pause_at_random_is_that_of_all() -> None:
    pauses = between(queries(ran("random")))
    assert len(set(pauses)) == len(pauses)
    # The sum of n exponential times is within four deviations of n means.
    assert abs(sum(pauses) / len(pauses) / (7 * MS) - 1) < 4 / len(pauses) ** 0.5


def test_queries_at_a_period_wait_for_the_next_multiple() -> None:
    frame = queries(ran("period"))
    begins = [(begin - 50 * MS) / (60 * MS) for begin in frame["begin"]]
    assert begins == [int(begin) for begin in begins]
    assert all(0 <= time < 60 * MS for time in between(frame))
    # 100 kB at 10 Mbit/s take 80 ms, so a multiple passes.
    assert begins[1] - begins[0] >= 2


def test_a_query_takes_as_long_as_its_last_answer() -> None:
    run = ran("pause")
    frame = queries(run)
    times = ((frame["end"] - frame["begin"]) / MS).to_numpy()
    names = ("query_mean_ms", "query_max_ms", "queries_per_s")
    taken = taking.of_run(run, [f"{name}[workers]@run" for name in names], {})
    assert taken["query_mean_ms[workers]@run"] == pytest.approx(times.mean())
    assert taken["query_max_ms[workers]@run"] == pytest.approx(times.max())
    assert taken["queries_per_s[workers]@run"] == pytest.approx(frame.height / 3)
    # All answers pass the link: N size / rate, headers included, and a round trip.
    assert times.min() > ANSWERS * (20_000 + 14 * 52) * 8 / 10_000 + 20
    # Of a part of those that answer, nothing is known of queries.
    assert taking.of_run(run, ["query_mean_ms[2]@run"], {})["query_mean_ms[2]@run"] is None
    assert taking.of_run(run, ["queries_per_s[1]@run"], {})["queries_per_s[1]@run"] is None


def test_queries_are_a_row_of_the_table_of_requests() -> None:
    run = ran("pause")
    answers, whole = latencies(run).to_dicts()
    assert (answers["flows"], whole["flows"]) == ("worker", "worker, whole queries")
    assert whole["finished"] == queries(run).height
    assert whole["latency_mean_ms"] >= answers["latency_mean_ms"]
    assert whole["requests_mbit_per_s"] is None
