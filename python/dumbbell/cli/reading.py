"""Stored results of studies, for the commands that show them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import InputError
from dumbbell.base.shell import quoted
from dumbbell.cli import outcomes
from dumbbell.cli.output import say
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine
from dumbbell.results.plans import remembered
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study import experiment_names
from dumbbell.study.model import Study


def runs_of(study: str, folder: Path, engine: EngineName) -> Results:
    """Return what a results folder holds of one study; that it is nothing is an InputError."""
    store = Store(folder)
    results = Results(Study.load(study, folder), store, engine=engine)
    # Whether there is anything at all shows sooner than what of a large study is there.
    if store.is_empty or results.is_empty:
        raise InputError(
            f"holds no run of {study} by this engine ({results.engine.identity})",
            source=str(folder),
            valid=(
                f"{_run_command(study, results.engine)}{outcomes.of_folder(folder)}, "
                "or --results FOLDER"
            ),
        )
    return results


def results_of(study: str, folder: Path, engine: EngineName) -> Results:
    """Return what a results folder holds of one study, and say so if that is nothing."""
    results = Results(Study.load(study, folder), Store(folder), engine=engine)
    if results.is_empty:
        say.print(
            f"{folder} holds no run of {study} by this engine ({results.engine.identity}); "
            f"{_run_command(study, results.engine)}{outcomes.of_folder(folder)}",
            soft_wrap=True,
        )
    return results


@dataclass(frozen=True)
class Held:
    """What a results folder holds of all studies.

    Attributes
    ----------
    results
        Of each study and experiment that has runs.
    not_run
        The studies that have none, by the commands that run them.
    strangers
        Names of other studies that the folder has plans of.
    """

    results: list[Results]
    not_run: Mapping[str, Study]
    strangers: list[str]


def all_results(folder: Path, engine: EngineName) -> Held:
    """Return what a results folder holds of all studies.

    User-defined experiments are those of this folder. A study that cannot be read is named.
    """
    store = Store(folder)
    experiments = experiment_names.names(folder)
    studies = _loaded(Study.names(), folder)
    _refuse_twins(studies)
    known = {*experiments, *(study.name for study in studies)}
    planned = remembered(store)
    runner = engines.named(engine)
    with_runs, empty = _by_runs([*studies, *_loaded(experiments, folder)], planned, store, runner)
    held = Held(
        results=with_runs,
        not_run={
            _run_command(study.called, runner): study
            for study in empty
            if study.name not in experiments
        },
        strangers=[name for name in planned if name not in known],
    )
    _tell_left_out(held, folder, runner)
    return held


def _run_command(study: str, engine: Engine) -> str:
    """Return the command that runs a study."""
    return f"dumbbell run {quoted(study)}{engines.option(engine)}"


def _loaded(names: Iterable[str], folder: Path) -> list[Study]:
    """Return the studies of these names, and say which cannot be read."""
    studies = []
    for name in names:
        try:
            studies.append(Study.load(name, folder))
        except InputError as error:
            _tell_unreadable(name, error)
    return studies


def _by_runs(
    studies: Sequence[Study], planned: Collection[str], store: Store, engine: Engine
) -> tuple[list[Results], list[Study]]:
    """Return what a results folder holds of the studies that it has runs of, and the other studies.

    A large study takes seconds to expand. One without a plan in the folder is expanded only if
    the folder has runs that no plan explains.
    """
    stored = set(store.keys())
    unexplained = set(stored)
    with_runs, empty = {}, []
    for study in sorted(studies, key=lambda study: study.name not in planned):
        held: set[str] = set()
        if study.name in planned or unexplained:
            try:
                results = Results(study, store, engine=engine)
                held = {run.resolved.key for run in results.planned()} & stored
            except InputError as error:
                _tell_unreadable(study.name, error)
                continue
            unexplained -= held
        if held:
            with_runs[study.name] = results
        else:
            empty.append(study)
    return [with_runs[study.name] for study in studies if study.name in with_runs], empty


def _tell_unreadable(name: str, error: InputError) -> None:
    say.print(f"left out: {name}, as it cannot be read: {error}", soft_wrap=True)


def _tell_left_out(held: Held, folder: Path, engine: Engine) -> None:
    """Say which studies the site leaves out, with the commands that help."""
    if not held.results:
        say.print(
            f"{folder} holds no run of any study by this engine ({engine.identity})",
            soft_wrap=True,
        )
    for command in held.not_run:
        say.print(f"not run, so left out: {command}", soft_wrap=True)
    for name in held.strangers:
        say.print(
            f"{folder} also holds runs of {name}, which is not among the studies: "
            "dumbbell report PATH writes its report",
            soft_wrap=True,
        )


def _refuse_twins(studies: Sequence[Study]) -> None:
    """Refuse two studies of one name."""
    seen: set[str] = set()
    for name in (study.name for study in studies):
        if name in seen:
            raise InputError(
                "two studies have this name",
                source="--all",
                value=name,
                valid="another name in the [study] table of one of them",
            )
        seen.add(name)
