"""Descriptions of figures in words, for those who do not see them.

A description of a series has its first and last value, and where it is highest and lowest. A
description of a line over time has its range and its mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import polars as pl

from dumbbell.base.labels import DIGITS, listing, number

if TYPE_CHECKING:
    from dumbbell.figures.figure import TextTable

_PLOTS: Final = 4
_SERIES: Final = 6
_ROWS: Final = 3
"""Values of a series that are all named; of more, the ends and the extremes are."""

_VALUE: Final = re.compile(r"[−+]?[0-9][0-9.,]*(?:e-?[0-9]+)?|∞")
_LINES: Final = 8


def of_tables(tables: Sequence[TextTable]) -> Iterator[str]:
    """Yield sentences on the first plots of a figure, by their numbers."""
    for table in tables[:_PLOTS]:
        name = ": ".join(filter(None, (table.title, table.caption)))
        name += f", by {table.corner}" if table.corner else ""
        texts = [_of_series(table, place) for place in range(len(table.series))]
        texts = [text for text in texts if text]
        if texts:
            more = len(texts) - _SERIES
            rest = f"; and {more} more" if more > 0 else ""
            yield f"{name}. {'; '.join(texts[:_SERIES])}{rest}."
    if len(tables) > _PLOTS:
        yield f"{len(tables) - _PLOTS} more plots."


def _of_series(table: TextTable, place: int) -> str:
    points = [(row.x, row.cells[place]) for row in table.rows if _VALUE.match(row.cells[place])]
    if not points:
        return ""
    what = table.series[place]
    if len(points) <= _ROWS:
        return f"{what}: {listing([f'{_short(cell)} at {x}' for x, cell in points])}"
    (first_x, first), (last_x, last) = points[0], points[-1]
    least, most = (pick(points, key=_size) for pick in (min, max))
    ends = f"{_short(first)} at {first_x} to {_short(last)} at {last_x}"
    inner = [
        f"{word} {_short(cell)} at {x}"
        for word, (x, cell) in (("lowest", least), ("highest", most))
        if x not in (first_x, last_x)
    ]
    return f"{what}: {', '.join([ends, *inner])}"


def _short(cell: str) -> str:
    """Return a value without its interval."""
    return re.split(r" ± | \(", cell, maxsplit=1)[0]


def _size(entry: tuple[str, str]) -> float:
    match = _VALUE.match(entry[1])
    text = "" if match is None else match[0].replace(",", "").replace("−", "-")
    return float("inf") if text in ("", "∞") else float(text)


def of_lines(lines: Iterable[tuple[str, pl.DataFrame]]) -> Iterator[str]:
    """Yield a sentence for each plot over time: its axis, and its ``label`` and ``value``."""
    for axis, frame in lines:
        known = frame.drop_nulls("value").filter(pl.col("value").is_finite())
        ranges = known.group_by("label", maintain_order=True).agg(
            low=pl.col("value").min(), mean=pl.col("value").mean(), high=pl.col("value").max()
        )
        texts = [
            f"{label} {number(low)} to {number(high)}, mean {number(mean, DIGITS)}"
            for label, low, mean, high in ranges.head(_LINES).iter_rows()
        ]
        more = ranges.height - _LINES
        if texts:
            yield f"{axis}: {'; '.join(texts)}{f'; and {more} more lines' if more > 0 else ''}."
