"""Style of all charts: one palette, one set of fonts, and looks for series without one.

The looks of the algorithms are in `looks`. Series without one, such as a user's own
algorithms, get colours of Tol's muted scheme and shapes that repeat the distinction for print
without colour.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from dumbbell.algorithms.labels import labels_of
from dumbbell.figures.looks import INK, LOOKS, Look

__all__ = [
    "BAD",
    "CHOSEN",
    "FAINT",
    "FONT",
    "FONT_WITH_SUPERSCRIPTS",
    "GOOD",
    "GRID",
    "INK",
    "OPEN",
    "OTHERS",
    "SPARE_COLOURS",
    "THEORY_DASHES",
    "Look",
]

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
FONT_WITH_SUPERSCRIPTS = "DejaVu Sans, Verdana, Arial, sans-serif"
FAINT = "#5c5c5c"
GRID = "#e4e4e4"
THEORY_DASHES: tuple[tuple[int, int], ...] = ((6, 4), (2, 3), (10, 3), (1, 2))

SPARE_COLOURS = ("#882255", "#2f9486", "#aa4499", "#5e92c6", "#cc6677", "#004488", "#997700")
"""Colours that no algorithm has."""

CHOSEN, OTHERS = "#d55e00", "#004488"
"""Colours of what was chosen among equals that are no algorithms, and of the others."""

GOOD, OPEN, BAD = "#00795a", "#a88600", "#d55e00"
"""Colours of what agrees, of what is not decided, and of what does not agree."""

_SPARE_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")


def looks(values: Iterable[str]) -> dict[str, Look]:
    """Look of each series value, in order; no two of them have the same look or label.

    An algorithm without a preset has its look, else the first of its presets by name. Others of it,
    and what has none, get spare ones. The order of the values does not matter, so that all figures
    of the same ones agree.
    """
    chosen: dict[str, Look] = {}
    spare = _spare_looks()
    labels = labels_of(values)
    for value in sorted(labels, key=lambda name: ("@" in name, name)):
        known = LOOKS.get(value.partition("@")[0])
        if known is None or any(known.colour == other.colour for other in chosen.values()):
            known = next(spare)
        chosen[value] = replace(known, label=labels[value])
    return {value: chosen[value] for value in labels}


def flow_colours(algorithms: Iterable[str | None]) -> list[str]:
    """Colours of lines by their algorithms, such as those of the flows of a run.

    The first line of an algorithm has its colour. Others of it, and those of none (None), have
    colours that no algorithm has: after seven of them these repeat.
    """
    spare, taken, colours = itertools.cycle(SPARE_COLOURS), set[str](), []
    for algorithm in algorithms:
        look = None if algorithm is None else LOOKS.get(algorithm.partition("@")[0])
        colour = next(spare) if look is None or look.colour in taken else look.colour
        taken.add(colour)
        colours.append(colour)
    return colours


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
        itertools.cycle(SPARE_COLOURS), itertools.cycle(_SPARE_SHAPES), strict=False
    ):
        yield Look("", colour, shape)
