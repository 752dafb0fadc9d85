"""Runs that failed: each is recorded with its reason until it succeeds.

A record is a file of the results folder, ``failures/ab12....json``, named by the key of its run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from dumbbell.base import regular
from dumbbell.base.errors import DamagedResult
from dumbbell.plan.places import Place, words
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import notes, staging
from dumbbell.store.result_files import is_key
from dumbbell.store.store import Store

FOLDER: Final = "failures"


class Failure(BaseModel):
    """The reason why a run has no result."""

    model_config = ConfigDict(frozen=True)

    key: str
    """Key of the run."""

    engine: str
    """Identity of the engine."""

    run: str
    """The run in words."""

    place: Place | None
    """Test, grid point and repetition, if it belongs to a study."""

    error: str
    """Type of the error."""

    message: str
    """Message of the error."""

    traceback: str | None
    """Where it came from, unless it is an error that explains itself."""

    last_tried: datetime
    """When the run was last tried (UTC)."""

    def __str__(self) -> str:
        return f"{self.run}: {self.message or self.error}"


def record(
    store: Store,
    scenario: ResolvedScenario,
    place: Place | None,
    error: Exception,
    trace: str | None = None,
) -> Failure:
    """Keep why a run failed and where, instead of what was known of it before.

    A store that cannot be written is a StoreError.
    """
    failure = Failure(
        key=scenario.key,
        engine=scenario.engine,
        run=words(scenario, place),
        place=place,
        error=type(error).__name__,
        message=str(error),
        traceback=trace,
        last_tried=datetime.now(UTC).replace(microsecond=0),
    )
    with store.errors("write"):
        store.create()
        staging.replace(_file(store, failure.key), failure.model_dump_json(indent=1).encode())
    return failure


def forget(store: Store, key: str) -> None:
    """Remove the record of a run that has a result now."""
    file = _file(store, key)
    # A store that can only be read refuses to remove even what is not there.
    if file.exists():
        with store.errors("write"):
            file.unlink(missing_ok=True)


def failures(store: Store, keys: Iterable[str]) -> dict[str, Failure]:
    """Return why those of the runs `keys` failed that have failed, by key, in their order.

    A record that cannot be read counts as none, as its run has no result either way.
    """
    with store.errors("read"):
        recorded = {file.stem: file for file in files(store)}
    by_key = {}
    for key in keys:
        if key in recorded:
            with suppress(DamagedResult):
                by_key[key] = read(store, recorded[key])
    return by_key


def files(store: Store) -> Iterator[Path]:
    """Yield the records in a results folder, in the order of their keys."""
    for file in regular.files(store.root / FOLDER, ".json", below=store.root):
        if is_key(file.stem):
            yield file


def read(store: Store, file: Path) -> Failure:
    """Return what one of `files` records; one that is damaged or gone is a DamagedResult."""
    failure = notes.read(store, file, Failure)
    if failure.key != file.stem:
        raise DamagedResult(f"{file}: damaged record (it does not match its name)")
    return failure


def _file(store: Store, key: str) -> Path:
    return store.root / FOLDER / f"{key}.json"
