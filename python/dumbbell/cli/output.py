"""How the command prints and writes: tables and JSON to standard output, files where asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from dumbbell.errors import InputError

_WIDE: Final = 220

say = Console(stderr=True, highlight=False)
"""For people, beside the results."""


def print_json(data: Any) -> None:
    """Print data for scripts."""
    print(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False))


def print_table(table: Any) -> None:
    """Print a table; where nobody looks at it, nothing is folded."""
    _unfolded(table, stderr=False)


def say_table(table: Any) -> None:
    """Print a table for people, beside the results."""
    _unfolded(table, stderr=True)


def _unfolded(table: Any, *, stderr: bool) -> None:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=stderr, highlight=False, width=_WIDE)
    console.print(table)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write a file into an InputError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write it: {reason}", source=str(path)) from error
