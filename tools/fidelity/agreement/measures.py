"""Measures of scenarios that are drawn at random, and the distance of windows."""

from __future__ import annotations

from typing import Final

from dumbbell.experiments.validate.measures import GOODPUT, RTT, Measure

CONFIDENCE: Final = 0.90
"""Of the intervals of differences; see `dumbbell.inference.equivalence`."""

DRAWN_MEASURES: Final = (
    Measure("goodput", "goodput", GOODPUT, 0.02, 0.0, "the goal", goal=True, wanted=0.90),
    Measure("rtt", "mean RTT", RTT, 0.05, 0.0, "the goal", goal=True, wanted=0.95),
    Measure(
        "retransmitted",
        "retransmitted",
        "retransmitted_share@run",
        0.25,
        0.001,
        "the goal",
        goal=True,
        wanted=0.95,
    ),
    Measure(
        "share",
        "share of flow 1",
        "goodput_share[1]@run",
        0.0,
        0.05,
        "the goal",
        goal=True,
        of_pairs=True,
        wanted=0.95,
    ),
)
"""Of scenarios drawn at random."""

DISTANCE: Final = Measure(
    "windows",
    "window distance",
    "",
    0.0,
    0.10,
    "a tenth of the mean window, beyond the distance between two runs of one engine",
)
"""Not a number of one run: see `distance`."""
