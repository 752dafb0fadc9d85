"""Many results in one file: what file systems with few, large files want.

``packs/NAME.sqlite`` holds the files of many results, each under its key and its name. A pack is
written once, and never changed; so any number of processes on any number of machines read it
without locks. A pack may be somebody else's: it is read only if it holds this one table, and only
what can be the file of a result is read in it.
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

from dumbbell.base import regular
from dumbbell.store import staging
from dumbbell.store.result_files import TABLE_BYTES_MAX, InMemory, bytes_max, checked_max, is_key

FOLDER: Final = "packs"
_SUFFIX: Final = ".sqlite"
_TABLE: Final = """\
create table files (key text, name text, content blob, primary key (key, name)) without rowid
"""
_ROW_BYTES_MIN: Final = 64
"""Of a file of a result: its key alone."""
_STRANGERS_MAX: Final = 100


@dataclass(frozen=True)
class Index:
    """Content of a pack: the keys of results, and the first of the files that belong to none."""

    keys: frozenset[str]
    strangers: tuple[str, ...]


class Packs:
    """The packs of a results folder."""

    def __init__(self, root: Path) -> None:
        self._below = root
        self.root = root / FOLDER
        self._lock = threading.Lock()
        self._read: dict[Path, Index] = {}
        self._changed_ns = -1

    def find(self, key: str) -> InPack | None:
        """Return a result that is in a pack."""
        for file, index in self.known().items():
            if key in index.keys:
                return InPack(self._below, file, key)
        return None

    def keys(self) -> Iterator[str]:
        """Iterate over the keys of all results in packs."""
        for index in self.known().values():
            yield from index.keys

    def files(self) -> list[Path]:
        """Return the packs, the newest first: what was made again takes the place of the rest."""
        packs = regular.files(self.root, _SUFFIX, below=self._below)
        return sorted(packs, key=lambda file: (-file.lstat().st_mtime_ns, file.name))

    def known(self) -> Mapping[Path, Index]:
        """Return what is in which pack; packs that have come since are read."""
        try:
            # A folder's time changes when a pack comes or goes, and packs themselves never change.
            changed_ns = self.root.stat().st_mtime_ns
        except FileNotFoundError:
            return {}
        with self._lock:
            if changed_ns != self._changed_ns:
                self._read = {
                    file: self._read.get(file) or _index(self._below, file) for file in self.files()
                }
                self._changed_ns = changed_ns
            return self._read

    def write(self, results: Iterable[InMemory]) -> Path | None:
        """Write a new pack with results, and wait until it is on the disk."""
        self.root.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with staging.folder(self.root) as draft:
            file = draft / "pack"
            with _errors(file), closing(sqlite3.connect(file)) as pack, pack:
                pack.execute(_TABLE)
                for result in results:
                    digest.update(result.name.encode())
                    rows = [(result.name, *file) for file in sorted(result.files.items())]
                    pack.executemany("insert into files values (?, ?, ?)", rows)
            if not _index(draft, file).keys:
                return None
            with file.open("rb") as written:
                os.fsync(written.fileno())
            # Named by its keys, so that packing the same results again makes no second pack.
            place = self.root / f"{digest.hexdigest()[:16]}{_SUFFIX}"
            file.replace(place)
        return place


@dataclass(frozen=True)
class InPack:
    """A result in a pack."""

    root: Path
    pack: Path
    name: str

    def read(self, name: str) -> bytes:
        """Return what a file holds; see `ResultFiles`."""
        checked_max(name)
        with _opened(self.root, self.pack) as pack:
            row = pack.execute(
                "select content from files where key = ? and name = ?", (self.name, name)
            ).fetchone()
        if row is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{self}: {name}")
        if not isinstance(row[0], bytes):
            raise ValueError(f"{name} holds no bytes")
        return row[0]

    def state(self) -> tuple[tuple[str, int, int], ...]:
        """Return name, size and time of the pack: what is changed in it, shows."""
        status = regular.status(self.pack, below=self.root)
        return ((self.pack.name, status.st_size, status.st_mtime_ns),)

    def size_bytes(self) -> int:
        """Return the size of its files."""
        with _opened(self.root, self.pack) as pack:
            rows = pack.execute(
                "select name, length(content) from files where key = ?", (self.name,)
            )
            return sum(int(size or 0) for name, size in rows if bytes_max(name) is not None)

    def __str__(self) -> str:
        return f"{self.pack}, {self.name}"


def _index(below: Path, file: Path) -> Index:
    """Return what is in a pack; what no file of a result can be is a stranger."""
    keys: set[str] = set()
    strangers: dict[str, None] = {}
    with _opened(below, file) as pack:
        # A table that leads in circles has no end, but no more rows than fit into the file.
        rows_max = file.stat().st_size // _ROW_BYTES_MIN
        rows = pack.execute("select key, name from files order by key limit ?", (rows_max + 1,))
        for number, (key, name) in enumerate(rows, start=1):
            if number > rows_max:
                raise OSError(errno.EIO, "more rows than fit into it", str(file))
            if is_key(key) and bytes_max(name) is not None:
                keys.add(key)
            elif len(strangers) < _STRANGERS_MAX:
                strangers[f"{file}: {str(key)[:80]}: {str(name)[:80]}"] = None
    return Index(frozenset(keys), tuple(strangers))


@contextmanager
def _opened(below: Path, file: Path) -> Iterator[sqlite3.Connection]:
    """Open a pack to read it."""
    regular.check(file, below=below)
    # SQLite locks files that it reads, which is unreliable on shared file systems. `immutable`
    # turns locks and the search for changes off (sqlite.org/uri.html); no pack ever changes.
    address = f"{file.absolute().as_uri()}?immutable=1"
    with _errors(file), closing(sqlite3.connect(address, uri=True)) as pack:
        # A value larger than any table of a run is refused before memory is allocated for it.
        pack.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, TABLE_BYTES_MAX)
        # The default raises for names that are not UTF-8, and one such row would hide all others.
        pack.text_factory = _text
        # A view of this name could compute without end.
        tables = [str(sql).lower() for (sql,) in pack.execute("select sql from sqlite_master")]
        if tables != [_TABLE]:
            raise OSError(errno.EIO, "not a pack of results", str(file))
        yield pack


@contextmanager
def _errors(file: Path) -> Iterator[None]:
    """Take what SQLite finds wrong with a pack for an error of the system."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), str(file)) from None


def _text(content: bytes) -> str:
    return content.decode(errors="replace")
