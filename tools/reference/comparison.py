"""Which files of two folders differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def differing(kept: Path, made: Path) -> Iterator[Path]:
    """Yield the relative paths of files that differ, or that only one of the folders has."""
    names = {path.relative_to(root) for root in (kept, made) for path in _files(root)}
    for name in sorted(names):
        one, other = kept / name, made / name
        if not (one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()):
            yield name


def _files(folder: Path) -> Iterator[Path]:
    return (
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
