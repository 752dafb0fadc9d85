"""A measurement on a real path, by any of the tools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError

SAMPLES: Final = {
    "time_s": pl.Float64,
    "goodput_mbit_per_s": pl.Float64,
    "rtt_ms": pl.Float64,
    "retransmitted": pl.Float64,
    "rtt_high_ms": pl.Float64,
    "congestion_window_bytes": pl.Float64,
    "receive_window_bytes": pl.Float64,
    "in_flight_bytes": pl.Float64,
}
"""Columns of samples: the middle of each interval, and what happened in it.

The RTT is the mean or a smoothed one, the high one a quantile near the longest of the interval. The
receive window is what the receiver announced, and in flight is the most that was outstanding.
"""

Direction = Literal["forward", "reverse"]


@dataclass(frozen=True)
class MeasuredFlow:
    """One flow, as in the file; None: the file does not have the value."""

    label: str
    algorithm: str | None
    start_s: float
    end_s: float
    samples: pl.DataFrame
    """`SAMPLES`; null where an interval has no such value."""
    mss_bytes: int | None = None
    segments: int | None = None
    retransmitted: int | None = None
    rtt_min_ms: float | None = None
    no_rtt: str | None = None
    """Reason why there is no RTT, if the file states one."""
    goodput_mbit_per_s: float | None = None
    direction: Direction = "forward"
    """Of its data. Flows of one file may go both ways."""
    transport: Literal["tcp", "udp"] = "tcp"
    target_mbit_per_s: float | None = None
    """The rate at which the application was asked to send."""
    granule_bytes: int = 0
    """Bytes that are counted at once, where a sender counts what it writes."""

    @property
    def retransmitted_share(self) -> float | None:
        """Segments that were sent again, as a share of those sent."""
        if self.retransmitted is None or not self.segments:
            return None
        return min(self.retransmitted / self.segments, 1.0)

    @property
    def rtt_mean_ms(self) -> float | None:
        """The mean of the samples."""
        mean = self.samples["rtt_ms"].mean()
        return mean if isinstance(mean, float) else None


@dataclass(frozen=True)
class Measurement:
    """The content of a file."""

    file: Path
    tool: str
    duration_s: float
    flows: Sequence[MeasuredFlow]
    notes: Sequence[str] = ()
    """Facts about the way of measurement that a reader must know."""


def algorithm_of(flow: MeasuredFlow, chosen: str | None, source: str) -> str:
    """Return the name of the algorithm of a flow in Dumbbell: the chosen one, or that in the file.

    Raises InputError if neither is known, or if there is no such algorithm.
    """
    if chosen is not None:
        return chosen
    if flow.algorithm is None:
        raise InputError(
            f"the file does not say which algorithm {flow.label} had",
            source=source,
            valid="`algorithm`; the sender's sysctl net.ipv4.tcp_congestion_control names it",
        )
    named = re.sub(r"[^a-z0-9]", "", flow.algorithm.lower())
    known = {name.replace("-", ""): name for name in catalogue.algorithms()}
    if named not in known:
        raise InputError(
            f"{flow.label} had an algorithm that is none of ours",
            source=source,
            value=flow.algorithm,
            valid="`algorithm`, one of: " + ", ".join(sorted(known.values())),
        )
    return known[named]
