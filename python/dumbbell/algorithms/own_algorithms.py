"""Descriptions of user-defined algorithms, as plain data.

Parameters, presets and exported variables are found out by compiling a file and calling it, which
runs code of that file. So it is done in another process, and never by who only reads results
(`nothing_runs`). A description is kept in the user's cache folder, under the hash of the source, so
that reports have it later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from dumbbell import _core
from dumbbell.base import user_cache
from dumbbell.base.errors import InputError, printable, refused

PATIENCE_S: Final = 45.0
"""Time for compiling and loading a file, in seconds."""

_BYTES_MAX: Final = 1_000_000

_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

_ELSEWHERE: Final = re.compile(
    r"""^[ \t]*\#[ \t]*include[ \t]*(?:"(?!cc(?:_[a-z]+)?\.h")[^"\n]*"|</[^>\n]*>)""",
    re.MULTILINE,
)
"""Includes of a file that is neither a header of ours nor one of the system."""

_seen: dict[tuple[str, str], dict[str, Any]] = {}
"""Name and hash of the source -> its description."""

_reads_only: list[bool] = []


@contextmanager
def nothing_runs() -> Iterator[None]:
    """Have nothing of a user's own compiled or run within the block, in no process.

    Of a file that was never described before, only its name and its source are known then; its
    presets and parameters are not checked.
    """
    _reads_only.append(True)
    try:
        yield
    finally:
        _reads_only.pop()


def read(name: str, code: str, shown: str) -> dict[str, Any]:
    """Return the description of a file that a user has named; compiled if it is new.

    An error in it is an InputError that names `shown` and the line.
    """
    try:
        _core.check_algorithm_name(name, shown)
    except _core.AlgorithmError as error:
        raise refused(*error.args) from None
    if not _reads_only:
        _check_alone(code, shown)
    description = known(name, code)
    if description["is_described"] or _reads_only:
        return description
    described = {**_described(name, code, shown), "is_described": True}
    _seen[name, described["source_hash"]] = described
    _keep(described)
    return described


def _check_alone(code: str, shown: str) -> None:
    """Refuse further files: results keep the source alone, and know a change by it."""
    bare = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), code)
    included = _ELSEWHERE.search(bare)
    if included is not None:
        line = 1 + bare[: included.start()].count("\n")
        raise InputError(
            f"'{included[0].strip()}': an algorithm is one file, which its results keep",
            source=f"{shown}:{line}",
            valid='the text of that file in its place, and "cc.h"',
        )


def known(name: str, code: str) -> dict[str, Any]:
    """Return what is known of a source without compiling it."""
    source_hash = _core.source_hash(code)
    description = _seen.get((name, source_hash)) or _kept(name, source_hash)
    if description is None:
        return _undescribed(name, code, source_hash)
    _seen[name, source_hash] = description
    return {**description, "code": code}


def _described(name: str, code: str, shown: str) -> dict[str, Any]:
    from dumbbell.algorithms import apart  # noqa: PLC0415 - most commands have no algorithm of a user's own

    try:
        text = apart.ask("load_algorithm", name, code, shown, patience_s=PATIENCE_S)
    except _core.AlgorithmError as error:
        raise refused(*error.args) from None
    except (apart.Died, apart.TooLong) as error:
        raise InputError(
            f"the process that loaded it {error}: something runs as soon as it is loaded, such as "
            "a constructor",
            source=shown,
            valid="functions that nobody but the hooks calls",
        ) from error
    return dict(_printable(json.loads(text)))


def _printable(value: Any) -> Any:
    """Return plain data with texts that any terminal shows; its source stays as it is."""
    match value:
        case str():
            return printable(value)
        case list():
            return [_printable(part) for part in value]
        case dict():
            return {key: part if key == "code" else _printable(part) for key, part in value.items()}
    return value


def _undescribed(name: str, code: str, source_hash: str) -> dict[str, Any]:
    return {
        "name": name,
        "title": name,
        "family": "unknown",
        "year": 0,
        "source": "",
        "summary": f"Its parameters and presets are not known here: nothing has compiled {name}.c "
        "on this machine, and reading results does not.",
        "flags": (),
        "parameters": (),
        "presets": (),
        "info": (),
        "modes": (),
        "source_hash": source_hash,
        "code": code,
        "is_described": False,
    }


def _cache_name(name: str, source_hash: str) -> str:
    return f"algorithms/{name}-{source_hash}.json"


def _kept(name: str, source_hash: str) -> dict[str, Any] | None:
    """Return a description that was kept, if it can be read."""
    text = user_cache.read(_cache_name(name, source_hash), _BYTES_MAX)
    try:
        description = json.loads(text or b"null")
    except (ValueError, RecursionError):
        return None
    is_whole = (
        isinstance(description, dict)
        and description.keys() >= _WANTED
        and description["name"] == name
    )
    return description if is_whole and description["source_hash"] == source_hash else None


_WANTED: Final = _undescribed("", "", "").keys() - {"code"}


def _keep(described: dict[str, Any]) -> None:
    """Keep a description, as far as the cache folder can be written.

    A child with limits leaves nothing: a search describes thousands of files, each once.
    """
    from dumbbell.algorithms import apart  # noqa: PLC0415 - as in `_described`

    if apart.is_bounded():
        return
    content = {key: value for key, value in described.items() if key != "code"}
    name = _cache_name(described["name"], described["source_hash"])
    user_cache.keep(name, json.dumps(content).encode())
