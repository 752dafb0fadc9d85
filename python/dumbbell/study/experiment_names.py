"""Folders of user-defined experiments in a results folder, and names that depend on their content.

A results folder may be somebody else's. So an experiment never takes the place of a study, and
counts only under a name that ends with the digest of its tests.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell.base import regular
from dumbbell.base.errors import InputError

FOLDER: Final = "experiments"
"""In the results folder."""

_DIGITS: Final = 8
_NAME: Final = re.compile(rf"[a-z0-9][a-z0-9-]*-[0-9a-f]{{{_DIGITS}}}", re.ASCII)


def digest(tests: Any) -> str:
    """Return the digest of the tests of an experiment, as its name ends with it."""
    text = json.dumps(tests, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def names(results: Path) -> list[str]:
    """Return the names of the experiments in a results folder."""
    folders = [entry.name for entry in regular.entries(results / FOLDER, below=results)]
    return [name for name in folders if find(name, results) is not None]


def find(name: str, results: Path) -> Path | None:
    """Return the folder of an experiment; None if there is none of this name."""
    if _NAME.fullmatch(name) is None:
        return None
    folder = results / FOLDER / name
    return folder if regular.is_file(folder / "study.toml", below=results) else None


def check(folder: Path, data: Mapping[str, Any]) -> None:
    """Raise InputError unless the name of an experiment's folder matches its content."""
    study = data.get("study")
    named = study.get("name") if isinstance(study, Mapping) else None
    ends = digest(data.get("test"))
    if named != folder.name or not folder.name.endswith(f"-{ends}"):
        raise InputError(
            "an experiment that does not match its name",
            source=str(folder),
            valid=f"the name {folder.name} in its [study] table, and tests whose digest it ends "
            f"with (now {ends}); to run a changed one, copy it to ./studies under another name",
        )
