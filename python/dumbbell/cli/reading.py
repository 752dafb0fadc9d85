"""What a results folder holds of studies, for the commands that show it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dumbbell.base.errors import InputError
from dumbbell.base.shell import quoted
from dumbbell.cli.output import say
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.results.plans import remembered
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study import experiment_names
from dumbbell.study.model import Study


def runs_of(study: str, folder: Path, engine: EngineName) -> Results:
    """Return what a results folder holds of one study; that it is nothing is an InputError."""
    store = Store(folder)
    found = Results(Study.load(study, folder), store, engine=engine)
    # Whether there is anything at all shows sooner than what of a large study is there.
    if next(iter(store.keys()), None) is None or found.is_empty:
        raise InputError(
            f"holds no run of {study} by this engine ({found.engine.identity})",
            source=str(folder),
            valid=f"dumbbell run {quoted(study)}{engines.option(found.engine)}, "
            "or --results FOLDER",
        )
    return found


def results_of(study: str, folder: Path, engine: EngineName) -> Results:
    """Return what a results folder holds of one study, and say so if that is nothing."""
    found = Results(Study.load(study, folder), Store(folder), engine=engine)
    if found.is_empty:
        say.print(
            f"{folder} holds no run of {study} by this engine ({found.engine.identity}); "
            f"dumbbell run {quoted(study)}{engines.option(found.engine)}",
            soft_wrap=True,
        )
    return found


def all_results(folder: Path, engine: EngineName) -> tuple[list[Results], list[str]]:
    """Return what a results folder holds of all studies, and of which others it has runs.

    Experiments of one's own are those of this folder. A study that cannot be read is named.
    """
    store = Store(folder)
    own = experiment_names.names(folder)
    found = [each for name in Study.names() if (each := _readable(name, store, engine)) is not None]
    _refuse_twins(found)
    tried = [each for name in own if (each := _readable(name, store, engine)) is not None]
    found += [each for each in tried if not each.is_empty]
    if all(each.is_empty for each in found):
        say.print(
            f"{folder} holds no run of any study by this engine ({engines.named(engine).identity})",
            soft_wrap=True,
        )
    known = {*own, *(each.study.name for each in found)}
    strangers = [name for name in remembered(store) if name not in known]
    for name in strangers:
        say.print(
            f"{folder} also holds runs of {name}, which is not among the studies: "
            "dumbbell report PATH writes its report",
            soft_wrap=True,
        )
    return found, strangers


def _readable(name: str, store: Store, engine: EngineName) -> Results | None:
    """Return what is there of a study; None, and say so, if the study cannot be read."""
    try:
        found = Results(Study.load(name, store.root), store, engine=engine)
        found.expand()
    except InputError as error:
        say.print(f"left out: {name}, as it cannot be read: {error}", soft_wrap=True)
        return None
    return found


def _refuse_twins(found: Sequence[Results]) -> None:
    """Refuse two studies of one name."""
    seen: set[str] = set()
    for name in (each.study.name for each in found):
        if name in seen:
            raise InputError(
                "two studies have this name",
                source="--all",
                value=name,
                valid="another name in the [study] table of one of them",
            )
        seen.add(name)
