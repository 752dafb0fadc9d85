"""By how much queues lengthen round-trip times."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.analysis.window import Sampled
from dumbbell.scenario import facts


def rtt_inflation(sampled: Sampled) -> Iterator[tuple[str, float | None]]:
    """Yield the mean round-trip time over that of an empty path, averaged over the flows.

    Round-trip times are those of the whole run, as in `rtt_mean_ms`; that of an empty path is
    the two-way propagation time at the run's beginning, so that serialisation counts as inflation.
    """
    ratios = []
    for numbers in sampled.connections:
        for number in numbers:
            mean_us = sampled.run.summary["flows"][number]["rtt_mean_us"]
            base_ns = facts.base_rtt_ns(sampled.scenario, sampled.scenario["flows"][number])
            if mean_us is not None and base_ns:
                ratios.append(1000 * mean_us / base_ns)
    yield "rtt_inflation", sum(ratios) / len(ratios) if ratios else None
