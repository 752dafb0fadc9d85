"""The runs: drawn at random, each from its seed; what each key means is in ``c/scenario.h``."""

from __future__ import annotations

import math
import random
from dataclasses import asdict, dataclass
from typing import Final

WINDOWS: Final = (4, 20_000)
"""Least and largest window that path and queue hold, in packets."""

RTTS_US: Final = (1_000, 300_000)
SEGMENTS: Final = 400_000
"""Segments that a run passes, about: it lasts as long as they take at the bottleneck."""

ROUNDS_LEAST: Final = 60
LONGEST_US: Final = 120_000_000

CLOCKS_US: Final = (1_000_000_000, 2**32 - 10_000_000, 2**32 * 1000 - 10_000_000)
"""Times of clocks at the beginning: microseconds or milliseconds may pass 2^32."""

SEQUENCES: Final = (0, 2**32 - 1_000_000)


@dataclass(frozen=True)
class Scenario:
    """One run."""

    seed: int
    duration_us: int
    rtt_us: int
    service_ns: int
    queue_packets: int
    start_us: int = CLOCKS_US[0]
    start_seq: int = 0
    stamp_offset: int = 0
    start_cwnd: int = 0
    mark_packets: int = 0
    loss_ppm: int = 0
    ack_every: int = 1
    cross: int = 1
    jitter_us: int = 0
    outage_us: int = 0
    outage_drops: int = 0
    burst_segs: int = 0
    pause_us: int = 0
    spurious: int = 0
    exact_marks: int = 0

    @property
    def arguments(self) -> list[str]:
        """For the program's command line."""
        return [f"{key}={value}" for key, value in asdict(self).items()]


def _one_in(dice: random.Random, count: int) -> bool:
    return dice.randrange(count) == 0


def drawn(seed: int, *, exact_marks: bool) -> Scenario:
    """Draw a run; an algorithm that lives by exact marks always has them."""
    dice = random.Random(f"linux-modules {seed}")

    window = _log_uniform(dice, *WINDOWS)
    queue_share = dice.choice((0.05, 0.2, 0.5, 1, 2))
    queue = max(2, round(window * queue_share / (1 + queue_share)))
    bdp = max(2.0, window - queue)
    rtt_us = round(_log_uniform(dice, *RTTS_US))
    service_ns = max(1, round(rtt_us * 1000 / bdp))
    duration_us = min(SEGMENTS * service_ns // 1000, LONGEST_US)
    marks = _one_in(dice, 4) or exact_marks
    pauses = _one_in(dice, 4)
    return Scenario(
        seed=seed,
        duration_us=max(duration_us, ROUNDS_LEAST * rtt_us),
        rtt_us=rtt_us,
        service_ns=service_ns,
        queue_packets=queue,
        start_us=dice.choice(CLOCKS_US),
        start_seq=dice.choice(SEQUENCES),
        stamp_offset=dice.choice((0, dice.randrange(2**32))),
        start_cwnd=round(window) if _one_in(dice, 4) else 0,
        mark_packets=max(1, queue // 4) if marks else 0,
        loss_ppm=dice.choice((0, 0, 10, 100, 1_000, 10_000)),
        ack_every=dice.choice((1, 2, 2, 8)),
        cross=3 if _one_in(dice, 4) else 1,
        jitter_us=rtt_us // 20 if _one_in(dice, 4) else 0,
        outage_us=1_000_000 if _one_in(dice, 4) else 0,
        outage_drops=dice.randrange(2),
        burst_segs=round(window * dice.uniform(0.2, 10)) if pauses else 0,
        pause_us=3_000_000 if pauses else 0,
        spurious=50 if _one_in(dice, 3) else 0,
        exact_marks=int(exact_marks),
    )


def corners(*, exact_marks: bool) -> list[Scenario]:
    """Return runs that go where no drawn one does."""
    recovery_of_many_acks = Scenario(
        seed=1,
        duration_us=2_000_000,
        rtt_us=20_000,
        service_ns=2_000,
        queue_packets=10_000,
        start_cwnd=18_000,
        loss_ppm=10_000,
        exact_marks=int(exact_marks),
    )
    minutes_without_congestion = Scenario(
        seed=1,
        duration_us=240_000_000,
        rtt_us=20_000,
        service_ns=10_000,
        queue_packets=4_000,
        start_cwnd=12,
        burst_segs=300,
        pause_us=600_000,
        exact_marks=int(exact_marks),
    )
    very_many_round_trips = Scenario(
        seed=1,
        duration_us=600_000_000,
        rtt_us=1_000,
        service_ns=100_000,
        queue_packets=10,
        jitter_us=500,
        ack_every=4,
        exact_marks=int(exact_marks),
    )
    return [recovery_of_many_acks, minutes_without_congestion, very_many_round_trips]


def short(seed: int, *, exact_marks: bool) -> Scenario:
    """Draw a run of few calls: where windows are large, few ACKs acknowledge many segments."""
    dice = random.Random(f"linux-modules short {seed}")

    window = _log_uniform(dice, 4, 6_000)
    queue = max(2, round(window * dice.choice((0.2, 0.5))))
    bdp = max(2.0, window - queue)
    rounds = dice.randrange(6, 60)
    rtt_us = dice.choice((2_000, 12_000, 50_000, 150_000, 300_000))
    marks = _one_in(dice, 4) or exact_marks
    pauses = _one_in(dice, 3)
    losses = dice.choice((0, 1, 4))
    return Scenario(
        seed=seed,
        duration_us=rounds * rtt_us,
        rtt_us=rtt_us,
        service_ns=max(1, round(rtt_us * 1000 / bdp)),
        queue_packets=queue,
        start_us=1_000_000,
        start_cwnd=round(window * dice.uniform(0.7, 1)) if _one_in(dice, 2) else 0,
        mark_packets=max(1, queue // 2) if marks else 0,
        loss_ppm=round(losses * 1_000_000 / (window * rounds)),
        ack_every=max(1, round(window / dice.choice((2, 3, 4, 6)))),
        jitter_us=rtt_us // 5 if _one_in(dice, 3) else 0,
        burst_segs=round(window * dice.uniform(0.5, 5)) if pauses else 0,
        pause_us=rtt_us * 8 if pauses else 0,
        spurious=50 if _one_in(dice, 3) else 0,
        exact_marks=int(exact_marks),
    )


def _log_uniform(dice: random.Random, low: float, high: float) -> float:
    return math.exp(dice.uniform(math.log(low), math.log(high)))
