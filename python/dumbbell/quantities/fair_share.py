"""Time until flows reach their new fair share after a change, for any number of flows.

The change is at the beginning of the window (`from = "start of late"`). The window's whole goodput
is divided equally among the flows that are on at its end, always have data to send and are sampled.
Each part is a fair share. The selected flows have reached it when each of them has at least `share`
of it, in `hold` intervals in a row. The time ends with the first of these intervals.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dumbbell.base.units import NS_PER_S, Duration
from dumbbell.plan.settings import Settings
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView

Flags = npt.NDArray[np.bool_]


class FairShare(Settings):
    """When flows have reached their fair share."""

    table: ClassVar[str] = "fair_share"

    share: float = Field(0.8, gt=0, le=1)
    """Share of the fair share that each flow must have."""

    interval: Duration = Field(1_000_000_000, gt=0, validate_default=False, examples=["1s"])
    """Time over which goodput is averaged; rounded up to a multiple of the record's interval."""

    hold: int = Field(3, ge=1)
    """Number of intervals in a row in which all flows must have that share."""


@of_flows("time to fair share", "s", best=Best.LOWEST, settings=FairShare)
def fair_share_reached_s(view: FlowsView) -> float | None:
    """Time until all flows had `share` of their fair share at the same time."""
    flags_and_interval = view.once(_enough)
    return (
        None
        if flags_and_interval is None
        else _held(*flags_and_interval, view.run.settings(FairShare).hold)
    )


@of_flows("time to fair share, bounded", "s", best=Best.LOWEST, settings=FairShare)
def fair_share_bound_s(view: FlowsView) -> float | None:
    """As `fair_share_reached_s`; the window's length if the flows did not reach it."""
    if view.once(_enough) is None:
        return None
    reached = fair_share_reached_s(view)
    return view.span.seconds if reached is None else reached


def _enough(view: FlowsView) -> tuple[Flags, float] | None:
    """Return in which intervals all flows have enough, and the length of these in seconds.

    None if the flows have no one to share with, or if there are too few samples.
    """
    rules = view.run.settings(FairShare)
    times = view.instants(int(rules.interval))
    sharing = [
        (flow, counters)
        for flow, counters in view.everyone.on.counters
        # A flow that ends within the window frees its share, so the fair share would change midway.
        if flow.is_greedy and flow.life.end_ns >= view.span.end_ns
    ]
    wanted = [number for number, (flow, _) in enumerate(sharing) if flow in view.flows]
    if times.size < 2 or len(sharing) < 2 or not wanted:
        return None
    grown = np.array([np.diff(counters.along("received_bytes", times)) for _, counters in sharing])
    enough = grown[wanted] >= rules.share * grown.sum(axis=0).mean() / len(sharing)
    return enough.all(axis=0), float(times[1] - times[0]) / NS_PER_S


def _held(flags: Flags, interval_s: float, hold: int) -> float | None:
    """Return when flags begin to be true for so many intervals in a row; None: never."""
    if flags.size < hold:
        return None
    # The sum of `hold` neighbours equals `hold` only if all are true; the half is for rounding.
    in_a_row = np.convolve(flags, np.ones(hold), mode="valid") > hold - 0.5
    # The first of the intervals counts at its end: before it has passed, nothing is known of it.
    return float(in_a_row.argmax() + 1) * interval_s if in_a_row.any() else None
