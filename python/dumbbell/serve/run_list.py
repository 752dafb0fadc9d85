"""What the list of runs shows: those of ``dumbbell list runs``, and where each is on its grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dumbbell.inventory import Inventory, StoredRun


def content(inventory: Inventory) -> Mapping[str, Any]:
    """Return a row for each run, the newest first, as plain data."""
    runs = list(inventory.runs())
    return {"columns": list(runs[0].cells) if runs else [], "rows": [_row(run) for run in runs]}


def _row(run: StoredRun) -> Mapping[str, Any]:
    """Return a run's cells, the numbers by which some are sorted, and its values by axes."""
    axes = {} if run.place is None else dict(run.place.planned.axes)
    return {
        "cells": [_text(cell) for cell in run.cells.values()],
        "order": [_number(run.order.get(head)) for head in run.cells],
        "axes": list(axes.items()),
        "invalid": "; ".join(run.invalid),
    }


def _text(cell: Any) -> str:
    return "–" if cell is None else f"{cell:g}" if isinstance(cell, float) else str(cell)


def _number(value: float | None) -> float | None:
    """Return a number that JSON has; what is unlimited is beyond all others."""
    return 1e300 if value is not None and math.isinf(value) else value
