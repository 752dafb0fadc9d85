"""The rate of a fading LTE cell: the model of Sprout.

K. Winstein, A. Sivaraman, H. Balakrishnan, Stochastic forecasts achieve high throughput and low
delay over cellular networks, NSDI 2013, section 3.1, with the constants of its implementation:

- Packets are delivered by a Poisson process whose rate is in Brownian motion: in a tick of 20 ms it
  changes by a normal step of deviation 200 packets/s per root of a second.
- The rate stays between 0 and 1000 packets of 1500 bytes per second.
- A rate of 0 is an outage, which ends at a rate of 1 per second.

Interpretation: the rate begins anywhere in its range, and an outage ends with a step upwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from dumbbell.scenario import draws
from dumbbell.scenario.logarithms import DIGITS

TICK_MS: Final = 20
RATE_MAX: Final = 1000
STEP: Final = 200
ESCAPE: Final = 1
_MS_PER_S: Final = 1000


def rates(seed: int, duration_ms: int) -> Iterator[Decimal]:
    """Yield the rate of each tick in packets per second."""
    tick = Decimal(TICK_MS) / _MS_PER_S
    step = STEP * tick.sqrt(DIGITS)
    stays = draws.power(-ESCAPE * tick)
    rate = draws.decimal(draws.share("lte", seed, "begins")) * RATE_MAX
    for number in range(-(-duration_ms // TICK_MS)):
        yield rate
        moved = step * draws.normal("lte", seed, number, "step")
        if rate > 0:
            rate = min(max(rate + moved, Decimal()), Decimal(RATE_MAX))
        elif draws.decimal(draws.share("lte", seed, number, "stays")) >= stays:
            rate = abs(moved)


def departures_ms(seed: int, duration_ms: int) -> Iterator[int]:
    """Yield when a packet may depart, and the duration itself, as the period of the trace."""
    due = draws.exponential("lte", seed, "packet", 0)
    passed, number = Decimal(), 1
    for tick, rate in enumerate(rates(seed, duration_ms)):
        expected = rate * TICK_MS / _MS_PER_S
        while due < passed + expected:
            # Whole milliseconds, rounded up: no packet departs before it is due.
            at_ms = tick * TICK_MS + int((due - passed) / expected * TICK_MS) + 1
            if at_ms < duration_ms:
                yield at_ms
            due += draws.exponential("lte", seed, "packet", number)
            number += 1
        passed += expected
    yield duration_ms
