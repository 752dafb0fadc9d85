"""The line of a TOML file in which a key is.

The parser does not say. But the beginning of a file, up to the end of a line, is valid TOML exactly
where a statement ends. It then has the keys of all statements before and no others. So the parser
itself finds the line of a key, by bisection.
"""

from __future__ import annotations

import functools
import io
import itertools
import tomllib
from collections.abc import Sequence
from typing import Any, Final

from dumbbell.base.keys import index_of

_BYTES_MAX: Final = 300_000
_LINES_MAX: Final = 100
"""Of a statement; for longer ones, errors have no line: that would take long."""


def line_of(text: str, key: str) -> int | None:
    """Return the line, from 1, of a dotted key such as ``flow.1.start``, or of what holds it.

    None if even the first part of the key is nowhere, or it would take long to find out.
    """
    if len(text) > _BYTES_MAX:
        return None
    count = text.count("\n") + 1
    parts = key.split(".")
    try:
        while parts and not _has(_before(text, count)[1], parts):
            parts.pop()
        without, has = 0, count
        while has - without > 1:
            middle = (without + has) // 2
            if _has(_before(text, middle)[1], parts):
                has = middle
            else:
                without = middle
        return _before(text, without)[0] + 1 if parts else None
    except LookupError:
        return None


@functools.lru_cache(maxsize=256)
def _before(text: str, count: int) -> tuple[int, Any]:
    """Return how many of the first lines are whole statements, and what they say."""
    lines = list(itertools.islice(io.StringIO(text), count))
    for ends in range(len(lines), max(-1, len(lines) - _LINES_MAX), -1):
        try:
            return ends, tomllib.loads("".join(lines[:ends]))
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            continue
    raise LookupError


def _has(table: Any, parts: Sequence[str]) -> bool:
    """Return True if there is something under a key."""
    place = table
    for part in parts:
        if isinstance(place, dict) and part in place:
            place = place[part]
        elif isinstance(place, list) and (index := index_of(part, place)) is not None:
            place = place[index]
        else:
            return False
    return True
