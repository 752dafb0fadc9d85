"""Measures of a run, and the closeness of two engines that each requires.

Everything is a quantity of the whole run, slow start included, as a run's summary counts it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from dumbbell.base.labels import Bounds
from dumbbell.engines.result import Run
from dumbbell.quantities import taking


@dataclass(frozen=True)
class Measure:
    """A quantity of a run, and the band around its difference between engines.

    Attributes
    ----------
    name, title
        Its names here.
    quantity
        The quantity, by its reference; empty: it is no number of a single run.
    share, least
        The difference may be this share of the value on the kernel, and always `least`.
    why
        Reason why not less.
    goal
        True if the headline counts it.
    of_pairs
        True if it has a meaning for several flows only.
    wanted
        In which share of the scenarios the engines are to agree; 0: that is not asked of it alone.
    """

    name: str
    title: str
    quantity: str
    share: float
    least: float
    why: str
    goal: bool = False
    of_pairs: bool = False
    wanted: float = 0.0

    @property
    def unit(self) -> str:
        """The unit in which it is shown."""
        return taking.described(self.quantity).shown_unit if self.quantity else ""

    @property
    def shown_bounds(self) -> Bounds:
        """The least and the most that it can be, in that unit."""
        return taking.described(self.quantity).shown_bounds if self.quantity else (0.0, math.inf)

    @property
    def scale(self) -> float:
        """From its own unit to the one shown."""
        return taking.described(self.quantity).shown_scale if self.quantity else 1.0

    def of(self, run: Run) -> float | None:
        """Take it of a run; None where a run has none."""
        if self.of_pairs and len(run.scenario.flows) < 2:
            return None
        return taken(run, self.quantity)

    def tolerance(self, reference: float) -> float:
        """Return how far a value may be from that on the kernel."""
        return max(self.share * abs(reference), self.least)

    @property
    def band(self) -> str:
        """The band in words."""
        unit = {"": "", "%": " points"}.get(self.unit, f" {self.unit}")
        parts = [f"{100 * self.share:g} %"] if self.share else []
        parts += [f"{self.least * self.scale:g}{unit}"] if self.least else []
        return " or ".join(parts)


def taken(run: Run, quantity: str) -> float | None:
    """Take a quantity of a run."""
    return taking.of_run(run, [quantity])[quantity]


GOODPUT: Final = "goodput_mbit_per_s@run"
RTT: Final = "rtt_mean_ms@run"
QUEUE: Final = "queueing_delay_mean_ms@run"

_SPLIT: Final = "the shares of a pair vary between short runs of some seconds"

MEASURES: Final = (
    Measure("goodput", "goodput", GOODPUT, 0.05, 0.0, "the goal", goal=True),
    Measure("rtt", "mean RTT", RTT, 0.10, 0.0, "the goal", goal=True),
    Measure(
        "retransmitted",
        "retransmitted",
        "retransmitted_share@run",
        0.25,
        0.001,
        "one overshoot of slow start is most of it where nothing is lost at random",
    ),
    Measure("share", "share of flow 1", "goodput_share[1]@run", 0.0, 0.10, _SPLIT, of_pairs=True),
    *(
        Measure(
            f"goodput {flow}",
            f"goodput of flow {flow}",
            f"goodput_life_mbit_per_s[{flow}]@run",
            0.20,
            0.0,
            _SPLIT,
            of_pairs=True,
        )
        for flow in (1, 2)
    ),
    Measure(
        "queue",
        "mean queue",
        QUEUE,
        0.20,
        0.5,
        "a small part of the RTT, which has a separate band",
    ),
)
