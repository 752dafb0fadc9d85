"""Tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from dumbbell.base.errors import printable


def table(*columns: str, right: Sequence[str] = (), whole: Sequence[str] = ()) -> Table:
    """Return an empty table; the columns in `right` hold numbers.

    Cells are folded where a terminal is narrow and never cut; those in `whole` stay on one line,
    as names do that people copy.
    """
    empty = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in columns:
        empty.add_column(
            column,
            justify="right" if column in right else "left",
            overflow="fold",
            no_wrap=column in whole,
        )
    return empty


def filled(
    heads: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()
) -> Table:
    """Return a table whose cells Dumbbell did not write."""
    full = table(*heads, right=right)
    for row in rows:
        full.add_row(*map(plain, row))
    return full


def plain(value: object) -> str:
    """Return what a cell shows for a value that Dumbbell did not write: one line, no markup."""
    return escape(printable(str(value)))
