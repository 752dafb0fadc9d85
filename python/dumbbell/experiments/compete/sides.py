"""The two sides of a contest: an algorithm each, and its number of flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dumbbell.algorithms.labels import labels_of
from dumbbell.base.errors import InputError
from dumbbell.experiments.mixes import parse_mix

EXAMPLE: Final = "bbr3:4 cubic:4"


class Place(StrEnum):
    """A side's place in the contest, which is also the group of its flows."""

    ONE = "one"
    TWO = "two"

    @property
    def other(self) -> Place:
        """The other side's place."""
        return Place.TWO if self is Place.ONE else Place.ONE


@dataclass(frozen=True)
class Side:
    """Flows of one algorithm.

    Attributes
    ----------
    place
        Its place in the contest.
    name
        The algorithm as tables name it, with its preset if any.
    typed
        The algorithm as it was typed, such as a path of a C file.
    flows
        Number of its flows.
    label
        Its name for readers, which is not that of the other side.
    """

    place: Place
    name: str
    typed: str
    flows: int
    label: str

    def __str__(self) -> str:
        return f"{self.name} × {self.flows}"

    @property
    def axis_value(self) -> str:
        """The algorithm as the value of an axis, in which a preset has no meaning."""
        return self.name.replace("@", "/")


def sides(texts: Sequence[str]) -> tuple[Side, Side]:
    """Read both sides, such as ``bbr3:4`` and ``cubic:4``; without a number it is one flow."""
    if len(texts) != 2:
        named = " ".join(texts) or "nothing"
        raise InputError("needs two algorithms", key="algorithm", value=named, valid=EXAMPLE)
    mix = parse_mix(",".join(texts), key="algorithm")
    typed = (text.strip().partition(":")[0] for text in texts)
    return pair([(name, text, flows) for text, (name, flows) in zip(typed, mix.parts, strict=True)])


def pair(parts: Sequence[tuple[str, str, int]]) -> tuple[Side, Side]:
    """Return the sides of two algorithms: what tables name each, what was typed, its flows."""
    labels = labels_of(name for name, *_ in parts)
    one, two = (
        Side(place, *part, labels[part[0]]) for place, part in zip(Place, parts, strict=True)
    )
    return one, two
