"""The rate of a bottleneck, from what its flows got through together over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dumbbell.measured.measurement import MeasuredFlow

_STEPS_MAX: Final = 100_000
_WINDOW_S: Final = 1.0
_RTTS: Final = 10
_GRANULES: Final = 40
"""Windows last a second, so many round trips, or so many of a sender's writes, ..."""

_WINDOWS_MIN: Final = 4
"""... but there are at least so many."""

_STANDS: Final = 0.25
"""A queue of more than this share of the longest is one that keeps the link busy."""

_QUANTILE: Final = 0.9
"""Of the bytes, if no RTT says when packets waited."""

_FULL: Final = 0.99
"""Quantile of the RTTs at which the buffer is full: a longer one may be the hosts'."""


@dataclass(frozen=True)
class Total:
    """What flows did together: in each step the Mbit that arrived, and the queueing delay."""

    step_s: float
    megabits: NDArray[np.float64]
    queueing_ms: NDArray[np.float64]
    """The longest of the flows; not a number where none says it."""

    def windows(self, length_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the rate in Mbit/s in each window, and the shortest queueing delay there."""
        count = min(max(round(length_s / self.step_s), 1), len(self.megabits))
        sums = np.concatenate([[0.0], np.cumsum(self.megabits)])
        rates = (sums[count:] - sums[:-count]) / (count * self.step_s)
        waits = np.lib.stride_tricks.sliding_window_view(self.queueing_ms, count)
        least = np.where(np.isnan(waits).all(axis=1), np.nan, np.fmin.reduce(waits, axis=1))
        return rates, least


def interval_s(flow: MeasuredFlow) -> float:
    """Return the usual time between a flow's samples."""
    step = flow.samples["time_s"].sort().diff().median()
    if isinstance(step, float) and step > 0:
        return step
    return max(flow.end_s - flow.start_s, 0.1)


def queueing_ms(flow: MeasuredFlow, base_ms: float | None = None) -> pl.Series:
    """Return how long packets waited at each sample, if the flow has RTTs.

    What is longer than the shortest RTT is waiting; a given base takes its place.
    """
    least = flow.rtt_min_ms if base_ms is None else base_ms
    high = flow.samples.select(pl.coalesce("rtt_high_ms", "rtt_ms")).to_series()
    return (high - (least or 0.0)).clip(0.0)


def full_ms(flows: Sequence[MeasuredFlow], base_ms: float | None = None) -> float | None:
    """Return the queueing delay with which the buffer is as full as it was seen."""
    found = [
        value
        for flow in flows
        if (value := queueing_ms(flow, base_ms).quantile(_FULL, "linear")) is not None
    ]
    return max(found, default=None)


def total(flows: Sequence[MeasuredFlow]) -> Total:
    """Bring flows onto one grid; no byte is lost, whatever their samples are."""
    start_s = min(flow.start_s for flow in flows)
    end_s = max(*(flow.end_s for flow in flows), start_s + 1e-3)
    step_s = max(min(map(interval_s, flows)), (end_s - start_s) / _STEPS_MAX)
    steps = max(round((end_s - start_s) / step_s), 1)
    edges: NDArray[np.float64] = start_s + step_s * np.arange(steps + 1, dtype=np.float64)
    megabits = np.zeros(len(edges) - 1)
    waits = np.full(len(edges) - 1, np.nan)
    for flow in flows:
        samples = flow.samples.select("time_s", "goodput_mbit_per_s").fill_null(0.0).sort("time_s")
        times = samples["time_s"].to_numpy()
        if not len(times):
            continue
        own_s = interval_s(flow)
        arrived = np.concatenate([[0.0], np.cumsum(samples["goodput_mbit_per_s"].to_numpy())])
        ends = np.concatenate([[times[0] - own_s / 2], times + own_s / 2])
        megabits += np.diff(np.interp(edges, ends, arrived * own_s))
        waits = np.fmax(waits, _waits(flow, edges, own_s))
    return Total(step_s, megabits, waits)


def _waits(flow: MeasuredFlow, edges: NDArray[np.float64], own_s: float) -> NDArray[np.float64]:
    """Return a flow's queueing delay in each step: that of the nearest sample."""
    frame = flow.samples.select("time_s", wait=queueing_ms(flow)).drop_nulls().sort("time_s")
    grid = pl.DataFrame({"time_s": (edges[1:] + edges[:-1]) / 2})
    met = grid.join_asof(frame, on="time_s", strategy="nearest", tolerance=own_s)
    return met["wait"].to_numpy().astype(np.float64)


@dataclass(frozen=True)
class Rate:
    """Goodput of all flows together where it is that of the link, and how it was found."""

    mbit_per_s: float
    why: str


def rate(flows: Sequence[MeasuredFlow], base_s: float) -> Rate:
    """Return the goodput while packets waited, or else where most bytes went through.

    A flow that rests has no say: windows count by what went through them.
    """
    found = total(flows)
    whole = float(found.megabits.sum())
    if whole <= 0:
        return Rate(0.0, "nothing arrived")
    usual = _of_bytes(found.megabits, 0.5) / found.step_s
    granule = max(flow.granule_bytes for flow in flows) * 8 / 1e6
    length_s = max(_WINDOW_S, _RTTS * base_s, _GRANULES * granule / usual)
    rates, waits = found.windows(min(length_s, whole / usual / _WINDOWS_MIN))
    longest = full_ms(flows)
    if longest:
        stands = rates[waits > _STANDS * longest]
        if np.count_nonzero(stands) >= _WINDOWS_MIN:
            return Rate(_of_bytes(stands, 0.5), "the goodput while packets waited")
    return Rate(_of_bytes(rates, _QUANTILE), f"{1 - _QUANTILE:.0%} of the bytes went faster")


def _of_bytes(rates: NDArray[np.float64], share: float) -> float:
    """Return the rate below which this share of the bytes went; windows are of one length."""
    ordered = np.sort(rates)
    sums = np.cumsum(ordered)
    place = int(np.searchsorted(sums, share * sums[-1]))
    return float(ordered[min(place, len(ordered) - 1)])
