"""Cells of maps: a place for each pair of values of two axes, with a number in each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dumbbell.algorithms.labels import labels_of
from dumbbell.base.labels import DIGITS, number
from dumbbell.base.lazy import altair as alt

COLUMNS: Final = 3
"""Maps in a row of a figure."""

_CELL: Final = 68
_ROW: Final = 0.56
_LETTER: Final = 7
"""Width of a character of an axis, in pixels."""


def places(xs: Sequence[str], ys: Sequence[str], titles: tuple[str, str]) -> dict[str, Any]:
    """Return the encodings of the columns ``x`` and ``y``, of values from left and from below."""
    names = labels_of(xs).values()
    angle = 0 if max(map(len, names)) * _LETTER <= _CELL else -90
    return {
        "x": alt.X(
            "x:O",
            title=titles[0],
            scale=alt.Scale(domain=list(xs)),
            sort=None,
            axis=alt.Axis(labelAngle=angle, labelExpr=_named(xs)),
        ),
        "y": alt.Y(
            "y:O",
            title=titles[1],
            scale=alt.Scale(domain=list(reversed(ys))),
            sort=None,
            axis=alt.Axis(labelExpr=_named(ys)),
        ),
    }


def _named(values: Sequence[str]) -> str:
    """Return the expression that turns values into what readers call them."""
    names = labels_of(values)
    return f"({json.dumps(names, ensure_ascii=False)})[datum.value]"


def size(xs: Sequence[str], ys: Sequence[str]) -> dict[str, float]:
    """Return width and height of a map."""
    return {"width": _CELL * len(xs), "height": _ROW * _CELL * len(ys)}


def diagonal() -> dict[str, Any]:
    """Return the look of a point that crosses its cell, from lower left to upper right."""
    inset = 0.94
    path = f"M{-inset},{inset * _ROW}L{inset},{-inset * _ROW}"
    # A shape reaches to 1, which is half the root of the size.
    return {"shape": path, "size": _CELL**2, "filled": False, "clip": True, "aria": False}


def tooltip(values: Mapping[str, Sequence[str]]) -> list[Any]:
    """Return the parts of a tooltip that name the place; `values` are those of both axes."""
    return [alt.Tooltip(f"{name}:O", title=axis) for name, axis in zip("xy", values, strict=True)]


def text(value: float | None) -> str:
    """Return what a cell shows."""
    return "" if value is None else number(value, DIGITS)
