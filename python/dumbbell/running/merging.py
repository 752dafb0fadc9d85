"""Results folders joined: every run once, and whatever disagrees named."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dumbbell.errors import DamagedResult
from dumbbell.running import campaigns, failures, staging, validity
from dumbbell.running.store import Store


@dataclass
class Merged:
    """What became of the results of some folders.

    Attributes
    ----------
    added, there
        How many were taken over, and how many were there already.
    conflicts
        Keys of runs of which two folders hold different results: determinism is broken, or
        somebody changed a result. What was there stays.
    damaged
        Folders of results that are not what was written; they are left out.
    """

    added: int = 0
    there: int = 0
    conflicts: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether every result of every folder is in the merged one."""
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
        _take_notes(source, target)
    return merged


def _take(source: Store, key: str, target: Store, merged: Merged) -> None:
    try:
        theirs = source.verify(key, is_wanted=False)
    except DamagedResult as error:
        merged.damaged.append(str(error))
        return
    if target.has(key):
        try:
            ours = target.verify(key, is_wanted=False)
        except DamagedResult:
            pass  # replaced
        else:
            if not (validity.reasons(ours.summary) and not validity.reasons(theirs.summary)):
                merged.there += 1
                if ours.digest != theirs.digest and not validity.reasons(theirs.summary):
                    merged.conflicts.append(key)
                return
    target.install(key, source.files(key))
    merged.added += 1


def _take_notes(source: Store, target: Store) -> None:
    """Take over failures of what has no result, and what commands took."""
    with target.errors("write"):
        for name in (failures.FOLDER, campaigns.FOLDER):
            for file in sorted((source.root / name).glob("*.json")):
                copy = target.root / name / file.name
                has_result = name == failures.FOLDER and target.has(file.stem)
                if not staging.is_staging(file) and not has_result and not copy.exists():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, copy)
