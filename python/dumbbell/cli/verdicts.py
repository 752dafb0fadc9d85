"""Verdicts on claims and on parts of suites, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.cli.output import print_table, print_words
from dumbbell.cli.tables import plain, table
from dumbbell.judging.evidence import Verdict

if TYPE_CHECKING:
    from dumbbell.experiments.suites.verdicts import Marked, VerdictTable


def marked(verdict: Verdict, outcome: str = "") -> str:
    """Return a verdict in its colour, with its mark; `outcome` replaces its name."""
    return f"[{_colour(verdict)}]{verdict.mark} {outcome or verdict.value}[/]"


def print_verdicts(shown: VerdictTable) -> None:
    """Print verdicts on the parts of a suite: a table, with lines above and below."""
    for line in shown.above:
        print_words(line)
    result = table(*shown.heads, right=shown.numbers, whole=shown.whole)
    for row in shown.rows:
        cells = map(_cell, row)
        result.add_row(*cells if len(row) > 1 else (f"[bold]{cell}[/]" for cell in cells))
    print_table(result, folded=True)
    for line in shown.below:
        print_words(line)


def _cell(cell: str | Marked) -> str:
    if isinstance(cell, str):
        return plain(cell)
    mark = f"[{_colour(cell.outcome.verdict)}]{cell.outcome.mark}[/]"
    return f"{mark} {plain(cell.text)}" if cell.text else mark


def _colour(verdict: Verdict) -> str:
    return "green" if verdict.is_good else "red" if verdict.is_bad else "yellow"
