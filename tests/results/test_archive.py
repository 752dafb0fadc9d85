"""The runs of a study as one file, to be published with its pages."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command, assert_refused, sentence
from dumbbell.base import tree
from dumbbell.results import archive


@pytest.fixture
def dumbbell(dumbbell: Command, tmp_path: Path) -> Command:
    small_study.write(tmp_path / "studies" / "small")
    assert dumbbell("run", "small", "--quick", "--where", "test=fairness").code == 0
    assert dumbbell("run", "small", "--where", "rtt=20ms", "--where", "test=fairness").code == 0
    return dumbbell


def unpacked() -> Path:
    # Python 3.11.2, that of Debian 12, has no filters for tar files; later ones demand one.
    folder = Path("elsewhere")
    folder.mkdir()
    subprocess.run(["tar", "-xf", "out/small-runs.tar", "-C", folder], check=True)
    return folder / "small-runs"


def test_what_it_holds_gives_the_same_verdicts(dumbbell: Command) -> None:
    before = dumbbell("claims", "small", "--json").json
    output = dumbbell("store", "archive", "small", "--output", "out")
    assert output.code == 0, output.err
    # Full runs take the place of the quick ones.
    assert output.out.startswith("8 runs in out/small-runs.tar, ")
    folder = unpacked()
    again = dumbbell("claims", "small", "--results", folder / "results", "--json").json
    assert again == before
    assert dumbbell("store", "check", "--results", folder / "results").out == (
        "8 results, 0 damaged\n"
    )


def test_it_says_what_it_is(dumbbell: Command) -> None:
    dumbbell("store", "archive", "small", "--output", "out")
    readme = (unpacked() / "README.txt").read_text()
    assert tree.identity() in readme
    assert sentence(readme, "8 runs").rpartition(" ")[0] == snapshot(
        "8 runs of the engine simulator"
    )
    assert "    dumbbell report small --results small-runs/results\n" in readme


def test_it_has_what_the_commands_took(dumbbell: Command) -> None:
    dumbbell("store", "archive", "small", "--output", "out")
    logs = {file.name for file in (unpacked() / "results" / "campaigns").iterdir()}
    assert logs == {file.name for file in Path("results/campaigns").iterdir()}


def test_the_same_results_give_the_same_bytes(dumbbell: Command) -> None:
    for folder in ("one", "other"):
        assert dumbbell("store", "archive", "small", "--output", folder).code == 0
    one, other = (Path(folder, "small-runs.tar").read_bytes() for folder in ("one", "other"))
    assert one == other


def test_what_no_release_takes_is_said(dumbbell: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "RELEASE_BYTES_MAX", 1000)
    output = dumbbell("store", "archive", "small", "--output", "out")
    assert output.err == snapshot("GitHub takes no file of 2 GiB or more as part of a release.\n")


def test_a_study_without_runs_is_refused(dumbbell: Command) -> None:
    small_study.write(Path("studies/other"))
    study = Path("studies/other/study.toml")
    text = study.read_text().replace('"small"', '"other"').replace('"12s"', '"13s"')
    study.write_text(text.replace('"6s"', '"7s"'))
    assert_refused(dumbbell("store", "archive", "other"))
    assert not Path("other-runs.tar").exists()


def test_an_experiment_is_refused(dumbbell: Command) -> None:
    assert (
        dumbbell(
            *["compare", "reno", "cubic", "--rate", "5mbit", "--rtt", "20ms", "--duration", "2s"]
        ).code
        == 0
    )
    (name,) = (folder.name for folder in Path("results/experiments").iterdir())
    assert_refused(dumbbell("store", "archive", name))
