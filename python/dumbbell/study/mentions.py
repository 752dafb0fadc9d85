"""Figures that a text mentions: "Figs. 4 and 8 to 11"."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from string import ascii_lowercase
from typing import Final

_NUMBER: Final = r"\d+(?:\.?[A-Za-z]\b)?"
_FIGURES: Final = re.compile(rf"Figs?\. {_NUMBER}(?:(?:, | and | to ){_NUMBER})*")
_NUMBERS: Final = re.compile(_NUMBER)
_SPANS: Final = re.compile(rf"({_NUMBER})(?: to ({_NUMBER}))?")


def figures_in(text: str, names: Collection[str]) -> list[str]:
    """Return those of some figures that "Figs. 4 and 8 to 11" mean, in their order."""
    numbers = [
        number
        for match in _FIGURES.finditer(text)
        for first, last in _SPANS.findall(match[0])
        for number in _span(first, last or first)
    ]
    meant_names = {name for number in numbers for name in meant(number, names)}
    return [name for name in names if name in meant_names]


def with_numbers(text: str, replaced: Callable[[str], str]) -> str:
    """Replace each number of a figure in a text."""
    return _FIGURES.sub(
        lambda mention: _NUMBERS.sub(lambda number: replaced(number[0]), mention[0]), text
    )


def meant(number: str, names: Collection[str]) -> list[str]:
    """Return the figures of a number: Fig. 4 may be drawn as 4a and 4b, and 3.b as a part of 3."""
    name = "fig" + number.replace(".", "").lower()
    if name in names:
        return [name]
    parts = [
        name_of_figure for name_of_figure in names if re.fullmatch(f"{name}[a-z]", name_of_figure)
    ]
    return parts or [
        name_of_figure for name_of_figure in names if name_of_figure == name.rstrip(ascii_lowercase)
    ]


def _span(first: str, last: str) -> Iterator[str]:
    """Yield the numbers of figures from the first to the last: 8 to 11, or 6a to 6c."""
    if first.isdecimal() and last.isdecimal():
        yield from map(str, range(int(first), int(last) + 1))
    elif first[:-1] == last[:-1]:
        yield from (first[:-1] + chr(code) for code in range(ord(first[-1]), ord(last[-1]) + 1))
    else:
        yield from (first, last)
