"""Cumulative samples of a flow or a queue, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

Times = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

BEYOND: Final = 10
"""Values beyond a percentile without which there is none."""


@dataclass(frozen=True)
class Counters:
    """Samples of one flow or queue: times in ns, and columns of the same length."""

    time_ns: Times
    columns: dict[str, Values]

    @classmethod
    def of(cls, frame: pl.DataFrame, names: Sequence[str]) -> Counters:
        """Take some columns of the samples of one flow or queue."""
        columns = {name: frame[name].cast(pl.Float64).to_numpy() for name in names}
        return cls(frame["time_ns"].cast(pl.Int64).to_numpy(), columns)

    @classmethod
    def nothing(cls, names: Sequence[str]) -> Counters:
        """Return no samples of some columns: counters that have counted nothing."""
        return cls(np.empty(0, dtype=np.int64), dict.fromkeys(names, np.empty(0)))

    def at(self, name: str, time_ns: int) -> float:
        """Return a counter at a time; 0 before the first sample."""
        index = int(np.searchsorted(self.time_ns, time_ns, side="right")) - 1
        return float(self.columns[name][index]) if index >= 0 else 0.0

    def between(self, name: str, start_ns: int, end_ns: int) -> float:
        """Return by how much a counter grew."""
        return self.at(name, end_ns) - self.at(name, start_ns)

    def along(self, name: str, times_ns: Times) -> Values:
        """Return a counter at several times; 0 before the first sample."""
        places = np.searchsorted(self.time_ns, times_ns, side="right")
        return np.concatenate(([0.0], self.columns[name]))[places]

    def samples(self, name: str, start_ns: int, end_ns: int) -> Values:
        """Return the samples of a column from `start_ns` to `end_ns` that have a value."""
        inside = (self.time_ns >= start_ns) & (self.time_ns <= end_ns)
        values = self.columns[name][inside]
        return values[~np.isnan(values)]


def together(parts: Sequence[Counters]) -> Counters | None:
    """Add up the samples of a flow's connections; None if there are none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    # Connections may end at different times, so each is read at the times of all.
    time_ns = np.unique(np.concatenate([part.time_ns for part in parts]))
    names = parts[0].columns
    return Counters(
        time_ns, {name: np.sum([part.along(name, time_ns) for part in parts], 0) for name in names}
    )


def needed(per_mille: int) -> int:
    """Return of how many values there is a percentile: ten lie beyond it."""
    return -(-BEYOND * 1000 // (1000 - per_mille))


def percentile(values: Values, per_mille: int) -> float | None:
    """Return a percentile by nearest rank; None where fewer than ten values lie beyond it."""
    if values.size < needed(per_mille):
        return None
    # In integers: 99.9 % of 10,000 values are 9,990, which 0.999 as a float is not sure of.
    rank = -(-values.size * per_mille // 1000)
    return float(np.partition(values, rank - 1)[rank - 1])
