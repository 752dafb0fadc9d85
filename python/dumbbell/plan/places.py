"""The place of a run in its study, and its name for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario


@dataclass(frozen=True)
class Place:
    """A repetition of a grid point.

    Attributes
    ----------
    test
        Name of the test.
    axes
        The grid point: axis -> value.
    repetition
        Counted from 1.
    """

    test: str
    axes: Mapping[str, str]
    repetition: int

    def __str__(self) -> str:
        axes = ", ".join(f"{axis} = {value}" for axis, value in self.axes.items())
        return f"{self.test} ({axes}), repetition {self.repetition}"


Places = Mapping[str, Place]
"""The places of runs, by the keys of their scenarios; where tests share a run, the first."""


def words(scenario: ResolvedScenario, place: Place | None = None) -> str:
    """Name a run for people: by its place, or by its flows and its seed."""
    if place is not None:
        return str(place)
    families = dict.fromkeys(facts.family(flow.label) for flow in scenario.scenario.flows)
    return f"{', '.join(families)}, seed {scenario.scenario.seed}"
