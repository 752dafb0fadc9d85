"""From the core's raw columns to frames, and a run as a notebook sees it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from dumbbell import _core
from dumbbell.algorithms import catalogue
from dumbbell.api import Run, simulate
from dumbbell.base.errors import Cancelled, EngineError, InputError
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import SimulatorEngine, empty_frame, frame
from sample_runs import resolved, scenario


@pytest.fixture(scope="module")
def run() -> Run:
    last = {"algorithm": "reno", "label": "old", "bytes": "1mb"}
    call = {"transport": "udp", "rate": "1mbit", "label": "call"}
    flows = [{"algorithm": "htcp@li2007", "count": 2}, last, call]
    record = {"interval": "10ms", "algorithm_state": True, "modes": True, "delays": "1s"}
    return simulate(scenario({"duration": "20s", "flow": flows, "record": record}))


def test_codes_become_names_and_none_becomes_null() -> None:
    columns = catalogue.schema().tables["events"]
    kinds = catalogue.schema().codes["kind"]
    raw = []
    for column in columns:
        values = np.array([0, len(kinds) - 1], dtype=column.dtype)
        if column.dtype == "<u4":
            values[1] = 0xFFFF_FFFF
        raw.append((column.name, column.dtype, values.tobytes()))
    events = frame(raw)
    assert events["kind"].to_list() == [kinds[0], kinds[-1]]
    assert events.schema["kind"] == pl.Enum(kinds)
    assert events["cwnd_segs"].to_list() == [0, None]
    assert events.schema["cwnd_segs"] == pl.UInt32
    assert events["time_ns"].to_list() == [0, len(kinds) - 1]


@pytest.mark.parametrize("table", catalogue.schema().tables)
def test_every_table_of_a_run_is_as_the_schema_says(run: Run, table: str) -> None:
    names = [column.name for column in catalogue.schema().tables[table]]
    rows = run.scan(table).collect()
    assert rows.columns[: len(names)] == names
    assert rows.select(names).schema == empty_frame(table).schema
    assert rows.height > 0
    # Requests are in the order of their ends, and here there is only one.
    assert rows["time_ns"].is_sorted()


def test_flows_are_joined_with_their_names(run: Run) -> None:
    names = run.tables["flows"].select("flow", "label", "algorithm").unique().sort("flow")
    assert names.rows() == [
        (0, "htcp 1", "htcp@li2007"),
        (1, "htcp 2", "htcp@li2007"),
        (2, "old", "reno"),
    ]
    assert "label" not in run.tables["queues"].columns


def test_the_summary_agrees_with_the_samples(run: Run) -> None:
    assert [flow.label for flow in run.summary.flows] == ["htcp 1", "htcp 2", "old", "call"]
    last = run.tables["flows"].group_by("flow", maintain_order=True).last()
    for flow, received in zip(run.summary.flows[:3], last["received_bytes"], strict=True):
        assert 0 < received <= flow.received_bytes
    assert repr(run).endswith(": htcp 1, htcp 2, old, call>")


@pytest.mark.parametrize("what", ["cwnd", "goodput", "rtt", "queue"])
def test_a_chart_shows_data(run: Run, what: str) -> None:
    chart = run.chart(what).to_dict()
    assert "time (s)" in str(chart)


def test_an_unknown_chart_is_refused(run: Run) -> None:
    with pytest.raises(InputError, match="unknown series"):
        run.chart("cwdn")


def test_no_samples_means_empty_frames() -> None:
    record = {"interval": "none", "events": []}
    silent = simulate(scenario({"duration": "1s", "record": record}))
    assert silent.flows.is_empty()
    assert silent.events.is_empty()
    assert "label" in silent.flows.columns
    assert silent.summary.packets > 0


class PanicException(BaseException):
    """Looks like what PyO3 raises when Rust panics."""


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        (_core.ScenarioError("network.queue", "too odd"), InputError, "network.queue: too odd"),
        (
            _core.ScenarioError("flows.0.hops.2.link", "none"),
            InputError,
            "flows.1.hops.3.link: none",
        ),
        (_core.Cancelled(), Cancelled, "cancelled"),
        (PanicException("cwnd > 0"), EngineError, "broken invariant: cwnd > 0"),
        (KeyboardInterrupt("now"), KeyboardInterrupt, "now"),
    ],
)
def test_the_core_s_errors_become_dumbbell_s(
    monkeypatch: pytest.MonkeyPatch,
    raised: BaseException,
    expected: type[BaseException],
    message: str,
) -> None:
    def fail(*_: Any) -> None:
        raise raised

    monkeypatch.setattr(_core, "simulate", fail)
    with pytest.raises(expected, match=message):
        SimulatorEngine().run(resolved())


def test_a_cancelled_token_stops_a_run() -> None:
    token = CancelToken()
    token.cancel()
    endless = resolved({"duration": "100000h", "record": {"interval": "none"}})
    with pytest.raises(Cancelled):
        SimulatorEngine().run(endless, token)


def test_polars_has_met_numpy_before_threads_do() -> None:
    """Two threads that meet NumPy first at once have failed: Polars imports it lazily."""
    code = (
        "import dumbbell.engines.engine, numpy, polars; print(polars._dependencies.numpy is numpy)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "True\n"
