"""``dumbbell doctor``: what this machine can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.table import Table

from dumbbell.cli.output import print_json, print_table
from dumbbell.cli.parameters import AsJson
from dumbbell.cli.tables import plain, table

if TYPE_CHECKING:
    from dumbbell.running.machine import Machine


def doctor(as_json: AsJson = False) -> None:
    """Say what this machine can do, and what it lacks for the testbed.

    For two seconds it measures how late the machine wakes who waits: leave it alone meanwhile.

    The exit code is 0 if the testbed is ready, else 1.
    """
    from dumbbell.running import machine

    found = machine.with_lateness(machine.look())
    if as_json:
        print_json(found.model_dump())
    else:
        print_table(_table(found))
        print(f"The simulator works fully; {machine.verdict(found)}.")
    if not found.ready:
        raise typer.Exit(1)


def _table(found: Machine) -> Table:
    result = table("", "fact", "found", "needed for", "what to do")
    for fact in found.facts:
        mark = "[green]✓[/]" if fact.ok else "[red]✗[/]" if fact.required else "[yellow]![/]"
        told = (fact.name, fact.found, fact.needed_for, fact.remedy or "")
        result.add_row(mark, *map(plain, told))
    return result
