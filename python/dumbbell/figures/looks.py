"""The look of every algorithm: its colour and its shape, under its name in the literature.

An algorithm keeps its look in all figures. The first seven colours are those of Okabe and Ito
("Color Universal Design", 2008), which people with colour-vision deficiencies can distinguish.
Their yellow is left out: it is too light for lines on white. Nobody can distinguish 25 colours, so
the others go by family: purple for hybrids of loss and delay, green for delay, red for models of
the rate, teal for congestion marks, brown and grey for loss. Within a family each has another shape
and another shade.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dumbbell.base.labels import algorithm_label

INK: Final = "#1a1a1a"


@dataclass(frozen=True)
class Look:
    """Look of a series; `shape` is a name, or an SVG path that reaches to about 1."""

    label: str
    colour: str
    shape: str


_X: Final = (
    "M-0.85,-1.2L0,-0.35L0.85,-1.2L1.2,-0.85L0.35,0L1.2,0.85L0.85,1.2L0,0.35L-0.85,1.2"
    "L-1.2,0.85L-0.35,0L-1.2,-0.85Z"
)
_STAR: Final = (
    "M0,-1.15L0.28,-0.39L1.09,-0.36L0.46,0.15L0.68,0.93L0,0.48L-0.68,0.93L-0.46,0.15"
    "L-1.09,-0.36L-0.28,-0.39Z"
)
_PENTAGON: Final = "M0,-1L0.95,-0.31L0.59,0.81L-0.59,0.81L-0.95,-0.31Z"
_HEXAGON: Final = "M-0.5,-0.9L0.5,-0.9L1,0L0.5,0.9L-0.5,0.9L-1,0Z"
_HOUSE: Final = "M-0.85,0.95L-0.85,-0.15L0,-1L0.85,-0.15L0.85,0.95Z"
_HOURGLASS: Final = "M-1,-1.1L1,-1.1L-1,1.1L1,1.1Z"
_BOWTIE: Final = "M-1.1,-1L1.1,1L1.1,-1L-1.1,1Z"
_DOME: Final = "M-1.2,0.6A1.2,1.2,0,0,1,1.2,0.6Z"
_BOWL: Final = "M-1.2,-0.6A1.2,1.2,0,0,0,1.2,-0.6Z"
_FLAT: Final = "M-1.3,-0.5L1.3,-0.5L1.3,0.5L-1.3,0.5Z"
_TALL: Final = "M-0.5,-1.3L0.5,-1.3L0.5,1.3L-0.5,1.3Z"
_ARROWHEAD: Final = "M-1.2,1.1L0,-1.1L1.2,1.1L0,0.4Z"
_CHEVRON: Final = "M-1.2,-1.1L0,1.1L1.2,-1.1L0,-0.4Z"
_ARCH: Final = "M-1.1,1L-1.1,-0.3L0,-1.1L1.1,-0.3L1.1,1L0.5,1L0.5,0L-0.5,0L-0.5,1Z"
_LOZENGE: Final = "M0,-1.4L0.7,0L0,1.4L-0.7,0Z"

_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    # Loss.
    "reno": (INK, "circle"),
    "scalable": ("#d55e00", "triangle-up"),
    "highspeed": ("#e69f00", "square"),
    "htcp": ("#0072b2", "diamond"),
    "bic": ("#009e73", "triangle-down"),
    "cubic": ("#56b4e9", "triangle-right"),
    "relentless": ("#7a3b12", _X),
    "westwood": ("#808080", "triangle-left"),
    "hybla": ("#b58a5a", _HOUSE),
    # Loss and delay.
    "illinois": ("#a0206f", _STAR),
    "yeah": ("#332288", _HEXAGON),
    "compound": ("#7d6fd9", _PENTAGON),
    "cdg": ("#5e1675", _HOURGLASS),
    "veno": ("#c48be0", _BOWTIE),
    "hstcplp": ("#b3a125", _ARCH),
    # Delay.
    "fast": ("#cc79a7", "cross"),
    "vegas": ("#999933", _DOME),
    "nv": ("#117733", _TALL),
    "lp": ("#6b6b10", _BOWL),
    "ledbatpp": ("#66a61e", _FLAT),
    "ccp": ("#3f5d2a", _ARROWHEAD),
    "ccpd": ("#93ad7a", _CHEVRON),
    # Models of the rate.
    "bbr": ("#b2182b", "square"),
    "bbr3": ("#e8707a", "diamond"),
    # Congestion marks.
    "dctcp": ("#00687a", "circle"),
    "prague": ("#2aa198", _LOZENGE),
}

LOOKS: Final[Mapping[str, Look]] = {
    name: Look(algorithm_label(name), colour, shape) for name, (colour, shape) in _LOOKS.items()
}
