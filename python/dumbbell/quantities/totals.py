"""The means of a table over several runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from dumbbell.inference import statistics
from dumbbell.quantities.cells import Shown, Totals
from dumbbell.quantities.shown import brief_interval

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
            words = tuple(_COUNT.sub("", word) for word in row[: totals.named])
            cells = dict(zip(totals.heads, row, strict=True))
            rows.setdefault((met[words], words), []).append(cells)
            met[words] += 1
    return Totals(
        (*first.heads[: first.named], *heads),
        tuple(
            (
                _name(words[0], [cells[first.heads[0]] for cells in found]),
                *words[1:],
                *(_mean(head, found) for head in heads),
            )
            for (_, words), found in rows.items()
        ),
        named=first.named,
        intervals=True,
        note=" ".join([f"Mean of {len(of_runs)} runs.", first.note]).strip(),
    )


def _name(family: str, names: Sequence[str]) -> str:
    """Return what a row is called in all runs, or without the number of flows that differs."""
    return names[0] if len(set(names)) == 1 else f"{family} × several"


def _mean(head: str, found: Sequence[dict[str, str]]) -> str:
    """Return the mean of a column's cells with its interval, or the words of cells without one."""
    cells = [cells[head] for cells in found if head in cells]
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
    lowest, highest = (0.0, 100.0) if head.endswith(_PER_CENT) else (-math.inf, math.inf)
    return brief_interval(average.value, max(average.low, lowest), min(average.high, highest))
