"""The order in which to run many scenarios."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dumbbell.engines.sizes import expected_packets
from dumbbell.plan.places import Places
from dumbbell.scenario.resolve import ResolvedScenario


def ordered(
    runs: Sequence[ResolvedScenario], places: Places, stored: Collection[str]
) -> list[ResolvedScenario]:
    """Return runs in the order in which to run them; it depends on nothing but the arguments.

    First what is `stored` already (by key), so that soon only work is left. Then one repetition of
    every grid point after the other, so that a campaign that is stopped has some results for each
    point. The first repetitions also show how long the others will take. Within a repetition the
    largest come first, so that several at a time end together.
    """

    def rank(run: ResolvedScenario) -> tuple[bool, int, float]:
        place = places.get(run.key)
        repetition = 1 if place is None else place.repetition
        return run.key not in stored, repetition, -expected_packets(run.scenario)

    return sorted(runs, key=rank)
