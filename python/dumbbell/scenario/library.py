"""Scenarios that ship with Dumbbell, each of which is known by its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dumbbell.base import documents
from dumbbell.base.errors import unknown

FOLDER: Final = Path(__file__).parent.parent / "scenarios"


def names() -> list[str]:
    """Return the names of all scenarios that ship."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def entries() -> Iterator[dict[str, Any]]:
    """Yield name, title and file of each."""
    for name in names():
        path = FOLDER / f"{name}.toml"
        yield {"name": name, "title": documents.read_toml(path)["title"], "file": str(path)}


def file(path: Path) -> Path:
    """Return the file of a scenario that ships for its name, and any other path as it is.

    A file or folder of the same name comes first. A name of neither is an InputError.
    """
    is_name = len(path.parts) == 1 and not path.suffix and not path.exists()
    if not is_name:
        return path
    if path.name not in names():
        raise unknown("scenario", path.name, names(), "or the path of a file")
    return FOLDER / f"{path.name}.toml"
