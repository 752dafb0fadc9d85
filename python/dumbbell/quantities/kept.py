"""Values that were taken before, kept with the results under the run's key.

::

    quantities/ab/ab12....json     of one run: the code that took the values, and the values

A file counts only if its digest is right, the code of the quantities is the same and the result is
the one that it was taken of. It can be removed at any time. A file larger than 1 MB, some 20,000
values, is not kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from dumbbell.base import regular
from dumbbell.base.errors import MissingResult
from dumbbell.store import staging
from dumbbell.store.result_files import FILES_BYTES_MAX
from dumbbell.store.store import Store

Values = dict[str, float | None]

_FOLDER: Final = "quantities"
_CODE: Final = (
    "quantities",
    "contract",
    "theory",
    "plan/windows.py",
    "engines/result.py",
    "engines/validity.py",
    "scenario/facts.py",
    "base/units.py",
)


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file.

    Attributes
    ----------
    code
        The digest of the code that took the values.
    run
        Identity of the result file; another result in its place differs in it.
    values
        The values by their names; see `taking`.
    """

    code: str
    run: tuple[tuple[str, int, int], ...]
    values: Values


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file: the text that is kept, and the SHA-256 of it."""

    sha256: str
    kept: msgspec.Raw


_READ: Final = msgspec.json.Decoder(Kept).decode
_READ_FILE: Final = msgspec.json.Decoder(_File).decode
"""Made here because of threads; see `contract.reading`."""


@cache
def code() -> str:
    """Return the digest of the code that quantities depend on."""
    digest = hashlib.sha256()
    root = Path(str(files("dumbbell")))
    for place in _CODE:
        path = root / place
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def read(store: Store, key: str) -> Values | None:
    """Return the kept values of a run; None if there are none of this code and this result."""
    try:
        kept_values = _read(store, _file(store, key))
        # Other code may measure otherwise, and a repaired or repeated run has other tables.
        if (kept_values.code, kept_values.run) == (code(), store.state(key)):
            return kept_values.values
    except (OSError, ValueError, RecursionError, MissingResult):
        pass
    return None


def write(store: Store, key: str, values: Mapping[str, float | None]) -> None:
    """Keep the values of a run; where nothing can be written they are taken again another time."""
    with suppress(OSError, MissingResult):
        content = Kept(code(), store.state(key), dict(sorted(values.items())))
        raw = msgspec.json.encode(content)
        file = msgspec.json.encode(_File(hashlib.sha256(raw).hexdigest(), msgspec.Raw(raw)))
        # `read` refuses larger files, so it would never be used.
        if len(file) > FILES_BYTES_MAX:
            return
        path = _file(store, key)
        regular.make(path.parent, below=store.root)
        # Not synced to the disk: a lost file costs time only, as its digest reveals a torn one.
        staging.replace(path, file, lasting=False)


def damaged(store: Store) -> Iterator[str]:
    """Yield the files whose content differs from what was written, each with the reason."""
    for folder in regular.entries(store.root / _FOLDER, below=store.root):
        place = store.root / _FOLDER / folder.name
        for path in regular.files(place, ".json", below=store.root):
            try:
                _read(store, path)
            except (OSError, ValueError, RecursionError) as error:
                why = error.strerror if isinstance(error, OSError) else error
                yield f"{path}: damaged, or of an earlier Dumbbell ({why})"


def _read(store: Store, path: Path) -> Kept:
    """Return what a file holds; raises OSError, ValueError and RecursionError."""
    file = _READ_FILE(regular.read(path, FILES_BYTES_MAX, below=store.root))
    if hashlib.sha256(file.kept).hexdigest() != file.sha256:
        raise ValueError("it does not match its digest")
    return _READ(file.kept)


def _file(store: Store, key: str) -> Path:
    return store.root / _FOLDER / key[:2] / f"{key}.json"
