"""Goals of a hunt: what is measured of each run, and how bad a result is.

Regret is 1 - the algorithm's value / that of the best reference in the same scenario with the same
seed: 0 is as good, and at 1 nothing is left. An absolute value would only find bad networks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import LISTED, Best, quantity
from dumbbell.quantities.registry import quantities as registered

HUNTED: Final = "hunted"
BESIDE: Final = "beside"
"""Groups: the flows of the algorithm, and the one next to them."""

CALM: Final = "without cross traffic"
"""The reference of an attack: the algorithm itself on the same path, without the cross traffic."""

_NOTHING: Final = 0.01
"""A goodput below this share of the slowest rate is nothing, whoever has more of nothing."""

_AS_MUCH: Final = 0.9
"""A reference with less than this share of the algorithm's goodput has no delay to compare."""


class Traffic(StrEnum):
    """Flows of a scenario."""

    ALONE = "alone"
    TWO = "two"
    BESIDE = "beside"


@dataclass(frozen=True)
class Measure:
    """A quantity of a run.

    Attributes
    ----------
    reference
        Its name, with whose it is and in which window.
    floor
        Values below count as this; None: the share `_NOTHING` of the slowest rate, in Mbit/s.
    needs
        A quantity of which a reference must have `_AS_MUCH` of the algorithm's; empty: none.
    what
        It in words, for goals with several; empty: as the goal says it.
    """

    reference: str
    floor: float | None = None
    needs: str = ""
    what: str = ""

    @property
    def is_highest_best(self) -> bool:
        """True if more of it is better."""
        return quantity(parse(self.reference).name).best is not Best.LOWEST

    def value(self, value: float, slowest_mbit: float) -> float:
        """Return a value, of which less than the floor makes no difference."""
        return max(value, _NOTHING * slowest_mbit if self.floor is None else self.floor)


@dataclass(frozen=True)
class Goal:
    """A goal of a hunt.

    Attributes
    ----------
    name, what
        Its name, and it in words, with a place for the algorithm of the flow beside.
    measures
        Its quantities; the one with the largest gap counts.
    traffic
        The flows.
    versus_calm
        True if the reference is `CALM`.
    """

    name: str
    what: str
    measures: tuple[Measure, ...]
    traffic: Traffic = Traffic.ALONE
    versus_calm: bool = False

    @property
    def references(self) -> tuple[str, ...]:
        """All quantities that it takes."""
        names = [
            name for measure in self.measures for name in (measure.reference, measure.needs) if name
        ]
        return tuple(dict.fromkeys(names))


_GOODPUT: Final = f"goodput_mbit_per_s[{HUNTED}]"
_RTT: Final = f"rtt_mean_ms[{HUNTED}]"
_RESENT: Final = f"retransmitted_share[{HUNTED}]"
_FEW_RESENT: Final = 0.01
_TINY: Final = 1e-6

GOALS: Final[Mapping[str, Goal]] = {
    goal.name: goal
    for goal in (
        Goal("goodput", "goodput of a lone flow", (Measure(_GOODPUT),)),
        Goal(
            "recovery",
            "goodput of a lone flow after cross traffic and outage",
            (Measure(f"{_GOODPUT}@after"),),
        ),
        Goal(
            "delay",
            "mean round-trip time of a lone flow, of those with as much goodput",
            (Measure(_RTT, _TINY, _GOODPUT),),
        ),
        Goal(
            "resent",
            "share of segments that a lone flow sends again",
            (Measure(_RESENT, _FEW_RESENT),),
        ),
        Goal(
            "fairness",
            "goodput of the slower of two flows, one of which starts late",
            (Measure(f"goodput_slowest_mbit_per_s[{HUNTED}]@late"),),
            Traffic.TWO,
        ),
        Goal(
            "share",
            "goodput next to a flow of {}",
            (Measure(_GOODPUT),),
            Traffic.BESIDE,
        ),
        Goal(
            "harm",
            "goodput that a flow of {} has next to it",
            (Measure(f"goodput_mbit_per_s[{BESIDE}]"),),
            Traffic.BESIDE,
        ),
        Goal(
            "attack",
            "use of the link under cross traffic, by whomever",
            (Measure("utilisation@during", _NOTHING),),
            versus_calm=True,
        ),
    )
}

APART: Final = Goal(
    "apart",
    "goodput, mean round-trip time or retransmissions of a lone flow",
    (
        Measure(_GOODPUT, what="goodput of a lone flow"),
        Measure(_RTT, _TINY, what="mean round-trip time of a lone flow"),
        Measure(_RESENT, _FEW_RESENT, what="share of segments that a lone flow sends again"),
    ),
)
"""The goal that tells two algorithms apart, unless there is another one."""


def goal(name: str) -> Goal:
    """Return a goal by its name; a quantity of a lone flow is one, too."""
    if name in GOALS:
        return GOALS[name]
    with placed(key="goal"):
        reference = parse(name)
        if reference.name not in registered():
            raise unknown("goal", name, [*GOALS, *registered()], LISTED)
        measured = quantity(reference.name)
    if measured.best is None:
        raise InputError(
            "neither end of it is the better one",
            key="goal",
            value=name,
            valid=f"a quantity that has one, or {', '.join(GOALS)}",
        )
    return Goal(name, measured.title, (Measure(name, _TINY),))


@dataclass(frozen=True)
class Gap:
    """The gap between two sides in a scenario.

    Attributes
    ----------
    regret
        1 - the worse value / the better one; negative if the algorithm is ahead of all references.
    measure
        The quantity.
    worse, better
        The sides: the algorithm and the best reference.
    values
        The mean of each side over the runs.
    """

    regret: float
    measure: str
    worse: str
    better: str
    values: Mapping[str, float]

    @property
    def less(self) -> tuple[str, str]:
        """The side with the smaller value, and the other one."""
        one, other = self.worse, self.better
        return (one, other) if self.values[one] <= self.values[other] else (other, one)


Values = Mapping[str, Mapping[str, float | None]]
"""Means of quantities for each side."""


def gap(
    goal: Goal, sides: Sequence[str], values: Values, slowest_mbit: float, *, either: bool
) -> Gap | None:
    """Return the largest gap between the first side and the best of the others; None: no value.

    With `either` it does not matter which of two sides is ahead.
    """
    gaps = []
    for measure in goal.measures:
        for other in sides[1:]:
            pair_gap = _gap(measure, sides[0], other, values, slowest_mbit)
            if pair_gap is not None:
                gaps.append(pair_gap)
                if either and pair_gap.regret < 0:
                    turned = _gap(measure, other, sides[0], values, slowest_mbit)
                    gaps += [turned] if turned is not None else []
    return max(gaps, key=lambda pair_gap: pair_gap.regret, default=None)


def _gap(measure: Measure, one: str, other: str, values: Values, slowest_mbit: float) -> Gap | None:
    ours, theirs = values[one].get(measure.reference), values[other].get(measure.reference)
    if ours is None or theirs is None:
        return None
    if measure.needs:
        least = values[one].get(measure.needs), values[other].get(measure.needs)
        if least[0] is None or least[1] is None or least[1] < _AS_MUCH * least[0]:
            return None
    mine, best = (measure.value(value, slowest_mbit) for value in (ours, theirs))
    share = mine / best if measure.is_highest_best else best / mine
    return Gap(1 - share, measure.reference, one, other, {one: ours, other: theirs})
