"""A path over low-earth-orbit satellites, as measured of Starlink.

G. Huston, A transport protocol's view of Starlink, APNIC blog, May 2024:

- Every 15 s the terminal tracks another satellite, and the smallest delay changes.
- Up to the satellite and down again is 3.7 ms (overhead) to 7.5 ms (25 degrees above the horizon).
- Between one round trip and the next the time differs by 6.7 ms in the mean.
- A handover adds 30 to 50 ms for a moment.
- 1 to 2 % of packets are lost without congestion.

Interpretation: all of that is on one way. The jitter is exponential, as the mean difference of two
exponential times is their mean. Losses are those of an outage of 150 to 300 ms at each handover,
which is 1 to 2 % of the time, and the added delay lasts for 500 ms. Rates are 50 to 200 Mbit/s,
within the 10 to 370 Mbit/s that the source has seen. Ground stations and the schedule of the radio
add 10 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from dumbbell.scenario import draws
from dumbbell.scenario.path_traces import ALL, Epoch

EPOCH_MS: Final = 15_000
OUTAGE_MS: Final = (150, 300)
JITTER_MEAN_NS: Final = 6_700_000
ROW_MS: Final = 100
ADDED_MS: Final = 500
_SPACE_US: Final = (3_700, 7_500)
_GROUND_US: Final = 10_000
_ADDED_US: Final = (30_000, 50_000)
_RATE_KBIT: Final = (50_000, 200_000)
_LIMIT: Final = 1000
_ROUTE: Final = 1
"""One for all, so that a handover reorders nothing, in TheaterQ neither."""


def epochs(seed: int, duration_ms: int) -> Iterator[Epoch]:
    """Yield the path over time, from the middle of no handover on."""
    for number, start_ms in enumerate(range(0, duration_ms, EPOCH_MS)):
        yield from _tracked(seed, number, min(EPOCH_MS, duration_ms - start_ms))


def _tracked(seed: int, number: int, length_ms: int) -> Iterator[Epoch]:
    """Yield the path over one satellite: an outage first, unless it is the first one."""

    def between(bounds: tuple[int, int], what: str) -> int:
        low, high = bounds
        return low + draws.integer(high - low + 1, "leo", seed, number, what)

    rate_bps = 1000 * between(_RATE_KBIT, "rate")
    base_us = _GROUND_US + between(_SPACE_US, "space")
    added_us = between(_ADDED_US, "added") if number else 0
    outage_ms = min(between(OUTAGE_MS, "outage"), length_ms) if number else 0

    def row(at_ms: int, keep_ms: int, loss: int) -> Epoch:
        jitter = draws.exponential("leo", seed, number, at_ms) * Decimal(JITTER_MEAN_NS)
        late_us = base_us + (added_us if at_ms < ADDED_MS else 0)
        latency_us = late_us + int(jitter) // 1000
        return Epoch(1000 * keep_ms, 1000 * latency_us, rate_bps, loss, _LIMIT, _ROUTE)

    if outage_ms:
        yield row(0, outage_ms, ALL)
    at_ms = outage_ms
    while at_ms < length_ms:
        # Rows end at multiples of their length.
        keep_ms = min(ROW_MS - at_ms % ROW_MS, length_ms - at_ms)
        yield row(at_ms, keep_ms, 0)
        at_ms += keep_ms
