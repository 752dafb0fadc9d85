"""Output of the command: tables and JSON to standard output, files where requested."""

from __future__ import annotations

import copy
import csv
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dumbbell.base.errors import DumbbellError, InputError, printable
from dumbbell.base.shell import joined

if TYPE_CHECKING:
    import polars

_WIDE: Final = 220
_ANY_WIDTH: Final = 10_000
_CLOSE: Final = (0, 1, 0, 0)
"""Padding of the cells of a table with two spaces between columns."""

_LONG: Final = "retransmitted"
_HYPHENATED: Final = "retrans-\nmitted"
"""The one word of heads that is longer than most cells, and its halves."""

_SHORTEST: Final = 8
"""The fewest columns that a cut cell keeps."""

PROSE_WIDTH: Final = 80
"""Columns of a table of sentences where nobody looks at it."""

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


def typed() -> str:
    """Return the command as it was typed, for pages."""
    return joined(["dumbbell", *sys.argv[1:]])


def print_data(form: Form, data: Callable[[], Any], frame: Callable[[], polars.DataFrame]) -> bool:
    """Print results for scripts; return False of the form for people, and print nothing."""
    if form is Form.JSON:
        print_json(data())
    elif form is Form.CSV:
        rows = frame()
        print_csv(rows.columns, rows.iter_rows())
    return form is not Form.TABLE


def print_csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table for spreadsheets and scripts: of what is not known nothing, as None."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow([printable(cell) if isinstance(cell, str) else cell for cell in row])


class _Documents:
    """The documents on standard output, of which JSON has one."""

    count = 0


def begin_output() -> None:
    """Begin the output of a command."""
    _Documents.count = 0


def print_json(data: Any) -> None:
    """Print data for scripts."""
    _Documents.count += 1
    print(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False))


def print_error(error: DumbbellError) -> None:
    """Print an error for scripts as JSON; not after data, so that there is one document."""
    if _Documents.count:
        return
    content: dict[str, Any] = {"message": str(error) or type(error).__name__}
    content["exit_code"] = error.exit_code
    if isinstance(error, InputError):
        places = {"source": error.source, "key": error.key, "line": error.line}
        content |= places | {"problem": error.problem, "valid": error.valid, "near": error.near}
    print_json({"error": content})


def print_words(text: str) -> None:
    """Print a paragraph; in a terminal lines break between words."""
    console = Console(highlight=False, markup=False)
    console.print(text, soft_wrap=not _is_looked_at(console))


def print_table(table: Table, *, folded: bool = False, width: int = _WIDE) -> None:
    """Print a table; where nobody looks at it, nothing is folded below `width` columns.

    A wide one has rows as columns in a narrow terminal, or is stacked; `folded`, as for many rows,
    leaves it as it is and folds cells.
    """
    _unfolded(table, stderr=False, folded=folded, width=width)


def fits(table: Table) -> bool:
    """Return True if a table has room in the terminal, or if nobody looks at it."""
    console = Console(highlight=False)
    return not _is_looked_at(console) or _natural(console, table) <= console.width


def print_lines(table: Table, elastic: Collection[str]) -> None:
    """Print a table of which each row is one line.

    Where the terminal is too narrow, the columns `elastic` are cut, the widest first, and end with
    an ellipsis: these have what nobody copies. All others stay whole.
    """
    console = Console(highlight=False)
    table.padding = _CLOSE
    widths = [
        max(Text.from_markup(str(cell)).cell_len for cell in (column.header, *column.cells))
        for column in table.columns
    ]
    between = _natural(console, table) - sum(widths)
    cut = [place for place, column in enumerate(table.columns) if column.header in elastic]
    if _is_looked_at(console):
        while sum(widths) + between > console.width:
            widest = max(cut, key=lambda place: widths[place])
            if widths[widest] <= _SHORTEST:
                break
            widths[widest] -= 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width, column.no_wrap, column.overflow = width, True, "ellipsis"
    whole = sum(widths) + between
    Console(highlight=False, width=max(console.width, whole)).print(table)


def say_table(table: Table) -> None:
    """Print a table for people, on standard error."""
    _unfolded(table, stderr=True)


def _is_looked_at(console: Console) -> bool:
    """Return True if somebody sees the output, or says for which width it is."""
    return console.is_terminal or "COLUMNS" in os.environ


def _unfolded(table: Table, *, stderr: bool, folded: bool = False, width: int = _WIDE) -> None:
    """Print a table as it is, or with rows as columns, or row below row: what fits first."""
    console = Console(stderr=stderr, highlight=False)
    if not _is_looked_at(console):
        Console(stderr=stderr, highlight=False, width=width).print(table)
        return
    # The first head is the table's title, so it stays in one line as long as it can.
    narrow = [_narrowed(table, title=title) for title in (True, False)]
    other = () if folded else (_low(table), _turned(table), _stacked(table))
    forms = (table, *narrow, *other)
    fitting = (form for form in forms if _natural(console, form) <= console.width)
    console.print(next(fitting, forms[-1]))


def _natural(console: Console, table: Table) -> int:
    """Return the width of a table none of whose cells is folded."""
    unlimited = console.options.update(width=_ANY_WIDTH)
    return console.measure(table, options=unlimited).maximum


def _narrowed(wide: Table, *, title: bool) -> Table:
    """Return the same table with units below their quantities, and columns closer together.

    With `title` the first head stays as it is.
    """
    narrow = copy.copy(wide)
    narrow.padding = _CLOSE
    narrow.columns = [
        column
        if title and column is wide.columns[0]
        else dataclasses.replace(
            column, header=_broken(str(column.header), [*map(str, column.cells)])
        )
        for column in wide.columns
    ]
    return narrow


def _low(wide: Table) -> Table:
    """Return a narrowed table with units below the quantities of its rows, too."""
    low = _narrowed(wide, title=False)
    first = low.columns[0]
    low.columns[0] = dataclasses.replace(first, _cells=[])
    low.columns[0]._cells.extend(str(cell).replace(" (", "\n(") for cell in first.cells)
    return low


def _broken(head: str, cells: Sequence[str]) -> str:
    """Break a head before its unit, and between and within words that are wider than its cells."""
    room = max((Text.from_markup(cell).cell_len for cell in cells), default=0)
    lines = head.replace(" (", "\n(").split("\n")
    words = "\n".join(line.replace(" ", "\n") if len(line) > room else line for line in lines)
    return words.replace(_LONG, _HYPHENATED) if len(_LONG) > room else words


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
