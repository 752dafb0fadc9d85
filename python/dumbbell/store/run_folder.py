"""The files of one finished run: what it is, and how it is kept here.

``run.json`` describes the run: scenario, summary, and for each table the digest of its content. It
is the same wherever the run was made. The tables themselves are Parquet files, whose bytes are
those of the Polars that wrote them; ``files.json`` has the digests of these bytes. So damage is
found without reading a table, and two runs are compared by their `run.json` alone. Other files next
to these are no part of the run, and never read.
"""

from __future__ import annotations

import errno
import hashlib
import io
import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import DamagedResult, InputError
from dumbbell.contract.reading import read_scenario, read_summary
from dumbbell.contract.scenario import Scenario
from dumbbell.contract.summary import Summary
from dumbbell.engines.engine import NONE_U32, Output
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario, identities, key_of
from dumbbell.store import rewriting, table_checks
from dumbbell.store.result_files import (
    FILES_FILE,
    RESULT_BYTES_MAX,
    RUN_FILE,
    TABLE_SUFFIX,
    InMemory,
    ResultFiles,
    checked_max,
)

_OF_US: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Errors that keep this process from reading any file; they do not concern one result."""

_SOUND: Final[set[tuple[str, str, int, int, bool]]] = set()
"""Tables that this process has checked: digest, name, rows, most rows, whether of today's schema.

A command verifies a result when it is made and again when it is read. The check takes most of that,
and its answer depends on these five alone.
"""
_SOUND_MAX: Final = 100_000


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a run: number of rows, and the digest of its content."""

    rows: int
    sha256: str


class RunFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of `run.json`.

    Attributes
    ----------
    key, engine, scenario
        As of a `ResolvedScenario`.
    schema
        Version of the schema of the tables.
    summary
        Summary of the run.
    tables
        The tables that have rows, by their names.
    digest
        SHA-256 of all this.
    """

    key: str
    engine: str
    schema: int
    scenario: Scenario
    summary: Summary
    tables: Mapping[str, Table]
    digest: str


class _Parts(RunFile, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same, with the parts not read yet that may be large."""

    scenario: msgspec.Raw  # type: ignore[assignment]
    summary: msgspec.Raw  # type: ignore[assignment]


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Size and digest of a file."""

    bytes: int
    sha256: str


class FilesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of `files.json`: the digest of its run, and of each table's file."""

    run: str
    files: Mapping[str, File]


_PARTS: Final = msgspec.json.Decoder(_Parts).decode
_FILES: Final = msgspec.json.Decoder(FilesFile).decode
"""Made here because of threads; see `contract.reading`."""


def encoded(scenario: ResolvedScenario, output: Output) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file of a run; `run.json` comes last."""
    tables, files = {}, {}
    for name, table in sorted(output.tables.items()):
        if table.height:
            whole = table.rechunk()
            content = _parquet(whole)
            tables[name] = {"rows": whole.height, "sha256": content_digest(whole)}
            files[name + TABLE_SUFFIX] = {"bytes": len(content), "sha256": _sha256(content)}
            yield name + TABLE_SUFFIX, content
    run = _texts(
        key=scenario.key,
        engine=scenario.engine,
        schema=catalogue.schema().version,
        summary=output.summary,
        tables=tables,
    )
    run["scenario"] = scenario.json.encode()
    digest = _digest(run)
    yield FILES_FILE, _as_file(_texts(run=digest, files=files))
    yield RUN_FILE, _as_file({**run, **_texts(digest=digest)})


def _texts(**values: Any) -> dict[str, bytes | msgspec.Raw]:
    """Return values as canonical JSON."""
    return {
        name: _joined(rewriting.CANONICAL.of_value(msgspec.json.encode(value)))
        for name, value in values.items()
    }


def table_files(run: RunFile) -> dict[str, str]:
    """Return the names of the files of a run's tables by the tables' names."""
    return {name: name + TABLE_SUFFIX for name in run.tables}


def described(place: ResultFiles, *, is_wanted: bool = False) -> RunFile:
    """Return `run.json` after comparing it with its digest; raises DamagedResult.

    With `is_wanted` the run must have this key today: the hash of its scenario with all that this
    brings, of engine and schema. Without, results of other versions are read, too, whose keys
    nobody can compute any more.
    """
    with _reading(place):
        return _described(place, place.read(RUN_FILE), is_wanted=is_wanted)


def _described(place: ResultFiles, content: bytes, *, is_wanted: bool) -> RunFile:
    # What is of another shape ends here, before it can take memory.
    typed = _typed(content)
    run = _as_written(place, RUN_FILE, content)
    if typed.digest != _digest(run):
        raise damaged(place, f"{RUN_FILE} does not match its digest")
    if typed.key != place.name:
        raise damaged(place, "it does not match its name")
    for name in table_files(typed).values():
        checked_max(name)
    if is_wanted and typed.key != _key(typed, run["scenario"]):
        raise damaged(place, "its key is not that of what it holds")
    return typed


def _typed(content: bytes) -> RunFile:
    """Read `run.json`; raises msgspec.ValidationError."""
    parts = _PARTS(content)
    read = {name: getattr(parts, name) for name in RunFile.__struct_fields__}
    large = {"scenario": read_scenario(parts.scenario), "summary": read_summary(parts.summary)}
    return RunFile(**{**read, **large})


def _key(run: RunFile, scenario: bytes | msgspec.Raw) -> str | None:
    """Return the key of what was run; None if that is nothing that could be run today."""
    if run.schema != catalogue.schema().version:
        return None
    names, sources = facts.algorithms(run.scenario), run.scenario.sources
    try:
        identities_of_run = identities(names, sources)
    except InputError:
        return None
    return key_of(rewriting.CANONICAL_AGAIN.of_value(scenario), identities_of_run, run.engine)


def verified(place: ResultFiles, *, contents: bool = False, is_wanted: bool = False) -> RunFile:
    """Return `run.json` after comparing all files with their digests; raises DamagedResult.

    Every bit of the files counts. With `contents`, the tables are read, too, and what they hold is
    compared with what the run was found to be when it was made. As to `is_wanted`, see `described`.
    """
    run = described(place, is_wanted=is_wanted)
    with _reading(place):
        for name, content in _kept(place, run):
            table = name.removesuffix(TABLE_SUFFIX)
            if contents and name != FILES_FILE and _contents(content) != run.tables[table]:
                raise damaged(place, f"{name} does not hold what the run left")
    return run


def taken(place: ResultFiles, *, is_wanted: bool = False) -> tuple[RunFile, InMemory]:
    """Return a result whole: its `run.json`, and all its files as they were verified.

    Raises DamagedResult. Other files next to these are left out.
    """
    with _reading(place):
        content = place.read(RUN_FILE)
        run = _described(place, content, is_wanted=is_wanted)
        return run, InMemory(place.name, {**dict(_kept(place, run)), RUN_FILE: content})


def _kept(place: ResultFiles, run: RunFile) -> Iterator[tuple[str, bytes]]:
    """Yield the other files of a run, by name, each verified."""
    content = place.read(FILES_FILE)
    kept = _FILES(content)
    _as_written(place, FILES_FILE, content)
    if kept.run != run.digest or sorted(kept.files) != sorted(table_files(run).values()):
        raise damaged(place, f"{FILES_FILE} is not of this run")
    if sum(file.bytes for file in kept.files.values()) > RESULT_BYTES_MAX:
        raise damaged(place, f"its files are larger than {RESULT_BYTES_MAX / 1e6:g} MB")
    yield FILES_FILE, content
    for name, file in kept.files.items():
        content = place.read(name)
        if file != File(len(content), _sha256(content)):
            raise damaged(place, f"{name} does not match its digest")
        _check_table(place, run, name, content, file.sha256)
        yield name, content


def _check_table(place: ResultFiles, run: RunFile, name: str, content: bytes, sha256: str) -> None:
    """Refuse a table that nothing may decode, though its digests fit."""
    table = name.removesuffix(TABLE_SUFFIX)
    is_current = run.schema == catalogue.schema().version
    try:
        rows, most = run.tables[table].rows, table_checks.rows_max(table, run.scenario)
        if (question := (sha256, table, rows, most, is_current)) in _SOUND:
            return
        table_checks.check(table, content, rows, most, is_current=is_current)
    except (ValueError, LookupError, TypeError, AttributeError, pl.exceptions.PolarsError) as why:
        raise damaged(place, f"{name}: {why}") from None
    if len(_SOUND) < _SOUND_MAX:
        _SOUND.add(question)


@contextmanager
def _reading(place: ResultFiles) -> Iterator[None]:
    """Count a result as damaged whatever keeps it from being read."""
    try:
        yield
    except OSError as error:
        if error.errno in _OF_US:
            raise
        raise damaged(place, _why(error)) from None
    # RecursionError: somebody else's JSON may be nested deeper than a parser follows.
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(place, _why(error)) from None


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{Path(error.filename or '').name}: {error.strerror}".removeprefix(": ")
    return str(error)


def content_digest(table: pl.DataFrame) -> str:
    """Return the SHA-256 of what a table holds, whichever Polars holds it.

    It covers, column after column, a line of JSON with name, type and, of an enumeration, the names
    of its codes. The values follow as the engine hands them on: little-endian, codes for names,
    4294967295 for null.
    """
    digest = hashlib.sha256()
    for column in table:
        codes = column.dtype.categories.to_list() if isinstance(column.dtype, pl.Enum) else None
        values = _values(column)
        head = json.dumps([column.name, values.dtype.str, codes], ensure_ascii=False)
        digest.update(f"{head}\n".encode())
        digest.update(values.data)
    return digest.hexdigest()


def damaged(place: ResultFiles, why: str) -> DamagedResult:
    """Return the error that a result cannot be used."""
    return DamagedResult(f"{place}: damaged result ({why}); run it again to replace it")


def _values(column: pl.Series) -> np.ndarray[Any, Any]:
    if isinstance(column.dtype, pl.Enum):
        return np.ascontiguousarray(column.to_physical().to_numpy(), dtype="|u1")
    if column.dtype == pl.UInt32 and column.null_count():
        column = column.fill_null(NONE_U32)
    values = column.to_numpy()
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))


def _contents(content: bytes) -> Table:
    codes = catalogue.schema().codes.items()
    try:
        table = pl.read_parquet(io.BytesIO(content))
        # One Polars does not always know the enumerations of another.
        table = table.with_columns(
            pl.col(name).cast(pl.Enum(names)) for name, names in codes if name in table.columns
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(error) from None
    return Table(table.height, content_digest(table))


def _parquet(table: pl.DataFrame) -> bytes:
    """Encode a table of one chunk; the bytes depend on what it holds and on Polars only."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", compression_level=3, row_group_size=1 << 18)
    return buffer.getvalue()


def _as_written(place: ResultFiles, name: str, content: bytes) -> rewriting.Texts:
    """Return the values of one of the two descriptions if it is written as we write it."""
    texts = rewriting.texts(content)
    whole, at = memoryview(content), 0
    # The digest covers values. The same values with other spaces, say, would pass it, so the bytes
    # are compared, too.
    for piece in itertools.chain(rewriting.IN_FILES.of(texts), [b"\n"]):
        if whole[at : at + len(piece)] != piece:
            break
        at += len(piece)
    else:
        if at == len(content):
            return texts
    raise damaged(place, f"{name} does not match its digest")


def _as_file(texts: rewriting.Texts) -> bytes:
    return _joined(itertools.chain(rewriting.IN_FILES_AGAIN.of(texts), [b"\n"]))


def _joined(pieces: Iterator[bytes]) -> bytes:
    whole = io.BytesIO()
    whole.writelines(pieces)
    return whole.getvalue()


def _digest(run: rewriting.Texts) -> str:
    """Return the digest of values that are in one of our forms."""
    digest = hashlib.sha256()
    texts = {name: run[name] for name in run if name != "digest"}
    for piece in rewriting.CANONICAL_AGAIN.of(texts):
        digest.update(piece)
    return digest.hexdigest()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
