"""Temporary folders and files that become results by being renamed, or vanish.

A writer holds an advisory lock on its draft. The system releases it when the process ends, however
it ends, so a draft without the lock has no writer any more. On file systems that several machines
share, locks may be those of one machine only. So drafts are named by the machine, and those of
others are taken for abandoned after a day.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # pragma: no cover - only where the system has no such locks
    fcntl = None  # type: ignore[assignment]

PREFIX: Final = ".tmp-"
_OF: Final = "_"

# Where the system has no locks, or not those of other machines, only age tells.
_OLD_S: Final = 24 * 3600


def is_staging(path: Path) -> bool:
    """Return whether a path is (or was) being written."""
    return path.name.startswith(PREFIX)


def new_path(parent: Path) -> Path:
    """Return a name in `parent` that nobody else uses."""
    return parent / f"{PREFIX}{_host()}{_OF}{os.getpid()}-{secrets.token_hex(8)}"


def _host() -> str:
    """Return the name of this machine, in letters that file names may have."""
    return re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())[:64]


def _is_anothers(path: Path) -> bool:
    """Return True if a draft is that of another machine."""
    host, of, _ = path.name.removeprefix(PREFIX).partition(_OF)
    return bool(of) and host != _host()


@contextmanager
def folder(parent: Path) -> Iterator[Path]:
    """Provide a new folder in `parent`; what is left of it at the end is removed."""
    parent.mkdir(parents=True, exist_ok=True)
    draft = new_path(parent)
    try:
        with ExitStack() as held:
            # Until it has its lock it looks abandoned: whoever removes drafts holds the parent's.
            with locked(parent):
                draft.mkdir()
                held.enter_context(locked(draft))
            yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def replace(path: Path, content: bytes, *, lasting: bool = False) -> None:
    """Write a file; its readers find all of the old or all of the new content.

    If the process is killed, that is so in any case; if the power fails, only where it is
    `lasting`, which waits for the disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = new_path(path.parent)
    try:
        with ExitStack() as held:
            with locked(path.parent):
                draft.touch(exist_ok=False)
                held.enter_context(locked(draft))
            with draft.open("wb") as file:
                file.write(content)
                if lasting:
                    file.flush()
                    os.fsync(file.fileno())
            draft.replace(path)
            if lasting:
                # fsync(2): a file on the disk does not mean that its new name is there, too.
                _flush_folder(path.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _flush_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on a folder or file, waiting for it if need be."""
    if fcntl is None:
        yield
        return
    # A lock belongs to the descriptor, so closing it releases the lock (flock(2)). A killed process
    # therefore leaves no stale lock.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def discard(path: Path) -> None:
    """Remove a folder, or what is in its place, so that no reader ever sees it half-removed."""
    # Renaming is atomic, and removing a folder file by file is not.
    aside = new_path(path.parent)
    path.rename(aside)
    _remove(aside)


def remove_abandoned(parent: Path, now_s: float | None = None) -> None:
    """Remove the drafts in `parent` that have no writer any more, as far as that is allowed."""
    now_s = time.time() if now_s is None else now_s
    drafts = list(parent.glob(PREFIX + "*"))
    if not drafts:
        return
    with locked(parent):
        for path in drafts:
            with suppress(FileNotFoundError):
                age_s = now_s - path.lstat().st_mtime
                if age_s > _OLD_S if _is_anothers(path) else _has_no_writer(path, age_s):
                    _remove(path)


def _has_no_writer(path: Path, age_s: float) -> bool:
    if fcntl is None:
        return age_s > _OLD_S
    # Opening a queue would wait for its writer (fifo(7)), and opening a link would lock its target.
    if not (path.is_dir() or path.is_file()) or path.is_symlink():
        return True  # no writer makes queues or links
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
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
