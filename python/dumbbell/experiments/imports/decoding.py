"""JSON of other tools as typed values; what does not fit names its place in the file.

Only requested keys become objects, so that the rest of a file takes no memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta

from dumbbell.base.errors import InputError
from dumbbell.base.keys import part_of

T = TypeVar("T")

SECONDS_MAX: Final = 86_400
"""Longer than any test; the scenario of a longer one would never end."""

Seconds = Annotated[float, Meta(ge=0, le=SECONDS_MAX)]
Bytes = Annotated[float, Meta(ge=0, le=1e15)]
Count = Annotated[float, Meta(ge=0, le=1e12)]
Microseconds = Annotated[float, Meta(ge=0, le=3.6e9)]
Milliseconds = Annotated[float, Meta(ge=0, le=3.6e6)]
MEGABITS_MAX: Final = 1e7
Megabits = Annotated[float, Meta(ge=0, le=MEGABITS_MAX)]

_NO_NUMBERS: Final = re.compile(rb"-?(NaN|nan|Infinity|inf)")
_KEY: Final = re.compile(rb'"([^"\\]{1,100})"\s*:')
_INDEX: Final = re.compile(r"\[(\d+)\]")
_BETWEEN: Final = re.compile(rb"(?<=\})\s*\n(?=\{)")
_BEFORE: Final = 65_536
_SHOWN_BYTES_MAX: Final = 1_000_000
"""Of a file whose wrong value is looked up to be shown."""


def decoded(read: Callable[[bytes], T], content: bytes, file: Path, tool: str) -> T:
    """Return JSON as a decoder of msgspec has it; `tool` is who should have written it."""
    try:
        return read(content)
    except RecursionError:
        raise InputError(
            "nested too deeply", source=str(file), valid=f"what {tool} writes"
        ) from None
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        place = place.rstrip("`").removeprefix(".")
        raise InputError(
            f"not as {tool} writes it: {_plain(problem)}",
            source=str(file),
            key=_key(place) or None,
            value=_value(content, place),
            valid=f"a file that {tool} wrote, as it is; or without this part",
        ) from None
    except msgspec.DecodeError as error:
        raise malformed(error, content, file) from None


def _plain(problem: str) -> str:
    """Return the message of msgspec without its marks."""
    return (problem[:1].lower() + problem[1:]).replace("`", "")


def _key(place: str) -> str:
    """Return the key of a place such as ``intervals[0].start``: ``intervals.1.start``."""
    return _INDEX.sub(lambda match: f".{part_of(int(match[1]))}", place).removeprefix(".")


def _value(content: bytes, place: str) -> Any:
    """Return the plain value at a place such as ``intervals[0].streams[2].start``."""
    if len(content) > _SHOWN_BYTES_MAX or not place:
        return None
    value = json.loads(content)
    try:
        for name, index in re.findall(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]", place):
            value = value[name] if name else value[int(index)]
    except (KeyError, ValueError, IndexError, TypeError):
        return None
    return value if isinstance(value, str | int | float) else None


def malformed(error: Exception, content: bytes, file: Path) -> InputError:
    """Return what to say of text that is no JSON: which key it is at, if it is a number."""
    at = re.search(r"\(byte (\d+)\)", str(error))
    place = int(at[1]) if at else len(content)
    number = _NO_NUMBERS.match(content[place : place + 12]) or _NO_NUMBERS.match(
        content[max(place - 1, 0) : place + 12]
    )
    keys = _KEY.findall(content[max(place - _BEFORE, 0) : place])
    if number and keys:
        return InputError(
            "not a number",
            source=str(file),
            key=keys[-1].decode(errors="replace"),
            value=number[0].decode(),
            valid="a number; null is one that is not known",
        )
    if at is None:
        return InputError(
            "it ends within its JSON", source=str(file), valid="the whole file, as it was written"
        )
    return InputError(
        f"no JSON at byte {place:,}", source=str(file), valid="JSON, as the tool wrote it"
    )


def documents(content: bytes) -> list[bytes]:
    """Split a text into the JSON objects that it has one after the other, each on separate lines.

    Tools indent what is within an object, so a brace that begins a line begins the next one.
    """
    return [part for part in _BETWEEN.split(content) if not part.isspace()]
