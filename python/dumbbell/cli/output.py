"""Output of the command: tables and JSON to standard output, files where requested."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table

from dumbbell.base.errors import InputError, printable

_WIDE: Final = 220
_ANY_WIDTH: Final = 10_000

say = Console(stderr=True, highlight=False, markup=False)
"""For people, on standard error."""


class Form(Enum):
    """Form of the printed results."""

    TABLE = auto()
    JSON = auto()
    CSV = auto()


def form(*, as_json: bool, as_csv: bool) -> Form:
    """Return how results are to be printed; both options together are refused."""
    if as_json and as_csv:
        raise InputError("does not go with --json", source="--csv", valid="one of both")
    return Form.JSON if as_json else Form.CSV if as_csv else Form.TABLE


def print_csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table for spreadsheets and scripts: of what is not known nothing, as None."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow([printable(cell) if isinstance(cell, str) else cell for cell in row])


def print_json(data: Any) -> None:
    """Print data for scripts."""
    print(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False))


def print_words(text: str) -> None:
    """Print a paragraph; in a terminal lines break between words."""
    console = Console(highlight=False, markup=False)
    console.print(text, soft_wrap=not console.is_terminal and "COLUMNS" not in os.environ)


def print_table(table: Table, *, folded: bool = False) -> None:
    """Print a table; where nobody looks at it, nothing is folded.

    A wide one has rows as columns in a narrow terminal, or is stacked; `folded`, as for many rows,
    leaves it as it is and folds cells.
    """
    _unfolded(table, stderr=False, folded=folded)


def say_table(table: Table) -> None:
    """Print a table for people, on standard error."""
    _unfolded(table, stderr=True)


def _unfolded(table: Table, *, stderr: bool, folded: bool = False) -> None:
    """Print a table as it is, or with rows as columns, or row below row: what fits first."""
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        Console(stderr=stderr, highlight=False, width=_WIDE).print(table)
        return
    forms = (table,) if folded else (table, _turned(table), _stacked(table))
    unlimited = console.options.update(width=_ANY_WIDTH)
    fitting = (
        form for form in forms if console.measure(form, options=unlimited).maximum <= console.width
    )
    console.print(next(fitting, table))


def _turned(wide: Table) -> Table:
    """Return a table that has a column for each row."""
    first, *others = wide.columns
    turned = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    turned.add_column(first.header)
    for cell in first.cells:
        turned.add_column(cell, justify="right")
    for column in others:
        turned.add_row(column.header, *column.cells)
    return turned


def _stacked(wide: Table) -> Table:
    """Return a table of two columns that has a block for each row."""
    narrow = Table.grid(padding=(0, 2))
    first, *others = wide.columns
    for place, heading in enumerate(first.cells):
        narrow.add_row(heading, "", style="bold")
        for column in others:
            narrow.add_row(f"  {column.header}", [*column.cells][place])
    return narrow
