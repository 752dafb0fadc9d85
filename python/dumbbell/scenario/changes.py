"""Changes to a scenario file on the command line: ``network.rtt=80ms``."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError, as_toml
from dumbbell.base.keys import index_of

KEY: Final = "set"
_EXAMPLE: Final = "network.rtt=80ms, flow.1.algorithm=cubic"
_FILES: Final = ("file", "table", "trace")
"""Keys whose texts are paths of files."""


@dataclass(frozen=True)
class Change:
    """A key of the file, as errors name it, and its value.

    A value that names a file means one of the current folder.
    """

    key: str
    value: Any

    @classmethod
    def parse(cls, text: str) -> Change:
        """Read ``KEY=VALUE``; the value is one of TOML, or else a text."""
        key, equals, value = text.partition("=")
        if not equals or not all(key.strip().split(".")):
            raise InputError("not a key and a value", key=KEY, value=text, valid=_EXAMPLE)
        return cls(key.strip(), _value(value.strip()))

    def __str__(self) -> str:
        """Say it as `parse` reads it."""
        is_plain = isinstance(self.value, str) and _value(self.value) == self.value
        return f"{self.key}={self.value if is_plain else as_toml(self.value)}"

    @property
    def anywhere(self) -> Any:
        """Its value with whole paths for files."""
        return anywhere(self.key.rpartition(".")[2], self.value)

    def apply(self, table: dict[str, Any]) -> None:
        """Change a table; tables that are missing on the way are made."""
        *parents, last = self.key.split(".")
        place: Any = table
        for depth, part in enumerate(parents):
            place = self._inner(place, part, ".".join(parents[: depth + 1]))
        if isinstance(place, list):
            place[self._index(place, self.key)] = self.anywhere
        else:
            place[last] = self.anywhere

    def _inner(self, place: Any, part: str, key: str) -> Any:
        if isinstance(place, list):
            inner = place[self._index(place, key)]
        else:
            inner = place.setdefault(part, {})
        if not isinstance(inner, dict | list):
            rest = self.key.removeprefix(f"{key}.")
            raise InputError(
                "has no keys in the file",
                key=f"{KEY}.{key}",
                value=inner,
                valid=f"'{key}={{ {rest} = {as_toml(self.value)} }}', a table as a whole",
            )
        return inner

    def _index(self, place: Sequence[Any], key: str) -> int:
        """Return the index of the entry that a key names, which is the whole key or begins it."""
        array, _, part = key.rpartition(".")
        index = index_of(part, place)
        if index is None:
            counted = f"positions count from 1: {array}.1 is the first"
            raise InputError(
                counted if part == "0" else "there is no such entry",
                key=f"{KEY}.{self.key}",
                valid=_entries(array, len(place)),
            )
        return index


def _entries(array: str, count: int) -> str:
    """Name the entries of an array."""
    if count == 0:
        return "none: the array is empty"
    return f"{array}.1" if count == 1 else f"{array}.1 to {array}.{count}"


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        # No value of TOML, so it is a text without its quotation marks, as shells leave it.
        return text


def anywhere(key: str, value: Any) -> Any:
    """Return the value of a key with whole paths for its files, which are of the current folder."""
    match value:
        case Mapping():
            return {name: anywhere(name, inner) for name, inner in value.items()}
        case list():
            return [anywhere(key, inner) for inner in value]
        case str() if key == "algorithm":
            return catalogue.anywhere(value)
        case _:
            return with_whole_paths(key, value, Path())


def with_whole_paths(key: str, value: Any, folder: Path) -> Any:
    """Return the value of a key with whole paths for files of a folder, but for algorithms."""
    match value:
        case Mapping():
            return {name: with_whole_paths(name, inner, folder) for name, inner in value.items()}
        case list() | tuple():
            return [with_whole_paths(key, inner, folder) for inner in value]
        case str() if key in _FILES:
            return str((folder / value).absolute())
        case _:
            return value


def parsed(texts: Sequence[str]) -> list[Change]:
    """Read changes as options give them, each key once."""
    made = [Change.parse(text) for text in texts]
    check_once(made)
    return made


def check_once(changes: Sequence[Change]) -> None:
    """Refuse two values for one key, because one of them would be lost."""
    first: dict[str, Change] = {}
    for change in changes:
        other = first.setdefault(change.key, change)
        if other is not change:
            raise InputError(
                "is set twice",
                key=f"{KEY}.{change.key}",
                value=change.value,
                valid=f"one change of it; the other is {other}",
            )


def changed(table: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """Return the table of a scenario file with changes, in their order."""
    # Deep, as changes reach into tables that the caller may use for another run.
    copied = copy.deepcopy(dict(table))
    for change in changes:
        change.apply(copied)
    return copied


def blamed(error: InputError, changes: Sequence[Change]) -> InputError:
    """Name the option instead of the file where a change is what is wrong."""
    keys = [change.key for change in changes]
    key = error.key or ""
    is_ours = any(key == ours or key.startswith(f"{ours}.") for ours in keys)
    others = [blamed(other, changes) for other in error.others]
    # The line of a C file says more than the option.
    is_in_code = error.line is not None and (error.source or "").endswith(".c")
    if is_ours and not is_in_code:
        return replace(error, source=None, key=f"{KEY}.{key}", others=others)
    return replace(error, others=others)
