"""Reading files that a user wrote; whatever prevents it is an InputError."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dumbbell.base import regular, toml_lines
from dumbbell.base.errors import DECIMAL_BITS_MAX, InputError, near, placed

TOML_BYTES_MAX: Final = 16_000_000
_LEVELS_MAX: Final = 64
"""Deeper nesting would exhaust the stack of a recursive reader."""

_TOO_LONG: Final = "a number of too many digits"


def is_file(path: Path) -> bool:
    """Return True if there is such a file; a name that no file can have is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def exists(path: Path) -> bool:
    """Return True if there is such a file or folder; a name that neither can have is none."""
    try:
        return path.exists()
    except OSError:
        return False


def read_text(path: Path, bytes_max: int, *, named: str, valid: str) -> str:
    """Read a text file that another file calls `named`; `valid` is what that may be.

    Only regular files are read: what else has a name may never end, or never begin.
    """
    try:
        return regular.read(path, bytes_max).decode()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read it: {_reason(error)}", value=named, valid=valid) from None


def _reason(error: Exception) -> str:
    match error:
        case OSError():
            return error.strerror or str(error)
        case UnicodeDecodeError():
            return f"not UTF-8 text at byte {error.start}"
        case _:
            return "no file can have this name"


def _at_most(bytes_max: int) -> str:
    return f"at most {bytes_max / 1e6:g} MB"


def read_toml(
    path: str | Path,
    *,
    key: str | None = None,
    must_be_regular: bool = False,
    below: Path | None = None,
) -> dict[str, Any]:
    """Read a TOML file; whatever prevents that is an InputError naming the file.

    Of a file without `key` at its top nothing may be returned: a search through many files need not
    wait until all are parsed. A file of a folder `must_be_regular`, unlike one that the user has
    named, such as a pipe; as to `below`, see `regular.read`.
    """
    path = Path(path)
    with placed(source=str(path)):
        content = _regular_content(path, below) if must_be_regular else _content(path)
        if key is not None and not _has_line_of(key, content):
            return {}
        return _table(content)


def located(error: InputError) -> InputError:
    """Return the same error with the line of its key, where its source is a TOML file."""
    others = [located(other) for other in error.others]
    line = error.line
    if line is None and error.key and error.source and error.source.endswith(".toml"):
        with suppress(InputError, UnicodeDecodeError):
            line = toml_lines.line_of(_content(Path(error.source)).decode(), error.key)
    return replace(error, line=line, others=others)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(TOML_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        near_one, problem = _neighbour(path, error), f"cannot read it: {_reason(error)}"
        raise InputError(problem, near=near_one, valid="the path of a TOML file") from None
    check_size(len(content))
    return content


def check_size(toml_bytes: int) -> None:
    """Refuse a TOML file of such a size that nobody would read it."""
    if toml_bytes > TOML_BYTES_MAX:
        raise InputError("too large", valid=_at_most(TOML_BYTES_MAX))


def _regular_content(path: Path, below: Path | None) -> bytes:
    try:
        return regular.read(path, TOML_BYTES_MAX, below=below)
    except OSError as error:
        raise InputError(f"cannot read it: {_reason(error)}") from None


def _has_line_of(key: str, content: bytes) -> bool:
    """Return True if a line begins with a key, or with the head of a table of this name."""
    return re.search(rf"^[\s\[]*[\"']?{key}\b".encode(), content, re.MULTILINE) is not None


def _table(content: bytes) -> dict[str, Any]:
    """Return the content of TOML, unless it is nested too deeply."""
    try:
        table = tomllib.loads(content.decode())
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(content.decode(), str(error)) from None
    except UnicodeDecodeError as error:
        raise InputError(_reason(error), valid="a TOML file") from None
    except ValueError:
        raise InputError(_TOO_LONG) from None
    except RecursionError:
        raise _too_deep() from None
    level: list[tuple[str, Any]] = [("", table)]
    for _ in range(_LEVELS_MAX + 1):
        level = [inner for key, outer in level for inner in _inside(key, outer)]
        if not level:
            return table
    raise _too_deep()


_BARE: Final = re.compile(r"""\s*(?P<key>[\w.-]+)\s*=\s*(?P<value>[^"'\[{#\s][^"'#]*?)\s*(#.*)?""")
"""A key with a value that has no quotes."""


def _not_toml(text: str, problem: str) -> InputError:
    """Return the error in the spelling of a file, with the line; finds missing quotes."""
    message, _, place = problem.removesuffix(")").partition(" (at line ")
    if not place:
        return InputError(f"not valid TOML: {problem}")
    line = int(place.partition(",")[0])
    written = text.split("\n")[line - 1].strip()
    bare = _BARE.fullmatch(written)
    valid = None
    if bare is not None and bare["value"].lower() in ("true", "false"):
        valid = f"{bare['key']} = {bare['value'].lower()}"
    elif bare is not None:
        valid = f'{bare["key"]} = "{bare["value"]}", as texts are in quotes'
    return InputError(f"not valid TOML: {message}", line=line, value=written, valid=valid)


def _inside(key: str, outer: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tables and arrays in one of them, with their keys; no number may be too long."""
    for name, value in outer.items() if isinstance(outer, dict) else enumerate(outer, start=1):
        if isinstance(value, dict | list):
            yield f"{key}.{name}" if key else str(name), value
        elif isinstance(value, int) and value.bit_length() > DECIMAL_BITS_MAX:
            raise InputError(_TOO_LONG, key=f"{key}.{name}" if key else str(name), value=value)


def _too_deep() -> InputError:
    return InputError("nested too deeply", valid=f"at most {_LEVELS_MAX} levels")


def _neighbour(path: Path, error: Exception) -> str | None:
    """Return the file next to a missing one that was probably meant."""
    if not isinstance(error, FileNotFoundError):
        return None
    try:
        name = near(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    except OSError:
        return None
    return str(path.parent / name) if name else None


def texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value of a TOML file, however deep in it."""
    match value:
        case str():
            yield value
        case Mapping():
            for inner in value.values():
                yield from texts(inner)
        case list() | tuple():
            for inner in value:
                yield from texts(inner)


def fingerprint(value: Any) -> str:
    """Return a text that is the same for equal values of TOML files, dates and all."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def folder_of(source: str | Path) -> Path:
    """Return the folder to which the files that a source names are relative."""
    path = Path(source)
    return path if path.is_dir() else path.parent
