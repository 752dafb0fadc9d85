"""Upkeep of a results folder: checking, packing, removing useless results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base import regular
from dumbbell.base.errors import DamagedResult, MissingResult
from dumbbell.store import answers, run_folder, staging
from dumbbell.store.packs import InPack
from dumbbell.store.result_files import InFolder, InMemory
from dumbbell.store.store import Store

OnResult = Callable[[int], None]
"""Hears how many results have been looked at."""


def check(store: Store, on_result: OnResult, *, contents: bool = False) -> list[str]:
    """Verify every result, and return what is wrong with those that are damaged."""
    damaged = []
    for number, key in enumerate(store.keys(), start=1):
        try:
            store.verify(key, contents=contents, is_wanted=False)
        except MissingResult:
            pass  # another process is replacing it
        except DamagedResult as error:
            damaged.append(str(error))
        on_result(number)
    return damaged


@dataclass
class Packed:
    """Outcome of packing: number of results in `file`, and the `damaged` ones."""

    file: Path | None
    results: int
    damaged: list[str]


def pack(store: Store, on_result: OnResult) -> Packed:
    """Put all results of separate folders into a file; nothing else may run here.

    A folder is removed when the pack is on the disk and holds every byte of it. Damaged results
    stay where they are.
    """
    damaged: list[str] = []
    taken: list[str] = []

    def intact() -> Iterator[InMemory]:
        for key in store.loose():
            try:
                _, result = store.take(key, is_wanted=False)
            except DamagedResult as error:
                damaged.append(str(error))
                continue
            taken.append(key)
            on_result(len(taken))
            yield result

    with store.errors("write"):
        file = store.packs.write(intact())
    if file is None:
        return Packed(None, 0, damaged)
    for key in taken:
        if _is_held(InPack(store.root, file, key), InFolder(store.root, key)):
            store.remove(key)
    for folder in store.root.glob("runs/??/"):
        with suppress(OSError):  # not empty
            folder.rmdir()
    return Packed(file, len(taken), damaged)


def _is_held(packed: InPack, loose: InFolder) -> bool:
    """Return True if a pack holds every byte of a result."""
    try:
        return run_folder.taken(packed)[1].files == run_folder.taken(loose)[1].files
    except DamagedResult:
        return False


@dataclass(frozen=True)
class Useless:
    """A result that may go, and why."""

    key: str
    why: str
    size_bytes: int


def useless(store: Store, engine: str, kept: Collection[str] | None) -> Iterator[Useless]:
    """Yield what may go: damaged results, and those of an earlier version of the simulator.

    With `asked` also what is not among these keys.
    """
    # The first word: results of the testbed are not useless because the simulator is newer.
    kind = engine.partition(" ")[0]
    for key in store.loose():
        why = None
        try:
            run = store.described(key, is_wanted=False)
        except MissingResult:
            continue
        except DamagedResult:
            why = "damaged"
        else:
            if run.engine != engine and run.engine.partition(" ")[0] == kind:
                why = f"of {run.engine}"
            elif kept is not None and key not in kept:
                why = "not requested"
        if why is not None:
            yield Useless(key, why, store.size_bytes(key))


def prune(store: Store, results: Collection[Useless]) -> None:
    """Remove results, what was measured of them, and what writers that died have left."""
    for result in results:
        store.remove(result.key)
    store.clean()
    with store.errors("write"):
        answers.remove(store.root)
        for folder in regular.entries(store.root / "quantities", below=store.root):
            place = store.root / "quantities" / folder.name
            for file in regular.files(place, ".json", below=store.root):
                if not staging.is_staging(file) and not store.has(file.stem):
                    file.unlink(missing_ok=True)
