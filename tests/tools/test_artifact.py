"""The page of commands: one for each figure and table, with its expected time."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from artifact import commands
from inline_snapshot import snapshot

import small_study
from dumbbell.base.labels import amount, duration
from dumbbell.engines.sizes import expected_packets
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.study.model import Study


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Return the small study, found by its name."""
    monkeypatch.chdir(tmp_path)
    small_study.write(Path("studies/small"))
    return Study.load("small")


def counted(scenario: ResolvedScenario) -> float:
    """Take a millisecond for each thousand packets."""
    return expected_packets(scenario.scenario) / 1e6


def test_each_figure_has_its_command_its_runs_and_its_claims(study: Study) -> None:
    pieces = commands.of_study(study, counted).pieces
    assert [(piece.what, piece.command, piece.runs, piece.claims) for piece in pieces] == snapshot(
        [
            ("fig1", "dumbbell run small:fig1", 16, ["A01"]),
            ("fig2", "dumbbell run small:fig2", 16, ["A01"]),
            ("fig3", "dumbbell run small:fig3", 4, []),
            ("Section 9", "dumbbell run small:A02,A03", 18, ["A02", "A03"]),
        ]
    )


def test_the_whole_study_is_the_last_row(study: Study) -> None:
    whole = commands.of_study(study, counted).whole
    assert (whole.command, whole.runs) == ("dumbbell run small", len(study.runs()))


def test_time_is_packets_by_what_one_takes_on_two_processors(study: Study) -> None:
    artifact = commands.of_study(study, counted)
    (row,) = (line for line in commands.page([artifact]).splitlines() if "small:fig1" in line)
    packets = sum(artifact.pieces[0].packets.values())
    assert f"| {artifact.pieces[0].runs} | {amount(packets)} | {duration(packets / 2e6)} |" in row


def test_each_test_has_its_own_pace(study: Study) -> None:
    def slow_without_rate(scenario: ResolvedScenario) -> float:
        return counted(scenario) * (10 if len(scenario.scenario.flows) == 1 else 1)

    artifact = commands.of_study(study, slow_without_rate)
    assert artifact.paces == pytest.approx({"fairness": 1e-6, "lossy": 1e-5})
    fairness, lossy = (artifact.whole.packets[test] for test in ("fairness", "lossy"))
    assert artifact.whole.seconds(artifact.paces) == pytest.approx(1e-6 * fairness + 1e-5 * lossy)


def test_the_pace_is_that_of_a_run(study: Study) -> None:
    run = study.runs(where={"test": "lossy"})[0]
    assert 0 < commands.processor_time(run.resolved) < 60


@functools.cache
def shipped(name: str) -> commands.Commands:
    """Return the commands of a study that ships, whose runs take long to plan."""
    return commands.of_study(Study.load(name), counted)


def test_what_needs_no_runs_says_so() -> None:
    artifact = shipped("mani2012")
    (row,) = (piece for piece in artifact.pieces if piece.what == "Section I, Scalable TCP")
    assert (row.runs, row.command) == (0, "dumbbell claims mani2012")


@pytest.mark.parametrize("name", ["li2007", "mani2012"])
def test_every_claim_stands_somewhere(name: str) -> None:
    artifact = shipped(name)
    listed = {claim for piece in artifact.pieces for claim in piece.claims}
    assert listed == {claim.id for claim in artifact.study.claims}
