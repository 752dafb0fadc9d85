"""Lateness of this machine's timers, which limits runs in real time."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Final

from dumbbell.engines.cancelling import crew

SECONDS: Final = 2.0
_NAP_S: Final = 0.001
_LONGEST_S: Final = 0.01
"""Beyond this, runs of the testbed are invalid."""


@dataclass(frozen=True)
class Lateness:
    """Delay with which sleepers were woken, on the worst processor, in seconds."""

    p99_s: float
    longest_s: float

    @property
    def ok(self) -> bool:
        """True if a run of the testbed could be valid."""
        return self.longest_s <= _LONGEST_S

    def __str__(self) -> str:
        return f"1 % over {1000 * self.p99_s:.2f} ms, at most {1000 * self.longest_s:.1f} ms"


def measured(seconds: float = SECONDS) -> Lateness:
    """Sleep for a millisecond again and again, on every processor at the same time (Linux)."""
    processors = sorted(os.sched_getaffinity(0))
    with crew("late", len(processors)) as threads:
        delays = list(threads.map(lambda processor: _on(processor, seconds), processors))
    return Lateness(
        max(sorted(late_s)[len(late_s) * 99 // 100] for late_s in delays),
        max(max(late_s) for late_s in delays),
    )


def _on(processor: int, seconds: float) -> list[float]:
    os.sched_setaffinity(0, {processor})  # of this thread alone
    late_s: list[float] = []
    end_s = time.monotonic() + seconds
    # At least one: a thread that was kept waiting for all of the time has the worst delay of all.
    while not late_s or time.monotonic() < end_s:
        asleep_s = time.monotonic()
        time.sleep(_NAP_S)
        late_s.append(time.monotonic() - asleep_s - _NAP_S)
    return late_s
