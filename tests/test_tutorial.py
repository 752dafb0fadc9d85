"""docs/tutorial.md is true: its commands are run and its edits made, in order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from dumbbell import _core

ROOT: Final = Path(__file__).resolve().parents[1]
BLOCK: Final = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HAS_TESTBED: Final = sys.platform == "linux" and os.geteuid() == 0 and _core.TESTBED


def _run(command: str, folder: Path, role: str) -> None:
    words = shlex.split(command)
    assert words[0] == "dumbbell"
    line = [sys.executable, "-m", "dumbbell.cli", *words[1:]]
    run = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    if role == "testbed" and "leave the machine alone" in run.stderr:
        return  # It ran to its end; that others ran beside it is no fault of the tutorial.
    assert run.returncode == (role == "fails"), f"{command}\n{run.stdout}\n{run.stderr}"


@pytest.mark.testbed
def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    replaced = ""
    kinds = set()
    for language, role, text in BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text()):
        kinds.add((language, role.partition("=")[0]))
        match language, role.partition("=")[0]:
            case "console", "testbed" if not HAS_TESTBED:
                continue
            case "console", _:
                _run(text, tmp_path, role)
            case "c", "replace":
                replaced = text
            case "c", "by":
                file = tmp_path / "my_cc.c"
                assert file.read_text().count(replaced) == 1
                file.write_text(file.read_text().replace(replaced, text))
            case "toml", "file":
                (tmp_path / role.partition("=")[2]).write_text(text)
            case other:
                raise AssertionError(other)
    assert len(kinds) == 6
    assert list((tmp_path / "report/studies").glob("compare-*/index.html"))
    assert (tmp_path / "my_cc.svg").stat().st_size > 10_000
