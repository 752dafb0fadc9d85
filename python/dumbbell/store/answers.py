"""Answers of commands: the table that one printed of results that have not changed since.

::

    answers/ab12....json     named by the request: the command, its folder and Dumbbell's code

To print a table of stored runs again, a command would read a study, plan it, and take quantities.
An answer saves that, and the imports for it. It counts only if every byte of the results, of their
study and of its plans is as it was when the table was made. It can be removed at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from dumbbell.base import regular
from dumbbell.base.documents import TOML_BYTES_MAX
from dumbbell.store import staging
from dumbbell.store.result_files import InFolder, is_key

FOLDER: Final = "answers"

_BYTES_MAX: Final = 1_000_000
_PLANS_BYTES_MAX: Final = 16_000_000
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*", re.ASCII)
_CODE: Final = (".py", ".so", ".pyd")
_NO_CODE: Final = ("__pycache__", "studies")


@dataclass(frozen=True)
class Answer:
    """What a command printed.

    Attributes
    ----------
    study
        Name of the experiment.
    runs
        Keys of its runs.
    shown
        The printed table, in the forms that the command can print.
    """

    study: str
    runs: tuple[str, ...]
    shown: Mapping[str, Any]


def read(root: Path, command: Mapping[str, Any]) -> Answer | None:
    """Return the answer to a command; None if there is none of today's code and results."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        content = json.loads(regular.read(_file(root, command), _BYTES_MAX, below=root))
        answer = Answer(content["study"], tuple(content["runs"]), content["shown"])
        # The digest covers the study, its plans and each result that was read.
        if content["sha256"] == _digest(root, answer):
            return answer
    return None


def write(root: Path, command: Mapping[str, Any], answer: Answer) -> None:
    """Keep an answer. If a result is in a pack, or nothing can be written, keep none."""
    with suppress(OSError, ValueError):
        content = {**vars(answer), "sha256": _digest(root, answer)}
        text = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        if len(text) <= _BYTES_MAX:
            regular.make(root / FOLDER, below=root)
            staging.replace(_file(root, command), text)


def remove(root: Path) -> None:
    """Remove all answers; raises OSError."""
    for file in regular.files(root / FOLDER, ".json", below=root):
        file.unlink(missing_ok=True)


def _file(root: Path, command: Mapping[str, Any]) -> Path:
    question = {"command": command, "folder": str(Path.cwd()), "code": _code()}
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
    return root / FOLDER / f"{digest}.json"


@cache
def _code() -> str:
    """Return the digest of the package: the engine is in it, with the built-in algorithms.

    It takes as long as the rest of an answer, and a command that writes one has looked for it.
    """
    digest = hashlib.sha256()
    for folder, below, names in os.walk(str(files("dumbbell"))):
        below[:] = sorted(name for name in below if name not in _NO_CODE)
        for name in sorted(names):
            if name.endswith(_CODE):
                with Path(folder, name).open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _digest(root: Path, answer: Answer) -> str:
    """Return the digest of an answer and of all from which it is made; raises OSError.

    ValueError: it names what can be no study, or no run.
    """
    if not _NAME.fullmatch(answer.study) or not all(map(is_key, answer.runs)):
        raise ValueError("not the name of a study, or not the key of a run")
    answer_text = json.dumps(vars(answer), sort_keys=True, allow_nan=False).encode()
    return _sha256(
        [("answer", answer_text), *_of_folder(root, answer.study), *_of_runs(root, answer)]
    )


def _of_folder(root: Path, study: str) -> Iterator[tuple[str, bytes]]:
    """Yield what else decides a command: the folder's format, the study, its plans."""
    for name, limit in (
        ("format.json", _BYTES_MAX),
        (f"experiments/{study}/study.toml", TOML_BYTES_MAX),
        (f"studies/{study}.json", _PLANS_BYTES_MAX),
    ):
        yield name, regular.read(root / name, limit, below=root)


def _of_runs(root: Path, answer: Answer) -> Iterator[tuple[str, bytes]]:
    for key in answer.runs:
        result = InFolder(root, key)
        if not result.is_there:
            raise FileNotFoundError(key)
        for name, _, _ in result.state():
            yield f"{key}/{name}", result.read(name)


def _sha256(contents: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in contents:
        # With the length: else a byte that moves from one file to the next would go unnoticed.
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()
