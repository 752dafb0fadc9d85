"""Arguments of the library's functions: valid values, and errors for others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.base.arguments import wrong
from dumbbell.engines import result
from dumbbell.plan.grid import Selection
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.store import Store
from dumbbell.study.model import Study

Folder = Store | str | Path
"""A results folder, or its path."""

AnyScenario = Scenario | ResolvedScenario | Mapping[str, Any] | str | Path
"""A scenario, the content of its file, or the file."""

AnyStudy = Study | str | Path
"""A study, its name, or its file or folder."""


def scenario(value: object) -> ResolvedScenario:
    """Return what an engine runs of a scenario, of the content of its file, or of its file."""
    match value:
        case ResolvedScenario():
            return value
        case Scenario():
            return value.resolve()
        case Mapping():
            return Scenario.parse(value).resolve()
        case str() | Path():
            return Scenario.load(value).resolve()
    valid = "a scenario, the path of its file, or a mapping with the keys of the file"
    raise wrong("scenario", value, "not a scenario", valid)


def study(value: object) -> Study:
    """Return a study, given as a `Study`, by its name, or by its file or folder."""
    if isinstance(value, Study):
        return value
    if isinstance(value, str | Path):
        return Study.load(value)
    raise wrong("study", value, "not a study", 'a name such as "li2007", or a file')


def store(value: object) -> Store:
    """Return a results folder."""
    if isinstance(value, Store):
        return value
    if isinstance(value, str | Path):
        return Store(value)
    raise wrong("results", value, "not a folder", "the path of a results folder")


def run(value: object) -> result.Run:
    """Return a run; anything else is an InputError."""
    if isinstance(value, result.Run):
        return value
    raise wrong("run", value, "not a run", "what `simulate` returns")


def selection(value: object) -> Selection:
    """Return a selection of grid points: axis -> value or values; None selects all."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    raise wrong("where", value, "not a mapping", '{"algorithm": "cubic"}')
