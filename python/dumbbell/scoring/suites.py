"""Suites of scores as data: paths, parts and the rounds of the race.

A suite never changes: its file has its version in its name, and its paths are drawn from that name
(`scenario.path_sets`). So a score is the same for ever with one version of the engine.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from dumbbell.base import documents
from dumbbell.base.errors import unknown
from dumbbell.base.units import parse_time
from dumbbell.base.validation import validate
from dumbbell.experiments.tune.objectives import BESIDE, TUNED, Objective, objective
from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.scenario.path_sets import SIZES, Distribution
from dumbbell.scenario.tables import Table

FOLDER: Final = Path(__file__).parents[1] / "suites"
TRAIN: Final = "train"

_NO_SAMPLES: Final = {"interval": "none", "events": []}
_LATEST_PART: Final = 4
"""The second flow of a pair starts within the first of so many parts of a run."""


class Part(Table):
    """A part of a score: an objective of `tune`, compared with the reference."""

    name: str
    """Its name in tables and JSON."""

    objective: str
    """Objective, with its weight."""

    what: str
    """Its meaning, in words."""

    @property
    def read(self) -> Objective:
        """The objective."""
        return objective(self.objective, ())


class Suite(Table):
    """Paths, parts and a race."""

    name: str
    """Name with the version, such as ``internet-1``."""

    title: str
    """Title of the paths."""

    summary: str
    """The paths in a sentence."""

    reference: str
    """Algorithm with which each run is compared."""

    pair_every: int = Field(ge=1)
    """Of so many paths the last has two flows of the algorithm."""

    rounds: tuple[Annotated[int, Field(ge=2)], ...]
    """Number of paths that have run after each round."""

    drop_below: float
    """Score of a candidate that is not worth further rounds."""

    distribution: dict[str, Any] = Field(alias="paths")
    """Keys of `Distribution`."""

    parts: tuple[Part, ...] = Field(alias="part")
    """The parts of a score."""

    digest: str
    """SHA-256 of the file."""

    def paths(self, split: str) -> list[NetworkPath]:
        """Return the paths of a set, in the order of the race."""
        if split not in SIZES:
            raise unknown("set of paths", split, SIZES).at(key="paths")
        return [self._path(split, number) for number in range(self.rounds[-1])]

    def _path(self, split: str, number: int) -> NetworkPath:
        stem, _, version = self.name.rpartition("-")
        path_set = Distribution(name=stem, version=int(version), **self.distribution).paths(split)
        is_pair = number % self.pair_every == self.pair_every - 1
        table = path_set.table(number, learners=1 + is_pair)
        del table["seed"]  # a repetition of a `NetworkPath` has its own
        for flow in table["flow"]:
            if flow["label"] == "learner":
                flow["group"] = TUNED
                if is_pair:
                    latest_ns = parse_time(table["duration"]) // _LATEST_PART
                    flow["start"] = {"from": "0s", "to": f"{latest_ns}ns"}
            elif flow.get("transport") != "udp":
                flow["group"] = BESIDE
        return NetworkPath(path_set.name(number), {**table, "record": _NO_SAMPLES}, {}, self.name)


def names() -> list[str]:
    """Return the names of all suites."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def load(name: str) -> Suite:
    """Return a suite; an unknown name is an InputError."""
    if name not in names():
        raise unknown("suite", name, names()).at(key="suite")
    path = FOLDER / f"{name}.toml"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return validate(Suite, {**documents.read_toml(path), "name": name, "digest": digest}, str(path))
