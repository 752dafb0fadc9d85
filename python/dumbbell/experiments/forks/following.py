"""Selections of grid points in a study whose axes get other values.

A selection that names values which are still there keeps these. If none is, one of numbers follows
to the new values: a figure at 82 ms becomes one at 42 ms. One of names does not, since what holds
of one algorithm is not said of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dumbbell.base import amounts
from dumbbell.plan import grid

Values = Mapping[str, Sequence[str]]
"""Axis -> its new values."""

SELECTIONS: Final = ("where", "of", "to", "larger", "smaller", "at")
"""Keys of figures, checks and quantities that select grid points."""

GROUPS: Final = ("of", "to", "larger", "smaller")
"""Those that select what a check compares."""


class GoneError(Exception):
    """A selection names only values that are gone."""


def kept(selection: Mapping[str, Any], axes: Values) -> dict[str, Any] | None:
    """Return a selection with the values that the axes have; None if it selects nothing."""
    by_axis: dict[str, Any] = {}
    for axis in selection:
        wanted = grid.wanted_values(selection, axis)
        if axis in axes:
            wanted = [value for value in wanted if _is_in(value, axes[axis])]
        if not wanted:
            return None
        by_axis[axis] = wanted
    return by_axis


def followed(selection: Mapping[str, Any], changed: Values) -> dict[str, Any]:
    """Return a selection that follows to the new values of axes; GoneError if it cannot."""
    by_axis = dict(selection)
    for axis in changed:
        if axis not in selection:
            continue
        wanted = grid.wanted_values(selection, axis)
        there = [value for value in wanted if _is_in(value, changed[axis])]
        if not there and not _are_numbers([*wanted, *changed[axis]]):
            raise GoneError(f"{axis} = {', '.join(wanted)}")
        by_axis[axis] = there or list(changed[axis])
    return by_axis


def follow(table: Mapping[str, Any], changed: Values) -> dict[str, Any]:
    """Return a table of a study whose selections follow; GoneError if its own cannot.

    Tables in it that cannot follow are left out, such as a curve of an algorithm that is gone.
    """
    copy: dict[str, Any] = {}
    for key, value in table.items():
        if key in SELECTIONS and isinstance(value, Mapping):
            copy[key] = followed(value, changed)
        elif isinstance(value, Mapping):
            copy[key] = follow(value, changed)
        elif grid.is_tables(value) and value:
            copy[key] = _all(value, changed)
        else:
            copy[key] = value
    return copy


def _all(tables: Sequence[Mapping[str, Any]], changed: Values) -> list[dict[str, Any]]:
    """Return those of an array that can follow, each once."""
    kept_tables = []
    for table in tables:
        try:
            one = follow(table, changed)
        except GoneError:
            continue
        if one not in kept_tables:
            kept_tables.append(one)
    return kept_tables


def _is_in(value: str, values: Sequence[str]) -> bool:
    return any(grid.same_value(other, value) for other in values)


def _are_numbers(values: Sequence[str]) -> bool:
    return all(amounts.number_of(value) is not None for value in values)
