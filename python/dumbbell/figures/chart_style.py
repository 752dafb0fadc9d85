"""How every chart looks: one palette, one shape per algorithm, one set of fonts.

An algorithm keeps its colour and shape in all figures. The colours are those of Okabe and Ito
("Color Universal Design", 2008), which people with colour-vision deficiencies can tell apart,
without the yellow, which is too light for lines on white; Tol's muted scheme follows for what is
not in the list. Shapes repeat the distinction for print without colour.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
FONT_WITH_SUPERSCRIPTS = "DejaVu Sans, Verdana, Arial, sans-serif"
INK = "#1a1a1a"
FAINT = "#5c5c5c"
GRID = "#e4e4e4"
THEORY_DASHES: tuple[tuple[int, int], ...] = ((6, 4), (2, 3), (10, 3), (1, 2))

FLOW_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", INK)
_SPARE_COLOURS = ("#332288", "#882255", "#117733", "#aa4499", "#44aa99", "#999933", "#6699cc")
_SPARE_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")


@dataclass(frozen=True)
class Look:
    """How a series is shown."""

    label: str
    colour: str
    shape: str


_LOOKS = {
    "reno": Look("Standard TCP", INK, "circle"),
    "scalable": Look("Scalable-TCP", "#d55e00", "triangle-up"),
    "highspeed": Look("HS-TCP", "#e69f00", "square"),
    "htcp": Look("H-TCP", "#0072b2", "diamond"),
    "bic": Look("BIC-TCP", "#009e73", "triangle-down"),
    "fast": Look("FAST-TCP", "#cc79a7", "cross"),
    "cubic": Look("CUBIC", "#56b4e9", "triangle-right"),
}


def algorithm_label(reference: str) -> str:
    """Name of `algorithm[@preset]` as the literature writes it, without its preset."""
    name = reference.partition("@")[0]
    return _LOOKS[name].label if name in _LOOKS else name


def looks(values: Iterable[str]) -> dict[str, Look]:
    """Look of each series value, in order; no two of them get the same label or colour."""
    chosen: dict[str, Look] = {}
    for value in dict.fromkeys(values):
        look = _LOOKS.get(value.partition("@")[0]) or _spare(value, len(chosen))
        if any(look.label == other.label for other in chosen.values()):
            look = replace(look, label=f"{look.label} ({value})")
        if any(look.colour == other.colour for other in chosen.values()):
            look = replace(_spare(value, len(chosen)), label=look.label)
        chosen[value] = look
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


def _spare(value: str, position: int) -> Look:
    return Look(
        label=value,
        colour=_SPARE_COLOURS[position % len(_SPARE_COLOURS)],
        shape=_SPARE_SHAPES[position % len(_SPARE_SHAPES)],
    )
