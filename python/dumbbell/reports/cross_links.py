"""References in prose: code, and links to figures, tests and claims of a study."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from string import ascii_lowercase
from typing import Final

from markupsafe import Markup, escape

from dumbbell.study.model import Study

_NUMBER: Final = r"\d+(?:\.?[A-Za-z]\b)?"
_FIGURES: Final = re.compile(rf"Figs?\. {_NUMBER}(?:(?:, | and | to ){_NUMBER})*")
_NUMBERS: Final = re.compile(_NUMBER)
_SPANS: Final = re.compile(rf"({_NUMBER})(?: to ({_NUMBER}))?")
_CODE: Final = r"`(?P<code>[^`]+)`"
_NAMED: Final = re.compile(_CODE + r"|\b(?P<claim>[A-Z]+\d+)\b")


def code(text: str) -> Markup:
    """Mark up the text in backticks."""
    return Markup(re.sub(_CODE, r"<code>\g<code></code>", str(escape(text))))


def figures_in(text: str, names: Collection[str]) -> list[str]:
    """Return those of some figures that "Figs. 4 and 8 to 11" mean, in their order."""
    numbers = [
        number
        for match in _FIGURES.finditer(text)
        for first, last in _SPANS.findall(match[0])
        for number in _span(first, last or first)
    ]
    meant = {name for number in numbers for name in _meant(number, names)}
    return [name for name in names if name in meant]


def _span(first: str, last: str) -> Iterator[str]:
    """Yield the numbers of figures from the first to the last: 8 to 11, or 6a to 6c."""
    if first.isdecimal() and last.isdecimal():
        yield from map(str, range(int(first), int(last) + 1))
    elif first[:-1] == last[:-1]:
        yield from (first[:-1] + chr(code) for code in range(ord(first[-1]), ord(last[-1]) + 1))
    else:
        yield from (first, last)


def _meant(number: str, names: Collection[str]) -> list[str]:
    """Return the figures of a number: Fig. 4 may be drawn as 4a and 4b, and 3.b as a part of 3."""
    name = "fig" + number.replace(".", "").lower()
    if name in names:
        return [name]
    parts = [each for each in names if re.fullmatch(f"{name}[a-z]", each)]
    return parts or [each for each in names if each == name.rstrip(ascii_lowercase)]


def to_figures(text: str, names: Collection[str]) -> Markup:
    """Turn the numbers of "Figs. 4 and 16" into links where the report has those figures."""

    def link(number: re.Match[str]) -> str:
        meant = _meant(number[0], names)
        return f'<a href="#{meant[0]}">{number[0]}</a>' if meant else number[0]

    return Markup(_FIGURES.sub(lambda found: _NUMBERS.sub(link, found[0]), str(escape(text))))


def to_tests_and_claims(text: str, study: Study, page: str = "") -> Markup:
    """Turn the names of tests in backticks, and of claims, into links to the study's page."""
    known = {test.name for test in study.tests} | {claim.id for claim in study.claims}

    def link(found: re.Match[str]) -> str:
        words = found["claim"] or f"<code>{found['code']}</code>"
        name = found["claim"] or found["code"]
        return f'<a href="{page}#{name}">{words}</a>' if name in known else words

    return Markup(_NAMED.sub(link, str(escape(text))))
