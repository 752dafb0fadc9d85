"""The window over which quantities of a run are taken."""

from __future__ import annotations

from dumbbell.base.units import NS_PER_S
from dumbbell.quantities.registry import of_flows
from dumbbell.quantities.view import FlowsView


@of_flows("beginning of the window", "s", several=True)
def window_from_s(view: FlowsView) -> float:
    """Time of the run at which the window begins, on a sample."""
    return view.span.start_ns / NS_PER_S


@of_flows("end of the window", "s", several=True)
def window_to_s(view: FlowsView) -> float:
    """Time of the run at which the window ends, on a sample."""
    return view.span.end_ns / NS_PER_S
