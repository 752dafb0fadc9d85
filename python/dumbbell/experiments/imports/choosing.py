"""The algorithm that a user names for the flows of a measurement."""

from __future__ import annotations

from pathlib import Path
from typing import overload

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import placed


@overload
def chosen(algorithm: str, file: Path) -> str: ...


@overload
def chosen(algorithm: None, file: Path) -> None: ...


def chosen(algorithm: str | None, file: Path) -> str | None:
    """Return an algorithm as a scenario in `file` names it; None if none was named.

    It was named in the current folder, to which its C file is relative.
    """
    if algorithm is None:
        return None
    with placed(key="algorithm"):
        catalogue.split_preset(algorithm)
    return catalogue.seen_from(algorithm, file.parent)
