"""The contents of a folder, to compare it with another or with its earlier self."""

from __future__ import annotations

from pathlib import Path


def files_of(root: Path) -> dict[str, bytes]:
    """Return the contents of all files of a folder, drafts included, by their relative paths."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
