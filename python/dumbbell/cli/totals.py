"""Totals in the terminal."""

from __future__ import annotations

from rich.table import Table

from dumbbell.base.errors import printable
from dumbbell.cli.output import print_table, print_words
from dumbbell.cli.tables import plain, table
from dumbbell.quantities.cells import Totals


def print_totals(totals: Totals) -> None:
    """Print a table, and below it over which part of a run its numbers are taken."""
    print_table(as_table(totals))
    if totals.note:
        print_words(printable(totals.note))


def as_table(totals: Totals) -> Table:
    """Return totals as a table of the terminal."""
    heads = [plain(head) for head in totals.heads]
    result = table(*heads, right=heads[totals.named :])
    for row in totals.rows:
        result.add_row(*map(plain, row))
    return result
