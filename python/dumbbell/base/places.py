"""Places of files that a command writes."""

from __future__ import annotations

import os
from pathlib import Path

from dumbbell.base.errors import InputError


def check(file: Path) -> None:
    """Raise InputError unless a file can be written there.

    Commands check this before their runs, which may take hours.
    """
    folder = file.parent
    if not folder.is_dir():
        raise InputError("no such folder", value=str(folder), valid="a folder that exists")
    if file.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
        raise InputError("cannot be written", value=str(file))
