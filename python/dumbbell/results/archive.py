"""Runs of a study as one file: what its pages are drawn from, to be published with them.

::

    li2007-runs/README.txt     how to use it, and what wrote it
    li2007-runs/results/       a results folder: one pack, the plans, the logs of commands

The same results give the same bytes, apart from the identity of the sources.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell.base import tree
from dumbbell.base.errors import DamagedResult, InputError, refusing
from dumbbell.engines import engines
from dumbbell.results import plans
from dumbbell.results.results import Results
from dumbbell.store import campaigns, staging
from dumbbell.store.result_files import InMemory
from dumbbell.store.store import Store

RELEASE_BYTES_MAX: Final = 2 * 2**30
"""A file of a release on GitHub must be smaller."""


@dataclass(frozen=True)
class Archived:
    """An archive: its file, the number of runs in it, and its size."""

    file: Path
    runs: int
    size_bytes: int

    @property
    def fits_a_release(self) -> bool:
        """True if GitHub takes it as a file of a release."""
        return self.size_bytes < RELEASE_BYTES_MAX


def write(results: Results, folder: Path, on_result: Callable[[int], None]) -> Archived:
    """Write the runs that a study's pages are drawn from into a file in a folder.

    `on_result` hears how many runs there are so far. A study without such runs is an InputError,
    and so is an experiment of the results folder.
    """
    study = results.study
    if study.header.command:
        problem = "an experiment of the results folder, which no other machine has"
        raise InputError(problem, value=study.name, valid="a study; or dumbbell merge")
    keys = list(
        dict.fromkeys(
            run.resolved.key for test in study.tests for run in results.finished(test.name)
        )
    )
    if not keys:
        raise InputError("has no finished run", value=study.name, valid="dumbbell run first")
    name = f"{study.name}-runs"
    with refusing("write the archive", folder), staging.folder(folder) as draft:
        packed = Store(draft / name / "results")
        packed.create()
        packed.packs.write(_taken(results.store, keys, on_result))
        for plan in plans.recall(results.store, study.name):
            plans.remember(packed, study.name, plan)
        _take_logs(results, packed)
        readme = _readme(results, name, len(keys))
        (draft / name / "README.txt").write_text(readme, encoding="utf-8")
        drafted = draft / f"{name}.tar"
        _tar(draft / name, drafted)
        file = folder / drafted.name
        drafted.replace(file)
    return Archived(file, len(keys), file.stat().st_size)


def _taken(store: Store, keys: list[str], on_result: Callable[[int], None]) -> Iterator[InMemory]:
    for number, key in enumerate(sorted(keys), start=1):
        _, result = store.take(key)
        yield result
        on_result(number)


def _take_logs(results: Results, packed: Store) -> None:
    """Take over the logs of the commands that ran the study on this engine."""
    for file in campaigns.files(results.store):
        with suppress(DamagedResult):
            log = campaigns.read(results.store, file)
            if (log.study, log.engine) == (results.study.name, results.engine.identity):
                copy = packed.root / campaigns.FOLDER / file.name
                staging.replace(copy, log.model_dump_json(indent=1).encode())


def _readme(results: Results, name: str, runs: int) -> str:
    study, engine = results.study, engines.option(results.engine)
    return (
        f"The runs from which Dumbbell's pages of the study {study.name} are drawn:\n"
        f"{study.header.title}.\n\n"
        f"{runs:,} runs of the engine {results.engine.identity}.\n"
        f"Written by {tree.identity()}.\n\n"
        "The same sources of Dumbbell draw the pages and judge the claims again:\n\n"
        f"    tar xf {name}.tar\n"
        f"    dumbbell report {study.called}{engine} --results {name}/results\n"
        f"    dumbbell claims {study.called}{engine} --results {name}/results --brief\n\n"
        "Any of these runs gives the same bytes on any machine:\n"
        f"`dumbbell run {study.called}{engine} --results again`, then\n"
        f"`dumbbell merge again --results {name}/results`, which names results that differ.\n"
    )


def _tar(folder: Path, file: Path) -> None:
    """Write a folder with all that lies in it, without times and owners."""
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(path.relative_to(folder.parent).as_posix())
            entry.size, entry.mode = path.stat().st_size, 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)
