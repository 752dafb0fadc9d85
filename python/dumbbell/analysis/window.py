"""The part of a run over which its metrics are taken, and the counters at its ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.study.model import Measure
from dumbbell.units import NS_PER_S

Times = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

FINAL_SHARE: Final = 0.2
"""The last part of the window, which shows where the flows have come to."""

SETTLED_SHARE: Final = 0.5
"""The last part of the window, which is free of what slow start does."""


@dataclass(frozen=True)
class Counters:
    """Cumulative samples of one flow or queue."""

    time_ns: Times
    columns: dict[str, Values]

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
        """Return the samples of a column from `start_ns` to `end_ns`."""
        inside = (self.time_ns >= start_ns) & (self.time_ns <= end_ns)
        return self.columns[name][inside]


@dataclass(frozen=True)
class Window:
    """Two instants of a run at which samples were taken."""

    start_ns: int
    end_ns: int

    @property
    def seconds(self) -> float:
        """Length of the window."""
        return (self.end_ns - self.start_ns) / NS_PER_S


class Sampled:
    """The samples of one run, as metrics read them.

    The window begins at the first sample after the start of the last flow, so that all counters
    are exact at its ends. Flows of which no samples are taken, such as those that arrive at random,
    do not count for it; `flows` ends with the last of the others. The connections of a `parallel`
    flow are one flow: `flows` has the first of them, `connections` has them all.
    """

    def __init__(self, run: Run, measure: Measure) -> None:
        self.run = run
        self.scenario = run.scenario
        connections: list[dict[str, Any]] = list(run.scenario["flows"])
        while connections and not connections[-1]["sampled"]:
            connections.pop()
        self.connections = facts.bundles(connections)
        self.flows = [connections[numbers[0]] for numbers in self.connections]
        self._measure = measure

    @cached_property
    def flow_counters(self) -> list[Counters | None]:
        """Samples of each flow, of its connections together; None where there are none."""
        names = ["sent_segs", "sent_bytes", "retransmitted_segs", "received_bytes", "cwnd_segs"]
        frame = self.run.scan("flows").select("time_ns", "flow", *names).collect()
        found = frame.partition_by("flow", as_dict=True)
        return [
            _together([_counters(found[n,], names) for n in numbers if (n,) in found])
            for numbers in self.connections
        ]

    @cached_property
    def bottleneck(self) -> Counters:
        """Samples of the bottleneck's queue; of the first one where nothing has a rate."""
        names = ["departed_bytes", "dropped_packets"]
        frame = (
            self.run.scan("queues")
            .filter(pl.col("queue") == (facts.bottleneck(self.scenario) or 0))
            .select("time_ns", *names)
            .collect()
        )
        return _counters(frame, names)

    @cached_property
    def window(self) -> Window | None:
        """The measured part; None without two samples in it."""
        latest_ns = max((flow["start_ns"] for flow in self.flows if flow["sampled"]), default=0)
        end_ns = int(self.scenario["duration_ns"])
        if self._measure.length is not None:
            end_ns = min(end_ns, latest_ns + self._measure.length)
        return self._aligned(latest_ns, end_ns, self._measure.skip)

    @cached_property
    def final(self) -> Window | None:
        """The last fifth of the window."""
        return self._last(FINAL_SHARE)

    @cached_property
    def settled(self) -> Window | None:
        """The last half of the window."""
        return self._last(SETTLED_SHARE)

    def _last(self, share: float) -> Window | None:
        if self.window is None:
            return None
        return self._aligned(self.window.start_ns, self.window.end_ns, 1 - share)

    def _aligned(self, start_ns: int, end_ns: int, skip: float) -> Window | None:
        times = self.bottleneck.time_ns
        times = times[(times >= start_ns) & (times <= end_ns)]
        if times.size and skip:
            times = times[times >= times[0] + skip * (times[-1] - times[0])]
        if times.size < 2:
            return None
        return Window(int(times[0]), int(times[-1]))


def _together(parts: list[Counters]) -> Counters | None:
    """Add up what the connections of a flow have sampled; None if there is nothing."""
    if len(parts) < 2:
        return parts[0] if parts else None
    time_ns = np.unique(np.concatenate([part.time_ns for part in parts]))
    names = parts[0].columns
    return Counters(
        time_ns, {name: np.sum([part.along(name, time_ns) for part in parts], 0) for name in names}
    )


def _counters(frame: pl.DataFrame, names: list[str]) -> Counters:
    columns = {name: frame[name].cast(pl.Float64).to_numpy() for name in names}
    return Counters(frame["time_ns"].cast(pl.Int64).to_numpy(), columns)
