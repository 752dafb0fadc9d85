"""The look of every algorithm: its colour and its shape, under its name in the literature.

The algorithm's C file declares them (`algorithms.labels`). An algorithm keeps its look in all
figures. The first seven colours are those of Okabe and Ito ("Color Universal Design", 2008), which
people with colour-vision deficiencies can distinguish. Every colour has a contrast of 3:1 or more
on white paper. So their yellow is left out, and amber, sky blue and vermilion are darker. Nobody
can distinguish 25 colours, so the others go by family: purple for hybrids of loss and delay, green
for delay, red for models of the rate, teal for congestion marks, brown and grey for loss. Within a
family each has another shape and another shade.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms.labels import in_figures

INK: Final = "#1a1a1a"


@dataclass(frozen=True)
class Look:
    """Look of a series; `shape` is a name, or an SVG path that reaches to about 1."""

    label: str
    colour: str
    shape: str


_SHAPES: Final[Mapping[str, str]] = {
    "arch": "M-1.1,1L-1.1,-0.3L0,-1.1L1.1,-0.3L1.1,1L0.5,1L0.5,0L-0.5,0L-0.5,1Z",
    "arrowhead": "M-1.2,1.1L0,-1.1L1.2,1.1L0,0.4Z",
    "bowl": "M-1.2,-0.6A1.2,1.2,0,0,0,1.2,-0.6Z",
    "bowtie": "M-1.1,-1L1.1,1L1.1,-1L-1.1,1Z",
    "chevron": "M-1.2,-1.1L0,1.1L1.2,-1.1L0,-0.4Z",
    "dome": "M-1.2,0.6A1.2,1.2,0,0,1,1.2,0.6Z",
    "flat": "M-1.3,-0.5L1.3,-0.5L1.3,0.5L-1.3,0.5Z",
    "hexagon": "M-0.5,-0.9L0.5,-0.9L1,0L0.5,0.9L-0.5,0.9L-1,0Z",
    "hourglass": "M-1,-1.1L1,-1.1L-1,1.1L1,1.1Z",
    "house": "M-0.85,0.95L-0.85,-0.15L0,-1L0.85,-0.15L0.85,0.95Z",
    "lozenge": "M0,-1.4L0.7,0L0,1.4L-0.7,0Z",
    "pentagon": "M0,-1L0.95,-0.31L0.59,0.81L-0.59,0.81L-0.95,-0.31Z",
    "star": (
        "M0,-1.15L0.28,-0.39L1.09,-0.36L0.46,0.15L0.68,0.93L0,0.48L-0.68,0.93"
        "L-0.46,0.15L-1.09,-0.36L-0.28,-0.39Z"
    ),
    "tall": "M-0.5,-1.3L0.5,-1.3L0.5,1.3L-0.5,1.3Z",
    "x": (
        "M-0.85,-1.2L0,-0.35L0.85,-1.2L1.2,-0.85L0.35,0L1.2,0.85L0.85,1.2"
        "L0,0.35L-0.85,1.2L-1.2,0.85L-0.35,0L-1.2,-0.85Z"
    ),
}
"""Name of a shape -> its SVG path; Vega has the others by name."""

LOOKS: Final[Mapping[str, Look]] = {
    name: Look(shown.label, shown.colour, _SHAPES.get(shown.shape, shown.shape))
    for name, shown in in_figures().items()
}
"""Look of each built-in algorithm, as its C file declares it."""
