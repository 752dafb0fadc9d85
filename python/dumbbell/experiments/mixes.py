"""Flows of one or several algorithms that share a path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import parse_integer
from dumbbell.scenario.model_flows import FLOWS_MAX


@dataclass(frozen=True)
class Mix:
    """Flows that share the path: algorithm, with its preset if any, and number of flows."""

    parts: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The mix as the command line takes it."""
        return ",".join(f"{algorithm}:{count}" for algorithm, count in self.parts)

    @property
    def value(self) -> str:
        """The mix as the value of an axis, which may be part of a list and is no preset."""
        if len(self.parts) == 1:
            return self.parts[0][0]
        return self.name.replace(",", "+").replace("@", "/")

    @property
    def flows(self) -> int:
        """Number of all flows."""
        return sum(count for _, count in self.parts)


def parse_mix(
    text: str, own_algorithms: dict[str, Algorithm] | None = None, *, key: str = "flows"
) -> Mix:
    """Read ``cubic:1,bic:2``, the value of a key; a C file in it is added to `own`."""
    own_algorithms = {} if own_algorithms is None else own_algorithms
    parts: list[tuple[str, int]] = []
    for part in text.split(","):
        choice, _, count = part.strip().partition(":")
        with placed(key=key):
            algorithm = named(choice, own_algorithms)
            number = _number(part, count)
        if algorithm in dict(parts):
            raise InputError(
                "twice in the mix", key=key, value=algorithm, valid="each algorithm once"
            )
        parts.append((algorithm, number))
    return Mix(tuple(parts))


def _number(part: str, count: str) -> int:
    """Return the number of flows of a part such as ``cubic:1``; without one it is 1."""
    try:
        number = parse_integer(count.strip() or "1")
    except InputError:
        number = -1
    if 1 <= number <= FLOWS_MAX:
        return number
    problem = "no flows" if number == 0 else "impossible number of flows"
    valid = f"an algorithm and 1 to {FLOWS_MAX} flows: cubic:1"
    raise InputError(problem, value=part, valid=valid)


def named(choice: str, own_algorithms: dict[str, Algorithm]) -> str:
    """Return what tables call an algorithm that exists."""
    name = catalogue.named(choice, Path(), own_algorithms)
    catalogue.split_preset(name, own_algorithms=own_algorithms)
    return name


def group(part: int) -> str:
    """Return the group of the flows of a part of a mix, which count from 1."""
    return f"part-{part}"
