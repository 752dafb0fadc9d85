"""Faults in the end of a command, for any input."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from dumbbell.base.errors import printable
from hostile.cases import Case
from hostile.running import MEMORY_MAX_BYTES, Outcome

SECRET: Final = b"the secret of somebody else: 3b1f6c"
"""Content of a file in the folder that nothing may be copied from."""
_STOPPED: Final = 130
_SAID_MAX: Final = 20_000
_NO_MEMORY: Final = ("MemoryError", "memory allocation of", "Cannot allocate memory")

FAULTS: Final = ("traceback", "panic", "hang", "memory", "code", "message", "written", "accepted")
"""Faults that `faults` finds, by name."""


def faults(case: Case, outcome: Outcome, files: Collection[str] = ()) -> list[str]:
    """Return the names of what is wrong with what a command did, whose input has these files."""
    text = outcome.out + outcome.err
    is_known = outcome.code in (0, 1, 2) or (outcome.code == _STOPPED and outcome.is_stopped)
    present = {
        "traceback": "Traceback (most recent call last)" in text,
        "panic": bool(re.search(r"panicked at|This is a bug in Dumbbell", text)),
        "hang": outcome.is_hanging,
        "memory": outcome.peak_bytes > MEMORY_MAX_BYTES or any(it in text for it in _NO_MEMORY),
        "code": not is_known and not outcome.is_hanging,
        "message": outcome.code == 2 and not _is_message(case, outcome.err, files),
        "accepted": case.is_wrong and outcome.code == 0,
    }
    return [name for name in FAULTS if present.get(name)]


def _is_message(case: Case, err: str, files: Collection[str]) -> bool:
    """Return whether an error is short, harmless to a terminal, and names a file or an option."""
    last = err[err.find("error: ") :]
    if not last.startswith("error: ") or len(last) > _SAID_MAX or "\x1b" in err:
        return False
    words = [*case.arguments, *re.split(r"[=,\s]", " ".join(case.arguments))]
    names = {word.removeprefix("./") for word in words if len(word) > 1} | set(files)
    short = [word for word in words if len(word) == 1]
    names |= {quoted for word in short for quoted in (f'"{word}"', f"'{word}'")}
    values = (argument.partition("=")[2] for argument in case.arguments)
    names |= {repr(value) for value in values if value.isspace()}
    return "--" in last or any(name in last or printable(name) in last for name in names)


Contents = Mapping[str, tuple[int, int]]


def contents(folder: Path, without: tuple[Path, ...]) -> Contents:
    """Return what is below a folder, with sizes and times of change; links are not followed."""
    stamps = {}
    for path in folder.rglob("*"):
        if not any(path == part or part in path.parents for part in without):
            state = path.lstat()
            stamps[str(path)] = (state.st_size, state.st_mtime_ns)
    return stamps


def is_copied(folder: Path) -> bool:
    """Return whether the secret was copied into a folder."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    alike = (path for path in files if path.stat().st_size == len(SECRET))
    return any(path.read_bytes() == SECRET for path in alike)
