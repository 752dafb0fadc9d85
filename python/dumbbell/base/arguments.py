"""Arguments of functions: valid values, and errors for others."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from dumbbell.base.errors import InputError

Names = str | Iterable[str]
"""One name, or several."""

Values = str | float | Iterable[str | float]
"""One value of a path, or several that make a sweep."""


def wrong(key: str, value: object, problem: str, valid: str) -> InputError:
    """Return the error for an argument of a wrong type."""
    if value is None or isinstance(value, str | int | float | list | tuple):
        return InputError(problem, key=key, value=value, valid=valid)
    return InputError(f"{problem}, but {type(value).__name__}", key=key, valid=valid)


def name(value: object, key: str, example: str) -> str:
    """Return a name; anything else is an InputError."""
    if isinstance(value, str):
        return value
    raise wrong(key, value, "not a name", f'a name such as "{example}"')


def names(value: object, key: str, example: str) -> list[str]:
    """Return one name or several as a list; anything else is an InputError."""
    if isinstance(value, str):
        return [value]
    valid = f'a name such as "{example}", or a list of names'
    if not isinstance(value, Iterable):
        raise wrong(key, value, "not a name", valid)
    given = list(value)
    for name in given:
        if not isinstance(name, str):
            raise wrong(key, name, "not a name", valid)
    return given


def values(value: object, key: str, example: str) -> list[str]:
    """Return one value or several as texts; a number counts as its text."""
    given = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    return names([str(part) if _is_number(part) else part for part in given], key, example)


def plain(value: Any, key: str) -> Any:
    """Return the content of a file with plain numbers in place of NumPy's.

    Raises InputError for a table that has a key other than a text.
    """
    if isinstance(value, Mapping):
        for part in value:
            if not isinstance(part, str):
                raise wrong(key, part, "not the key of a table", "a text")
        return {part: plain(inner, key) for part, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, key) for inner in value]
    if _is_number(value) and not isinstance(value, int | float):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    return value


def _is_number(value: object) -> bool:
    # NumPy's numbers are these, too, and no int.
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def switch(value: object, key: str) -> bool:
    """Return True or False; anything else is an InputError."""
    if isinstance(value, bool):
        return value
    raise wrong(key, value, "neither True nor False", "True or False")


def number(value: object, key: str, least: int) -> int:
    """Return a whole number that is at least `least`."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        whole = int(value)
        if whole >= least:
            return whole
    raise wrong(key, value, "not such a number", f"a whole number, {least} or more")
