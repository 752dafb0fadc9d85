"""Gain of a search: the winner against the defaults and the presets, on other paths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.experiments.tune.search import Search, weighted
from dumbbell.experiments.tune.trying import Entrant, Runs, all_of
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate

HELD_OUT_FROM: Final = 1000
"""Repetitions from here on are of random numbers that no search has seen."""

SHOWN: Final = (
    "goodput_mbit_per_s[tuned]",
    "rtt_mean_ms[tuned]",
    "retransmitted_share[tuned]",
)
"""Quantities that are shown next to the objectives."""

STEPS: Final = 7
"""Values of each parameter whose effect is looked at."""


@dataclass(frozen=True)
class Line:
    """Someone on paths that were not searched.

    Attributes
    ----------
    name
        Its name in tables.
    entrant
        The entrant.
    gain
        By which factor each objective exceeds that of the defaults (geometric mean over pairs of
        equal path and random numbers).
    means
        Means of the quantities of `SHOWN`.
    """

    name: str
    entrant: Entrant
    gain: tuple[Estimate, ...]
    means: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "name": self.name,
            "parameters": self.entrant.values,
            "gain": [estimate.as_dict() for estimate in self.gain],
            "means": dict(self.means),
        }


@dataclass(frozen=True)
class Effect:
    """Effect of one parameter while the others stay as in the winner.

    Attributes
    ----------
    parameter, value
        The parameter, and its value.
    loss
        The factor by which the weighted objectives then are those of the winner.
    is_winner
        True if it is the winner's value.
    """

    parameter: str
    value: int
    loss: Estimate
    is_winner: bool

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "parameter": self.parameter,
            "value": self.value,
            "factor": self.loss.as_dict(),
            "winner": self.is_winner,
        }


def lines(search: Search, paths: Sequence[NetworkPath], repetitions: int) -> list[Line]:
    """Judge the winner, the defaults and the presets."""
    presets = {
        name: Entrant(f"{search.choice}@{name}") for name in search.space.algorithm.preset_names
    }
    return _lines({**_rivals(search), **presets}, search.runs, paths, repetitions)


def confirmed(
    search: Search, paths: Sequence[NetworkPath], repetitions: int, runs: Runs
) -> list[Line]:
    """Judge the winner and the defaults on another engine."""
    return _lines(_rivals(search), runs, paths, repetitions)


def _rivals(search: Search) -> dict[str, Entrant]:
    best = search.course.best
    assert best is not None, "nothing was searched"
    return {"default": Entrant(search.choice), "tuned": search.entrant(best.candidate)}


def _lines(
    named: Mapping[str, Entrant], runs: Runs, paths: Sequence[NetworkPath], repetitions: int
) -> list[Line]:
    span = range(HELD_OUT_FROM, HELD_OUT_FROM + repetitions)
    trials = {name: all_of(entrant, paths, span) for name, entrant in named.items()}
    runs.make(trial for rows in trials.values() for trial in rows)
    against = runs.worth(trials["default"])
    lines_of_all = []
    for name, entrant in named.items():
        worth = runs.worth(trials[name])
        # Invalid runs are missing, and a pair needs both.
        pairs = [pair for pair in worth if pair in against]
        gain = tuple(
            statistics.geometric_mean(
                # Objectives are logarithms, so their differences are ratios.
                [math.exp(worth[pair][place] - against[pair][place]) for pair in pairs]
            )
            for place in range(len(runs.objectives))
        )
        values = {quantity: runs.values(trials[name], quantity) for quantity in SHOWN}
        means = {quantity: statistics.mean(some).value for quantity, some in values.items() if some}
        lines_of_all.append(Line(name, entrant, gain, means))
    return lines_of_all


def effects(search: Search) -> list[Effect]:
    """Vary each parameter alone around the winner, on the paths that were searched."""
    best = search.course.best
    assert best is not None, "nothing was searched"
    varied: dict[tuple[str, int], Entrant] = {}
    for place, dimension in enumerate(search.space.dimensions):
        steps = {dimension.value(step / (STEPS - 1)) for step in range(STEPS)}
        for value in sorted(steps | {best.candidate[place]}):
            candidate = (*best.candidate[:place], value, *best.candidate[place + 1 :])
            varied[dimension.name, value] = search.entrant(candidate)
    span = range(min(2, search.repetitions))
    trials = {place: all_of(entrant, search.paths, span) for place, entrant in varied.items()}
    winner = all_of(search.entrant(best.candidate), search.paths, span)
    search.runs.make([*winner, *(trial for rows in trials.values() for trial in rows)])
    against = search.runs.worth(winner)
    values_of_winner = search.space.values(best.candidate)
    return [
        Effect(
            name,
            value,
            _factor(search, trials[name, value], against),
            values_of_winner[name] == value,
        )
        for name, value in varied
    ]


def _factor(
    search: Search, trials: Sequence[Any], against: Mapping[tuple[str, int], tuple[float, ...]]
) -> Estimate:
    worth = search.runs.worth(trials)
    objectives = search.runs.objectives
    return statistics.geometric_mean(
        [
            math.exp(weighted(objectives, worth[pair]) - weighted(objectives, against[pair]))
            for pair in worth
            if pair in against
        ]
    )
