"""The files of a result: which there may be, how large, and where they lie.

A result may come from somebody else's folder, or from a worker. So nothing is a file of a result
but two descriptions and tables, under the key of a run, and none is larger than is stated here.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from dumbbell.base import regular

RUN_FILE: Final = "run.json"
FILES_FILE: Final = "files.json"
TABLE_SUFFIX: Final = ".parquet"

RUN_BYTES_MAX: Final = 250_000_000
"""Of `run.json`; 100,000 flows with separate hosts take 199 MB."""
FILES_BYTES_MAX: Final = 1_000_000
"""Of `files.json`, and of what is kept of a result elsewhere (`quantities.kept`)."""
TABLE_BYTES_MAX: Final = 1_000_000_000
"""Of a table; SQLite holds no larger ones."""
RESULT_BYTES_MAX: Final = 4_000_000_000
"""Of all files of a result."""

_KEY: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_TABLE: Final = re.compile(r"[a-z][a-z0-9_]{0,39}\.parquet", re.ASCII)


def is_key(text: object) -> bool:
    """Return True if a text can be the key of a run."""
    return isinstance(text, str) and _KEY.fullmatch(text) is not None


def bytes_max(name: object) -> int | None:
    """Return how large a file of a result may be; None: it cannot be one, by its name."""
    if name == RUN_FILE:
        return RUN_BYTES_MAX
    if name == FILES_FILE:
        return FILES_BYTES_MAX
    return TABLE_BYTES_MAX if isinstance(name, str) and _TABLE.fullmatch(name) else None


def checked_max(name: object) -> int:
    """Return how large a file of a result may be; ValueError for what cannot be one."""
    limit = bytes_max(name)
    if limit is None:
        raise ValueError(f"{str(name)[:80]!r} is no file of a result")
    return limit


class ResultFiles(Protocol):
    """The files of a result, wherever they lie."""

    @property
    def name(self) -> str:
        """The key under which they lie."""
        ...

    def read(self, name: str) -> bytes:
        """Return what a file holds; raises OSError, and ValueError for a name that is none."""
        ...


@dataclass(frozen=True)
class InFolder:
    """A result in a separate folder, in a results folder."""

    root: Path
    name: str

    @property
    def path(self) -> Path:
        """The folder."""
        return self.root / "runs" / self.name[:2] / self.name

    def read(self, name: str) -> bytes:
        """Return what a file holds; see `ResultFiles`."""
        return regular.read(self.path / name, checked_max(name), below=self.root)

    @property
    def is_there(self) -> bool:
        """True if there is one, intact or not."""
        return regular.is_file(self.path / RUN_FILE, below=self.root)

    def state(self) -> tuple[tuple[str, int, int], ...]:
        """Return name, size and time of each of its files: what is changed in it, shows."""
        states = []
        for entry in regular.entries(self.path, below=self.root):
            status = entry.stat(follow_symlinks=False)
            if bytes_max(entry.name) is not None and stat.S_ISREG(status.st_mode):
                states.append((entry.name, status.st_size, status.st_mtime_ns))
        return tuple(states)

    def size_bytes(self) -> int:
        """Return the size of its files."""
        return sum(size for _, size, _ in self.state())

    def strangers(self) -> list[str]:
        """Return the names of what lies in the folder and cannot be a file of a result."""
        entries = regular.entries(self.path, below=self.root)
        return [entry.name for entry in entries if bytes_max(entry.name) is None]

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class InMemory:
    """A result that is about to be kept.

    Raises ValueError for an invalid key or file name. So a result can always be written, and
    nothing outside its folder is reached.
    """

    name: str
    files: Mapping[str, bytes]

    def __post_init__(self) -> None:
        if not is_key(self.name):
            raise ValueError(f"{str(self.name)[:80]!r} is no key of a run")
        if not isinstance(self.files, Mapping):
            raise ValueError(f"{type(self.files).__name__} is no mapping of files")
        for name, content in self.files.items():
            if not isinstance(content, bytes):
                raise ValueError(f"{name} holds no bytes")
            if len(content) > checked_max(name):
                raise ValueError(f"{name} is larger than {checked_max(name) / 1e6:g} MB")
        if self.size_bytes() > RESULT_BYTES_MAX:
            raise ValueError(f"its files are larger than {RESULT_BYTES_MAX / 1e6:g} MB")

    def read(self, name: str) -> bytes:
        """Return what a file holds; see `ResultFiles`."""
        if name not in self.files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return self.files[name]

    def size_bytes(self) -> int:
        """Return the size of its files."""
        return sum(map(len, self.files.values()))

    def __str__(self) -> str:
        return f"the received result {self.name}"
