"""Content of the list of all runs: the table of ``dumbbell list runs``, and each grid point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.results.inventory import Inventory, StoredRun

_SYNONYMS: Final = {"queue": "buffer"}
"""Names of options for keys of scenario files."""


def content(inventory: Inventory) -> Mapping[str, Any]:
    """Return a row for each run, the newest first, as plain data.

    Many runs share the values of a scenario, so `scenarios` has them once. A row has their index.
    """
    runs = list(inventory.runs())
    numbers: dict[tuple[tuple[str, str], ...], int] = {}
    rows = [_row(run, numbers.setdefault(_values(run), len(numbers))) for run in runs]
    columns = list(runs[0].cells) if runs else []
    return {"columns": columns, "rows": rows, "scenarios": list(numbers)}


def _row(run: StoredRun, scenario: int) -> Mapping[str, Any]:
    """Return the cells of a run, the numbers that sort some of them, and its axes."""
    axes = {} if run.place is None else dict(run.place.planned.axes)
    return {
        "cells": [_text(cell) for cell in run.cells.values()],
        "order": [_number(run.order.get(head)) for head in run.cells],
        "axes": list(axes.items()),
        "scenario": scenario,
        "invalid": "; ".join(run.invalid),
    }


def _values(run: StoredRun) -> tuple[tuple[str, str], ...]:
    """Return names and values of the scenario; without its file, those of the bottleneck."""
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
            if name in _SYNONYMS:
                yield _SYNONYMS[name], value


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
    """Return a number that JSON has; an unlimited one sorts after all others."""
    return 1e300 if value is not None and math.isinf(value) else value
