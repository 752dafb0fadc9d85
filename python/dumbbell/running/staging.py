"""Temporary folders that become results by being renamed, or vanish.

A writer holds an advisory lock on its folder. The system releases it when the process
ends, however it ends, so a folder without the lock has no writer any more.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # pragma: no cover - only where the system has no such locks
    fcntl = None  # type: ignore[assignment]

PREFIX: Final = ".tmp-"

# Between its creation and its lock a folder looks abandoned; nobody takes that long.
_YOUNG_S: Final = 60
# Where the system has no locks, only age tells.
_OLD_S: Final = 24 * 3600


def is_staging(path: Path) -> bool:
    """Return whether a path is (or was) being written."""
    return path.name.startswith(PREFIX)


def new_path(parent: Path) -> Path:
    """Return a name in `parent` that nobody else uses."""
    return parent / f"{PREFIX}{secrets.token_hex(8)}"


@contextmanager
def folder(parent: Path) -> Iterator[Path]:
    """Provide a new folder in `parent`; what is left of it at the end is removed."""
    parent.mkdir(parents=True, exist_ok=True)
    draft = new_path(parent)
    draft.mkdir()
    try:
        with locked(draft):
            yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on a folder, waiting for it if need be."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def discard(path: Path) -> None:
    """Remove a folder so that no reader ever sees it half-removed."""
    aside = new_path(path.parent)
    path.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def remove_abandoned(parent: Path, now_s: float | None = None) -> None:
    """Remove the temporary files and folders in `parent` that have no writer any more."""
    now_s = time.time() if now_s is None else now_s
    for path in parent.glob(PREFIX + "*"):
        with suppress(FileNotFoundError):
            age_s = now_s - path.stat().st_mtime
            if age_s > _YOUNG_S and _has_no_writer(path, age_s):
                _remove(path)


def _has_no_writer(path: Path, age_s: float) -> bool:
    if fcntl is None or not path.is_dir():
        return age_s > _OLD_S
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()
