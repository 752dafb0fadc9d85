"""Results folders as somebody else may have made them: damaged, linked elsewhere, without end."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
import polars as pl

from dumbbell.scenario.resolve import canonical_json
from dumbbell.store import run_folder, thrift

OUTSIDE: Final = "outside"
"""A folder next to the hostile ones that nothing may be written to, nor copied from."""


@dataclass(frozen=True)
class Hostile:
    """A results folder, and what was done to it."""

    root: Path
    what: str


Harm = Callable[[Random, Path], None]


def hostile_folders(random: Random, intact: Path, place: Path) -> Iterator[Hostile]:
    """Yield copies of an intact results folder with some harm each, without end.

    Each is made in `place` on request, instead of the one before it. Next to it lies the folder
    `OUTSIDE` with the file `secret`, to which links may lead.
    """
    outside = place / OUTSIDE
    outside.mkdir(parents=True, exist_ok=True)
    (outside / "secret").write_text("secret")
    root = place / "theirs"
    while True:
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(intact, root, symlinks=True)
        done = []
        for _ in range(random.choice((1, 1, 2))):
            path = random.choice(sorted(root.rglob("*")))
            harm = random.choice(_of(path))
            with suppress(FileExistsError, FileNotFoundError, NotADirectoryError):
                harm(random, path)
            done.append(f"{harm.__name__} {path.relative_to(root)}")
        yield Hostile(root, ", ".join(done))


def _of(path: Path) -> list[Harm]:
    """Return what can be done to a file or a folder."""
    if path.is_dir():
        return [_link, _link_to_itself, _queue, _drop, _stranger]
    more = [_json] * 6 if path.suffix in (".json", ".toml") else []
    more += [_rows] * 6 if path.suffix == ".sqlite" else []
    return [_flip, _cut, _garbage, _drop, _link, _endless, _dangling, _queue, _folder, _huge, *more]


def _flip(random: Random, path: Path) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def _cut(random: Random, path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: random.randrange(len(content) + 1)])


def _garbage(random: Random, path: Path) -> None:
    path.write_bytes(random.choice((b"", b"[" * 5000, b"{}", b"[]", b"null", random.randbytes(99))))


def _drop(_: Random, path: Path) -> None:
    _remove(path)


def _link(_: Random, path: Path) -> None:
    outside = path
    while not (outside / OUTSIDE).is_dir():
        outside = outside.parent
    is_folder = path.is_dir()
    _remove(path)
    path.symlink_to(outside / OUTSIDE if is_folder else outside / OUTSIDE / "secret")


def _link_to_itself(_: Random, path: Path) -> None:
    (path / "again").symlink_to(".")


def _endless(_: Random, path: Path) -> None:
    _remove(path)
    path.symlink_to("/dev/zero")


def _dangling(_: Random, path: Path) -> None:
    _remove(path)
    path.symlink_to("/nowhere/at/all")


def _queue(_: Random, path: Path) -> None:
    _remove(path)
    os.mkfifo(path)


def _folder(_: Random, path: Path) -> None:
    _remove(path)
    (path / "inside").mkdir(parents=True)


def _huge(_: Random, path: Path) -> None:
    """Make a file of 1 TB, of which nothing is on the disk."""
    with path.open("ab") as file:
        file.truncate(10**12)


def _stranger(random: Random, path: Path) -> None:
    name = random.choice((".tmp-x", "x.json", "run.json", "x.parquet", "x.sqlite", "ab", "A" * 64))
    kind = random.choice((_queue, _folder, _endless, _dangling))
    if not os.path.lexists(path / name):
        kind(random, path / name)


VALUES: Final[tuple[Any, ...]] = (
    -1,
    0,
    10**9,
    10**30,
    1e308,
    "",
    "x\x1b[31m",
    "../../outside/written",
    "/dev/zero",
    "2026-01-01T00:00:00",
    None,
    [],
    {},
    [[]] * 50,
    True,
)


def _json(random: Random, path: Path) -> None:
    """Change a value somewhere in a file of JSON, or a word of another."""
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        words = path.read_text().split(" ")
        words[random.randrange(len(words))] = json.dumps(random.choice(VALUES))
        path.write_text(" ".join(words))
        return
    at = content
    while isinstance(at, dict | list) and at:
        key = random.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], dict | list) or not at[key] or random.random() < 0.2:
            at[key] = random.choice(VALUES)
            break
        at = at[key]
    path.write_text(json.dumps(content, indent=1, sort_keys=True))


def _rows(random: Random, path: Path) -> None:
    """Change rows of a pack, or what the table is."""
    change = random.choice(
        (
            "insert or replace into files values ('k', '../../outside/written', x'00')",
            "insert into files select key, '../../../outside/written', x'00' from files limit 1",
            "insert or replace into files select key, 'run.json/x', 7 from files limit 1",
            "update or replace files set key = '../../../outside/written'",
            "update or replace files set key = upper(key)",
            "update or replace files set content = 1000000000",
            "update or replace files set content = 'text' where name = 'run.json'",
            "update or replace files set name = name || 'x'",
            "delete from files where name = 'files.json'",
            "alter table files add column more text",
            "create table more (x)",
            "drop table files",
            _VIEW,
        )
    )
    with closing(sqlite3.connect(path)) as pack, pack:
        pack.executescript(change)


_VIEW: Final = """
drop table files;
create view files as with recursive endless(n) as (select 1 union all select n + 1 from endless)
select n as key, n as name, zeroblob(1000) as content from endless;
"""


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


Forge = Callable[[pl.DataFrame], bytes]


def forged_tables() -> dict[str, tuple[Forge, str]]:
    """Return files to put in the place of a table, and the fault that is then reported."""
    return {
        "text": (lambda _: b"time_ns,flow\n" * 99, "not a Parquet file"),
        "cut": (lambda table: _parquet(table)[:-9] + b"PAR1", "."),
        "missing": (lambda table: _parquet(table.drop("flow")), "other columns"),
        "extra": (lambda table: _parquet(table.with_columns(more=1)), "other columns"),
        "order": (lambda table: _parquet(table.select(reversed(table.columns))), "other columns"),
        "texts": (lambda table: _parquet(table.cast({"flow": pl.String})), "other columns"),
        "signed": (lambda table: _parquet(table.cast({"flow": pl.Int32})), "is of another type"),
        "lists": (lambda table: _parquet(table.with_columns(pl.concat_list("flow"))), "nested"),
        "deep": (lambda table: _parquet(table.with_columns(flow=_deep(table))), "nested"),
        "fewer rows": (lambda table: _parquet(table.head(1)), "its number of rows differs"),
        "long": (_miscounted, "the number of values in a part of a column differs"),
        "wide pages": (_pages, "expands to more"),
    }


def put_table(folder: Path, name: str, content: bytes, rows: int | None = None) -> None:
    """Put a file in the place of a table of a result, with digests that fit.

    `rows` is its stated number of rows; by default as many as before.
    """
    run = json.loads((folder / "run.json").read_text())
    files = json.loads((folder / "files.json").read_text())
    (folder / f"{name}.parquet").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    files["files"][f"{name}.parquet"] = {"bytes": len(content), "sha256": digest}
    if rows is not None:
        run["tables"][name]["rows"] = rows
    put(folder, run, files)


def put(folder: Path, run: dict[str, Any], files: dict[str, Any]) -> None:
    """Write the description of a stored run and of its files, with digests that fit."""
    run.pop("digest", None)
    run["digest"] = files["run"] = run_folder._digest(_texts(run))
    (folder / "run.json").write_bytes(run_folder._as_file(_texts(run)))
    (folder / "files.json").write_bytes(run_folder._as_file(_texts(files)))


def _texts(content: dict[str, Any]) -> dict[str, bytes | msgspec.Raw]:
    return {name: canonical_json(value).encode() for name, value in content.items()}


def _parquet(table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _deep(table: pl.DataFrame) -> pl.Series:
    value: Any = 1
    for _ in range(50):
        value = {"a": value}
    return pl.Series([value] * table.height)


def _miscounted(table: pl.DataFrame) -> bytes:
    """Return a table of fewer rows whose description claims all of them."""
    content = _parquet(table.head(100))
    size = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - size : -8].replace(_varint(200), _varint(2 * table.height))
    return content[: -8 - size] + footer + content[-8:]


def _pages(table: pl.DataFrame) -> bytes:
    """Return a table whose first page claims to expand to 2 GB."""
    content = _parquet(table)
    page, _ = thrift.struct(content, 4)
    old, new = _varint(2 * page[2]), _varint(2 * (2**31 - 1))
    at = content.index(old, 4)
    longer = content[:at] + new + content[at + len(old) :]
    # The footer names places in the file: what it gained in length is taken from the end of the
    # page, which nothing expands.
    gained = len(new) - len(old)
    end = thrift.struct(longer, 4)[1] + page[3]
    return longer[: end - gained] + longer[end:]


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])
