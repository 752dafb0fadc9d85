"""What a folder holds, to compare it with another or with what it held before."""

from __future__ import annotations

from pathlib import Path


def files_of(root: Path) -> dict[str, bytes]:
    """Return the contents of all files of a folder, drafts included, by their relative paths."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
