"""The page of commands: one for each figure and table, with its expected time."""

from __future__ import annotations

from pathlib import Path

import pytest
from artifact import commands
from inline_snapshot import snapshot

import small_study
from dumbbell.base.errors import InputError
from dumbbell.base.labels import duration
from dumbbell.engines import engines
from dumbbell.store.campaigns import Effort, Logbook
from dumbbell.store.extent import Extent
from dumbbell.store.store import Store
from dumbbell.study.model import Study


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Return the small study, found by its name."""
    monkeypatch.chdir(tmp_path)
    small_study.write(Path("studies/small"))
    return Study.load("small")


def logged(folder: Path, study: str, packets: int, wall_s: float) -> Store:
    """Return a results folder with the log of a command that took so long."""
    store = Store(folder)
    store.create()
    identity = engines.named("simulator").identity
    with Logbook(store, study, identity, quick=False, jobs=2) as book:
        book._began_s -= wall_s
        book.note(Extent(runs=4, packets=packets), 0)
    return store


def test_each_figure_has_its_command_its_runs_and_its_claims(study: Study) -> None:
    pieces = commands.of_study(study, []).pieces
    assert [(each.what, each.command, each.runs, each.claims) for each in pieces] == snapshot(
        [
            ("fig1", "dumbbell run small:fig1", 16, ["A01"]),
            ("fig2", "dumbbell run small:fig2", 16, ["A01"]),
            ("fig3", "dumbbell run small:fig3", 4, []),
            ("Section 9", "dumbbell run small:A02,A03", 18, ["A02", "A03"]),
        ]
    )


def test_the_whole_study_is_the_last_row(study: Study) -> None:
    whole = commands.of_study(study, []).whole
    assert (whole.command, whole.runs) == ("dumbbell run small", len(study.runs()))


def test_time_is_packets_by_the_pace_of_what_ran_before(study: Study, tmp_path: Path) -> None:
    store = logged(tmp_path / "results", "small", 1_000_000, 100)
    found = commands.of_study(study, [store])
    (row,) = (line for line in commands.page([found]).splitlines() if "small:fig1" in line)
    fig1 = found.pieces[0]
    assert found.effort.packets_per_s == pytest.approx(1e4, rel=1e-3)
    expected = duration(fig1.packets / (found.effort.packets_per_s or 0.0))
    assert f"| {fig1.runs} |" in row
    assert f"| {expected} |" in row


def test_a_study_without_a_log_has_the_pace_of_the_others(study: Study, tmp_path: Path) -> None:
    store = logged(tmp_path / "results", "other", 1_000_000, 100)
    known = commands.of_study(study, [store])
    assert known.effort.packets_per_s is None
    other = commands.Commands(study, [], known.whole, Effort(1, packets=10, wall_s=1))
    assert "by other studies" in commands.page([known, other])


def test_without_any_log_there_is_no_page(study: Study, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder has a log"):
        commands.page([commands.of_study(study, [Store(tmp_path / "empty")])])


def test_what_needs_no_runs_says_so() -> None:
    found = commands.of_study(Study.load("mani2012"), [])
    (row,) = (each for each in found.pieces if each.what == "Section I, Scalable TCP")
    assert (row.runs, row.command) == (0, "dumbbell claims mani2012")


@pytest.mark.parametrize("name", ["li2007", "mani2012"])
def test_every_claim_stands_somewhere(name: str) -> None:
    study = Study.load(name)
    found = commands.of_study(study, [])
    listed = {claim for each in found.pieces for claim in each.claims}
    assert listed == {each.id for each in study.claims}
