"""``dumbbell check``: whether an algorithm is sound."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from dumbbell.base.errors import unknown
from dumbbell.cli.output import print_json, print_table, say
from dumbbell.cli.parameters import AsJson
from dumbbell.cli.tables import table
from dumbbell.conformance.verdicts import Row, Verdict, is_sound


def check(
    algorithm: Annotated[
        str, typer.Argument(metavar="FILE.c | NAME", help="A C file, or an algorithm by its name.")
    ],
    expect: Annotated[
        Path | None,
        typer.Option(
            metavar="SCRIPT",
            help="Script of expected states; by default FILE.expect next to FILE.c.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="PART", help="Make one part alone, such as expected-states."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check an algorithm: interface, expected states, random calls, simulator and kernel.

    If this machine cannot check in the kernel, or there is no script, that part is left out. The
    exit code is 1 if a check failed.
    """
    from dumbbell.base import kinds
    from dumbbell.cli import progress
    from dumbbell.conformance import checking

    kinds.check(Path(algorithm), "an algorithm")
    part = None if only is None else _part(only, checking.PARTS)
    with progress.steps("checking", say) as step:
        rows = list(checking.check(algorithm, lambda part: step(f"checking: {part}"), expect, part))
    if as_json:
        checks = [row.as_dict() for row in rows]
        print_json({"algorithm": algorithm, "passed": is_sound(rows), "checks": checks})
    else:
        _print(rows)
    if not is_sound(rows):
        raise typer.Exit(1)


def _part(written: str, parts: Sequence[str]) -> str:
    """Return the part that an option names, with hyphens for spaces."""
    by_option = {part.replace(" ", "-"): part for part in parts}
    if written not in by_option:
        raise unknown("part of the checks", written, by_option).at(source="--only")
    return by_option[written]


def _print(rows: list[Row]) -> None:
    print_table(_table(rows), folded=True)
    for row in rows:
        if row.details:
            print(f"\n{row.part}, {row.check}:\n{row.details}")
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    print(", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count))


def _table(rows: list[Row]) -> Table:
    marks = {
        Verdict.PASSED: "[green]✓[/]",
        Verdict.WARNING: "[yellow]![/]",
        Verdict.FAILED: "[red]✗[/]",
        Verdict.NOT_CHECKED: "[yellow]–[/]",
    }
    result = table("check", "what was found", whole=["check"])
    for part, part_rows in groupby(rows, lambda row: row.part):
        result.add_row(f"[bold]{part}[/]")
        for row in part_rows:
            figure = escape(row.message) + (
                f"\n[dim]→ {escape(row.remedy)}[/]" if row.remedy else ""
            )
            result.add_row(f"{marks[row.verdict]} {row.check}", figure)
    return result
