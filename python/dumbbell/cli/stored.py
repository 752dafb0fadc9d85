"""Stored runs, one by one: the outcome of each, and which was the last."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.base import kinds
from dumbbell.base.errors import InputError, listed, near
from dumbbell.cli import reading
from dumbbell.cli.output import say
from dumbbell.engines.choices import EngineName
from dumbbell.reports import run_pages
from dumbbell.results import plans
from dumbbell.results.inventory import Inventory
from dumbbell.results.results import Results
from dumbbell.store import campaigns
from dumbbell.store.store import Store
from dumbbell.study import part
from dumbbell.study.model import Study


@dataclass(frozen=True)
class StoredStudy:
    """A study with what is stored of it; `run` is the address of a single run from its page."""

    results: Results
    run: str | None = None


def find(what: str | None, folder: Path, engine: EngineName) -> StoredStudy:
    """Find what the user means: a study or a part of it, the beginning of a run's key, or nothing.

    Nothing is what ran last.
    """
    store = Store(folder)
    known = plans.remembered(store)
    last = campaigns.latest(store)
    name = what if what is not None or last is None else last.study
    if name in known:
        return StoredStudy(Results(_study(name, folder), store, engine=engine))
    if name is not None and part.split(name)[0] in known:
        return StoredStudy(reading.runs_of(name, folder, engine))
    if name is None:
        raise InputError(
            "holds no runs",
            source=str(folder),
            valid="another folder by --results, or first dumbbell simulate FILE",
        )
    if what is None:
        raise InputError(
            "ran last, but its plan is not in the folder",
            source=str(folder),
            value=name,
            valid="dumbbell open RUN, with a run of dumbbell list runs",
        )
    if not any(key.startswith(name) for key in store.keys()):  # noqa: SIM118 - no mapping
        kinds.check(Path(name), "a run")
        raise InputError(
            "neither a study that has been run nor the beginning of a run's key",
            value=name,
            valid=f"studies: {listed(known, 'dumbbell list runs')}",
            near=near(name, known),
        )
    inventory = _inventory(store)
    key = inventory.key(name)
    for results in inventory.results():
        for planned in results.planned():
            if planned.resolved.key == key:
                return StoredStudy(results, run_pages.run_address(planned.test, key))
    raise InputError("is of no study that is known here", value=name, valid="dumbbell list runs")


def _study(name: str, folder: Path) -> Study:
    """Read a study that has results in a folder; its own folder may be another one."""
    try:
        return Study.load(name, folder)
    except InputError as error:
        if error.source is not None:
            raise
        raise dataclasses.replace(
            error,
            problem="a study that was run from another folder",
            source=str(folder),
            valid="dumbbell report FOLDER, with the study's own folder",
        ) from None


def runs(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield what is stored, the newest first."""
    return (run.cells for run in _inventory(Store(folder)).runs())


def _inventory(store: Store) -> Inventory:
    """Return what a folder holds; unknown studies are named."""
    return Inventory(
        store,
        lambda name, _: say.print(f"The study {name} is not known here; its runs have no place."),
    )
