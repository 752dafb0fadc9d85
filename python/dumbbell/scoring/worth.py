"""Worth of runs: logarithms of the ratios to a reference on the same path with the same seed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base import user_cache
from dumbbell.experiments.tune.objectives import Objective, Term
from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.quantities.kept import Values
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import Per
from dumbbell.scoring.suites import Part, Suite

FULL: Final = 100.0
"""Score of the reference."""

_BYTES_MAX: Final = 10_000_000

Worth = Mapping[str, float]
"""Name of each part that counts on a path -> its weighted logarithm of the ratio."""


Measure = Callable[[str, NetworkPath, list[str]], Values]
"""Runs an algorithm on a path and returns the requested quantities of the run."""


@dataclass
class Gauge:
    """Compares runs with those of the reference.

    Attributes
    ----------
    suite, paths, split
        The suite, the paths of one of its sets, and the name of the set.
    measure
        Makes the runs of the reference.
    """

    suite: Suite
    paths: Sequence[NetworkPath]
    split: str
    measure: Measure

    def __post_init__(self) -> None:
        self._known: dict[str, Values] = self._read()
        self._is_new = False
        self._parts = {path.name: _parts(self.suite, path) for path in self.paths}

    def worth(self, path: NetworkPath, choice: str, measure: Measure) -> Worth:
        """Run an algorithm on a path and return what the run is worth, part by part."""
        wanted = [
            term.reference
            for objective in self._parts[path.name].values()
            for term in objective.terms
        ]
        if path.name not in self._known:
            self._known[path.name] = self.measure(self.suite.reference, path, wanted)
            self._is_new = True
        theirs = self._known[path.name]
        values = measure(choice, path, wanted)
        return {
            name: objective.weight * (objective.of(values) - objective.of(theirs))
            for name, objective in self._parts[path.name].items()
        }

    def keep(self) -> None:
        """Keep the reference's quantities for other processes, as far as the cache allows."""
        if self._is_new:
            user_cache.keep(self._cache_name, json.dumps(self._known).encode())

    def _read(self) -> dict[str, Values]:
        try:
            kept = json.loads(user_cache.read(self._cache_name, _BYTES_MAX) or b"{}")
            return {
                path.name: _checked(kept[path.name]) for path in self.paths if path.name in kept
            }
        except (ValueError, TypeError, AttributeError, RecursionError):
            return {}

    @property
    def _cache_name(self) -> str:
        """The name of the kept quantities: everything that they depend on is in it."""
        reference = catalogue.algorithm(self.suite.reference).identity
        engine = f"{catalogue.ENGINE_VERSION}-{reference}".replace(" ", "-")
        return f"scores/{self.suite.name}-{self.split}-{engine}-{self.suite.digest[:16]}.json"


def _checked(values: Any) -> Values:
    if all(value is None or math.isfinite(value) for value in values.values()):
        return dict(values)
    raise ValueError("not quantities")


def _parts(suite: Suite, path: NetworkPath) -> dict[str, Objective]:
    """Return the parts that count on a path."""
    return {
        part.name: part.read
        for part in suite.parts
        if all(_is_there(term, path.table["flow"]) for term in part.read.terms)
    }


def _is_there(term: Term, flows: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if a path has the flows of a term: several if one alone has no such quantity."""
    group = parse(term.reference).subject
    count: int = sum(flow.get("count", 1) for flow in flows if flow.get("group") == group)
    return count >= (1 if Per.FLOW in term.quantity.per else 2)


def total(worth: Worth) -> float:
    """Return the worth of a run: the sum over its parts."""
    return sum(worth.values())


def score(totals: Sequence[float]) -> Estimate:
    """Return the score of runs, with its interval over paths."""
    return statistics.geometric_mean([FULL * math.exp(total) for total in totals])


@dataclass(frozen=True)
class Ratio:
    """A part of a score.

    Attributes
    ----------
    part
        The part.
    ratio
        Geometric mean over paths of the ratio to the reference, to the power of the weight; None:
        no path has it.
    paths
        Number of paths that have it.
    """

    part: Part
    ratio: Estimate | None
    paths: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "name": self.part.name,
            "ratio": None if self.ratio is None else self.ratio.as_dict(),
            "paths": self.paths,
        }


def ratios(suite: Suite, worths: Sequence[Worth]) -> tuple[Ratio, ...]:
    """Return each part of a score."""
    scored = []
    for part in suite.parts:
        values = [math.exp(worth[part.name]) for worth in worths if part.name in worth]
        ratio = statistics.geometric_mean(values) if values else None
        scored.append(Ratio(part, ratio, len(values)))
    return tuple(scored)
