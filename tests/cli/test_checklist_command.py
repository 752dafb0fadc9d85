"""``dumbbell checklist``: its table, its exit code, its files."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from typer.testing import CliRunner, Result

import short_checklist
from command_line import sentence
from dumbbell.base.errors import InputError
from dumbbell.cli.commands import app
from dumbbell.experiments.checklist import suite


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Judge two clauses by few runs, in a folder of the test."""
    short_checklist.installed(monkeypatch)
    monkeypatch.chdir(tmp_path)


def invoked(*words: str) -> Result:
    return CliRunner().invoke(
        app, ["checklist", *words, "--quick"], env={"COLUMNS": "80", "NO_COLOR": "1"}
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results with all runs that are judged here."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        short_checklist.installed(patch)
        patch.chdir(folder)
        assert invoked("bbr", "vegas").exit_code == 0
    return folder / "results"


@pytest.fixture
def _stored(made: Path, tmp_path: Path) -> None:
    """Have these results in the folder of the test. Linked, as no file of them is written again."""
    shutil.copytree(made, tmp_path / "results", copy_function=os.link)


def checklist(*words: str) -> tuple[int, str]:
    result = invoked(*words)
    return result.exit_code, result.stdout


@pytest.mark.usefixtures("_stored")
def test_a_table_fits_a_terminal_and_shows_value_references_and_bound() -> None:
    code, text = checklist("bbr")
    assert code == 0  # what fails is no MUST
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    (row,) = (line for line in lines if line.startswith("✗ 5.1.3 high-loss  "))
    assert row.split()[3] == "%"
    assert row.rstrip().endswith("≤ 1")
    assert "BBR passes 1 MUST clause." in text
    assert "Not judged: 4 Controlled environments" in text
    assert "<svg" in Path("checklist.html").read_text()


@pytest.mark.usefixtures("_stored")
def test_a_must_that_fails_is_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = suite.load()
    must = tuple(clause.model_copy(update={"level": suite.Level.MUST}) for clause in cut.clauses)
    monkeypatch.setattr(suite, "load", lambda: cut.model_copy(update={"clauses": must}))
    code, text = checklist("bbr")
    assert code == 1
    assert "fails 1 of 2 MUST clauses: 5.1.3 high-loss." in text


@pytest.mark.usefixtures("_stored")
def test_a_baseline_forgives_what_failed_before() -> None:
    code, _ = checklist("bbr", "--save-baseline", "base.json")
    assert code == 0
    verdicts = json.loads(Path("base.json").read_text())
    assert verdicts == {"S03": "expectation failed", "M03": "expectation met"}
    assert checklist("bbr", "--baseline", "base.json")[0] == 0
    Path("base.json").write_text(json.dumps(dict.fromkeys(verdicts, "expectation met")))
    worse = invoked("bbr", "--baseline", "base.json")
    assert worse.exit_code == 1
    assert re.search(r"worse: 5\.1\.3 high-loss \(", worse.stderr)
    assert checklist("bbr", "--baseline", "base.json", "--clauses", "no-feedback")[0] == 0
    assert checklist("bbr", "--baseline", "base.json", "--clauses", "high-loss")[0] == 1


@pytest.mark.usefixtures("_stored")
def test_json_has_every_check_with_its_bound() -> None:
    _, text = checklist("bbr", "--json", "--page", "bbr.html")
    data = json.loads(text)
    assert data["passes"] is True
    (loss,) = (row for row in data["clauses"] if row["name"] == "high-loss")
    assert loss["verdict"] == "fails"
    (check,) = loss["checks"]
    assert check["bound_by"] == "Dumbbell"
    assert check["measured"]["bbr"]["worst"] >= check["measured"]["bbr"]["value"] > check["bound"]
    assert {"reno", "cubic"} < check["measured"].keys()
    assert "7.10" in {row["section"] for row in data["not_judged"]}


@pytest.mark.usefixtures("_stored")
def test_several_algorithms_make_an_overview() -> None:
    _, text = checklist("bbr", "vegas", "--markdown", "all.md")
    (row,) = (line for line in text.splitlines() if line.startswith("bbr"))
    assert "5.1.3 high-loss" in row
    assert "| vegas | none | none | none |" in Path("all.md").read_text()
    assert not Path("checklist.html").exists()


@pytest.mark.usefixtures("_stored")
def test_some_clauses_alone_run_no_test_of_the_others() -> None:
    _, whole = checklist("bbr", "--json")
    code, text = checklist("bbr", "--clauses", "high-loss")
    assert code == 0
    assert "✗ 5.1.3 high-loss" in text
    assert "no-feedback" not in text
    assert sentence(text, "were left out") == snapshot("1 of 2 clauses were left out.")
    assert "were left out" in Path("checklist.html").read_text()
    _, text = checklist("bbr", "--clauses", "5.1.3", "--json")
    (clause,) = json.loads(text)["clauses"]
    assert clause in json.loads(whole)["clauses"], "the same runs, the same verdict"
    _, text = checklist("bbr", "vegas", "--clauses", "5.1.3,no-feedback", "--markdown", "all.md")
    assert "were left out" not in text + Path("all.md").read_text()


@pytest.mark.parametrize("name", ["hihg-loss", ","])
def test_a_clause_that_is_none_is_refused(name: str) -> None:
    result = CliRunner().invoke(app, ["checklist", "bbr", "--clauses", name])
    assert isinstance(result.exception, InputError)
    assert "high-loss" in str(result.exception) or "names no clause" in str(result.exception)
    assert not Path("results").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("bbr", "--page", "page.pdf"),
        ("bbr", "vegas", "--page", "page.html"),
        ("bbr", "vegas", "--baseline", "base.json"),
        ("bbr", "--engine", "both", "--save-baseline", "base.json"),
        ("bbr", "--against", ","),
        ("bbr", "--suite", "bbr-draft", "--clauses", "harm"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, ["checklist", *words, "--quick"])
    assert type(result.exception).__name__ == "InputError"
    assert not Path("results").exists()
