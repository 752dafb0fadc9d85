"""Content of the list of runs: those of ``dumbbell list runs``, and the grid point of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.results.inventory import Inventory, StoredRun

_ALSO: Final = {"queue": "buffer"}
"""Names of options for keys of files."""


def content(inventory: Inventory) -> Mapping[str, Any]:
    """Return a row for each run, the newest first, as plain data.

    The values of scenarios are there once, as many runs share them; rows have their number.
    """
    runs = list(inventory.runs())
    numbers: dict[tuple[tuple[str, str], ...], int] = {}
    rows = [_row(run, numbers.setdefault(_values(run), len(numbers))) for run in runs]
    columns = list(runs[0].cells) if runs else []
    return {"columns": columns, "rows": rows, "said": list(numbers)}


def _row(run: StoredRun, place: int) -> Mapping[str, Any]:
    """Return a run's cells, the numbers by which some are sorted, and its values by axes."""
    axes = {} if run.place is None else dict(run.place.planned.axes)
    return {
        "cells": [_text(cell) for cell in run.cells.values()],
        "order": [_number(run.order.get(head)) for head in run.cells],
        "axes": list(axes.items()),
        "said": place,
        "invalid": "; ".join(run.invalid),
    }


def _values(run: StoredRun) -> tuple[tuple[str, str], ...]:
    """Return names and values of the scenario, or those that are known of its bottleneck."""
    return tuple(sorted(set(_named(run))))


def _named(run: StoredRun) -> Iterator[tuple[str, str]]:
    named: list[tuple[tuple[str, ...], str]] = [
        ((name,), value) for name, values in run.path.items() for value in values
    ]
    if run.place is not None:
        named += _leaves((), run.place.planned.table)
    for path, value in named:
        keys = [key for key in path if not key.isdecimal()]
        for name in {*keys[-2:], ".".join(keys)}:
            yield name, value
            if name in _ALSO:
                yield _ALSO[name], value


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the single values in a table, each with its keys; entries of a list are numbered."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves((*path, str(key)), inner)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _leaves((*path, str(place)), inner)
    else:
        yield path, str(value).lower() if isinstance(value, bool) else str(value)


def _text(cell: Any) -> str:
    return "–" if cell is None else f"{cell:g}" if isinstance(cell, float) else str(cell)


def _number(value: float | None) -> float | None:
    """Return a number that JSON has; what is unlimited is beyond all others."""
    return 1e300 if value is not None and math.isinf(value) else value
