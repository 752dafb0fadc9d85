"""Delays of single packets as a run counts them: in buckets, period by period."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.quantities.counters import Values, needed
from dumbbell.quantities.spans import Span
from dumbbell.quantities.view import RunView

_NS_PER_MS: Final = 10**6


@dataclass(frozen=True)
class Histogram:
    """Delays in ms in rising order, and how many packets had each."""

    delays_ms: Values
    packets: npt.NDArray[np.int64]

    def mean_ms(self) -> float | None:
        """Return the mean; None without packets."""
        total = int(self.packets.sum())
        return float((self.delays_ms * self.packets).sum()) / total if total else None

    def max_ms(self) -> float | None:
        """Return the largest delay; None without packets."""
        return float(self.delays_ms[-1]) if self.packets.size else None

    def percentile_ms(self, per_mille: int) -> float | None:
        """Return a percentile by nearest rank; None where fewer than ten packets lie beyond it."""
        total = int(self.packets.sum())
        if total < needed(per_mille):
            return None
        # In integers, as in `counters.percentile`: floats are not sure of the rank.
        rank = -(-total * per_mille // 1000)
        return float(self.delays_ms[np.searchsorted(np.cumsum(self.packets), rank)])


def waiting(
    run: RunView, span: Span, queue: int, connections: Collection[int] | None = None
) -> Histogram | None:
    """Return how long packets waited in a queue, or only those with data of some connections.

    None where it was not kept, or no period lies in the span.
    """
    if run.scenario.record.delays_ns is None:
        return None
    whose = pl.col("queue") == queue
    if connections is not None:
        whose &= pl.col("flow").is_in(list(connections))
    return _counted(run, span, whose)


def on_the_way(run: RunView, span: Span, connections: Collection[int]) -> Histogram | None:
    """Return how long datagrams of some flows took from host to host; None as in `waiting`."""
    whose = pl.col("queue").is_null() & pl.col("flow").is_in(list(connections))
    return _counted(run, span, whose)


def _counted(run: RunView, span: Span, whose: pl.Expr) -> Histogram | None:
    """Add up the periods that lie in a span."""
    length_ns = run.scenario.record.delays_ns or run.scenario.duration_ns
    first, last = -(-span.start_ns // length_ns), span.end_ns // length_ns
    # The last period of a run may be cut short by its end. It is whole all the same.
    if span.end_ns == run.scenario.duration_ns:
        last = -(-span.end_ns // length_ns)
    if first >= last:
        return None
    # A row has the end of its period as its time, so that one ns less is in the period.
    period = (pl.col("time_ns").cast(pl.Int64) - 1) // length_ns
    counted = (
        run.run.scan("delays", named=False)
        .filter(whose & (period >= first) & (period < last))
        .group_by("delay_ns")
        .agg(pl.col("packets").cast(pl.Int64).sum())
        .sort("delay_ns")
        .collect()
    )
    delays_ms = counted["delay_ns"].cast(pl.Float64).to_numpy() / _NS_PER_MS
    return Histogram(delays_ms, counted["packets"].to_numpy())
