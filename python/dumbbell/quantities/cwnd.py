"""Congestion windows: how large they are, and how they oscillate from sample to sample."""

from __future__ import annotations

import numpy as np

from dumbbell.base.units import NS_PER_S
from dumbbell.quantities.counters import Values
from dumbbell.quantities.oscillation import damping, period
from dumbbell.quantities.rates import ratio
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView, known


def _samples(view: FlowsView) -> list[Values]:
    """Return the windows of each flow while it is on, those of its connections together."""
    windows = [
        counters.samples("cwnd_segs", alive.start_ns, alive.end_ns)
        for flow, counters in view.counters
        if (alive := flow.life.inside(view.span)) is not None
    ]
    return [values for values in windows if values.size]


@of_flows("congestion window", "segs")
def cwnd_mean_segs(view: FlowsView) -> float | None:
    """Mean congestion window; the flows' mean."""
    means = [float(values.mean()) for values in _samples(view)]
    return float(np.mean(means)) if means else None


@of_flows("largest congestion window", "segs")
def cwnd_max_segs(view: FlowsView) -> float | None:
    """Largest congestion window at a sample; for several flows, the largest of all."""
    return max((float(values.max()) for values in _samples(view)), default=None)


@of_flows("variation of the window")
def cwnd_variation(view: FlowsView) -> float | None:
    """Coefficient of variation of the congestion window; the flows' mean."""
    variations = known(
        [ratio(float(windows.std()), float(windows.mean())) for windows in _samples(view)]
    )
    return float(np.mean(variations)) if variations else None


@of_flows("period of the window", "s")
def cwnd_period_s(view: FlowsView) -> float | None:
    """Period of the congestion window: the lag at which it repeats itself; the flows' mean."""
    interval_s = (view.run.scenario.record.interval_ns or 0) / NS_PER_S
    periods = known([period(windows) for windows in _samples(view)])
    return float(np.mean(periods)) * interval_s if periods else None


@of_flows("damping of the window", best=Best.LOWEST)
def cwnd_damping(view: FlowsView) -> float | None:
    """Deviation of cwnd in the second half of the time divided by the first's; the flows' mean."""
    dampings = known([damping(windows) for windows in _samples(view)])
    return float(np.mean(dampings)) if dampings else None
