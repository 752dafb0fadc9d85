"""The metrics of Lukaseder et al. 2016 that look at single samples of the goodput.

Their samples are what iperf3 prints: the payload that arrived in each second. Efficiency is told by
quantiles of them; convergence by a discrete moving average over those of a flow that starts late,
and by how far that stays from the flow's own average afterwards, the spread (Section III-B).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from dumbbell.analysis.window import Counters, Sampled, Times, Values
from dumbbell.study.model import Samples as Rules
from dumbbell.units import NS_PER_S

QUANTILES: Final = {"min": 0.0, "q25": 0.25, "q50": 0.5, "q75": 0.75, "max": 1.0}
"""What is told of samples: names and shares below."""

DESCRIBED: Final = (
    ("goodput_min_mbit", "Mbit/s", "smallest sample of the goodput of all sampled flows"),
    ("goodput_q25_mbit", "Mbit/s", "first quartile of these samples"),
    ("goodput_q50_mbit", "Mbit/s", "their median"),
    ("goodput_q75_mbit", "Mbit/s", "their third quartile"),
    ("goodput_max_mbit", "Mbit/s", "the largest of them"),
    ("goodput_iqr_mbit", "Mbit/s", "their interquartile range"),
    ("goodput_apart_mbit", "Mbit/s", "largest less smallest goodput of the sampled flows"),
    (
        "convergence_samples_s",
        "s",
        "until the moving average over a late flow's samples reached 80 % of its own average",
    ),
    (
        "spread_mbit",
        "Mbit/s",
        "sum of the average's distances from then on, over the number of all samples",
    ),
    ("spread_after_mbit", "Mbit/s", "mean of these distances"),
)
"""Name, unit and meaning of each metric."""


@dataclass(frozen=True)
class Course:
    """How a flow that started late came to its own average.

    Attributes
    ----------
    converged_s
        From its start until its short-term throughput reached the share of its average; None if
        it never did.
    spread_mbit
        The spread as the study prints it: the distances of the short-term throughput from the
        average after that, added up and divided by the number of all samples.
    spread_after_mbit
        The same divided by the number of the samples that are added up.
    """

    converged_s: float | None
    spread_mbit: float | None
    spread_after_mbit: float | None


def of_run(sampled: Sampled, rules: Rules) -> Iterator[tuple[str, float | None]]:
    """Yield the metrics of a run; None where samples are too coarse or there are none."""
    values = samples_mbit(sampled, rules)
    quantiles = quantiles_of(values)
    for name, value in quantiles.items():
        yield f"goodput_{name}_mbit", value
    low, high = quantiles["q25"], quantiles["q75"]
    yield "goodput_iqr_mbit", None if low is None or high is None else high - low
    yield "goodput_apart_mbit", _apart_mbit(sampled)
    found = course(sampled, rules) or Course(None, None, None)
    yield "convergence_samples_s", found.converged_s
    yield "spread_mbit", found.spread_mbit
    yield "spread_after_mbit", found.spread_after_mbit


def quantiles_of(values: Values) -> dict[str, float | None]:
    """Return the quantiles by name, interpolated between samples; None without samples."""
    if not values.size:
        return dict.fromkeys(QUANTILES)
    found = np.quantile(values, list(QUANTILES.values()))
    return dict(zip(QUANTILES, map(float, found), strict=True))


def samples_mbit(sampled: Sampled, rules: Rules) -> Values:
    """Return the goodput of all sampled flows in each interval of the measured window."""
    window = sampled.window
    times = None if window is None else _instants(sampled, rules, window.start_ns, window.end_ns)
    if times is None:
        return np.empty(0)
    known = [counters for counters in sampled.flow_counters if counters is not None]
    received = np.sum([counters.along("received_bytes", times) for counters in known], 0)
    return _rates_mbit(received, times) if known else np.empty(0)


def _instants(sampled: Sampled, rules: Rules, start_ns: int, end_ns: int) -> Times | None:
    """Return the multiples of the interval within bounds at which samples were taken."""
    recorded_ns = sampled.scenario["record"]["interval_ns"]
    interval_ns = int(rules.interval)
    if not recorded_ns or interval_ns % recorded_ns:
        return None
    first = -(-start_ns // interval_ns)
    return np.arange(first * interval_ns, end_ns + 1, interval_ns, dtype=np.int64)


def _rates_mbit(total_bytes: Values, times_ns: Times) -> Values:
    return np.diff(total_bytes) * 8e-6 / (np.diff(times_ns) / NS_PER_S)


def _apart_mbit(sampled: Sampled) -> float | None:
    window = sampled.window
    if window is None or len(sampled.flows) < 2:
        return None
    rates = [
        counters.between("received_bytes", window.start_ns, window.end_ns) * 8e-6 / window.seconds
        for counters in sampled.flow_counters
        if counters is not None
    ]
    return max(rates) - min(rates) if len(rates) == len(sampled.flows) else None


def course(sampled: Sampled, rules: Rules) -> Course | None:
    """Judge the flow that starts last; None if none does, or samples are too coarse."""
    starts_ns = [flow["start_ns"] for flow in sampled.flows]
    if len(starts_ns) < 2 or sampled.window is None or max(starts_ns) == min(starts_ns):
        return None
    late = int(np.argmax(starts_ns))
    start_ns, counters = starts_ns[late], sampled.flow_counters[late]
    times = _instants(sampled, rules, start_ns + 1, sampled.window.end_ns)
    if counters is None or times is None or not times.size:
        return None
    return _course(counters, start_ns, times, rules)


def _course(counters: Counters, start_ns: int, times: Times, rules: Rules) -> Course:
    """Follow one flow from its start; its first sample may be shorter than the others."""
    received = np.concatenate(([0.0], counters.along("received_bytes", times)))
    rates = _rates_mbit(received, np.concatenate(([start_ns], times)))
    short_term = short_term_mbit(rates, rules.weight)
    average = received[-1] * 8e-6 / ((times[-1] - start_ns) / NS_PER_S)
    reached = short_term >= rules.share * average
    if not average or not reached.any():
        return Course(None, None, None)
    at = int(reached.argmax())
    distances = np.abs(average - short_term[at:])
    return Course(
        converged_s=float(times[at] - start_ns) / NS_PER_S,
        spread_mbit=float(distances.sum() / len(short_term)),
        spread_after_mbit=float(distances.mean()),
    )


def short_term_mbit(rates: Values, weight: float) -> Values:
    """Return the moving average after each sample; before the first one it is 0."""
    smoothed = pl.Series([0.0, *rates]).ewm_mean(alpha=weight, adjust=False)
    return smoothed.to_numpy()[1:]
