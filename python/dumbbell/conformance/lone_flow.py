"""The scenarios of a check: an algorithm alone on a path, with random loss or without."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario


@dataclass(frozen=True)
class Path:
    """A bottleneck.

    Attributes
    ----------
    rate_mbit, rtt_ms
        Its rate and the two-way propagation time.
    buffer_bdp
        Its buffer, in bandwidth-delay products.
    loss
        Probability that a packet is lost before its receiver, where a scenario asks for loss.
    """

    rate_mbit: int
    rtt_ms: int
    buffer_bdp: float
    loss: float


def resolved(algorithm: Algorithm, path: Path, seconds: int, *, loss: bool) -> ResolvedScenario:
    """Return a run of one flow for `seconds`, as either engine takes it."""
    limit = f"{path.buffer_bdp:g}bdp"
    marking = {"discipline": "step", "limit": limit, "threshold": f"{path.buffer_bdp / 3:.3f}bdp"}
    # The kernel cannot pace many Mbit/s by a timer for each packet: devices segment instead.
    switches = {"switches": {"tso": True}} if "pacing" in algorithm.flags else {}
    table = {
        "title": f"check of {algorithm.name}",
        "duration": f"{seconds}s",
        "stack": "linux-6",
        "network": {
            "rate": f"{path.rate_mbit}mbit",
            "rtt": f"{path.rtt_ms}ms",
            "queue": marking if algorithm.needs_ecn else limit,
            "loss": [{"place": "receiver", "probability": path.loss}] if loss else [],
        },
        "flow": [{"algorithm": algorithm.name, **switches}],
        "record": {"interval": "20ms"},
    }
    own_algorithms = {algorithm.name: algorithm} if algorithm.is_own else {}
    return Scenario.parse(table, f"check of {algorithm.name}", own_algorithms).resolve()
