"""Totals in the terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from dumbbell.base.errors import printable
from dumbbell.cli.output import Form, print_csv, print_json, print_table, print_words
from dumbbell.cli.tables import filled, plain
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


def print_as(form: Form, totals: Totals, data: Any) -> None:
    """Print a table in the form that is asked for; `data` is it for JSON."""
    if form is Form.JSON:
        print_json(data)
    elif form is Form.CSV:
        print_csv(*totals.flat())
    else:
        print_totals(totals)


def as_table(totals: Totals) -> Table:
    """Return totals as a table of the terminal."""
    # A head may have two lines; any other control character stays visible.
    heads = ["\n".join(map(plain, head.split("\n"))) for head in totals.heads]
    return filled(heads, totals.rows, right=heads[totals.named :])
