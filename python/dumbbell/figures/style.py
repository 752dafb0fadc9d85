"""Style of all charts: one palette, one set of fonts, and looks for series without one.

The looks of the algorithms are in `looks`. Series without one, such as a user's own
algorithms, get colours of Tol's muted scheme and shapes that repeat the distinction for print
without colour.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from dumbbell.algorithms.labels import label_of
from dumbbell.figures.looks import INK, LOOKS, Look

__all__ = [
    "FAINT",
    "FLOW_COLOURS",
    "FONT",
    "FONT_WITH_SUPERSCRIPTS",
    "GRID",
    "INK",
    "THEORY_DASHES",
    "Look",
]

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
FONT_WITH_SUPERSCRIPTS = "DejaVu Sans, Verdana, Arial, sans-serif"
FAINT = "#5c5c5c"
GRID = "#e4e4e4"
THEORY_DASHES: tuple[tuple[int, int], ...] = ((6, 4), (2, 3), (10, 3), (1, 2))

FLOW_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", INK)
_SPARE_COLOURS = ("#882255", "#44aa99", "#aa4499", "#6699cc", "#cc6677", "#004488", "#997700")
_SPARE_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")


def looks(values: Iterable[str]) -> dict[str, Look]:
    """Look of each series value, in order; no two of them have the same look or label.

    The first value of an algorithm has its look; others of it, such as with another preset, and
    what has none, get spare ones.
    """
    chosen: dict[str, Look] = {}
    spare = _spare_looks()
    for value in dict.fromkeys(values):
        known = LOOKS.get(value.partition("@")[0])
        label = label_of(value)
        if any(label == other.label for other in chosen.values()):
            label = f"{label} ({value})"
        if known is None or any(known.colour == other.colour for other in chosen.values()):
            known = next(spare)
        chosen[value] = replace(known, label=label)
    return chosen


def flow_colours(count: int) -> list[str]:
    """Colours of the flows of one run, in order of their index."""
    return [FLOW_COLOURS[index % len(FLOW_COLOURS)] for index in range(count)]


def config() -> dict[str, Any]:
    """Vega-Lite configuration of a top-level chart."""
    return {
        "background": "white",
        "font": FONT,
        "view": {"stroke": "#b0b0b0", "continuousWidth": 380, "continuousHeight": 260},
        "axis": {
            "labelColor": INK,
            "titleColor": INK,
            "labelFontSize": 12,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": GRID,
            "domainColor": FAINT,
            "tickColor": FAINT,
            "labelFlush": False,
        },
        "legend": {
            "labelColor": INK,
            "titleColor": INK,
            "labelFontSize": 12.5,
            "titleFontSize": 12.5,
            "titleFontWeight": "normal",
            "symbolSize": 90,
            "symbolStrokeWidth": 2,
            "labelLimit": 320,
            "rowPadding": 4,
        },
        "title": {
            "color": INK,
            "subtitleColor": FAINT,
            "fontSize": 14,
            "fontWeight": "bold",
            "subtitleFontSize": 12,
            "anchor": "start",
            "offset": 10,
        },
        "concat": {"spacing": 28},
    }


def _spare_looks() -> Iterator[Look]:
    """Yield looks that no algorithm has; after seven of them colours repeat, with other shapes."""
    for colour, shape in zip(
        itertools.cycle(_SPARE_COLOURS), itertools.cycle(_SPARE_SHAPES), strict=False
    ):
        yield Look("", colour, shape)
