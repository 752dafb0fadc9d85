"""``dumbbell claims`` in continuous integration: exit codes for verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from command_line import Command


@pytest.fixture
def dumbbell(dumbbell: Command, small_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command in the folder of the small study's files and results."""
    monkeypatch.chdir(small_folder)
    return dumbbell


def test_strict_asks_for_every_claim(dumbbell: Command) -> None:
    assert dumbbell("claims", "study").code == 0
    assert dumbbell("claims", "study", "--strict").code == 1


def test_a_baseline_is_kept_or_named(dumbbell: Command, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    assert dumbbell("claims", "study", "--save-baseline", str(file)).code == 0
    assert dumbbell("claims", "study", "--baseline", str(file)).code == 0
    verdicts = json.loads(file.read_text())
    assert verdicts["A02"] == "contradicted"
    file.write_text(json.dumps({**verdicts, "A02": "holds"}))
    output = dumbbell("claims", "study", "--baseline", str(file))
    assert output.code == 1
    assert output.err == snapshot("worse: A02 (before holds, now contradicted)\n")
    file.write_text('{"A02": "hold"}')
    output = dumbbell("claims", "study", "--baseline", str(file))
    assert output.code == 2
    assert 'did you mean "holds"?' in output.err
