"""A suite as data: TOML files of a folder that count as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeVar

from dumbbell.base import documents
from dumbbell.base.errors import InputError
from dumbbell.base.validation import validate
from dumbbell.scenario.tables import Table

_FOLDER: Final = Path(__file__).parents[2] / "checklists"


class Suite(Table):
    """Tests by which algorithms are judged."""

    title: str
    """Name of the document that has the criteria."""

    scenario: dict[str, Any]
    """Common part of all scenarios."""


_Suite = TypeVar("_Suite", bound=Suite)


def load(kind: type[_Suite], name: str) -> _Suite:
    """Read a suite that ships; lists of several files are joined."""
    folder = _FOLDER / name
    whole: dict[str, Any] = {}
    for path in sorted(folder.glob("*.toml")):
        for key, value in documents.read_toml(path).items():
            if isinstance(value, list):
                whole.setdefault(key, []).extend(value)
            else:
                whole[key] = value
    try:
        return validate(kind, whole)
    except InputError as error:
        raise error.at(source=str(folder)) from None
