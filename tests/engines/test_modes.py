"""Changes of algorithms' modes: the table, what is made of it, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from command_line import Command, assert_refused
from dumbbell.algorithms import catalogue
from dumbbell.api import simulate
from dumbbell.base.errors import InputError
from dumbbell.engines import testbed
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.modes import readable
from dumbbell.engines.result import Run
from dumbbell.plan.windows import Window
from dumbbell.quantities import modes, run_totals, taking
from dumbbell.quantities.counters import Counters
from dumbbell.quantities.names import Use, Vocabulary, What
from dumbbell.quantities.spans import Span
from dumbbell.scenario.model import Scenario
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from sample_runs import plain, resolved

PATH = {"rate": "20mbit", "rtt": "40ms", "queue": "1bdp"}

TURNS = """#include "cc.h"
/* Two modes that take turns, each for as many ACKs. */
#define turns_parameters(P)
#define turns_presets(S)
#define turns_hooks(H) H(turns, ssthresh) H(turns, cong_avoid) H(turns, info)
CC_PARAMS(turns);
struct turns_state { u32 acks; };
static u32 turns_ssthresh(const struct turns_params *params, struct turns_state *turns,
	const struct cc_conn *conn) { return cc_half_window(conn); }
static void turns_cong_avoid(const struct turns_params *params, struct turns_state *turns,
	struct cc_conn *conn, u32 acked) { turns->acks++; }
static void turns_info(const struct turns_params *params, const struct turns_state *turns,
	const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = turns->acks;
	info->values[1] = turns->acks / 10 % 3;
}
CC_ALGORITHM(turns, .title = "t", .source = "s", .summary = "s",
	.info_names = {"acks", "mode"}, .mode_names = {"odd", "even"});
"""


def named_modes(run: Run) -> pl.DataFrame:
    """Return changes of modes as people read them."""
    return readable(run.tables["modes"], run.scenario)


def ran(*flows: dict[str, Any], folder: Path = Path(), **record: Any) -> Run:
    tables = {
        "duration": "15s",
        "network": PATH,
        "flow": list(flows),
        "record": {"interval": "100ms", "modes": True, **record},
    }
    return simulate(Scenario.parse(tables, str(folder / "a.toml")))


@pytest.fixture(scope="module")
def several() -> Run:
    """Return a run of flows with and without modes, of which one has two connections."""
    return ran(
        {"algorithm": "bbr"},
        {"algorithm": "cubic", "start": "1s", "stop": "11s", "parallel": 2, "label": "pair"},
        {"algorithm": "reno"},
        {"transport": "udp", "rate": "1mbit", "label": "call"},
    )


@pytest.fixture(scope="module")
def lone() -> Run:
    """Return a run of BBR alone."""
    return ran({"algorithm": "bbr"}, algorithm_state=True)


WINDOWS = {
    "early": Window.model_validate({"from": "0s", "to": "5s"}),
    "middle": Window.model_validate({"from": "5s", "to": "9s"}),
    "late": Window.model_validate({"from": "9s", "to": "15s"}),
}


def values_of(run: Run, *references: str) -> list[float | None]:
    values = taking.of_run(run, references, WINDOWS)
    return [values[reference] for reference in references]


def test_rows_have_the_names_of_modes_and_variables(several: Run) -> None:
    frame = named_modes(several)
    assert frame.columns[:5] == ["time_ns", "flow", "label", "algorithm", "mode"]
    bbr, cubic = (catalogue.algorithm(name) for name in ("bbr", "cubic"))
    variables = set(bbr.info) | set(cubic.info)
    assert set(frame.columns[5:]) == variables - {"mode"}
    assert set(frame["label"].unique()) == {"bbr 1", "pair 1/2", "pair 2/2"}
    assert frame["time_ns"].is_sorted()
    first = frame.filter(pl.col("flow") == 0)
    assert first["mode"].to_list()[:3] == ["startup", "drain", "probe_bw"]
    assert first["pacing_gain_x256"].to_list()[:2] == [739, 88]
    assert first["tcp_cwnd_segs"].null_count() == first.height
    second = frame.filter(pl.col("flow") == 1)
    assert second["mode"][0] == "slow_start"
    assert set(second["mode"]) <= set(cubic.modes)
    assert second["time_ns"][0] == 10**9


def test_enough_is_told_of_the_model_based_algorithms() -> None:
    for name in ("bbr", "bbr3"):
        assert len(catalogue.algorithm(name).info) >= 12
    for name in ("bbr", "bbr3", "cubic", "htcp"):
        algorithm = catalogue.algorithm(name)
        assert algorithm.modes
        assert "mode" in algorithm.info
    assert not catalogue.algorithm("reno").modes


def test_samples_have_the_mode_of_the_last_row(lone: Run) -> None:
    names = catalogue.algorithm("bbr").modes
    samples = lone.tables["internals"].select("time_ns", sampled=pl.col("info3"))
    rows = named_modes(lone).select("time_ns", "mode")
    # A sample at the moment of a change may be before or after it.
    joined = samples.join_asof(rows, on="time_ns", allow_exact_matches=False)
    numbers = joined["mode"].replace_strict({mode: number for number, mode in enumerate(names)})
    assert samples.height == 150
    assert (numbers == joined["sampled"]).all()


def test_shares_and_entries_are_those_of_the_table(lone: Run) -> None:
    rows, times_ns = named_modes(lone), [*named_modes(lone)["time_ns"], 15 * 10**9]
    assert rows["mode"].to_list() == ["startup", "drain", "probe_bw", "probe_rtt", "probe_bw"]
    for place in (0, 1, 3):
        share = (times_ns[place + 1] - times_ns[place]) / 15e9
        assert values_of(lone, f"mode_share:{rows['mode'][place]}@run") == [pytest.approx(share)]
    every = catalogue.algorithm("bbr").modes
    shares = values_of(lone, *(f"mode_share:{mode}@run" for mode in every))
    assert sum(value for value in shares if value is not None) == pytest.approx(1)
    assert values_of(lone, *(f"mode_entries:{mode}@run" for mode in every)) == [1, 1, 2, 1]


def test_windows_know_the_mode_in_which_they_begin(lone: Run) -> None:
    assert values_of(lone, "mode_share:probe_bw@middle", "mode_entries:probe_bw@middle") == [1, 0]
    share, entries = values_of(lone, "mode_share:probe_rtt@late", "mode_entries:probe_rtt@late")
    assert share == pytest.approx(0.24 / 6, rel=0.3)
    assert entries == 1
    assert values_of(lone, "mode_share:startup@late", "mode_entries:startup@late") == [0, 0]


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 3)), min_size=1, max_size=20),
    st.integers(0, 60),
    st.integers(1, 60),
)
def test_a_share_is_that_of_all_instants(
    changes: list[tuple[int, int]], start_ns: int, length_ns: int
) -> None:
    changes.sort(key=lambda change: change[0])
    times = np.array([time for time, _ in changes])
    rows = Counters(times, {"mode": np.array([float(mode) for _, mode in changes])})
    span = Span(start_ns, start_ns + length_ns)
    instants = [
        [mode for time, mode in changes if time <= instant][-1]
        for instant in range(span.start_ns, span.end_ns)
        if instant >= times[0]
    ]
    for mode in range(4):
        expected = instants.count(mode) / len(instants) if instants else None
        assert modes._share(rows, mode, span) == (expected and pytest.approx(expected))


def test_a_flow_has_modes_while_it_is_on(several: Run) -> None:
    cubic = catalogue.algorithm("cubic").modes
    shares = values_of(several, *(f"mode_share:{mode}[pair]@run" for mode in cubic))
    assert sum(value for value in shares if value is not None) == pytest.approx(1)
    is_pair = pl.col("label").cast(pl.String).str.starts_with("pair")
    rows = named_modes(several).filter(is_pair, pl.col("time_ns") < 11 * 10**9)
    entries = values_of(several, *(f"mode_entries:{mode}[pair]@run" for mode in cubic))
    assert sum(value for value in entries if value is not None) == rows.height
    # What the algorithm does not have, and flows without any.
    for name in ("pair", "reno 1", "call"):
        assert values_of(several, f"mode_share:drain[{name}]@run") == [None]
        assert values_of(several, f"mode_entries:drain[{name}]@run") == [None]
    assert values_of(several, "mode_entries:drain@run") == [1]


def test_without_the_table_there_is_nothing() -> None:
    run = ran({"algorithm": "bbr"}, modes=False)
    assert named_modes(run).is_empty()
    assert values_of(run, "mode_share:drain@run", "mode_entries:drain@run") == [None, None]
    assert [table.heads[0] for table in run_totals.of_run(run)] == ["flow", "queue"]


def test_a_run_tells_of_modes_beside_flows(several: Run) -> None:
    [totals] = [table for table in run_totals.of_run(several) if table.heads[0] == "mode of"]
    rows = {row[:2]: row[2:] for row in totals.rows}
    assert rows["bbr 1", "startup"][0] == "1"
    assert ("pair (2 connections)", "slow_start") in rows
    assert not any(name in {"reno 1", "call"} for name, _ in rows)


def test_the_rest_of_a_run_is_the_same(lone: Run) -> None:
    without = ran({"algorithm": "bbr"}, algorithm_state=True, modes=False)
    assert without.key != lone.key
    assert without.summary == lone.summary
    for name in ("flows", "queues", "events", "internals"):
        assert without.scan(name).collect().equals(lone.scan(name).collect())


def test_runs_without_modes_keep_their_keys() -> None:
    assert "modes" not in plain(resolved())["record"]
    assert plain(resolved({"record.modes": True}))["record"]["modes"] is True
    assert resolved({"record.modes": False}).key == resolved().key


def test_the_table_is_stored_and_read_again(tmp_path: Path) -> None:
    tables = {"duration": "2s", "network": PATH, "record": {"modes": True}}
    scenario = Scenario.parse({**tables, "flow": [{"algorithm": "bbr3"}]}).resolve()
    store = Store(tmp_path)
    store.put(scenario, SimulatorEngine().run(scenario))
    run = store.get(scenario.key)
    assert named_modes(run)["mode"].to_list()[:2] == ["startup", "drain"]
    assert named_modes(run).equals(named_modes(simulate(scenario)))
    store.verify(scenario.key, contents=True)


def test_an_algorithm_of_ones_own_has_modes(tmp_path: Path) -> None:
    (tmp_path / "turns.c").write_text(TURNS)
    run = ran({"algorithm": "./turns.c"}, folder=tmp_path)
    rows = named_modes(run)
    # A mode without a name keeps its number.
    assert rows["mode"].to_list()[:5] == ["odd", "even", "2", "odd", "even"]
    assert rows["acks"].to_list()[:5] == [0, 10, 20, 30, 40]
    even = values_of(run, "mode_entries:even@run")[0]
    assert even == rows.filter(pl.col("mode") == "even").height


@pytest.mark.parametrize(
    ("whole", "broken", "problem"),
    [
        ('{"acks", "mode"}', '{"acks"}', 'names its modes but reports none; add "mode"'),
        (" H(turns, info)", "", "names its modes but has no info"),
    ],
)
def test_modes_that_nobody_can_tell_are_refused(
    whole: str, broken: str, problem: str, tmp_path: Path
) -> None:
    unused = TURNS.replace(
        "static void turns_info", "__attribute__((unused)) static void turns_info"
    )
    (tmp_path / "turns.c").write_text(unused.replace(whole, broken))
    with pytest.raises(InputError) as caught:
        ran({"algorithm": "./turns.c"}, folder=tmp_path)
    assert problem in str(caught.value)


def test_an_algorithm_that_reports_nothing_has_no_table(tmp_path: Path) -> None:
    (tmp_path / "turns.c").write_text(TURNS.replace(', .mode_names = {"odd", "even"}', ""))
    assert named_modes(ran({"algorithm": "./turns.c"}, folder=tmp_path)).is_empty()


def test_the_testbed_needs_samples() -> None:
    scenario = resolved({"record.modes": True, "record.interval": "none"})
    with pytest.raises(InputError) as caught:
        testbed.TestbedEngine().run(scenario)
    assert str(caught.value) == snapshot(
        'record.modes = true: on the testbed samples show the modes of algorithms; valid: record = { modes = true, interval = "10ms" }; or the simulator'
    )
    assert caught.value.key == "record.modes"


STUDY = """
study = {{ name = "modes", title = "Modes", authors = [], year = 2026 }}
[scenario]
duration = "10s"
network = {{ rate = "12mbit", rtt = "50ms", queue = "1bdp" }}
[[test]]
name = "one"
title = "One flow"
[test.axes]
algorithm = ["bbr"]
[test.scenario]
flow = [{{ algorithm = "{{algorithm}}" }}]
{record}
"""


@pytest.mark.parametrize(
    ("record", "quantity", "problem"),
    [
        ("record = { modes = true }", "mode_share:drain", None),
        ("record = { modes = true }", "mode_entries:tcp_friendly[1]", None),
        ("record = { modes = true }", "mode_share:dran", "unknown mode"),
        ("record = { modes = true }", "mode_share", "takes a mode behind a colon"),
        ("", "mode_share:drain", "the test one does not record"),
    ],
)
def test_a_study_names_modes_that_there_are_and_are_recorded(
    record: str, quantity: str, problem: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "modes.toml"
    path.write_text(STUDY.format(record=record))
    vocabulary = Vocabulary(Study.load(path).plan)
    use = Use("y", What.QUANTITY, quantity, "one")
    if problem is None:
        vocabulary.check(use)
        return
    with pytest.raises(InputError) as caught:
        vocabulary.check(use)
    assert problem in caught.value.problem


SCENARIO = """
duration = "2s"
network = { rate = "20mbit", rtt = "40ms", queue = "1bdp" }
record = { modes = true }
[[flow]]
algorithm = "bbr"
"""


@pytest.fixture
def dumbbell(dumbbell: Command, tmp_path: Path) -> Command:
    (tmp_path / "one.toml").write_text(SCENARIO)
    return dumbbell


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_all_tables_are_written_out(suffix: str, dumbbell: Command, tmp_path: Path) -> None:
    output = dumbbell("simulate", "one.toml", "--tables", f"it.{suffix}")
    assert output.code == 0, output.err
    assert "probe_bw" in output.out
    written = sorted(path.name for path in tmp_path.glob("it*"))
    assert written == [f"it-{name}.{suffix}" for name in ("events", "flows", "modes", "queues")]
    read = pl.read_csv if suffix == "csv" else pl.read_parquet
    rows = read(tmp_path / f"it-modes.{suffix}")
    assert rows["mode"].to_list() == ["startup", "drain", "probe_bw"]
    assert rows["cwnd_gain_x256"].to_list() == [739, 739, 512]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("no/where.csv", '"no": no such folder'),
        ("taken.csv", 'taken-queues.csv": cannot be written'),
        ("a.txt", "neither CSV nor Parquet"),
        (".", "neither CSV nor Parquet"),
    ],
)
def test_tables_that_cannot_be_written_are_refused_before_the_run(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, wanted: str
) -> None:
    monkeypatch.delattr(SimulatorEngine, "run")
    (tmp_path / "taken-queues.csv").mkdir()
    output = dumbbell("simulate", "one.toml", "--tables", name)
    assert_refused(output)
    assert output.err.startswith("error: --tables: ")
    assert wanted in output.err
