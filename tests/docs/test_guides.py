"""The tutorial and the guides are true: their steps are done in order, as a reader would."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import quick_hunts
from command_line import Command, Output, caller
from dumbbell import _core
from held_up import judge_unless_held_up

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
BLOCK: Final = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HAS_TESTBED: Final = sys.platform == "linux" and os.geteuid() == 0 and _core.TESTBED
WIDE: Final = "1000"
"""So many columns that a table's cell is on one line."""

APART: Final = ("try_power.py",)
"""Files that run in a process: they register quantities, which other tests must not see."""

GUIDES: Final = ("quick-start.md", "scenarios.md", "guides/*.md", "explanation/*.md")
SHOWN: Final = {("sh", ""), ("toml", ""), ("text", "")}
"""Blocks that a page only shows, such as the commands of a campaign that takes hours."""


class Reader:
    """Follows a page in a folder: commands, files and edits in order, its Python as one session.

    Parameters
    ----------
    folder
        Folder of its work.
    command
        Function that runs `dumbbell` there.
    """

    def __init__(self, folder: Path, command: Command) -> None:
        self.folder = folder
        self.kinds: set[tuple[str, str]] = set()
        self._call = command
        self._replaced = ""
        self._printed = ""
        self._session = ""
        self.held_up = ""

    def follow(self, page: Path) -> None:
        """Follow the steps of a page; its Python comes last."""
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
                    if language == "python":
                        self._python(name, text)
                case "python", "":
                    self._session += text
                case other:
                    assert other in SHOWN, other
        if self._session:
            _executed(page.name, self._session)

    def _python(self, name: str, text: str) -> None:
        if name in APART:
            run = _process(self.folder, name)
            assert run.code == 0, run.err
        else:
            _executed(name, text)

    def _command(self, command: str, role: str) -> None:
        words = shlex.split(command)
        assert words[0] == "dumbbell"
        run = self._call(*words[1:])
        self._printed = " ".join(f"{run.out} {run.err}".split())
        if role == "testbed" and "leave the machine alone" in run.err:
            self.held_up += run.err
            return  # It ran to its end; that others ran beside it is no fault of the page.
        assert run.code == (role == "fails"), f"{command}\n{run.out}\n{run.err}"

    def _heard(self, text: str) -> None:
        """Compare the output of a command on a page, line by line, with its real output."""
        for line in text.splitlines():
            assert " ".join(line.split()) in self._printed, f"{line}\nnot in\n{self._printed}"

    def _edit(self, by: str) -> None:
        file = self.folder / "my_cc.c"
        assert file.read_text().count(self._replaced) == 1
        file.write_text(file.read_text().replace(self._replaced, by))


def _executed(name: str, text: str) -> None:
    """Run Python here, where everything is imported."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", [name])
            exec(compile(text, name, "exec"), {"__name__": "__main__"})
    except (Exception, SystemExit) as error:
        raise AssertionError(f"the Python of {name}: {error!r}") from error


def _process(folder: Path, *arguments: str) -> Output:
    """Run Python in a folder."""
    line = [sys.executable, *arguments]
    run = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    return Output(run.returncode, run.stdout, run.stderr)


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Reader:
    """Return who runs commands in this process, which has imported everything once."""
    quick_hunts.installed(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", WIDE)
    return Reader(tmp_path, caller(monkeypatch, capsys))


@pytest.mark.testbed
@pytest.mark.usefixtures("unconverted")
def test_the_tutorial_can_be_followed(reader: Reader, tmp_path: Path) -> None:
    reader.follow(DOCS / "tutorial.md")
    assert len(reader.kinds) == 8
    assert list((tmp_path / "report/studies").glob("compare-*/index.html"))
    assert (tmp_path / "my_cc.svg").stat().st_size > 10_000
    judge_unless_held_up(reader.held_up)


@pytest.mark.parametrize(
    "page",
    sorted(page.relative_to(DOCS).as_posix() for pattern in GUIDES for page in DOCS.glob(pattern)),
)
@pytest.mark.usefixtures("undrawn")
def test_a_guide_can_be_followed(page: str, reader: Reader) -> None:
    reader.follow(DOCS / page)


@pytest.mark.parametrize(
    "wrong",
    [
        "```console\ndumbbell list stacks\n```\n\n```text said\nlinux-7\n```\n",
        "```console\ndumbbell list stack\n```\n",
        "```console fails\ndumbbell list stacks\n```\n",
        "```python\nraise SystemExit(3)\n```\n",
        "```python file=wrong.py\nraise SystemExit(3)\n```\n",
        "```ruby\nputs 1\n```\n",
    ],
)
def test_what_is_not_so_is_found(wrong: str, reader: Reader) -> None:
    (reader.folder / "page.md").write_text(wrong)
    with pytest.raises(AssertionError):
        reader.follow(reader.folder / "page.md")
