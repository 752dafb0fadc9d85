"""A Wi-Fi hop in a crowded place: the jitter model of draft-huitema-ccwg-c4-test-02.

C. Huitema, S. Nandakumar, C. Jennings, Testing of Christian's Congestion Control Code (C4),
section "Handling of High Jitter Environments", fitted to measurements:

    latency = N1 * 1 ms - r + N2 * 7.5 ms

N1 is Poisson of mean 1, for collisions of stations. r is uniform from 0 to 1 ms, and 0 where N1 is.
N2 is Poisson of mean 12 for a share x = (jitter - 1 ms) / 90 ms of packets, for repeated frames,
and else 0. The draft's "bad Wi-Fi" has a jitter of 7 ms, 10 Mbit/s and an RTT of 2 ms.

Interpretation: a draw holds for 20 ms, as the measurements are of a packet each 20 ms. Packets keep
their order, as the draft's authors saw, so those behind a late one wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Final

from dumbbell.scenario import draws
from dumbbell.scenario.path_traces import Epoch

ROW_MS: Final = 20
JITTER_MS: Final = 7
REPEATED: Final = Fraction(JITTER_MS - 1, 90)
"""Share of draws with repeated frames."""

SHORT_NS: Final = 1_000_000
LONG_NS: Final = 7_500_000
REPEATS_MEAN: Final = 12
BASE_NS: Final = 1_000_000
_RATE_BPS: Final = 10_000_000
_LIMIT: Final = 1000
_ROUTE: Final = 1


def epochs(seed: int, duration_ms: int) -> Iterator[Epoch]:
    """Yield the hop over time."""
    for at_ms in range(0, duration_ms, ROW_MS):
        keep_us = 1000 * min(ROW_MS, duration_ms - at_ms)
        # Whole microseconds, as in the draft's own simulator, leave the file small.
        latency_ns = (BASE_NS + _jitter_ns(seed, at_ms)) // 1000 * 1000
        yield Epoch(keep_us, latency_ns, _RATE_BPS, limit=_LIMIT, route=_ROUTE)


def _jitter_ns(seed: int, at_ms: int) -> int:
    collisions = _poisson(1, seed, at_ms, "collisions")
    jitter_ns = collisions * SHORT_NS
    if collisions:
        jitter_ns -= draws.integer(SHORT_NS, "wifi", seed, at_ms, "r")
    if draws.share("wifi", seed, at_ms, "x") < REPEATED:
        jitter_ns += _poisson(REPEATS_MEAN, seed, at_ms, "repeats") * LONG_NS
    return jitter_ns


def _poisson(mean: int, *purpose: object) -> int:
    """Draw how many exponential times of mean 1 fit into `mean`."""
    number, left = -1, Decimal(mean)
    while left >= 0:
        number += 1
        left -= draws.exponential("wifi", *purpose, number)
    return number
