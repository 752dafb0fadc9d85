"""The page of questions: each of its commands is one that Dumbbell has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main
from typer.core import TyperGroup

from dumbbell.cli.commands import app
from dumbbell.scenario import library

PAGE: Final = Path(__file__).parents[2] / "docs" / "questions.md"
COMMANDS: Final = re.findall(r"`dumbbell (\w+ [^`]+)`", PAGE.read_text())


def parse(command: str) -> dict[str, Any]:
    """Return the parameters of a command, which does not run."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    name, *words = shlex.split(command)
    above = group.make_context("dumbbell", [name, *words])
    subcommand = group.get_command(above, name)
    assert subcommand is not None, f"no command {name}"
    return dict(subcommand.make_context(name, words, parent=above).params)


def test_there_is_a_command_for_each_question() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    questions = [row for row in rows if not row.startswith("| question")]
    assert len(questions) == 22
    assert len(COMMANDS) == 22  # One of them has two, and a learner has none.


@pytest.mark.parametrize("command", COMMANDS)
def test_it_exists_with_its_options_and_its_scenario(command: str) -> None:
    on = parse(command).get("on")
    assert on is None or on.suffix == ".toml" or on.name in library.names()


@pytest.mark.parametrize(
    "command", ["compete bbr3:4 cubic:4 --rates 50mbit", "simulated random-loss"]
)
def test_what_is_not_there_is_found(command: str) -> None:
    with pytest.raises((typer.TyperException, AssertionError)):
        parse(command)
