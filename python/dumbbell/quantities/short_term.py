"""Fairness of flows to each other on a short scale: Jain's index in interval after interval.

A flow counts in an interval if it is sampled, always has data to send, and is on in the whole
interval. An interval has no value if fewer than two flows count, or if nothing arrived.
"""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np
from pydantic import Field

from dumbbell.base.units import Duration
from dumbbell.plan.settings import Settings
from dumbbell.quantities.counters import Values
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView
from dumbbell.theory import formulas


class ShortTerm(Settings):
    """Length of a short scale."""

    table: ClassVar[str] = "short_term"

    interval: Duration = Field(1_000_000_000, gt=0, validate_default=False, examples=["5s"])
    """Time over which fairness is computed; rounded up to a multiple of the record's interval."""


@of_flows(
    "short-term fairness (Jain)", best=Best.HIGHEST, several=True, settings=ShortTerm, index=True
)
def jain_short(view: FlowsView) -> float | None:
    """Jain's index of the goodputs in short intervals; the mean of all intervals."""
    indices = view.once(_indices)
    return float(indices.mean()) if indices.size else None


@of_flows(
    "worst short-term fairness (Jain)",
    best=Best.HIGHEST,
    several=True,
    settings=ShortTerm,
    index=True,
)
def jain_short_min(view: FlowsView) -> float | None:
    """Jain's index of the goodputs in short intervals; that of the least fair interval."""
    indices = view.once(_indices)
    return float(indices.min()) if indices.size else None


def _indices(view: FlowsView) -> Values:
    """Return Jain's index in each interval of the window that has a value."""
    times = view.instants(int(view.run.settings(ShortTerm).interval))
    greedy = [(flow, counters) for flow, counters in view.counters if flow.is_greedy]
    grown = [np.diff(counters.along("received_bytes", times)) for _, counters in greedy]
    indices = []
    for number, (start_ns, end_ns) in enumerate(itertools.pairwise(times)):
        goodputs = [
            float(grown_of_flow[number])
            for (flow, _), grown_of_flow in zip(greedy, grown, strict=True)
            if flow.life.start_ns <= start_ns and flow.life.end_ns >= end_ns
        ]
        # Jain's index of one flow is always 1, and of flows that all have 0 it is 0 / 0.
        if len(goodputs) > 1 and any(goodputs):
            indices.append(formulas.jain(goodputs))
    return np.array(indices)
