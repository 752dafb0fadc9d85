"""The tutorial and the guides are true: what stands there is done in order, as a reader would."""

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

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
BLOCK: Final = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HAS_TESTBED: Final = sys.platform == "linux" and os.geteuid() == 0 and _core.TESTBED
WIDE: Final = {**os.environ, "COLUMNS": "1000"}
"""So that what a table says in a cell stands in one line."""

GUIDES: Final = ("quick-start.md", "guides/*.md", "explanation/*.md")
SHOWN: Final = {("sh", ""), ("toml", ""), ("text", "")}
"""What a page only shows, such as the commands of a campaign that takes hours."""


class Reader:
    """Follows a page in a folder: commands, files and edits in order, its Python as one session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kinds: set[tuple[str, str]] = set()
        self._replaced = ""
        self._said = ""
        self._session = ""

    def follow(self, page: Path) -> None:
        """Do what a page says; its Python comes last."""
        for language, words, text in BLOCK.findall(page.read_text()):
            role, _, name = words.partition("=")
            self.kinds.add((language, role))
            match language, role:
                case "console", "testbed" if not HAS_TESTBED:
                    continue
                case "console", _:
                    self._command(text, role)
                case "text", "said":
                    self._heard(text)
                case "c", "replace":
                    self._replaced = text
                case "c", "by":
                    self._edit(text)
                case _, "file":
                    (self.folder / name).write_text(text)
                case "python", "":
                    self._session += text
                case other:
                    assert other in SHOWN, other
        if self._session:
            run = self._run([sys.executable, "-c", self._session])
            assert run.returncode == 0, run.stderr

    def _run(self, line: list[str]) -> subprocess.CompletedProcess[str]:
        run = subprocess.run(
            line, cwd=self.folder, env=WIDE, capture_output=True, text=True, check=False
        )
        self._said = " ".join(f"{run.stdout} {run.stderr}".split())
        return run

    def _command(self, command: str, role: str) -> None:
        words = shlex.split(command)
        assert words[0] == "dumbbell"
        run = self._run([sys.executable, "-m", "dumbbell.cli", *words[1:]])
        if role == "testbed" and "leave the machine alone" in run.stderr:
            return  # It ran to its end; that others ran beside it is no fault of the page.
        assert run.returncode == (role == "fails"), f"{command}\n{run.stdout}\n{run.stderr}"

    def _heard(self, text: str) -> None:
        """Hold what a page says that a command says, line by line, to what it said."""
        for line in text.splitlines():
            assert " ".join(line.split()) in self._said, f"{line}\nnot in\n{self._said}"

    def _edit(self, by: str) -> None:
        file = self.folder / "my_cc.c"
        assert file.read_text().count(self._replaced) == 1
        file.write_text(file.read_text().replace(self._replaced, by))


@pytest.mark.testbed
def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.follow(DOCS / "tutorial.md")
    assert len(reader.kinds) == 6
    assert list((tmp_path / "report/studies").glob("compare-*/index.html"))
    assert (tmp_path / "my_cc.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    "page",
    sorted(page.relative_to(DOCS).as_posix() for found in GUIDES for page in DOCS.glob(found)),
)
def test_a_guide_can_be_followed(page: str, tmp_path: Path) -> None:
    Reader(tmp_path).follow(DOCS / page)


def test_what_a_command_did_not_say_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\ndumbbell list stacks\n```\n\n```text said\nlinux-7\n```\n")
    with pytest.raises(AssertionError, match="linux-7"):
        Reader(tmp_path).follow(page)


def test_python_that_fails_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nraise SystemExit(3)\n```\n")
    with pytest.raises(AssertionError):
        Reader(tmp_path).follow(page)
