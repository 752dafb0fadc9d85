"""Totals in the terminal."""

from __future__ import annotations

from rich.table import Table

from dumbbell.base.errors import printable
from dumbbell.cli.output import print_table, print_words
from dumbbell.cli.tables import plain, table
from dumbbell.quantities.cells import Totals


def print_totals(totals: Totals, *, folded: bool = False) -> None:
    """Print what a table is about, the table, and over which part of a run its numbers are taken.

    So a table that is pasted elsewhere explains itself. One of many rows is `folded`.
    """
    if totals.about:
        print_words(printable(totals.about))
        print()
    print_table(as_table(totals), folded=folded)
    if totals.note:
        print_words(printable(totals.note))


def as_table(totals: Totals) -> Table:
    """Return totals as a table of the terminal."""
    # A head may have two lines; any other control character stays visible.
    heads = ["\n".join(map(plain, head.split("\n"))) for head in totals.heads]
    result = table(*heads, right=heads[totals.named :])
    for row in totals.rows:
        result.add_row(*map(plain, row))
    return result
