"""The rate of a bottleneck, from what its flows got through together over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dumbbell.experiments.imports.measurement import MeasuredFlow

_STEPS_MAX: Final = 100_000
_WINDOW_S: Final = 1.0
_RTTS: Final = 10
_GRANULES: Final = 16
"""Windows last a second, so many round trips, or so many of a sender's writes, ..."""

_WINDOWS_MIN: Final = 4
"""... but there are at least so many."""

_STANDS: Final = 0.25
"""A queue of more than this share of the longest is one that keeps the link busy."""

_QUANTILE: Final = 0.9
"""Quantile of the bytes, if no RTT shows when packets waited."""

_FULL: Final = 0.99
"""Quantile of the RTTs at which the buffer is full: a longer one may be the hosts'."""

_FULL_AT_LOSS: Final = 0.75
"""The same of the RTTs around losses, of which few are anything else."""

_OFTEN: Final = 0.03
"""Packets waited often enough if they did so in this share of the windows."""

_LEAST_OF_MEAN: Final = 0.9
_MOST_OF_MEAN: Final = 4.0
"""A rate by windows is between these shares of the mean goodput, or it is none."""

_PAUSE_S: Final = 0.2
"""So long an algorithm that goes by rate lets the queue drain; longer intervals miss that."""

_IDLE: Final = 0.95
"""A link with less than this share of its rate had nothing waiting."""

_EMPTY: Final = 0.05
"""A queue of less than this share of the longest may be an empty one."""


@dataclass(frozen=True)
class Total:
    """Sum over flows: in each step the Mbit that arrived, and the queueing delay."""

    start_s: float
    step_s: float
    megabits: NDArray[np.float64]
    queueing_ms: NDArray[np.float64]
    """The longest of the flows; not a number where it is unknown."""

    def nearest(self, frame: pl.DataFrame, tolerance_s: float) -> pl.DataFrame:
        """Return for each step the row of a frame with `time_s` that is nearest to it."""
        middles = self.start_s + self.step_s * (np.arange(len(self.megabits)) + 0.5)
        grid = pl.DataFrame({"time_s": middles})
        return grid.join_asof(frame, on="time_s", strategy="nearest", tolerance=tolerance_s)

    def windows(self, length_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the rate in Mbit/s in each window, and the shortest queueing delay there."""
        count = min(max(round(length_s / self.step_s), 1), len(self.megabits))
        sums = np.concatenate([[0.0], np.cumsum(self.megabits)])
        rates = (sums[count:] - sums[:-count]) / (count * self.step_s)
        waits = np.lib.stride_tricks.sliding_window_view(self.queueing_ms, count)
        # `fmin` ignores what is unknown; a window in which all is unknown stays so.
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

    The wait is the excess over the shortest RTT; a given base takes its place.
    """
    least = flow.rtt_min_ms if base_ms is None else base_ms
    high = flow.samples.select(pl.coalesce("rtt_high_ms", "rtt_ms")).to_series()
    return (high - (least or 0.0)).clip(0.0)


def full_ms(flows: Sequence[MeasuredFlow], base_ms: float | None = None) -> float | None:
    """Return the queueing delay with which the buffer is as full as it was seen."""
    waits_ms = []
    for flow in flows:
        at_loss = waits_at_loss(flow, base_ms)
        waits_ms += [
            value
            for value in (
                queueing_ms(flow, base_ms).quantile(_FULL, "linear"),
                at_loss.quantile(_FULL_AT_LOSS, "linear"),
            )
            if value is not None
        ]
    return max(waits_ms, default=None)


def waits_at_loss(flow: MeasuredFlow, base_ms: float | None = None) -> pl.Series:
    """Return the queueing delays around losses: the longer of a sample and the one before."""
    around = pl.max_horizontal("wait", pl.col("wait").shift(1))
    frame = flow.samples.select("retransmitted", wait=queueing_ms(flow, base_ms))
    lost = frame.select("retransmitted", around=around).filter(pl.col("retransmitted") > 0)
    return lost["around"].drop_nulls()


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
        # Interpolating what arrived in total, not rates, loses no byte at the edges of steps.
        megabits += np.diff(np.interp(edges, ends, arrived * own_s))
        waits = np.fmax(waits, _waits(flow, edges, own_s))
    return Total(start_s, step_s, megabits, waits)


def _waits(flow: MeasuredFlow, edges: NDArray[np.float64], own_s: float) -> NDArray[np.float64]:
    """Return a flow's queueing delay in each step: that of the nearest sample."""
    frame = flow.samples.select("time_s", wait=queueing_ms(flow)).drop_nulls().sort("time_s")
    grid = pl.DataFrame({"time_s": (edges[1:] + edges[:-1]) / 2})
    met = grid.join_asof(frame, on="time_s", strategy="nearest", tolerance=own_s)
    return met["wait"].to_numpy().astype(np.float64)


@dataclass(frozen=True)
class Rate:
    """Goodput of all flows together where it is that of the link, and how it was found.

    `is_busy` is True if the link was seen busy, `emptied` if it was seen with nothing waiting.
    """

    mbit_per_s: float
    why: str
    is_busy: bool = True
    emptied: bool = True


def rate(
    flows: Sequence[MeasuredFlow], base_s: float, *, by_window: bool = True, by_rate: bool = False
) -> Rate:
    """Return the goodput while packets waited, or else where most bytes went through.

    A flow that rests has no say: windows count by what went through them. Where a sender's counts
    are too coarse, congestion windows over RTTs say more, if flows go `by_window`, as nothing else
    limits them; those that go `by_rate` have larger ones.
    """
    summed = total(flows)
    counted, is_sure = _counted(flows, summed, base_s, by_rate=by_rate)
    longest = full_ms(flows)
    counts_writes = all(flow.granule_bytes for flow in flows)
    if by_rate and counts_writes:
        return replace(counted, emptied=min(map(interval_s, flows)) <= _PAUSE_S)
    opened = _opened(flows, summed) if by_window and longest else None
    if opened is None or not longest:
        return counted
    stands = opened[summed.queueing_ms > _STANDS * longest]
    calm = opened[(summed.queueing_ms > _STANDS * longest) & ~_recovers(flows, summed)]
    stands = calm if len(calm) >= _WINDOWS_MIN else stands
    if len(stands) < _WINDOWS_MIN:
        return counted
    best = float(np.median(stands))
    rested = opened[summed.queueing_ms <= _EMPTY * longest]
    emptied = bool(len(rested)) and float(rested.min()) < _IDLE * best
    # A buffer that grows makes a sender's counts too large, never too small.
    is_better = not is_sure or best < counted.mbit_per_s
    if counts_writes and is_better and _LEAST_OF_MEAN <= best / _mean(flows) <= _MOST_OF_MEAN:
        why = "congestion windows over RTTs while packets waited"
        return Rate(best, why, emptied=emptied)
    return replace(counted, emptied=emptied)


def _counted(
    flows: Sequence[MeasuredFlow], total: Total, base_s: float, *, by_rate: bool
) -> tuple[Rate, bool]:
    """Return the rate by what was counted, and whether counts are fine enough for it."""
    whole = float(total.megabits.sum())
    if whole <= 0:
        return Rate(0.0, "nothing arrived", is_busy=False), False
    usual = _of_bytes(total.megabits, 0.5) / total.step_s
    # A sender counts whole writes, so a window has to hold many of them, or its rate jumps.
    granules_s = _GRANULES * max(flow.granule_bytes for flow in flows) * 8 / 1e6 / usual
    wanted_s, most_s = max(_WINDOW_S, _RTTS * base_s, granules_s), whole / usual / _WINDOWS_MIN
    rates, waits = total.windows(min(wanted_s, most_s))
    longest = full_ms(flows)
    if longest and not by_rate:
        stands = rates[waits > _STANDS * longest]
        if len(stands) >= max(_WINDOWS_MIN, _OFTEN * len(rates)):
            why = "the goodput while packets waited"
            return Rate(_of_bytes(stands, 0.5), why), granules_s <= most_s
    if by_rate:
        why = "half of the bytes went faster"
        return Rate(_of_bytes(rates, 0.5), why, is_busy=granules_s <= most_s), False
    why = f"{1 - _QUANTILE:.0%} of the bytes went faster"
    return Rate(_of_bytes(rates, _QUANTILE), why, is_busy=False), False


def _mean(flows: Sequence[MeasuredFlow]) -> float:
    """Return the goodput of all flows over their whole time."""
    megabits = sum((flow.goodput_mbit_per_s or 0.0) * (flow.end_s - flow.start_s) for flow in flows)
    first_s, last_s = min(flow.start_s for flow in flows), max(flow.end_s for flow in flows)
    return max(megabits / max(last_s - first_s, 1e-3), 1e-6)


def _recovers(flows: Sequence[MeasuredFlow], total: Total) -> NDArray[np.bool_]:
    """Return, for each step, whether a flow had lost something, then or in the sample before."""
    recovers = np.zeros(len(total.megabits), dtype=np.bool_)
    for flow in flows:
        lost = pl.col("retransmitted").fill_null(0) > 0
        frame = flow.samples.sort("time_s").select("time_s", lost=lost | lost.shift(1))
        met = total.nearest(frame, interval_s(flow))["lost"]
        recovers |= met.fill_null(False).to_numpy()
    return recovers


def _opened(flows: Sequence[MeasuredFlow], total: Total) -> NDArray[np.float64] | None:
    """Return congestion windows over RTTs in each step in Mbit/s, if all flows have both."""
    rates = np.zeros(len(total.megabits))
    for flow in flows:
        # A window for each round trip, in Mbit/s: 125 bytes in a ms are one.
        opened = pl.col("congestion_window_bytes") / pl.col("rtt_ms") / 125.0
        frame = flow.samples.select("time_s", opened=opened).drop_nulls().sort("time_s")
        if frame.is_empty():
            return None
        rates += total.nearest(frame, interval_s(flow))["opened"].fill_null(0.0).to_numpy()
    return rates


def _of_bytes(rates: NDArray[np.float64], share: float) -> float:
    """Return the rate below which this share of the bytes went; windows are of one length."""
    ordered = np.sort(rates)
    sums = np.cumsum(ordered)
    # By bytes, not by windows: windows in which a flow rests carry few and have no say.
    place = int(np.searchsorted(sums, share * sums[-1]))
    return float(ordered[min(place, len(ordered) - 1)])
