"""Oscillation of the goodput: its size, its period, and its decay after a change.

All three are computed from the total goodput of the flows in each interval of `settings.samples`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dumbbell.base.units import NS_PER_S
from dumbbell.quantities.counters import Values
from dumbbell.quantities.goodput_samples import Samples, samples_mbit_per_s
from dumbbell.quantities.rates import ratio
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView

_LEAST: Final = 8
"""Fewest samples for which an oscillation is computed."""

_BY_CHANCE: Final = 0.05
"""Probability that noise without a period passes for one with a period."""

_AS_CLEAR: Final = 0.8
"""The first peak with this share of the highest counts: later ones are multiples of its lag."""


@of_flows("variation of goodput", best=Best.LOWEST, settings=Samples)
def goodput_variation(view: FlowsView) -> float | None:
    """Coefficient of variation of the goodput samples: standard deviation divided by mean."""
    values = view.once(samples_mbit_per_s)
    if values.size < 2:
        return None
    return ratio(float(values.std(ddof=1)), float(values.mean()))


@of_flows("period of goodput", "s", settings=Samples)
def oscillation_period_s(view: FlowsView) -> float | None:
    """Period of the goodput: the lag at which it clearly repeats itself; none if there is none."""
    lag = period(view.once(samples_mbit_per_s))
    interval_s = int(view.run.settings(Samples).interval) / NS_PER_S
    return None if lag is None else lag * interval_s


@of_flows("damping of goodput", best=Best.LOWEST, settings=Samples)
def oscillation_damping(view: FlowsView) -> float | None:
    """Deviation in the window's second half divided by that in its first; below 1 it dies out."""
    return damping(view.once(samples_mbit_per_s))


def damping(values: Values) -> float | None:
    """Return the deviation of the second half of samples divided by the first's; None if few."""
    if values.size < _LEAST:
        return None
    first, second = values[: values.size // 2], values[values.size // 2 :]
    return ratio(float(second.std(ddof=1)), float(first.std(ddof=1)))


def period(values: Values) -> float | None:
    """Return the period in samples; None: there is none.

    The period is the lag at which the autocorrelation has its peak, interpolated between lags. Two
    periods must fit into the samples. Peaks that noise may cause do not count.
    """
    around = values - values.mean() if values.size else values
    power = float((around**2).sum())
    if values.size < _LEAST or power <= 0:
        return None
    # Of a longer lag fewer than two periods fit in, which could be a trend as well.
    lags = values.size // 2
    # One lag more than is judged, so that the last one has a neighbour to be a peak against.
    correlations = np.correlate(around, around, mode="full")[values.size - 1 :][: lags + 2] / power
    inner = correlations[1:-1]
    peaks = np.flatnonzero((inner > correlations[:-2]) & (inner >= correlations[2:])) + 1
    # Of white noise each value is normal with a variance of 1/n at most.
    # The normal tail bound exp(-x^2 n / 2), shared among all lags that are tried (Bonferroni).
    clear = math.sqrt(2 * math.log(lags / _BY_CHANCE) / values.size)
    peaks = peaks[correlations[peaks] >= clear]
    if not peaks.size:
        return None
    first = peaks[correlations[peaks] >= _AS_CLEAR * correlations[peaks].max()][0]
    return float(first) + _summit(*correlations[first - 1 : first + 2])


def _summit(before: float, at: float, after: float) -> float:
    """Return where a parabola through three equally distant values peaks, from the middle one."""
    return float((before - after) / (2 * (before - 2 * at + after)))
