"""The means of a table over several runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from dumbbell.inference import statistics
from dumbbell.quantities.cells import Shown, Totals
from dumbbell.quantities.shown import brief_interval, number

_COUNT: Final = re.compile(r" × \d+$")
_PER_CENT: Final = "(%)"


def mean(of_runs: Sequence[Totals]) -> Totals:
    """Return the same table of several runs as one, with means and their 95 % intervals.

    A row of a run is that of another with the same words. The number of flows that arrive may
    differ.
    """
    first = of_runs[0]
    heads = list(dict.fromkeys(head for totals in of_runs for head in totals.heads[first.named :]))
    rows: dict[tuple[int, tuple[str, ...]], list[dict[str, str]]] = {}
    for totals in of_runs:
        met: Counter[tuple[str, ...]] = Counter()
        for row in totals.rows:
            # Another seed may draw another number of arrivals, and the row is still the same.
            words = tuple(_COUNT.sub("", word) for word in row[: totals.named])
            cells = dict(zip(totals.heads, row, strict=True))
            # Rows of equal words are distinguished by their order.
            rows.setdefault((met[words], words), []).append(cells)
            met[words] += 1
    return Totals(
        (*first.heads[: first.named], *heads),
        tuple(
            (
                _name(words[0], [cells[first.heads[0]] for cells in cells_of_runs]),
                *words[1:],
                *(_mean(head, cells_of_runs) for head in heads),
            )
            for (_, words), cells_of_runs in rows.items()
        ),
        named=first.named,
        intervals=True,
        note=" ".join([f"Mean of {len(of_runs)} runs.", first.note]).strip(),
    )


def beside(of_each: Mapping[str, Sequence[Totals]]) -> Iterator[Totals]:
    """Yield the tables of several subjects next to each other.

    A wide table becomes one for each of its rows, with a row for each subject. Another one has the
    rows of the same words below each other.
    """
    by_head: dict[str, dict[str, Totals]] = {}
    for label, tables in of_each.items():
        for table in tables:
            by_head.setdefault(table.heads[0], {})[label] = table
    for of_labels in by_head.values():
        rows = together(of_labels)
        is_wide = len(rows.heads) - rows.named > _WIDE
        yield from _apart(rows) if is_wide else [_joined(rows)]


_WIDE: Final = 4
_OF: Final = 1
"""Place of the subject in the rows of `together`, after the words that rows have in common."""


def together(tables: Mapping[str, Totals]) -> Totals:
    """Return all rows, those of the same words below each other, with the subject of each."""
    first = next(iter(tables.values()))
    heads = list(
        dict.fromkeys(head for table in tables.values() for head in table.heads[first.named :])
    )
    rows: dict[str, list[tuple[str, ...]]] = {}
    for label, table in tables.items():
        for row in table.rows:
            cells = dict(zip(table.heads, row, strict=True))
            numbers = (cells.get(head, number(None)) for head in heads)
            rows.setdefault(row[0], []).append((row[0], label, *row[1 : table.named], *numbers))
    return replace(
        first,
        heads=(first.heads[0], "of", *first.heads[1 : first.named], *heads),
        rows=tuple(row for alike in rows.values() for row in alike),
        named=first.named + 1,
    )


def _joined(whole: Totals) -> Totals:
    """Return a table whose rows name their subject first."""
    rows = tuple((f"{row[_OF]}: {row[0]}", *row[_OF + 1 :]) for row in whole.rows)
    heads = (whole.heads[0], *whole.heads[_OF + 1 :])
    return replace(whole, heads=heads, rows=rows, named=whole.named - 1)


def _apart(whole: Totals) -> Iterator[Totals]:
    """Yield a table for each row, without columns that have nothing there."""
    words = list(dict.fromkeys(row[0] for row in whole.rows))
    for word in words:
        rows = [row for row in whole.rows if row[0] == word]
        kept = [
            place
            for place in range(_OF, len(whole.heads))
            if place < whole.named or any(row[place] != number(None) for row in rows)
        ]
        heads = (f"{whole.heads[0]}: {word}", *(whole.heads[place] for place in kept[1:]))
        yield replace(
            whole,
            heads=heads,
            rows=tuple(tuple(row[place] for place in kept) for row in rows),
            named=whole.named - 1,
            note=whole.note if word == words[-1] else "",
        )


def _name(family: str, names: Sequence[str]) -> str:
    """Return what a row is called in all runs, or without the number of flows that differs."""
    return names[0] if len(set(names)) == 1 else f"{family} × several"


def _mean(head: str, cells_of_runs: Sequence[dict[str, str]]) -> str:
    """Return the mean of a column's cells with its interval, or the words of cells without one."""
    cells = [cells[head] for cells in cells_of_runs if head in cells]
    values = [
        value
        for cell in cells
        if isinstance(cell, Shown)
        and (value := cell.values[0]) is not None
        and math.isfinite(value)
    ]
    if not values:
        return cells[0]
    average = statistics.average([values])
    if not average.has_interval:
        return brief_interval(average.value, None, None)
    # Nothing that these tables count or measure is negative.
    bounds = (0.0, 100.0 if head.endswith(_PER_CENT) else math.inf)
    return brief_interval(average.value, average.low, average.high, bounds=bounds)
