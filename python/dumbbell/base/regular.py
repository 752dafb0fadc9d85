"""Reading regular files of bounded size, as whatever else has a name may never end, or never begin.

The files in a results folder may be somebody else's. So no link below it is followed: it could show
files of this user's, and make commands write outside the folder.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_QUIETLY: Final = (
    getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
"""Flags to open a file that may have become a queue since the check."""


def read(path: Path, bytes_max: int, *, below: Path | None = None) -> bytes:
    """Return what a regular file holds, if that is at most `bytes_max` bytes.

    With `below`, a folder that holds it, no link is followed on the way from there. Raises OSError.
    """
    _check(status(path, below=below), path, bytes_max)
    no_link = 0 if below is None else getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, os.O_RDONLY | _QUIETLY | no_link)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor is no path
        # The name may lead to another file since `status`; the descriptor cannot.
        _check(os.fstat(descriptor), path, bytes_max)
        # A writer may still append to it: one byte more shows that without reading it all.
        content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise _too_large(path, bytes_max)
    return content


def status(path: Path, *, below: Path | None = None) -> os.stat_result:
    """Return the system's status of a file or folder; see `read` as to `below`."""
    if below is None:
        return path.stat()
    for parent in _on_the_way(path, below):
        if stat.S_ISLNK(parent.lstat().st_mode):
            raise _refused(errno.ELOOP, "a link, which is not followed here", parent)
    state = path.lstat()
    if stat.S_ISLNK(state.st_mode):
        raise _refused(errno.ELOOP, "a link, which is not followed here", path)
    return state


def check(path: Path, *, below: Path) -> None:
    """Raise OSError unless there is a regular file, of any size, to which no link leads."""
    _check(status(path, below=below), path)


def is_file(path: Path, *, below: Path) -> bool:
    """Return True if there is a regular file, to which no link leads."""
    try:
        return stat.S_ISREG(status(path, below=below).st_mode)
    except OSError:
        return False


def entries(folder: Path, *, below: Path) -> list[os.DirEntry[str]]:
    """Return what a folder holds, by name; nothing where there is no folder, or a link to it."""
    try:
        if stat.S_ISDIR(status(folder, below=below).st_mode):
            with os.scandir(folder) as scanned:
                return sorted(scanned, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    return []


def make(folder: Path, *, below: Path) -> None:
    """Make a folder, unless it is there; raises OSError where a link leads to it."""
    folder.mkdir(parents=True, exist_ok=True)
    status(folder, below=below)


def files(folder: Path, suffix: str, *, below: Path) -> Iterator[Path]:
    """Yield what a folder holds whose names end like this, in order, whatever it is."""
    for entry in entries(folder, below=below):
        if entry.name.endswith(suffix):
            yield folder / entry.name


def _on_the_way(path: Path, below: Path) -> Iterator[Path]:
    """Yield the folders between a folder and what lies somewhere in it."""
    for parent in path.parents:
        if parent == below:
            return
        yield parent


def _check(file_status: os.stat_result, path: Path, bytes_max: int | None = None) -> None:
    if not stat.S_ISREG(file_status.st_mode):
        raise _refused(errno.EINVAL, "not a regular file", path)
    if bytes_max is not None and file_status.st_size > bytes_max:
        raise _too_large(path, bytes_max)


def _too_large(path: Path, bytes_max: int) -> OSError:
    return _refused(errno.EFBIG, f"larger than {bytes_max / 1e6:g} MB", path)


def _refused(number: int, why: str, path: Path) -> OSError:
    return OSError(number, why, str(path))
