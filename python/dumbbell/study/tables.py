"""The tables of a study's files, as far as a part of it has them: what a fork begins with."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base.documents import folder_of
from dumbbell.plan.tests import Test

if TYPE_CHECKING:
    from dumbbell.study.files import StudyFiles
    from dumbbell.study.model import Study

_NAMED_BY: Final[Mapping[str, str]] = {"figure": "name", "claim": "id"}


def tables(study: Study, files: StudyFiles) -> dict[str, Any]:
    """Return the tables of a study or of a part of it, which a caller may change.

    The axes of tests are those of the part. Tests that name files have the folder of these.
    """
    data = copy.deepcopy(dict(files.data))
    data["test"] = [
        _test(test, table, files) for test, table in zip(study.tests, data["test"], strict=True)
    ]
    kept = {
        "figure": {figure.name for figure in study.figures},
        "claim": {claim.id for claim in study.claims},
    }
    for kind, names in kept.items():
        data[kind] = [table for table in data.get(kind, []) if table[_NAMED_BY[kind]] in names]
    return data


def _test(test: Test, table: dict[str, Any], files: StudyFiles) -> dict[str, Any]:
    axes = {axis: _values(values, test.axes[axis]) for axis, values in table["axes"].items()}
    folder = folder_of(files.path)
    others: dict[str, Any] = {}
    # A study that ships names no files, so that its forks are the same on every machine.
    if test.folder or any(entry.suffix not in (".toml", "") for entry in folder.glob("*")):
        others["folder"] = str((folder / test.folder).absolute())
    if test.without:
        others["without"] = [dict(left_out) for left_out in test.without]
    return {**table, "axes": axes, **others}


def _values(values: Sequence[str], kept: Sequence[str]) -> list[str]:
    """Return the values of an axis as the file has them: an own algorithm by its path."""
    return [value for value in values if value in kept or catalogue.called(value) in kept]
