"""``dumbbell checklist --suite bbr-draft``: its table, its exit code, its files, its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from typer.testing import CliRunner

from command_line import sentence
from dumbbell.cli.commands import app
from dumbbell.experiments.cases import suite


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Judge by three short cases, in a folder of the test."""
    whole = suite.load()
    kept = tuple(case for case in whole.cases if case.number in (1, 3, 4))
    monkeypatch.setattr(suite, "load", lambda: whole.model_copy(update={"cases": kept}))
    monkeypatch.chdir(tmp_path)


def checklist(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(
        app,
        ["checklist", *words, "--suite", "bbr-draft"],
        env={"COLUMNS": "80", "NO_COLOR": "1"},
    )
    return result.exit_code, result.stdout


def test_a_case_that_fails_is_a_row_a_reason_and_exit_code_1() -> None:
    code, text = checklist("bbr3")
    assert code == 1
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    (row,) = (line for line in lines if line.startswith("✗  3 drain-inflight "))
    assert row.split()[-4:] == ["0.3438", "0.49", "to", "0.51"]
    unwrapped = " ".join(text.split())
    assert sentence(unwrapped, "full_bw_count are") == snapshot(
        "full_bw_now and full_bw_count are not exported."
    )
    assert "It fails 3: A.1, A.3 and A.4." in unwrapped
    assert "<h3>A.3 Exiting DRAIN Based on Inflight</h3>" in Path("bbr-draft.html").read_text()


def test_what_passes_is_exit_code_0_and_json_has_every_check() -> None:
    code, text = checklist("bbr3@draft", "--json", "--page", "own.html")
    assert code == 0
    data = json.loads(text)
    assert data["passes"] is True
    case = next(row for row in data["cases"] if row["number"] == 4)
    assert case["verdict"] == "passes"
    assert 0.3 < case["changed_at_s"][0] < 1
    rounds = next(row for row in case["checks"] if row["label"] == "rounds of DRAIN")
    assert rounds["least"] <= rounds["found"] <= rounds["most"]
    assert Path("own.html").exists()


def test_several_algorithms_make_a_table_of_what_each_passes() -> None:
    code, text = checklist("bbr3", "bbr3@draft", "--markdown", "all.md")
    assert code == 1
    (row,) = (line for line in text.splitlines() if line.startswith(" 3 drain-inflight"))
    assert row.split()[2:] == ["✗", "✓"]
    assert Path("all.md").read_text().splitlines()[0] == snapshot(
        "# BBR by the cases of draft-ietf-ccwg-bbr"
    )
    assert not Path("bbr-draft.html").exists()


def test_a_baseline_forgives_what_failed_before() -> None:
    assert checklist("bbr3", "--save-baseline", "base.json")[0] == 1
    assert json.loads(Path("base.json").read_text())["A.3"] == "expectation failed"
    assert checklist("bbr3", "--baseline", "base.json")[0] == 0
    assert checklist("bbr3@draft", "--save-baseline", "better.json")[0] == 0
    assert checklist("bbr3", "--baseline", "better.json")[0] == 1


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("bbr3", "--quick"), "--quick"),
        (("bbr3", "--against", "reno"), "--against"),
        (("bbr3", "--engine", "testbed"), "--engine"),
        (("bbr3", "--at-most", "3"), "--at-most"),
        (("bbr3", "bbr", "--save-baseline", "base.json"), "--save-baseline"),
        (("bbr3", "--page", "page.pdf"), "--page"),
        (("bbr3", "bbr", "--page", "page.html"), "--page"),
        (("reno",), "algorithm"),
    ],
)
def test_what_does_not_go_together_is_refused(words: tuple[str, ...], key: str) -> None:
    result = CliRunner().invoke(app, ["checklist", *words, "--suite", "bbr-draft"])
    assert type(result.exception).__name__ == "InputError"
    assert getattr(result.exception, "key", "") == key
    assert not Path("results").exists()
