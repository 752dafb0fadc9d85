"""Time of algorithms from one loss to the next, for which a run must be long enough.

From the window laws that the fidelity checks use. An algorithm without a law here is taken for
Reno, also where it listens to delay or marks. After slow start it grows by about a segment a round
trip, and a run that is mostly slow start compares little else. Only what follows a measured rate
settles within a few dozen round trips on any path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.theory import responses
from dumbbell.theory.fluid import Path
from fidelity.oracles import LAWS

_CYCLES: Final = 8
_ROUNDS_MAX: Final = 20_000
_SETTLING_RTTS: Final = 25
"""A start with its draining takes some fifteen, a cycle of probes ten."""


def _reno(p: float, _: float) -> float:
    return responses.reno(p)


RESPONSES: Final[Mapping[str, Callable[[float, float], float]]] = {
    "highspeed": lambda p, _: responses.highspeed(p),
    "scalable": lambda p, _: responses.scalable(p),
    "bic": lambda p, _: responses.bic(p),
    "cubic": responses.cubic,
    "htcp": responses.htcp,
}
"""Windows under a loss probability and an RTT; what is not here is at least as fast as Reno."""


def between_overflows_s(algorithm: Algorithm, path: Path) -> float:
    """Return the mean time between two overflows of the queue by a flow alone."""
    if algorithm.family == "rate":
        return _SETTLING_RTTS * path.rtt_s
    return _of_law_s(algorithm.name if algorithm.name in LAWS else "reno", path)


@cache
def _of_law_s(name: str, path: Path) -> float:
    law = LAWS[name]()
    law.start(0.0)
    window, now_s, ends = path.peak_packets, 0.0, []
    for _ in range(_ROUNDS_MAX):
        rtt_s = path.round_trip_s(window)
        now_s += rtt_s
        window += law.grow(window, rtt_s, now_s)
        if window >= path.peak_packets:
            ends.append(now_s)
            # One round trip until the loss is known and one of recovery.
            now_s += 2 * rtt_s
            window = max(2.0, law.cut(window, rtt_s, now_s))
        if len(ends) > _CYCLES:
            break
    return (ends[-1] - ends[0]) / (len(ends) - 1) if len(ends) > 1 else now_s


def between_losses_s(algorithm: Algorithm, path: Path, loss: float) -> float:
    """Return the mean time between two random losses of a flow alone."""
    response = RESPONSES.get(algorithm.name, _reno)
    window = min(response(loss, path.rtt_s), path.bdp_packets)
    return path.rtt_s / (loss * window)
