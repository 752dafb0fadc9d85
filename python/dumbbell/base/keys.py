"""Dotted keys as people read and write them: ``flow.1.start``, where entries count from 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

Entry = TypeVar("Entry")

_DIGITS_MAX: Final = 9
"""No array has more entries, and Python refuses to read thousands of digits."""


def numbered(key: str, entries: Iterable[Entry]) -> Iterator[tuple[str, Entry]]:
    """Yield the entries of an array with their keys: ``flow.1`` is the first of ``flow``."""
    for number, entry in enumerate(entries, start=1):
        yield f"{key}.{number}", entry


def part_of(place: str | int) -> str:
    """Return the part of a key for a name in a table or an index in an array."""
    return place if isinstance(place, str) else str(place + 1)


def of_core(key: str) -> str:
    """Return a key of the core, in which entries count from 0, as people read it."""
    return ".".join(part_of(int(part) if part.isdecimal() else part) for part in key.split("."))


def index_of(part: str, entries: Sequence[Any]) -> int | None:
    """Return the index of the entry that a part of a key names, or None if there is none."""
    if not part.isdecimal() or len(part) > _DIGITS_MAX or not 1 <= int(part) <= len(entries):
        return None
    return int(part) - 1
