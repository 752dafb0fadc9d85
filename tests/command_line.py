"""The command, called as a shell would call it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from dumbbell.cli import commands


@dataclass(frozen=True)
class Said:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Said]


def caller(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    app: typer.Typer = commands.app,
) -> Command:
    """Return what runs a command, by default `dumbbell`, in this process."""

    def run(*arguments: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["dumbbell", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            commands.main(app)
        said = capsys.readouterr()
        return Said(int(stopped.value.code or 0), said.out, said.err)

    return run


def assert_refused(said: Said) -> None:
    """Check that bad input ended in one line and exit code 2."""
    assert said.code == 2, said.err
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err


def line(text: str, word: str) -> str:
    """Return the only line of a text with a word, such as a name, a number or a command."""
    (found,) = (each for each in text.splitlines() if word in each)
    return found.strip()


def sentence(text: str, word: str) -> str:
    """Return the only sentence, or part of one up to a semicolon, of a text with a word."""
    (found,) = (each for each in re.split(r"(?<=[.;:])\s", " ".join(text.split())) if word in each)
    return found


def unmeasured(text: str) -> str:
    """Return a text with N for fractions and per cent: another engine may measure other ones."""
    return re.sub(r"\d+\.\d+|\d+(?= %)", "N", text)
