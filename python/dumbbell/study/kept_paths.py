"""Paths of studies that a results folder has runs of.

A study that is run by its path has a name that alone leads nowhere. So the results keep its path in
``studies/NAME.path``, relative to their folder, and the name then leads there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from dumbbell.base import documents, regular

FOLDER: Final = "studies"
"""In the results folder."""

NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*", re.ASCII)
"""Names of studies."""

_SUFFIX: Final = ".path"
_BYTES_MAX: Final = 10_000


def file(name: str, results: Path) -> Path:
    """Return the file that has the path of a study."""
    return results / FOLDER / f"{name}{_SUFFIX}"


def content(study: Path, results: Path) -> bytes:
    """Return what this file holds."""
    return os.fsencode(f"{os.path.relpath(study, results)}\n")


def find(name: str, results: Path) -> Path | None:
    """Return the path of a study that has run; None if it is unknown, or nothing is there."""
    if NAME.fullmatch(name) is None:
        return None
    try:
        line = regular.read(file(name, results), _BYTES_MAX, below=results)
        path = Path(os.path.normpath(results / os.fsdecode(line).rstrip("\n")))
        return path if documents.exists(path) else None
    except (OSError, ValueError):
        return None


def names(results: Path) -> list[str]:
    """Return the names of the studies whose paths are known."""
    files = regular.files(results / FOLDER, _SUFFIX, below=results)
    return [entry.stem for entry in files if find(entry.stem, results) is not None]
