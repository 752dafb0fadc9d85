"""Arguments of the library's functions: valid values, and errors for others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from dumbbell.base.arguments import plain, wrong
from dumbbell.base.errors import InputError
from dumbbell.engines import result
from dumbbell.plan.grid import Selection
from dumbbell.scenario import sampling
from dumbbell.scenario.changes import KEY, Change
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
    """Return the resolved scenario of a `Scenario`, of the content of its file, or of its file.

    The time between samples is chosen to suit it, unless the scenario is resolved already.
    """
    match value:
        case ResolvedScenario():
            return value
        case Scenario():
            unresolved = value
        case Mapping():
            unresolved = Scenario.parse(plain(value, "scenario"))
        case str() | Path():
            unresolved = Scenario.load(value)
        case _:
            valid = "a scenario, the path of its file, or a mapping with the keys of the file"
            raise wrong("scenario", value, "not a scenario", valid)
    return sampling.sampled(unresolved).resolve()


def study(value: object, results: Store) -> Study:
    """Return a study, given as a `Study`, by its name, or by its file or folder.

    A name may be that of an experiment of the results folder.
    """
    if isinstance(value, Study):
        return value
    if isinstance(value, str | Path):
        return Study.load(value, results.root)
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


def changes(value: object) -> list[Change]:
    """Return changes of a scenario: dotted key -> value; None makes none."""
    valid = '{"network.rtt": "80ms"}'
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise wrong("changes", value, "not a mapping", valid)
    for key in value:
        if not isinstance(key, str) or not all(key.split(".")):
            raise wrong("changes", key, "not a dotted key", valid)
    return [Change(key, plain(choice, "changes")) for key, choice in value.items()]


@contextmanager
def naming_changes() -> Iterator[None]:
    """Name the parameter where an error of the block names the option of the command."""
    try:
        yield
    except InputError as error:
        raise _named(error) from None


def _named(error: InputError) -> InputError:
    others = [_named(other) for other in error.others]
    first, dot, rest = (error.key or "").partition(".")
    key = f"changes{dot}{rest}" if first == KEY and error.source is None else error.key
    return replace(error, key=key, others=others)
