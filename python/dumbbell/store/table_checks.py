"""Cost of decoding a table's Parquet file, checked before anything decodes it.

A file of a few hundred bytes can claim to hold 10^12 rows, or expand to gigabytes. Its digests may
fit, since its author wrote these, too. So its description is read here: columns, rows, and the size
of each page once it is expanded. Polars believes these numbers and refuses a page that does not
come to them.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.contract.scenario import Scenario
from dumbbell.engines.engine import empty_frame
from dumbbell.store.thrift import struct

ROWS_MAX: Final = 20_000_000
"""Of a table. An engine keeps no more (crates/record/src/rows.rs)."""
MODE_ROWS_MAX: Final = 8_000_000
"""Of changes of modes, of which each row has many columns."""

_FOOTER_BYTES_MAX: Final = 1_000_000
"""A table of 20 million rows has 0.3 MB."""
_SCHEMA_BYTES_MAX: Final = 32_000
"""Of the types as Polars describes them; of the widest table 4 kB. They can be nested."""
_PAGES_MAX: Final = 50_000
"""A table of 20 million rows has 6,000."""
_CODES_MAX: Final = 256
"""Entries of a dictionary besides those of its rows: all names of an enumeration are there."""
_ROW_BYTES_MAX: Final = 32
"""Of a value and its entry in a dictionary: two numbers, or the name of a code."""
_CHUNK_BYTES: Final = 100_000
"""Size of a small part of a column besides its rows, in bytes."""

_MAGIC: Final = b"PAR1"
_PHYSICAL: Final[Mapping[type[pl.DataType], int]] = {
    pl.UInt64: 2,
    pl.UInt32: 1,
    pl.UInt8: 1,
    pl.Enum: 6,
}
_NAMES: Final = (pl.Enum, pl.Categorical, pl.String)
_CODECS: Final = (0, 6)
"""None, and Zstandard."""


def check(table: str, content: bytes, rows: int, most: int, *, is_current: bool) -> None:
    """Raise ValueError for what is no table of a run, or is larger than the run's can be.

    Parameters
    ----------
    table
        Its name.
    content
        The file.
    rows
        Number of its rows in `run.json`.
    most
        Most rows that the run can leave in it (`rows_max`).
    is_current
        True if it is of today's schema, whose columns are known.
    """
    if not 0 < rows <= most:
        raise ValueError(f"{rows} rows, and this scenario leaves 1 to {most}")
    footer = _footer(content)
    # FileMetaData 3 and 4: rows of the file and groups of rows. RowGroup 3: rows of the group.
    if footer.get(3) != rows or sum(group[3] for group in footer[4]) != rows:
        raise ValueError("its number of rows differs from run.json")
    names = _columns(footer[2])
    if is_current:
        _check_columns(table, names)
    _check_types(footer.get(5, []))
    pages = 0
    for group in footer[4]:
        if len(group[1]) != len(names):
            raise ValueError("columns are missing in a part of it")
        for column in group[1]:
            pages += _check_chunk(content, column, group[3])
            if pages > _PAGES_MAX:
                raise ValueError(f"more than {_PAGES_MAX} pages")
    if is_current:
        _check_dtypes(table, pl.read_parquet_schema(io.BytesIO(content)))


def rows_max(table: str, scenario: Scenario) -> int:
    """Return how many rows a run of a scenario can leave in a table."""
    interval_ns = scenario.record.interval_ns
    moments = 2 if interval_ns is None else 2 + scenario.duration_ns // interval_ns
    match table:
        case "flows" | "datagrams" | "internals":
            return min(ROWS_MAX, moments * len(scenario.flows))
        case "queues":
            return min(ROWS_MAX, moments * len(scenario.links))
        case "modes":
            return MODE_ROWS_MAX
        case _:
            return ROWS_MAX


@functools.cache
def _schema(table: str) -> pl.Schema:
    if table not in catalogue.schema().tables:
        raise ValueError("no run leaves such a table")
    return empty_frame(table).schema


def _footer(content: bytes) -> dict[int, Any]:
    """Return the file's description, by the numbers of the fields (parquet.thrift)."""
    size = int.from_bytes(content[-8:-4], "little")
    if content[:4] != _MAGIC or content[-4:] != _MAGIC or size > len(content) - 12:
        raise ValueError("not a Parquet file")
    if size > _FOOTER_BYTES_MAX:
        raise ValueError(f"its description is larger than {_FOOTER_BYTES_MAX / 1e6:g} MB")
    fields, _ = struct(content[-8 - size : -8], 0)
    return fields


def _columns(elements: list[dict[int, Any]]) -> dict[str, int]:
    """Return the physical types of the columns by their names; nothing may be nested."""
    root, *columns = elements
    # SchemaElement 1: type; 3: repetition (0 required, 1 optional, 2 repeated); 4: name; 5: number
    # of children.
    if root.get(5) != len(columns) or any(column.get(5) for column in columns):
        raise ValueError("its columns are nested")
    if any(column.get(3) not in (0, 1) or 1 not in column for column in columns):
        raise ValueError("its columns hold more than a value in a row")
    return {column[4].decode(): column[1] for column in columns}


def _check_columns(table: str, types: Mapping[str, int]) -> None:
    expected = {name: _PHYSICAL[type(dtype)] for name, dtype in _schema(table).items()}
    if types != expected or list(types) != list(expected):
        raise ValueError("it has other columns than such a table has")


def _check_dtypes(table: str, dtypes: Mapping[str, pl.DataType]) -> None:
    for name, dtype in _schema(table).items():
        # One Polars does not always know the enumerations of another.
        known = _NAMES if isinstance(dtype, pl.Enum) else (type(dtype),)
        if not isinstance(dtypes[name], known):
            raise ValueError(f"{name} is of another type")


def _check_types(descriptions: list[dict[int, Any]]) -> None:
    if (
        sum(len(value) for description in descriptions for value in description.values())
        > _SCHEMA_BYTES_MAX
    ):
        raise ValueError("the description of its types is too long")


def _check_chunk(content: bytes, column: dict[int, Any], rows: int) -> int:
    """Check the part of a column that is in one group of rows; returns how many pages it has."""
    about = column[3]
    # ColumnChunk 1 is the path of another file, which a reader would open. ColumnMetaData 4: codec;
    # 5: number of values; 7: bytes; 9 and 11: where data and dictionary begin.
    if 1 in column or about[5] != rows or about[4] not in _CODECS:
        raise ValueError("a part of a column is not what its rows say")
    most = _CHUNK_BYTES + _ROW_BYTES_MAX * rows
    values = count = size = 0
    for page in _pages(content, about.get(11) or about[9], about[7]):
        count += 1
        size += page[2]
        # PageHeader 2: expanded size; 5 and 8: data pages of versions 1 and 2; 7: the dictionary,
        # whose values are no values of rows.
        inside = page.get(5) or page.get(8) or page.get(7) or {}
        if page[2] < 0 or not 0 <= inside.get(1, 0) <= rows + _CODES_MAX or size > most:
            raise ValueError(f"it expands to more than {rows} rows take")
        values += 0 if 7 in page else inside.get(1, 0)
        if count > _PAGES_MAX:
            raise ValueError(f"more than {_PAGES_MAX} pages")
    if values != rows:
        raise ValueError("the number of values in a part of a column differs from its header")
    return count


def _pages(content: bytes, begin: int, length: int) -> Iterator[dict[int, Any]]:
    """Yield the headers of the pages in a part of a file."""
    end = begin + length
    if not 4 <= begin <= end <= len(content) - 8:
        raise ValueError("a part of a column lies outside the file")
    while begin < end:
        page, begin = struct(content, begin)
        if page[3] < 0:
            raise ValueError("a page of a negative size")
        begin += page[3]
        yield page
    if begin != end:
        raise ValueError("a part of a column ends within a page")
