"""The grid of a test: named axes whose values are texts, as the user spelled them.

A value such as ``162ms`` names a grid point as a text. `amounts.number_of` reads it as a
quantity where it is plotted or compared.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final

import polars as pl
from pydantic import BeforeValidator

from dumbbell.algorithms import catalogue
from dumbbell.base import amounts
from dumbbell.base.errors import InputError, listed, near, unknown

Axes = Mapping[str, Sequence[str]]
"""Axis -> its values, in the order of the study file."""


def _texts(value: Any) -> Any:
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise InputError(
            "neither a text nor an array of texts", value=value, valid='"reno", ["reno", "htcp"]'
        )
    return value


Selection = Mapping[str, Annotated[str | list[str], BeforeValidator(_texts)]]
"""Axis -> the value or the values of it that are meant, written as in the test's axes."""

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


def numeric_column(axis: str, values: Iterable[str]) -> str | None:
    """Return the name of an axis's numeric column, such as ``rtt_ms``; None if it has none."""
    numbers = [amounts.number_of(value) for value in values]
    units = {number[0] if number else None for number in numbers}
    unit = units.pop() if len(units) == 1 else None
    return f"{axis}_{unit}" if unit else None


@functools.lru_cache(maxsize=4096)
def same_value(value: str, wanted: str) -> bool:
    """Return True if an axis value equals another one.

    ``htcp`` also means ``htcp`` with any preset, ``htcp@`` only without one, ``./my_cc.c`` also
    ``my_cc``, and ``0.25gbit`` also ``250mbit``.
    """
    if wanted.endswith("@"):
        return value == catalogue.called(wanted.removesuffix("@"))
    wanted = catalogue.called(wanted)
    if value in (wanted, f"{wanted}@{value.partition('@')[2]}"):
        return True
    number = amounts.number_of(value)
    return number is not None and number == amounts.number_of(wanted)


def twice(values: Iterable[str]) -> str | None:
    """Return a value that another one equals, such as ``0.25gbit`` after ``250mbit``; or None."""
    seen = set()
    for value in values:
        meaning = amounts.number_of(value) or catalogue.called(value)
        if meaning in seen:
            return value
        seen.add(meaning)
    return None


def wanted_values(selection: Selection, axis: str) -> list[str]:
    """Return the values that a selection names for one axis."""
    values = selection[axis]
    return [values] if isinstance(values, str) else list(values)


def matches(point: Mapping[str, str], selection: Selection) -> bool:
    """Return True if a grid point is selected; an axis that it does not have never matches."""
    return all(
        axis in point
        and any(same_value(point[axis], wanted) for wanted in wanted_values(selection, axis))
        for axis in selection
    )


def kept(selection: Selection, axes: Axes) -> dict[str, frozenset[str]]:
    """Return the values that a selection keeps of each axis that it names; none of an unknown one.

    For many points at once, which `matches` would compare again and again.
    """
    return {
        axis: frozenset(
            value
            for value in axes.get(axis, ())
            if any(same_value(value, wanted) for wanted in wanted_values(selection, axis))
        )
        for axis in selection
    }


def is_kept(point: Mapping[str, str], kept: Mapping[str, frozenset[str]]) -> bool:
    """Return True if a grid point has only values that are kept."""
    return all(point.get(axis) in values for axis, values in kept.items())


def select(frame: pl.DataFrame, selection: Selection) -> pl.DataFrame:
    """Keep the rows of a table with axis columns that are selected."""
    for axis in selection:
        values = wanted_values(selection, axis)
        kept = [
            value
            for value in frame[axis].unique()
            if any(same_value(value, other) for other in values)
        ]
        frame = frame.filter(pl.col(axis).is_in(kept))
    return frame


def check(selection: Selection, axes: Axes) -> None:
    """Raise InputError unless every axis and value of the selection exists."""
    for axis in selection:
        if axis not in axes:
            raise unknown("axis", axis, axes)
        for wanted in wanted_values(selection, axis):
            if not any(same_value(value, wanted) for value in axes[axis]):
                raise InputError(
                    "no such value on this axis",
                    key=axis,
                    value=wanted,
                    valid=listed(axes[axis]),
                    near=near(wanted, axes[axis]),
                )


def placeholders(template: Any) -> set[str]:
    """Return the names of the axes whose values the texts of a template take: ``{axis}``."""
    if isinstance(template, str):
        return set(_PLACEHOLDER.findall(template))
    if isinstance(template, Mapping):
        return set().union(*map(placeholders, template.values()))
    return set().union(*map(placeholders, template)) if isinstance(template, list) else set()


def substitute(template: Any, point: Mapping[str, str]) -> Any:
    """Replace every ``{axis}`` in the texts of a template by the point's value."""
    if isinstance(template, str):
        return _PLACEHOLDER.sub(lambda match: _value(match[1], point), template)
    if isinstance(template, Mapping):
        return {key: _at(key, value, point) for key, value in template.items()}
    if isinstance(template, list):
        return [_at(str(number), value, point) for number, value in enumerate(template, start=1)]
    return template


class Template:
    """A table with ``{axis}`` in its texts, to be filled in at many points.

    Points that differ in nothing that a part of it says share what that becomes.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._parts = [(key, value, sorted(placeholders(value))) for key, value in table.items()]
        self._filled: dict[tuple[str | None, ...], Any] = {}

    def at(self, point: Mapping[str, str]) -> dict[str, Any]:
        """Return the table with the values of a point; see `substitute`."""
        return {key: self._part(key, value, axes, point) for key, value, axes in self._parts}

    def _part(self, key: str, value: Any, axes: Sequence[str], point: Mapping[str, str]) -> Any:
        if not axes:
            return value
        here = (key, *map(point.get, axes))
        if here not in self._filled:
            self._filled[here] = _at(key, value, point)
        return self._filled[here]


def _at(key: str, value: Any, point: Mapping[str, str]) -> Any:
    try:
        return substitute(value, point)
    except InputError as error:
        raise error.at(key=key) from None


def _value(axis: str, point: Mapping[str, str]) -> str:
    if axis not in point:
        raise unknown("axis", f"{{{axis}}}", [f"{{{name}}}" for name in point])
    return point[axis]


def merged(base: Any, changes: Any) -> Any:
    """Return `base` with `changes` on top.

    Tables merge key by key and arrays of tables element by element; anything else is replaced.
    """
    if isinstance(base, Mapping) and isinstance(changes, Mapping):
        both = {key: merged(base[key], changes[key]) for key in base if key in changes}
        return {**base, **changes, **both}
    if is_tables(base) and is_tables(changes):
        shared = [merged(old, new) for old, new in zip(base, changes, strict=False)]
        longer = base if len(base) > len(changes) else changes
        return [*shared, *longer[len(shared) :]]
    return changes


def is_tables(value: Any) -> bool:
    """Return True if a value is an array of tables."""
    return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)
