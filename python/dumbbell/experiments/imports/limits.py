"""Limits of flows: the reasons why they were not faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.experiments.imports import rates
from dumbbell.experiments.imports.measurement import MeasuredFlow, algorithm_of

Kind = Literal["path", "losses", "window", "application", "start", "unknown"]
"""The bottleneck, losses without a queue, a window of the hosts, the application, or its own start,
which had not ended when the test did."""

_NEAR: Final = 0.85
"""The outstanding data is a window if it is at least this share of it."""

_ABOVE: Final = 1.5
"""A congestion window that is so many times what is outstanding limits nothing."""

_TARGET: Final = 0.95
"""An application that reaches this share of its target rate is satisfied."""

_STEADY: Final = 0.1
"""A goodput or a window that varies by less than this share of its mean is steady."""

_IS_QUEUE: Final = 0.1
_QUEUE_MS: Final = 1.0
"""A queue that makes the RTT longer by more than this, and by this share of it, is one."""

_OFTEN: Final = 0.15
"""A bottleneck that flows fill makes packets wait in at least this share of the samples."""

_LEAST_QUEUE: Final = 0.03
"""A shorter one is one, too, if it was longest when segments were lost, ..."""

_AT_LOSS: Final = 0.6
"""... namely at least this share of the longest in the mean."""


_BY_DELAY: Final = ("delay", "rate", "ecn")
"""Families of algorithms that may fill a path without losing anything."""


@dataclass(frozen=True)
class Limit:
    """The limit of a flow, and the evidence for it."""

    kind: Kind
    why: str
    window_bytes: int | None = None
    """Outstanding bytes that the window allowed, if it was one."""


@dataclass(frozen=True)
class Signs:
    """Signs of a bottleneck that the flows at it show together."""

    base_ms: float | None
    full_ms: float | None
    lost_share: float | None
    at_loss: float | None
    """The queueing delay when segments were lost, as a share of the longest."""
    losses: int
    """The samples around losses in which it is known how long packets waited."""
    waited: float
    """The share of the time in which packets waited noticeably."""

    @property
    def fills(self) -> bool:
        """True if packets waited at the bottleneck, and not only once when a flow started."""
        return self.overflows or self.waited >= _OFTEN

    @property
    def overflows(self) -> bool:
        """True if segments were lost when the queue was longest."""
        if not self.lost_share or self.at_loss is None or not self.base_ms or not self.full_ms:
            return False
        return self.at_loss >= _AT_LOSS and self.full_ms > _LEAST_QUEUE * self.base_ms


def signs(flows: Sequence[MeasuredFlow], base_ms: float | None, given: bool) -> Signs:
    """Return what flows show of their bottleneck; a base RTT that is `given` is that of all."""
    own_base = base_ms if given else None
    full = rates.full_ms(flows, own_base)
    counted = [flow for flow in flows if flow.retransmitted is not None and flow.segments]
    segments = sum(flow.segments or 0 for flow in counted)
    lost = sum(flow.retransmitted or 0 for flow in counted) / segments if segments else None
    waits = pl.concat([rates.waits_at_loss(flow, own_base) for flow in flows])
    mean = waits.mean()
    at_loss = mean / full if full and isinstance(mean, float) else None
    return Signs(base_ms, full, lost, at_loss, len(waits), _waited(flows, base_ms, own_base))


def _waited(flows: Sequence[MeasuredFlow], base_ms: float | None, given_ms: float | None) -> float:
    """Return the share of samples, without those of a flow's start, in which packets waited.

    The mean RTT of a sample counts. Where a window has an odd number of segments, its last ACK is
    delayed by a timer (RFC 1122, 4.2.3.2), so that the longest RTT is 40 ms above the others.
    """
    least_ms = max(_QUEUE_MS, _IS_QUEUE * (base_ms or 0.0))
    shares = [0.0]
    for flow in flows:
        empty_ms = (flow.rtt_min_ms if given_ms is None else given_ms) or 0.0
        waits = _later(flow.samples.select(wait=pl.col("rtt_ms") - empty_ms))["wait"].drop_nulls()
        if len(waits):
            shares.append(len(waits.filter(waits > least_ms)) / len(waits))
    return max(shares)


def of(flow: MeasuredFlow, shown: Signs, algorithm: str | None, source: str) -> Limit:
    """Return the limit of a flow; a statement of the file has priority over its numbers."""
    goodput, target = flow.goodput_mbit_per_s or 0.0, flow.target_mbit_per_s
    if target is not None and goodput >= _TARGET * target:
        return Limit("application", f"its target was {target:.4g} Mbit/s, which it reached")
    if flow.transport == "udp":
        return _of_datagrams(goodput, target)
    outstanding = _outstanding(flow)
    return (
        _receive_window(flow, outstanding)
        or _path(flow, shown, algorithm, source)
        or _of_ends(flow, outstanding)
    )


def _of_datagrams(goodput: float, target: float | None) -> Limit:
    if target is None:
        return Limit(
            "unknown", "datagrams, and the rate at which they were sent is not in the file"
        )
    return Limit("path", f"{1 - goodput / target:.0%} of its datagrams did not arrive")


def _path(flow: MeasuredFlow, shown: Signs, algorithm: str | None, source: str) -> Limit | None:
    """Return the limit if the path showed that it was one."""
    if shown.fills and not _met_nothing(flow, shown):
        return Limit("path", "packets waited at the bottleneck")
    if shown.lost_share and flow.retransmitted != 0:
        if shown.full_ms is None:
            return Limit("unknown", "segments were lost, and no RTTs show whether packets waited")
        return Limit("losses", "segments were lost while hardly anything waited")
    if family(flow, algorithm, source) in _BY_DELAY:
        return Limit("path", f"nothing was lost, but {algorithm or flow.algorithm} goes by delay")
    return None


def _met_nothing(flow: MeasuredFlow, shown: Signs) -> bool:
    """Return True if others filled the path while this flow had nothing in its way.

    Its own RTTs must show that. None of them is longer than on the empty path.
    """
    longest = flow.samples["rtt_ms"].max()
    if flow.retransmitted != 0 or shown.base_ms is None or not isinstance(longest, float):
        return False
    return longest - shown.base_ms <= max(_QUEUE_MS, _IS_QUEUE * shown.base_ms)


def _outstanding(flow: MeasuredFlow) -> pl.Series:
    """Return what was outstanding in each sample in bytes: seen, or goodput times RTT."""
    # Mbit/s times ms is 125 bytes. By Little's law this much is on its way.
    fluid = pl.col("goodput_mbit_per_s") * pl.col("rtt_ms") * 125.0
    return flow.samples.select(pl.coalesce("in_flight_bytes", fluid)).to_series()


def _receive_window(flow: MeasuredFlow, outstanding: pl.Series) -> Limit | None:
    """Return the limit if what the receiver allowed was outstanding most of the time."""
    frame = _later(
        flow.samples.select(
            "goodput_mbit_per_s", "congestion_window_bytes", window="receive_window_bytes"
        ).with_columns(outstanding.alias("out"))
    ).drop_nulls(["window", "out"])
    shares = frame.select(pl.col("out") / pl.col("window")).to_series()
    congestion = frame["congestion_window_bytes"]
    least = congestion.median() if congestion.count() else None
    share, window = shares.median(), frame["window"].median()
    if not isinstance(share, float) or not isinstance(window, float) or share < _NEAR:
        return None
    # The smaller of both windows is the limit.
    if isinstance(least, float) and least < window:
        return None
    why = f"the receiver's window of {window / 1000:,.0f} kB was outstanding"
    return Limit("window", why, round(window))


def _later(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out the first fifth, in which a flow starts."""
    return frame.slice(frame.height // 5)


def _typical(values: pl.Series) -> int | None:
    middle = values.median()
    return round(middle) if isinstance(middle, float) and middle > 0 else None


def _of_ends(flow: MeasuredFlow, outstanding: pl.Series) -> Limit:
    """Say what of the ends it was if the path did nothing: nothing waited and nothing was lost."""
    shown = "nothing waited" + (" and nothing was lost" if flow.retransmitted == 0 else "")
    frame = _later(flow.samples.with_columns(outstanding.alias("out")))
    typical = _typical(frame["out"])
    window = frame["congestion_window_bytes"]
    if typical is None:
        return Limit("unknown", "without RTTs or losses, nothing shows it")
    if window.count():
        above = (window / typical).median()
        if isinstance(above, float) and above >= _ABOVE:
            why = f"{shown}, and the congestion window was {above:.1f} times what was outstanding"
            return _of_sender(frame, typical, f"{why}: the sender's application or its buffer")
        if not _is_steady(window):
            return Limit("start", f"{shown}, but the congestion window was still opening")
    return _of_sender(frame, typical, f"{shown}: the application or a window")


def _of_sender(frame: pl.DataFrame, typical: int, why: str) -> Limit:
    """Take what is steady for a window, and what is not for an application that pauses."""
    if _is_steady(frame["goodput_mbit_per_s"]):
        return Limit("window", why, typical)
    return Limit("application", f"{why}, whose rate changes")


def _is_steady(values: pl.Series) -> bool:
    mean, spread = values.mean(), values.std()
    if not isinstance(mean, float) or not isinstance(spread, float):
        return True
    return spread <= _STEADY * mean


def family(flow: MeasuredFlow, algorithm: str | None, source: str) -> str | None:
    """Return the family of a flow's algorithm, as far as it is known."""
    try:
        name = algorithm_of(flow, algorithm, source)
        return catalogue.algorithms()[name.partition("@")[0]].family
    except (InputError, KeyError):
        return None
