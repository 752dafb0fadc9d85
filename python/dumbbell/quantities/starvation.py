"""Starvation of flows: time in which one has next to nothing of its fair share.

In each interval, the fair share is the goodput of all flows that are on, divided by their number. A
flow starves in an interval if its goodput is below a set part of the fair share. Only sampled flows
that always have data to send count. A flow alone does not starve.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dumbbell.base.units import NS_PER_S, Duration
from dumbbell.plan.settings import Settings
from dumbbell.quantities.counters import Times
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.subjects import Flow
from dumbbell.quantities.view import FlowsView

Flags = npt.NDArray[np.bool_]


class Starvation(Settings):
    """When a flow starves."""

    table: ClassVar[str] = "starvation"

    share: float = Field(0.01, gt=0, lt=1)
    """A flow with less than this share of its fair share starves."""

    interval: Duration = Field(1_000_000_000, gt=0, validate_default=False, examples=["1s"])
    """Time over which goodput is averaged; rounded up to a multiple of the record's interval."""

    collapse: Duration = Field(5_000_000_000, gt=0, validate_default=False, examples=["5s"])
    """Time of starvation without a break after which a flow has collapsed."""


@of_flows("starved", "s", best=Best.LOWEST, settings=Starvation)
def starved_s(view: FlowsView) -> float | None:
    """Time in which a flow had almost nothing of its fair share; the flows' sum."""
    flags_and_interval = view.once(_starving)
    return (
        None
        if flags_and_interval is None
        else float(flags_and_interval[0].sum()) * flags_and_interval[1]
    )


@of_flows("longest starvation", "s", best=Best.LOWEST, settings=Starvation)
def starved_longest_s(view: FlowsView) -> float | None:
    """Longest unbroken time in which a flow had almost nothing of its fair share."""
    longest_s = view.once(_longest_s)
    return None if longest_s is None else max(longest_s)


@of_flows("collapsed", best=Best.LOWEST, settings=Starvation, yes_or_no=True)
def collapsed(view: FlowsView) -> float | None:
    """1 if a flow starved for the time `collapse` without a break, else 0."""
    count = collapsed_flows(view)
    return None if count is None else float(count > 0)


@of_flows("flows that collapsed", best=Best.LOWEST, several=True, settings=Starvation)
def collapsed_flows(view: FlowsView) -> float | None:
    """Flows that starved for the time `collapse` without a break."""
    longest_s = view.once(_longest_s)
    least_s = int(view.run.settings(Starvation).collapse) / NS_PER_S
    return None if longest_s is None else float(sum(seconds >= least_s for seconds in longest_s))


def _longest_s(view: FlowsView) -> list[float] | None:
    """Return for how long each flow starved without a break."""
    flags_and_interval = view.once(_starving)
    return (
        None
        if flags_and_interval is None
        else [_longest(flags) * flags_and_interval[1] for flags in flags_and_interval[0]]
    )


def _longest(flags: Flags) -> int:
    """Return the length of the longest run of true values."""
    # Zeros around the flags close a stretch that touches either end.
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return int(max(edges[1::2] - edges[::2], default=0))


def _starving(view: FlowsView) -> tuple[Flags, float] | None:
    """Return in which intervals each flow starves, and the length of these in seconds.

    The flags have the shape (flows, intervals). None if no flow can starve, or if there are too few
    samples.
    """
    times = view.instants(int(view.run.settings(Starvation).interval))
    greedy = [(flow, counters) for flow, counters in view.everyone.counters if flow.is_greedy]
    wanted = [number for number, (flow, _) in enumerate(greedy) if flow in view.flows]
    if times.size < 2 or not wanted:
        return None
    is_on = np.array([_is_on(flow, times) for flow, _ in greedy])
    grown = np.array([np.diff(counters.along("received_bytes", times)) for _, counters in greedy])
    sharing = is_on.sum(axis=0)
    # At least 1, as there are intervals without any flow: there nothing is divided by 0.
    fair = (grown * is_on).sum(axis=0) / np.maximum(sharing, 1)
    least = view.run.settings(Starvation).share * fair
    # A flow that is alone cannot be starved by others, whatever it gets.
    flags = is_on & (sharing > 1) & (grown < least)
    return flags[wanted], float(times[1] - times[0]) / NS_PER_S


def _is_on(flow: Flow, times: Times) -> Flags:
    """Return, for each interval, whether a flow is on in all of it."""
    return (times[:-1] >= flow.life.start_ns) & (times[1:] <= flow.life.end_ns)
