"""``dumbbell doctor``: what this machine can do."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from dumbbell.base.errors import printable
from dumbbell.cli.output import PROSE_WIDTH, print_json, print_table
from dumbbell.cli.parameters import AsJson
from dumbbell.cli.tables import plain, table

if TYPE_CHECKING:
    from dumbbell.engines.machine import Machine


def doctor(as_json: AsJson = False) -> None:
    """Report what this machine can do, and what the testbed needs that is missing.

    For two seconds it measures how late the machine wakes waiting processes. Leave the machine idle
    meanwhile.

    The exit code is 0 if the testbed is ready, else 1.
    """
    from dumbbell.engines import machine

    state = machine.with_lateness(machine.look())
    if as_json:
        print_json(state.model_dump())
    else:
        print_table(_table(state), folded=True, width=PROSE_WIDTH)
        for fact in state.facts:
            if fact.remedy:
                print(_wrapped(f"{fact.name}: {fact.remedy}"))
        print(f"The simulator works fully; {machine.verdict(state)}.")
    if not state.ready:
        raise typer.Exit(1)


def _table(machine: Machine) -> Table:
    result = table("", "fact", "found", "needed for")
    for fact in machine.facts:
        mark = "[green]✓[/]" if fact.ok else "[red]✗[/]" if fact.required else "[yellow]![/]"
        result.add_row(mark, *map(plain, (fact.name, fact.state, fact.needed_for)))
    return result


def _wrapped(text: str) -> str:
    """Return what to do as lines of the terminal; names and commands in it stay whole."""
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        printable(text),
        width,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
