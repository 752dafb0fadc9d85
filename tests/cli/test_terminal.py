"""Use of the command: its options, and its tables in narrow terminals."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from rich import box
from rich.table import Table

import dumbbell as library
from command_line import Command, line
from dumbbell.cli import output
from dumbbell.figures.charts import Offline
from dumbbell.scenario.model import Scenario

EXAMPLE = Path(__file__).parents[2] / "examples" / "two-flows.toml"


def test_the_version_is_said(dumbbell: Command) -> None:
    output = dumbbell("--version")
    assert output.code == 0
    assert output.out.startswith("dumbbell 0.")


def test_help_has_a_short_option(dumbbell: Command) -> None:
    assert dumbbell("-h").out == dumbbell("--help").out
    assert "--rtt" in dumbbell("compare", "-h").out


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
def test_tables_fit_and_nothing_is_cut_off(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch, columns: int, tmp_path: Path
) -> None:
    short = EXAMPLE.read_text().replace("120s", "21s")
    (tmp_path / "short.toml").write_text(short)
    monkeypatch.setenv("COLUMNS", str(columns))
    output = dumbbell("simulate", "short.toml")
    assert max(map(len, output.out.splitlines())) <= columns
    # Heads of columns may be broken between words, and within the longest.
    words = set(output.out.split())
    if {"retrans-", "mitted"} <= words:
        words.add("retransmitted")
    for head in ("retransmitted (%)", "congestion events", "timeouts", "max backlog (packets)"):
        assert words.issuperset(head.split())
    assert "…" not in output.out


@pytest.mark.parametrize("columns", ["0", "00", "-1", "x", "", "9" * 5000])
def test_a_width_that_is_none_is_unknown(tmp_path: Path, columns: str) -> None:
    def printed(**environment: str) -> str:
        without = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        command = [sys.executable, "-m", "dumbbell.cli", "list", "stacks"]
        done = subprocess.run(
            command, cwd=tmp_path, env=without | environment, capture_output=True, check=True
        )
        return done.stdout.decode()

    assert printed(COLUMNS=columns) == printed() != ""


def test_a_check_has_a_line_for_each_row_in_a_terminal(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long remedy is folded in its column; the table is not stacked for it."""
    monkeypatch.setenv("COLUMNS", "80")
    dumbbell("new", "my_cc")
    Path("my_cc.expect").write_text("case growth\nack 1\nexpect cwnd 99\n")
    lines = dumbbell("check", "./my_cc.c", "--only", "expected-states").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len([text for text in lines if text.startswith("check")]) == 1
    assert any(text.startswith("✗ states") and "my_cc.expect:3" in text for text in lines)


def test_a_title_in_the_first_head_stays_in_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    heads = ("by size: ≤ 10 kB", "finished", "mean (ms)")
    output.print_table(table(heads, ("reno", "30 ± 96", "0.1 ± 0.2")))
    assert capsys.readouterr().out.splitlines()[0].startswith("by size: ≤ 10 kB")


def test_a_long_word_in_a_head_is_broken_where_its_cells_are_narrower(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    output.print_table(table(("", "retransmitted (%)"), ("reno", "0.1 ± 0.2")))
    heads = capsys.readouterr().out.splitlines()[:3]
    assert [line.split()[-1] for line in heads] == ["retrans-", "mitted", "(%)"]


def test_units_of_rows_move_below_them_before_rows_are_stacked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "46")
    rows = [(f"goodput of flow {number} (Mbit/s)", "9 ± 16", "10 ± 12") for number in (1, 2)]
    output.print_table(table(("", "kernel", "simulator"), *rows))
    assert "goodput of flow 1 (Mbit/s)" in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "38")
    output.print_table(table(("", "kernel", "simulator"), *rows))
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[2:]] == ["goodput", "(Mbit/s)"] * 2
    assert printed[2].split() == ["goodput", "of", "flow", "1", "9", "±", "16", "10", "±", "12"]


def table(heads: Sequence[str], *rows: Sequence[str]) -> Table:
    made = Table(*heads, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for row in rows:
        made.add_row(*row)
    return made


def test_a_dry_run_runs_nothing(dumbbell: Command) -> None:
    output = dumbbell("run", "mani2012", "--quick", "--dry-run")
    assert output.code == 0
    assert line(output.out, "runs") == snapshot("174 runs, 0 of them are there")
    assert "packets" in output.out
    assert not Path("results/runs").exists() or not list(Path("results/runs").iterdir())


def test_the_readmes_scenario_is_the_example() -> None:
    readme = (EXAMPLE.parents[1] / "README.md").read_text()
    table = EXAMPLE.read_text().split("\n", 1)[1]
    assert f"```toml\n{table}```" in readme
    Scenario.load(EXAMPLE).resolve()


def test_charts_in_notebooks_need_no_network(tmp_path: Path) -> None:
    short = tmp_path / "short.toml"
    short.write_text(EXAMPLE.read_text().replace("120s", "21s"))
    chart = library.simulate(short).chart("cwnd")
    assert isinstance(chart, Offline)
    bundle = chart._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "cdn" not in bundle["image/svg+xml"]
    assert bundle["application/vnd.vegalite.v6+json"]["vconcat"]
