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
class Output:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Output]


def caller(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    app: typer.Typer = commands.app,
) -> Command:
    """Return what runs a command, by default `dumbbell`, in this process."""

    def run(*arguments: str | Path) -> Output:
        monkeypatch.setattr(sys, "argv", ["dumbbell", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            commands.main(app)
        printed = capsys.readouterr()
        return Output(int(stopped.value.code or 0), printed.out, printed.err)

    return run


def assert_refused(output: Output) -> None:
    """Check that bad input ended in one line and exit code 2, with --json also in an object."""
    assert output.code == 2, output.err
    assert not output.out or set(output.json) == {"error"}
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1
    assert "Traceback" not in output.err


def line(text: str, word: str) -> str:
    """Return the only line of a text with a word, such as a name, a number or a command."""
    (only,) = (row for row in text.splitlines() if word in row)
    return only.strip()


def sentence(text: str, word: str) -> str:
    """Return the only sentence, or part of one up to a semicolon, of a text with a word."""
    (only,) = (part for part in re.split(r"(?<=[.;:])\s", " ".join(text.split())) if word in part)
    return only


def unmeasured(text: str) -> str:
    """Return a text with N for fractions and per cent: another engine may measure other ones."""
    return re.sub(r"\d+\.\d+|\d+(?= %)", "N", text)
