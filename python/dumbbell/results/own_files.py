"""C and preset files of a user's own, which an experiment keeps next to it.

So its results can be read after the user has changed, moved or deleted them, and in another folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base import regular
from dumbbell.base.documents import texts
from dumbbell.scenario import changes
from dumbbell.study import experiment_names

BYTES_MAX: Final = catalogue.BYTES_MAX
_DIGITS: Final = 8
_FOLDER: Final = re.compile(rf"[0-9a-f]{{{_DIGITS}}}", re.ASCII)
_SUFFIXES: Final = (".c", ".toml")


def kept(content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return an experiment that names copies of such files, and the copies by their place in it.

    Each has a place by its path. So a changed file takes the place of what it was, and two of one
    name are apart. A file that cannot be read is left to the reader of the study; another error of
    an algorithm is an InputError.
    """
    copies: dict[str, bytes] = {}
    names: dict[str, str] = {}
    tests = [_of_copies(test, copies, names) for test in content["test"]]
    if not copies:
        return dict(content), {}
    stem = content["study"]["name"].rpartition("-")[0]
    study = {**content["study"], "name": f"{stem}-{experiment_names.digest(tests)}"}
    rest = {key: _renamed(content[key], names) for key in content if key not in ("study", "test")}
    return {"study": study, "test": tests, **rest}, copies


def places(experiment: Path, *, below: Path) -> Iterator[str]:
    """Yield the places of the copies that the folder of an experiment has; see `regular.read`."""
    for folder in regular.entries(experiment / catalogue.COPIES, below=below):
        if _FOLDER.fullmatch(folder.name) is not None:
            for file in _files(Path(folder), below):
                yield file.relative_to(experiment).as_posix()


def _files(folder: Path, below: Path) -> Iterator[Path]:
    for entry in regular.entries(folder, below=below):
        path = Path(entry)
        if path.suffix in _SUFFIXES and regular.is_file(path, below=below):
            yield path
        yield from _files(path, below)


def _of_copies(
    test: Mapping[str, Any], copies: dict[str, bytes], names: dict[str, str]
) -> dict[str, Any]:
    """Return a test that names copies; other files have whole paths then."""
    folder = Path(test.get("folder", "")).absolute()
    place = f"{catalogue.COPIES}/{_digest(folder)}"
    of_test: dict[str, bytes] = {}
    for text in texts(test):
        names[text] = _copied(text, folder, of_test)
    if not of_test:
        return dict(test)
    copies |= {f"{place}/{name}": read for name, read in of_test.items()}
    of_copies: dict[str, Any] = _renamed(changes.with_whole_paths("", test, folder), names)
    return {**of_copies, "folder": place}


def _copied(choice: str, folder: Path, copies: dict[str, bytes]) -> str:
    """Return a choice with the copies of its files; the same if it has none that can be read.

    A path below the folder stays as it is. So does a whole path of a preset file, which is not
    copied: readers see it, unlike that of a C file.
    """
    of_choice: dict[str, bytes] = {}

    def copy(file: str) -> str:
        path = Path(file)
        is_below = not path.is_absolute() and ".." not in path.parts
        if not is_below and path.suffix != ".c":
            return str((folder / path).absolute())
        name = path.as_posix() if is_below else f"{_digest(folder / path)}/{path.name}"
        of_choice[name] = regular.read(folder / path, BYTES_MAX)
        return file if is_below else f"./{name}"

    try:
        copied = catalogue.with_files(choice, copy)
    except (OSError, ValueError):
        return choice
    if of_choice:
        # Its error names the user's file, and leaves the copy of an earlier one as it is.
        catalogue.split_preset(choice, folder)
        copies |= of_choice
    return copied


def _digest(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:_DIGITS]


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value, value)
        case Mapping():
            return {key: _renamed(inner, names) for key, inner in value.items()}
        case list() | tuple():
            return [_renamed(inner, names) for inner in value]
        case _:
            return value
