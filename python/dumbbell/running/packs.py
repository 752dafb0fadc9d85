"""Many results in one file: what file systems with few, large files want.

``packs/NAME.sqlite`` holds the files of many results, each under its key and its name. A pack is
written once, and never changed; so any number of processes on any number of machines read it
without locks.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell.running import staging

FOLDER: Final = "packs"
_SUFFIX: Final = ".sqlite"
_TABLE: Final = """\
create table files (key text, name text, content blob, primary key (key, name)) without rowid
"""


class Packs:
    """The packs of a results folder."""

    def __init__(self, root: Path) -> None:
        self.root = root / FOLDER
        self._lock = threading.Lock()
        self._read: dict[Path, frozenset[str]] = {}
        self._changed_ns = -1

    def find(self, key: str) -> PackedResult | None:
        """Return a result that is in a pack."""
        for file, keys in self._known().items():
            if key in keys:
                return PackedResult(file, key)
        return None

    def keys(self) -> Iterator[str]:
        """Iterate over the keys of all results in packs."""
        for keys in self._known().values():
            yield from keys

    def files(self) -> list[Path]:
        """Return the packs, the newest first: what was made again takes the place of the rest."""
        found = self.root.glob(f"*{_SUFFIX}")
        return sorted(found, key=lambda file: (-file.stat().st_mtime_ns, file.name))

    def _known(self) -> Mapping[Path, frozenset[str]]:
        """Return which results are in which pack; packs that have come since are read."""
        try:
            changed_ns = self.root.stat().st_mtime_ns
        except FileNotFoundError:
            return {}
        with self._lock:
            if changed_ns != self._changed_ns:
                self._read = {
                    file: self._read.get(file) or frozenset(_keys(file)) for file in self.files()
                }
                self._changed_ns = changed_ns
            return self._read

    def write(self, results: Iterable[tuple[str, Mapping[str, bytes]]]) -> Path | None:
        """Write a new pack with results by their keys, and wait until it is on the disk."""
        self.root.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with staging.folder(self.root) as draft:
            file = draft / "pack"
            with _errors(file), closing(sqlite3.connect(file)) as pack, pack:
                pack.execute(_TABLE)
                for key, files in results:
                    digest.update(key.encode())
                    rows = [(key, name, content) for name, content in files.items()]
                    pack.executemany("insert into files values (?, ?, ?)", rows)
            if not _keys(file):
                return None
            with file.open("rb") as written:
                os.fsync(written.fileno())
            place = self.root / f"{digest.hexdigest()[:16]}{_SUFFIX}"
            file.replace(place)
        return place


@dataclass(frozen=True)
class PackedResult:
    """A result in a pack; it has names and files like the folder of one."""

    pack: Path
    name: str

    def __truediv__(self, name: str) -> PackedFile:
        return PackedFile(self, name)

    def __str__(self) -> str:
        return f"{self.pack}, {self.name}"

    def files(self) -> dict[str, bytes]:
        """Return all its files."""
        with _opened(self.pack) as pack:
            rows = pack.execute("select name, content from files where key = ?", (self.name,))
            return dict(rows.fetchall())

    def size_bytes(self) -> int:
        """Return the size of its files."""
        with _opened(self.pack) as pack:
            (size,) = pack.execute(
                "select sum(length(content)) from files where key = ?", (self.name,)
            ).fetchone()
            return int(size)


@dataclass(frozen=True)
class PackedFile:
    """A file of a result in a pack."""

    result: PackedResult
    name: str

    def read_bytes(self) -> bytes:
        """Return what it holds."""
        with _opened(self.result.pack) as pack:
            row = pack.execute(
                "select content from files where key = ? and name = ?",
                (self.result.name, self.name),
            ).fetchone()
        if row is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))
        return bytes(row[0])

    def __str__(self) -> str:
        return f"{self.result}: {self.name}"


def _keys(file: Path) -> list[str]:
    with _opened(file) as pack:
        return [key for (key,) in pack.execute("select distinct key from files order by key")]


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a pack to read it."""
    address = f"{file.absolute().as_uri()}?immutable=1"
    with _errors(file), closing(sqlite3.connect(address, uri=True)) as pack:
        yield pack


@contextmanager
def _errors(file: Path) -> Iterator[None]:
    """Take what SQLite finds wrong with a pack for an error of the system."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), str(file)) from None
