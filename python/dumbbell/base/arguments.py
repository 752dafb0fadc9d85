"""Arguments of functions: valid values, and errors for others."""

from __future__ import annotations

from collections.abc import Iterable

from dumbbell.base.errors import InputError

Names = str | Iterable[str]
"""One name, or several."""


def wrong(key: str, value: object, problem: str, valid: str) -> InputError:
    """Return the error for an argument of a wrong type."""
    is_shown = isinstance(value, str | int | float | list | tuple)
    shown = value if is_shown else type(value).__name__
    return InputError(problem, key=key, value=shown, valid=valid)


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


def switch(value: object, key: str) -> bool:
    """Return True or False; anything else is an InputError."""
    if isinstance(value, bool):
        return value
    raise wrong(key, value, "neither True nor False", "True or False")


def number(value: object, key: str, least: int) -> int:
    """Return a whole number that is at least `least`."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise wrong(key, value, "not such a number", f"a whole number, {least} or more")
