"""Algorithms compared in a scenario: that of a file, or one that ships."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from command_line import Command, assert_refused
from dumbbell.study.model import Study

FILE = """
duration = "6s"
seed = 4

[network]
rate = "10mbit"
rtt = "20ms"
queue = "40p"

[[flow]]
transport = "udp"
rate = "100kbit"
packet = "250b"
label = "call"

[[flow]]
count = 4
label = "download"

[[flow]]
algorithm = "reno"
label = "rival"
"""


@pytest.fixture(autouse=True)
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)


def test_each_algorithm_takes_the_flows_that_name_none(dumbbell: Command) -> None:
    output = dumbbell("compare", "cubic", "vegas", "--on", "home.toml", "--runs", "2")
    assert "4 run, 0 reused, 0 failed" in output.err
    (folder,) = Path("results/experiments").iterdir()
    study = Study.load(folder.name, Path("results"))
    ran = {}
    for run in study.runs():
        flows = run.resolved.scenario.flows
        tcp = [flow.transport.tcp for flow in flows if flow.transport.tcp is not None]
        ran[run.axes["algorithm"]] = [flow.algorithm for flow in tcp]
    assert ran == {"cubic": ["cubic"] * 4 + ["reno"], "vegas": ["vegas"] * 4 + ["reno"]}
    assert [spec.name for spec in study.figures] == ["over-time", "delays"]
    again = dumbbell("compare", "cubic", "vegas", "--on", "home.toml", "--runs", "2")
    assert "0 run, 4 reused" in again.err
    assert again.out == output.out


def test_tables_have_the_call_next_to_the_downloads(dumbbell: Command) -> None:
    """Vegas keeps the queue short, so the call takes less time next to it than next to CUBIC."""
    arguments = ("compare", "cubic", "vegas", "--on", "home.toml", "--runs", "1", "--json")
    tables = dumbbell(*arguments).json
    flows = {row["flow: download × 4"]: row for row in tables[1]["rows"]}
    assert set(flows) == {"CUBIC", "Vegas"}
    (calls,) = [table["rows"] for table in tables if "datagrams: call" in table["rows"][0]]
    by_name = {row["datagrams: call"]: row for row in calls}
    assert by_name["CUBIC"]["99 % (ms)"] is None, "300 datagrams are too few"
    assert 0 < by_name["CUBIC"]["50 % (ms)"] < 10 + 40 * 1.2 + 1
    rivals = [table["rows"] for table in tables if "flow: rival" in table["rows"][0]]
    assert [row["algorithm"] for row in rivals[0]] == ["reno", "reno"]


def test_csv_has_a_row_for_each_flow_and_algorithm(dumbbell: Command) -> None:
    text = dumbbell("compare", "cubic", "vegas", "--on", "home.toml", "--runs", "2", "--csv").out
    rows = [(row["flow"], row["of"]) for row in csv.DictReader(io.StringIO(text))]
    flows = ("call", "download × 4", "rival")
    assert rows == [(flow, label) for flow in flows for label in ("CUBIC", "Vegas")]


def test_flows_without_a_label_are_one_row_of_each_algorithm(dumbbell: Command) -> None:
    """They are called by their algorithm, so by name no row would be that of another algorithm."""
    Path("two.toml").write_text(FILE.replace('count = 4\nlabel = "download"', "count = 2"))
    tables = dumbbell("compare", "cubic", "vegas", "--on", "two.toml", "--runs", "2", "--json").json
    (rows,) = [table["rows"] for table in tables if "flow: compared × 2" in table["rows"][0]]
    assert [row["flow: compared × 2"] for row in rows] == ["CUBIC", "Vegas"]
    assert [row["algorithm"] for row in rows] == ["cubic", "vegas"]
    for row in rows:
        assert row["least of a flow"] <= row["goodput (Mbit/s)"] / 2 <= row["most of a flow"]
    heads = [next(iter(table["rows"][0])) for table in tables]
    assert [head for head in heads if head.startswith("flow: ")] == [
        "flow: call",
        "flow: compared × 2",
        "flow: rival",
    ]


def test_presets_of_an_algorithm_are_rows_of_their_own(dumbbell: Command) -> None:
    Path("near.toml").write_text('algorithm = "cubic"\nparameters = { kept = 800 }\n')
    Path("deep").mkdir()
    Path("home.toml").rename("deep/home.toml")
    choices = ("cubic@near.toml", "cubic@abe", "cubic")
    arguments = ("--on", "deep/home.toml", "--runs", "1", "--json")
    tables = dumbbell("compare", *choices, *arguments).json
    assert [row["flow: download × 4"] for row in tables[1]["rows"]] == [
        "CUBIC (cubic@near.toml)",
        "CUBIC (cubic@abe)",
        "CUBIC",
    ]


def test_a_flow_of_the_file_that_is_called_as_the_algorithm_keeps_its_name(
    dumbbell: Command,
) -> None:
    Path("like.toml").write_text(FILE.replace('"rival"', '"cubic"').replace('"download"', '"all"'))
    tables = dumbbell("compare", "cubic", "--on", "like.toml", "--runs", "1", "--json").json
    heads = {next(iter(table["rows"][0])) for table in tables}
    assert {"flow: all × 4", "flow: cubic"} <= heads


def test_a_scenario_that_ships_is_known_by_its_name(dumbbell: Command) -> None:
    output = dumbbell("compare", "reno", "--on", "dial-up", "--duration", "12s", "--runs", "1")
    assert "1 run, 0 reused, 0 failed" in output.err
    assert "Standard TCP" in output.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cubic", "--on", "nowhere"), "unknown scenario"),
        (("cubic", "--on", "home.toml", "--rate", "10mbit"), "--rate"),
        (("cubic", "--on", "home.toml", "--stack", "rfc"), "--stack"),
        (("cubic", "--on", "home.toml", "--slow-start", "search"), "--slow-start"),
        (("cubic", "--on", "home.toml", "--duration", "5"), "duration"),
        (("cubik", "--on", "home.toml"), "cubik"),
        (("--on", "home.toml"), "nothing to compare"),
        (
            ("prague", "cubic", "--on", "l4s-coexistence"),
            "l4s-coexistence.toml: stack.switches.ecn",
        ),
        (("cubic", "--on", "named.toml"), "all its flows name their algorithms"),
        (("cubic", "--rate", "10mbit"), "--rtt: is missing"),
        (("cubic",), "--rate: is missing"),
    ],
)
def test_what_is_wrong_is_refused(
    dumbbell: Command, arguments: tuple[str, ...], words: str
) -> None:
    Path("named.toml").write_text(FILE.replace("count = 4", 'algorithm = "cubic"\ncount = 4'))
    output = dumbbell("compare", *arguments)
    assert_refused(output)
    assert words in output.err


def test_a_file_with_code_is_found_from_where_the_command_runs(
    dumbbell: Command, tmp_path: Path
) -> None:
    dumbbell("new", "mine")
    (tmp_path / "deep").mkdir()
    Path("deep/home.toml").write_text(FILE)
    output = dumbbell("compare", "./mine.c", "--on", "deep/home.toml", "--runs", "1")
    assert "1 run, 0 reused, 0 failed" in output.err
