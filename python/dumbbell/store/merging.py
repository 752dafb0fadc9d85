"""Results folders joined: every run once, and whatever disagrees named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from dumbbell.base.errors import DamagedResult
from dumbbell.engines import validity
from dumbbell.store import campaigns, failures, staging
from dumbbell.store.store import Store


@dataclass
class Merged:
    """The outcome of merging folders.

    Attributes
    ----------
    added, there
        Number of results that were taken over, and number that were there already.
    conflicts
        Keys of runs of which two folders hold different results: determinism is broken, or somebody
        changed a result. The first one stays.
    damaged
        Results and notes that are not what was written; they are left out.
    strangers
        Other files among the results; they are left out, too.
    """

    added: int = 0
    there: int = 0
    conflicts: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """True if every result of every folder is in the merged one."""
        return not (self.conflicts or self.damaged)


def merge(
    sources: Sequence[Store],
    target: Store,
    on_result: Callable[[Merged], None] | None = None,
) -> Merged:
    """Copy all results of some folders into another one, which need not exist yet."""
    merged = Merged()
    with target.errors("write"):
        target.create()
    for source in sources:
        for key in source.keys():  # noqa: SIM118 - a store is no mapping
            _take(source, key, target, merged)
            if on_result is not None:
                on_result(merged)
        _take_notes(source, target, merged)
        merged.strangers += source.strangers()
    return merged


def _take(source: Store, key: str, target: Store, merged: Merged) -> None:
    try:
        # A folder of an earlier version is merged as it is: its keys need not be of today's code.
        theirs, result = source.take(key, is_wanted=False)
    except DamagedResult as error:
        merged.damaged.append(str(error))
        return
    if target.has(key):
        try:
            ours = target.verify(key, is_wanted=False)
        except DamagedResult:
            pass  # replaced
        else:
            # Runs on the testbed differ, so a valid one takes the place of an invalid one.
            if not (validity.reasons(ours.summary) and not validity.reasons(theirs.summary)):
                merged.there += 1
                if ours.digest != theirs.digest and not validity.reasons(theirs.summary):
                    merged.conflicts.append(key)
                return
    target.install(result)
    merged.added += 1


def _take_notes(source: Store, target: Store, merged: Merged) -> None:
    """Take over failures of what has no result, and what commands took."""
    for file in failures.files(source):
        if not target.has(file.stem):
            _take_note(failures.read, file, source, target, merged)
    for file in campaigns.files(source):
        _take_note(campaigns.read, file, source, target, merged)


def _take_note(
    read: Callable[[Store, Path], BaseModel],
    file: Path,
    source: Store,
    target: Store,
    merged: Merged,
) -> None:
    """Take over a note, unless there is one of its name; what is none is left out."""
    try:
        note = read(source, file)
    except DamagedResult as error:
        merged.damaged.append(str(error))
        return
    copy = target.root / file.relative_to(source.root)
    with target.errors("write"):
        if not copy.exists():
            staging.replace(copy, note.model_dump_json(indent=1).encode())
