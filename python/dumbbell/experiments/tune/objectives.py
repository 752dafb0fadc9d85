"""Objectives of tuning, as a number of each run.

An objective is a sum of logarithms of quantities with weights. So equal factors count equally on
fast and on slow paths, and the exponential of a mean difference is a mean ratio.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import LISTED, Best, Quantity, quantity
from dumbbell.quantities.registry import quantities as registered

TUNED: Final = "tuned"
BESIDE: Final = "beside"
"""Groups: the flows of the algorithm, and those next to them."""

FLOOR: Final = 1e-6
"""Smaller values count as this: logarithms have an end, and none may decide alone."""


@dataclass(frozen=True)
class Term:
    """A quantity of a run, by its reference, and its weight: above 0 for more is better."""

    reference: str
    weight: float

    @property
    def quantity(self) -> Quantity:
        """The quantity."""
        return quantity(parse(self.reference).name)


@dataclass(frozen=True)
class Objective:
    """An objective of a run.

    Attributes
    ----------
    name
        Its name, as requested.
    terms
        The terms of its sum.
    weight
        Its weight among several.
    """

    name: str
    terms: tuple[Term, ...]
    weight: float = 1.0

    def of(self, values: Mapping[str, float | None]) -> float:
        """Return its value of a run; a quantity without a value counts as the worst."""
        return sum(_logarithm(term, values[term.reference]) for term in self.terms)


def _logarithm(term: Term, value: float | None) -> float:
    if value is None:
        worst = FLOOR if term.weight > 0 else 1 / FLOOR
        return term.weight * math.log(worst)
    return term.weight * math.log(max(FLOOR, value))


@dataclass(frozen=True)
class Kind:
    """An objective that has a name: its terms, and what a path must have for it."""

    terms: tuple[Term, ...]
    what: str
    needs: str = ""
    way: str = ""
    """How to give a path that, if it is not the name of what it needs."""


KINDS: Final[Mapping[str, Kind]] = {
    "goodput": Kind((Term(f"goodput_mbit_per_s[{TUNED}]", 1),), "goodput of the flows"),
    "power": Kind(
        (Term(f"goodput_mbit_per_s[{TUNED}]", 1), Term(f"rtt_mean_ms[{TUNED}]", -1)),
        "goodput over round-trip time (Kleinrock's power)",
    ),
    "fairness": Kind(
        (Term(f"jain[{TUNED}]", 1),), "Jain's index of the flows", "several flows", "`flows` 2"
    ),
    "completion": Kind(
        (Term(f"latency_mean_ms[{TUNED}]", -1),), "mean latency of requests", "`requests`"
    ),
    "recovery": Kind(
        (Term(f"goodput_mbit_per_s[{TUNED}]@after", 1),),
        "goodput after the cross traffic has ended",
        "`cross`",
    ),
    "harm": Kind(
        (Term(f"goodput_mbit_per_s[{BESIDE}]", 1),),
        "goodput that the flow next to it keeps",
        "`beside`",
    ),
}


def objective(text: str, offered: Sequence[str]) -> Objective:
    """Read ``goodput``, ``recovery*2`` or a quantity, ``rtt_p95_ms*0.5``.

    `offered` are the needs of `KINDS` that the paths meet.
    """
    name, star, factor = text.strip().partition("*")
    weight = _weight(text, factor) if star else 1.0
    if name not in KINDS:
        return Objective(text, (_term(name),), weight)
    kind = KINDS[name]
    if kind.needs and kind.needs not in offered:
        raise InputError(
            f"{kind.what} needs {kind.needs}",
            key="objective",
            value=text,
            valid=kind.way or kind.needs,
        )
    return Objective(text, kind.terms, weight)


def _weight(text: str, factor: str) -> float:
    try:
        weight = float(factor)
    except ValueError:
        weight = math.nan
    if not 0 < weight < math.inf:
        raise InputError("not a weight above 0", key="objective", value=text, valid="goodput*2")
    return weight


def _term(name: str) -> Term:
    with placed(key="objective"):
        reference = parse(name)
        if reference.name not in registered():
            raise unknown("objective", name, [*KINDS, *registered()], LISTED)
        registered_quantity = quantity(reference.name)
    if registered_quantity.best is None:
        raise InputError(
            "neither end of it is the better one",
            key="objective",
            value=name,
            valid=f"a quantity that has one, or {', '.join(KINDS)}",
        )
    return Term(name, 1.0 if registered_quantity.best is Best.HIGHEST else -1.0)
