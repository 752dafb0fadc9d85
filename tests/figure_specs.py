"""Short specifications of figures of each kind, and a table of runs that they draw."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dumbbell.base.validation import validate
from dumbbell.figures.kinds.bars import BarsFigure
from dumbbell.figures.kinds.boxes import BoxesFigure
from dumbbell.figures.kinds.histories import HistoriesFigure
from dumbbell.figures.kinds.points import PointsFigure
from dumbbell.figures.kinds.rows import RowsFigure
from dumbbell.figures.kinds.scatter import ScatterFigure
from dumbbell.figures.kinds.tradeoff import TradeoffFigure
from dumbbell.figures.spec import BaseFigure
from figure_tables import COMMON, Tables

AXES = {
    "algorithm": ["reno", "cubic", "htcp", "bic", "scalable", "highspeed", "fast", "yeah"],
    "rtt": ["16ms", "22ms", "42ms"],
}


TIMES = Tables(
    AXES,
    [
        {"algorithm": name, "rtt": rtt, "jain": 0.5 + 0.05 * place + 0.01 * run, "share": 0.1 * run}
        for place, name in enumerate(AXES["algorithm"])
        for rtt in AXES["rtt"][1:]
        for run in range(4)
    ],
)


def points(**keys: Any) -> PointsFigure:
    x, y = {"field": "rtt_ms"}, {"field": "jain"}
    return validate(PointsFigure, {**COMMON, "kind": "points", "x": x, "y": y, **keys})


def bars(**keys: Any) -> BarsFigure:
    y = {"field": "jain"}
    return validate(BarsFigure, {**COMMON, "kind": "bars", "groups": "rtt", "y": y, **keys})


def scatter(**keys: Any) -> ScatterFigure:
    y = {"field": "jain"}
    return validate(ScatterFigure, {**COMMON, "kind": "scatter", "groups": "rtt", "y": y, **keys})


def rows(**keys: Any) -> RowsFigure:
    x = {"field": "jain"}
    return validate(RowsFigure, {**COMMON, "kind": "rows", "rows": "algorithm", "x": x, **keys})


def tradeoff(**keys: Any) -> TradeoffFigure:
    return validate(TradeoffFigure, {**COMMON, "kind": "tradeoff", **keys})


def boxes(**keys: Any) -> BoxesFigure:
    y = {"field": "goodput_mbit_per_s[1]@late"}
    return validate(BoxesFigure, {**COMMON, "kind": "boxes", "y": y, **keys})


def panel_keys() -> dict[str, Any]:
    return {"title": "p", "test": "t", "where": {"algorithm": "reno"}}


def histories(**keys: Any) -> HistoriesFigure:
    keys = {"panel": [panel_keys()], **keys}
    common = {name: COMMON[name] for name in ("name", "title", "section")}
    return validate(HistoriesFigure, {**common, "kind": "histories", **keys})


MEANS: list[Callable[..., BaseFigure]] = [points, bars, scatter, rows]

PART = [{"field": f"goodput_mbit_per_s[{n}]", "label": f"flow {n}"} for n in (1, 2)]


def labels(text: str, role: str) -> list[str]:
    """Return what the marks of a kind say to anyone who does not see them."""
    labelled = re.findall(r'aria-label="([^"]*)" role="[^"]*" aria-roledescription="(\w+)"', text)
    return [label for label, kind in labelled if kind == role]
