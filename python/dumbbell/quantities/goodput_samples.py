"""Quantities of single samples of the goodput, as Lukaseder et al. 2016 look at them.

Their samples are what iperf3 prints: the payload that arrived in each second. Quantiles of the
samples measure efficiency. Convergence is measured for a flow that starts late. A discrete moving
average smooths its samples. From convergence on, the spread is the distance of this moving average
from the flow's mean goodput (Section III-B).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from dumbbell.base.units import NS_PER_S, Duration
from dumbbell.plan.settings import Settings
from dumbbell.quantities.counters import Counters, Times, Values
from dumbbell.quantities.rates import mbit_per_s
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView


class Samples(Settings):
    """Use of the single samples of a run, as with iperf3.

    The short-term throughput of Lukaseder et al. 2016 is a discrete moving average over them:
    `u <- (1 - weight) u + weight x`, from 0 on. A flow has converged when this average reaches
    `share` of the flow's mean goodput from its start to the end of the window.
    """

    table: ClassVar[str] = "samples"

    interval: Duration = Field(1_000_000_000, gt=0, validate_default=False, examples=["1s"])
    """Time between samples, a multiple of the record's interval."""

    weight: float = Field(0.1, gt=0, le=1)
    """Weight of a new sample in the moving average (lambda)."""

    share: float = Field(0.8, gt=0, lt=1)
    """Share of the flow's own mean goodput to reach (epsilon)."""


@dataclass(frozen=True)
class Course:
    """Convergence of a flow that started late to its own average.

    Attributes
    ----------
    converged_s
        From its start until its short-term throughput reached the share of its average; None if
        it never did.
    spread_mbit_per_s
        The spread as the study prints it: the distances of the short-term throughput from the
        average after that, added up and divided by the number of all samples.
    spread_after_mbit_per_s
        The same divided by the number of the samples that are added up.
    """

    converged_s: float | None
    spread_mbit_per_s: float | None
    spread_after_mbit_per_s: float | None


def _quantile(view: FlowsView, share: float) -> float | None:
    """Return a quantile of the samples, interpolated between them; None without samples."""
    values = view.once(samples_mbit_per_s)
    return float(np.quantile(values, share)) if values.size else None


@of_flows("smallest goodput sample", "Mbit/s", best=Best.HIGHEST, settings=Samples)
def goodput_sample_min_mbit_per_s(view: FlowsView) -> float | None:
    """Smallest sample of the goodput of the flows together."""
    return _quantile(view, 0.0)


@of_flows("first quartile of goodput samples", "Mbit/s", best=Best.HIGHEST, settings=Samples)
def goodput_sample_q25_mbit_per_s(view: FlowsView) -> float | None:
    """First quartile of the samples of the goodput of the flows together."""
    return _quantile(view, 0.25)


@of_flows("median goodput sample", "Mbit/s", best=Best.HIGHEST, settings=Samples)
def goodput_sample_q50_mbit_per_s(view: FlowsView) -> float | None:
    """Median of the samples of the goodput of the flows together."""
    return _quantile(view, 0.5)


@of_flows("third quartile of goodput samples", "Mbit/s", best=Best.HIGHEST, settings=Samples)
def goodput_sample_q75_mbit_per_s(view: FlowsView) -> float | None:
    """Third quartile of the samples of the goodput of the flows together."""
    return _quantile(view, 0.75)


@of_flows("largest goodput sample", "Mbit/s", best=Best.HIGHEST, settings=Samples)
def goodput_sample_max_mbit_per_s(view: FlowsView) -> float | None:
    """Largest sample of the goodput of the flows together."""
    return _quantile(view, 1.0)


@of_flows("interquartile range of goodput", "Mbit/s", best=Best.LOWEST, settings=Samples)
def goodput_sample_iqr_mbit_per_s(view: FlowsView) -> float | None:
    """Interquartile range of the samples of the goodput of the flows together."""
    low, high = _quantile(view, 0.25), _quantile(view, 0.75)
    return None if low is None or high is None else high - low


@of_flows("convergence (samples)", "s", best=Best.LOWEST, several=True, settings=Samples)
def convergence_samples_s(view: FlowsView) -> float | None:
    """Time until the moving average of a late flow's samples reached a share of its mean."""
    course_of_flow = view.once(course)
    return None if course_of_flow is None else course_of_flow.converged_s


@of_flows("spread", "Mbit/s", best=Best.LOWEST, several=True, settings=Samples)
def spread_mbit_per_s(view: FlowsView) -> float | None:
    """As `spread_after_mbit_per_s`, but the sum is divided by the number of all samples."""
    course_of_flow = view.once(course)
    return None if course_of_flow is None else course_of_flow.spread_mbit_per_s


@of_flows("spread after convergence", "Mbit/s", best=Best.LOWEST, several=True, settings=Samples)
def spread_after_mbit_per_s(view: FlowsView) -> float | None:
    """Mean distance of the moving average from the late flow's mean, after convergence."""
    course_of_flow = view.once(course)
    return None if course_of_flow is None else course_of_flow.spread_after_mbit_per_s


def samples_mbit_per_s(view: FlowsView) -> Values:
    """Return the goodput of the flows together in each interval of the window."""
    times = _instants(view, view.span.start_ns, view.span.end_ns)
    sampled = view.counters
    # A sum without one of the flows would pass for the goodput of all.
    if not sampled or len(sampled) < len(view.flows) or not times.size:
        return np.empty(0)
    received = np.sum([counters.along("received_bytes", times) for _, counters in sampled], 0)
    return _rates(received, times)


def _instants(view: FlowsView, start_ns: int, end_ns: int) -> Times:
    """Return the multiples of the interval within bounds at which samples were taken."""
    recorded_ns = view.run.scenario.record.interval_ns
    interval_ns = int(view.run.settings(Samples).interval)
    if not recorded_ns or interval_ns % recorded_ns:
        return np.empty(0, dtype=np.int64)
    # Counted from the run's start, so that overlapping windows share their samples.
    first = -(-start_ns // interval_ns)
    return np.arange(first * interval_ns, end_ns + 1, interval_ns, dtype=np.int64)


def _rates(total_bytes: Values, times_ns: Times) -> Values:
    """Return rates in Mbit/s between the times at which totals are known."""
    return np.diff(total_bytes) * (8 / 1e6) / (np.diff(times_ns) / NS_PER_S)


def course(view: FlowsView) -> Course | None:
    """Judge the flow that starts last; None if none does, or samples are too coarse."""
    starts_ns = [flow.life.start_ns for flow in view.flows]
    if len(starts_ns) < 2 or max(starts_ns) == min(starts_ns):
        return None
    late = view.flows[int(np.argmax(starts_ns))]
    counters = view.run.counters(late)
    times = _instants(view, late.life.start_ns + 1, view.span.end_ns)
    if counters is None or not times.size:
        return None
    return _course(counters, late.life.start_ns, times, view.run.settings(Samples))


def _course(counters: Counters, start_ns: int, times: Times, rules: Samples) -> Course:
    """Follow one flow from its start; its first sample may be shorter than the others."""
    received = np.concatenate(([0.0], counters.along("received_bytes", times)))
    rates = _rates(received, np.concatenate(([start_ns], times)))
    smoothed = short_term(rates, rules.weight)
    average = mbit_per_s(received[-1], (times[-1] - start_ns) / NS_PER_S)
    reached = smoothed >= rules.share * average
    if not average or not reached.any():
        return Course(None, None, None)
    at = int(reached.argmax())
    # The study prints it over all samples, those before convergence included.
    distances = np.abs(average - smoothed[at:])
    return Course(
        converged_s=float(times[at] - start_ns) / NS_PER_S,
        spread_mbit_per_s=float(distances.sum() / len(smoothed)),
        spread_after_mbit_per_s=float(distances.mean()),
    )


def short_term(rates: Values, weight: float) -> Values:
    """Return the moving average after each sample; before the first one it is 0."""
    # A flow starts from 0. Without this sample the average would begin at its first rate.
    smoothed = pl.Series([0.0, *rates]).ewm_mean(alpha=weight, adjust=False)
    return smoothed.to_numpy()[1:]
