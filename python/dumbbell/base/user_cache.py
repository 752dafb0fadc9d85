"""The user's own cache folder: what takes long to make and may be lost at any time."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def read(name: str, limit: int) -> bytes | None:
    """Return the first `limit` bytes of a cached file; None if it cannot be read."""
    try:
        with _place(name).open("rb") as file:
            return file.read(limit)
    except (OSError, RuntimeError):
        return None


def keep(name: str, content: bytes) -> None:
    """Cache a file, if the folder can be written. Readers see all of it or nothing."""
    with suppress(OSError, RuntimeError):
        place = _place(name)
        draft = place.with_suffix(f".{os.getpid()}")
        place.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        draft.replace(place)


def _place(name: str) -> Path:
    """Return the path of a cached file. Raise RuntimeError if the user has no home folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dumbbell" / name
