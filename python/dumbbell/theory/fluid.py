"""The laws of the algorithms in a fluid model, one step per round trip.

`synchronised` lets two flows of one algorithm back off together: flow 1 has the bottleneck for
itself when flow 2 starts with two packets. Both have the same RTT and lose whenever their windows
exceed the bandwidth-delay product and the queue. Nothing is random, so it shows what the law of an
algorithm does to fairness when nothing but the law decides.

`under_loss` runs one flow whose packets are lost independently: the expected rate, where the
closed forms assume a loss at regular intervals and growth at one and the same pace.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from dumbbell.theory import responses

WINDOW_MIN: Final = 2.0


class Law(Protocol):
    """Law of the window of one flow; it keeps its state."""

    def start(self, now_s: float) -> None:
        """Take note of the start of the flow."""
        ...

    def grow(self, window: float, rtt_s: float, now_s: float) -> float:
        """Return the growth over one round trip."""
        ...

    def cut(self, window: float, rtt_s: float, now_s: float) -> float:
        """Return the window after a loss."""
        ...


class _Law:
    """A law without memory of its start."""

    def start(self, now_s: float) -> None:
        """Start."""


class Reno(_Law):
    """Standard TCP."""

    def grow(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Grow by a packet."""
        return 1.0

    def cut(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Halve."""
        return window / 2


@dataclass
class Scalable(_Law):
    """Scalable TCP with the study's low window (Kelly 2003; Li et al., Table II)."""

    window_low: float = 16.0

    def grow(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Grow by 1 %."""
        return 0.01 * window if window > self.window_low else 1.0

    def cut(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Keep 7/8."""
        return window * (0.875 if window > self.window_low else 0.5)


@dataclass
class HighSpeed(_Law):
    """HighSpeed TCP (RFC 3649) with the study's low window, by its table."""

    window_low: float = 31.0

    def _row(self, window: float) -> tuple[float, float, float]:
        rows = responses.highspeed_table(self.window_low)
        index = bisect.bisect_left(rows, window, key=lambda row: row[0])
        return rows[min(index, len(rows) - 1)]

    def grow(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Grow by a(w)."""
        return self._row(window)[1]

    def cut(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Lose the share b(w)."""
        return window * (1 - self._row(window)[2])


@dataclass
class Bic(_Law):
    """BIC (Xu, Harfoush and Rhee 2004) with the study's parameters."""

    increase_max: float = 32.0
    search: float = 4.0
    smooth: float = 20.0
    kept: float = 0.8
    window_low: float = 14.0
    last_max: float = 0.0

    def grow(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Search towards the last maximum, probe beyond it."""
        if window <= self.window_low:
            return 1.0
        if window < self.last_max:
            distance = (self.last_max - window) / self.search
            if distance <= 1:
                return self.search / self.smooth
            return min(distance, self.increase_max)
        beyond = window - self.last_max
        if beyond < self.search:
            return self.search / self.smooth
        return min(beyond / (self.search - 1), self.increase_max)

    def cut(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Remember the maximum, or less than it if it has fallen."""
        # Fast convergence (Xu, Harfoush and Rhee 2004): a flow that loses before it is back at its
        # maximum has a new flow next to it, and leaves room for that.
        converging = window < self.last_max
        self.last_max = window * (1 + self.kept) / 2 if converging else window
        return window * (self.kept if window > self.window_low else 0.5)


@dataclass
class HTcp:
    """H-TCP (Leith and Shorten 2004) with adaptive backoff."""

    last_cut_s: float = 0.0
    rtt_min_s: float = float("inf")
    rate: float = 0.0
    adaptive: bool = False
    kept: float = 0.5

    def start(self, now_s: float) -> None:
        """Count from the start to the first backoff."""
        self.last_cut_s = now_s

    def grow(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Grow with the time since the last backoff."""
        self.rtt_min_s = min(self.rtt_min_s, rtt_s)
        scale = responses.htcp_scale_linux(self.rtt_min_s)
        factor = responses.htcp_factor(now_s - self.last_cut_s, scale)
        return 2 * (1 - self.kept) * factor

    def cut(self, window: float, rtt_s: float, now_s: float) -> float:
        """Keep the ratio of the smallest and the largest RTT, but half after a change of rate."""
        rate = window / rtt_s
        steady = abs(rate - self.rate) <= 0.2 * self.rate
        self.kept = 0.5
        if steady and self.adaptive:
            self.kept = min(max(self.rtt_min_s / rtt_s, 0.5), 0.8)
        self.adaptive = steady
        self.rate = rate
        self.last_cut_s = now_s
        return window * self.kept


LAWS: Final[Mapping[str, Callable[[], Law]]] = {
    "reno": Reno,
    "scalable": Scalable,
    "highspeed": HighSpeed,
    "bic": Bic,
    "htcp": HTcp,
}


@dataclass(frozen=True)
class Path:
    """A bottleneck and the round trip over it.

    Attributes
    ----------
    bdp_packets
        Bandwidth-delay product.
    rtt_s
        Round-trip time without queueing.
    queue_bdp
        Queue as a share of the bandwidth-delay product.
    """

    bdp_packets: float
    rtt_s: float
    queue_bdp: float

    @property
    def peak_packets(self) -> float:
        """Packets that fit into path and queue."""
        return self.bdp_packets * (1 + self.queue_bdp)

    def round_trip_s(self, in_flight: float) -> float:
        """Return the round-trip time with the queue that the windows leave."""
        return self.rtt_s * max(1.0, min(in_flight, self.peak_packets) / self.bdp_packets)


@dataclass(frozen=True)
class Outcome:
    """The outcome of two flows, from the start of flow 2 on.

    Attributes
    ----------
    ratio
        Packets of flow 2 / packets of flow 1.
    ratios
        The ratio of the windows after each congestion event.
    """

    ratio: float
    ratios: tuple[float, ...]


def synchronised(
    law: Callable[[], Law],
    path: Path,
    *,
    phase: float = 0.5,
    window_2: float = WINDOW_MIN,
    slow_start: bool = True,
    duration_s: float = 600.0,
) -> Outcome:
    """Run two flows with joint backoff.

    Parameters
    ----------
    law
        Makes the law of each flow.
    path
        The path that they share.
    phase
        Where flow 1 stands when flow 2 starts: 0 just after a cut, 1 at its peak.
    window_2
        Window with which flow 2 starts.
    slow_start
        True if flow 2 doubles per round trip until its first loss.
    duration_s
        Duration of both flows, in seconds.
    """
    laws = (law(), law())
    now_s, window_1 = _alone(laws[0], path, phase)
    laws[1].start(now_s)
    end_s = now_s + duration_s
    windows = [window_1, window_2]
    packets = [0.0, 0.0]
    ratios: list[float] = []
    while now_s < end_s:
        rtt_s = path.round_trip_s(sum(windows))
        now_s += rtt_s
        packets = [sent + window for sent, window in zip(packets, windows, strict=True)]
        grown_1 = laws[0].grow(windows[0], rtt_s, now_s)
        grown_2 = windows[1] if slow_start else laws[1].grow(windows[1], rtt_s, now_s)
        windows = [windows[0] + grown_1, windows[1] + grown_2]
        if sum(windows) > path.peak_packets:
            rtt_s = path.round_trip_s(sum(windows))
            windows = [
                max(WINDOW_MIN, one.cut(window, rtt_s, now_s))
                for one, window in zip(laws, windows, strict=True)
            ]
            ratios.append(windows[1] / windows[0])
            slow_start = False
    return Outcome(packets[1] / packets[0], tuple(ratios))


def under_loss(
    law: Callable[[], Law], path: Path, p: float, *, rounds: int = 40_000, seed: int = 1
) -> float:
    """Return the mean rate of one flow in packets/s under independent loss.

    A round trip with `window` packets has a loss with the probability 1 - (1 - p)^window. After it
    the window is cut, and a round trip passes in recovery without growth. The first fifth, which
    slow start takes above what the loss allows, is left out.
    """
    one = law()
    draws = np.random.default_rng(seed).random(rounds)
    window, now_s, start_s, packets = WINDOW_MIN, 0.0, 0.0, 0.0
    slow_start, recovering = True, False
    for index, draw in enumerate(draws):
        if index == rounds // 5:
            start_s, packets = now_s, 0.0
        rtt_s = path.round_trip_s(window)
        now_s += rtt_s
        packets += min(window, path.peak_packets)
        lost = window > path.peak_packets or draw > (1 - p) ** window
        if recovering:
            recovering = False
        elif lost:
            window = max(WINDOW_MIN, one.cut(window, rtt_s, now_s))
            slow_start, recovering = False, True
        else:
            window += window if slow_start else one.grow(window, rtt_s, now_s)
    return packets / (now_s - start_s)


def _alone(law: Law, path: Path, phase: float) -> tuple[float, float]:
    """Let a lone flow settle over two epochs; return the time and its window at the phase."""
    peak = path.peak_packets
    now_s, window = 0.0, peak
    for goal in (1.0, phase):
        window = law.cut(peak, path.round_trip_s(peak), now_s)
        top = window + goal * (peak - window)
        while window < top:
            rtt_s = path.round_trip_s(window)
            window += law.grow(window, rtt_s, now_s)
            now_s += rtt_s
    return now_s, window
