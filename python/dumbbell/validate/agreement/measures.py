"""What is compared of a run, and how close two engines must be in it.

Everything is taken over the whole run, slow start included, as a run's summary counts it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.units import NS_PER_S


@dataclass(frozen=True)
class Measure:
    """One number of a run, and the band around its difference between engines.

    Attributes
    ----------
    name, title, unit
        What it is.
    of
        Reads it; None where a run has none.
    share, least
        The difference may be this share of the value on the kernel, and always `least`.
    why
        Why not less.
    goal
        Whether the headline counts it.
    """

    name: str
    title: str
    unit: str
    of: Callable[[Run], float | None]
    share: float
    least: float
    why: str
    goal: bool = False
    scale: float = 1.0
    """From its own unit to the one shown."""

    def tolerance(self, reference: float) -> float:
        """Return how far a value may be from that on the kernel."""
        return max(self.share * abs(reference), self.least)

    @property
    def band(self) -> str:
        """The band in words."""
        unit = {"": "", "%": " points"}.get(self.unit, f" {self.unit}")
        parts = [f"{100 * self.share:g} %"] if self.share else []
        parts += [f"{self.least * self.scale:g}{unit}"] if self.least else []
        return " or ".join(parts)


def _goodput_mbit(told: dict[str, Any]) -> float | None:
    active_s = (told["end_ns"] - told["start_ns"]) / NS_PER_S
    return 8e-6 * float(told["received_bytes"]) / active_s if active_s > 0 else None


def _goodput_of(flow: int) -> Callable[[Run], float | None]:
    def measure(run: Run) -> float | None:
        flows = run.summary["flows"]
        return _goodput_mbit(flows[flow]) if len(flows) > 1 else None

    return measure


def goodput_mbit(run: Run) -> float:
    """Return the goodput of all flows over the length of the run."""
    received = sum(told["received_bytes"] for told in run.summary["flows"])
    return 8e-6 * float(received) * NS_PER_S / float(run.summary["duration_ns"])


def rtt_ms(run: Run) -> float | None:
    """Return the mean round-trip time of the flows, each the mean of its samples."""
    means = [told["rtt_mean_us"] for told in run.summary["flows"]]
    known = [mean for mean in means if mean is not None]
    return sum(known) / len(known) / 1000 if known else None


def retransmitted(run: Run) -> float | None:
    """Return the share of the segments sent that are retransmissions."""
    flows = run.summary["flows"]
    sent = sum(told["sent_segs"] for told in flows)
    return sum(told["retransmitted_segs"] for told in flows) / sent if sent else None


def share_of_first(run: Run) -> float | None:
    """Return the share of a pair's first flow in the bytes that arrived."""
    received = [told["received_bytes"] for told in run.summary["flows"]]
    return received[0] / sum(received) if len(received) > 1 and sum(received) else None


def queue_ms(run: Run) -> float | None:
    """Return the mean waiting time at the bottleneck, from the bytes that wait."""
    number = facts.bottleneck(run.scenario)
    rate_bps = facts.bottleneck_rate_bps(run.scenario)
    if number is None or not rate_bps:
        return None
    return 8000 * float(run.summary["queues"][number]["waiting_bytes_mean"]) / rate_bps


_SPLIT: Final = "how a pair shares a link wanders between runs of some seconds"

MEASURES: Final = (
    Measure("goodput", "goodput", "Mbit/s", goodput_mbit, 0.05, 0.0, "the goal", goal=True),
    Measure("rtt", "mean RTT", "ms", rtt_ms, 0.10, 0.0, "the goal", goal=True),
    Measure(
        "retransmitted",
        "retransmitted",
        "%",
        retransmitted,
        0.25,
        0.001,
        "one overshoot of slow start is most of it where nothing is lost at random",
        scale=100,
    ),
    Measure("share", "share of flow 1", "%", share_of_first, 0.0, 0.10, _SPLIT, scale=100),
    Measure("goodput 1", "goodput of flow 1", "Mbit/s", _goodput_of(0), 0.20, 0.0, _SPLIT),
    Measure("goodput 2", "goodput of flow 2", "Mbit/s", _goodput_of(1), 0.20, 0.0, _SPLIT),
    Measure(
        "queue",
        "mean queue",
        "ms",
        queue_ms,
        0.20,
        0.5,
        "a small part of the RTT, which has a band of its own",
    ),
)

DISTANCE: Final = Measure(
    "windows",
    "window distance",
    "",
    lambda _: None,
    0.0,
    0.10,
    "a tenth of the mean window beyond what two runs of one engine are apart",
)
"""Not a number of one run: see `distance`."""
