"""Where a file of ours is not Linux's on purpose: declared in one place, and proved.

A difference names the words of the file's head comment that declare it, and the edit of the file
that would make it Linux's. With all edits nothing may differ; without any single one something
must.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.algorithms.head_comments import Kind, parse
from linux_modules.package import MODULES
from linux_modules.places import ALGORITHMS, DIFFERENCES

_WORD: Final = re.compile(r"[a-z]{2,}[\s,;:.-]")


class DeclarationError(Exception):
    """A difference is not declared as it must be; the message names the place and the fault."""


@dataclass(frozen=True)
class Edit:
    """A replacement of text in a file of ours."""

    find: str
    replace: str


@dataclass(frozen=True)
class Difference:
    """One difference on purpose.

    Attributes
    ----------
    algorithm
        Its name.
    words
        Begin of the sentence of the head comment that declares it.
    edits
        Edits that would make the file Linux's.
    """

    algorithm: str
    words: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Statements:
    """Statements of the head comment of an algorithm's file about Linux.

    Attributes
    ----------
    reasons
        Of each difference that is declared, in their order.
    others
        Paragraphs "Unlike Linux" of which nothing is declared.
    """

    reasons: tuple[str, ...]
    others: tuple[str, ...]


def load(text: str | None = None) -> tuple[Difference, ...]:
    """Read all of them."""
    return tuple(map(_read, tomllib.loads(text or DIFFERENCES.read_text())["difference"]))


def _read(entry: dict[str, Any]) -> Difference:
    keys = {"algorithm", "words", "edit"}
    edits = entry.get("edit", [])
    if set(entry) != keys or not edits or any(set(edit) != {"find", "replace"} for edit in edits):
        raise DeclarationError(
            f"differences.toml: {entry.get('algorithm')}, '{entry.get('words')}': a difference has "
            "'algorithm', 'words' and one or more 'edit', each with 'find' and 'replace'"
        )
    if entry["algorithm"] not in MODULES:
        raise DeclarationError(
            f"differences.toml: '{entry['algorithm']}' is none of {', '.join(MODULES)}"
        )
    edit = tuple(Edit(one["find"], one["replace"]) for one in edits)
    return Difference(entry["algorithm"], entry["words"], edit)


def statements(algorithm: str, source: str, declared: Sequence[Difference]) -> Statements:
    """Find in a file's head comment what is declared: each from its words to the next ones."""
    comment = parse(source)
    unlike = [paragraph.text for paragraph in comment.of(Kind.UNLIKE_LINUX)]
    paragraphs = [*unlike, *(one.text for one in comment.of(Kind.INTERPRETATION))]
    places = {}
    for difference in declared:
        words = difference.words.casefold()
        matches = [text for text in paragraphs if words in text.casefold()]
        if len(matches) != 1:
            raise DeclarationError(
                f"differences.toml: '{difference.words}' is in {len(matches)} paragraphs 'Unlike "
                f"Linux' or 'Interpretation' of algorithms/{algorithm}.c, not in one"
            )
        places[difference] = (matches[0], matches[0].casefold().index(words))

    def reason(text: str, start: int) -> str:
        ends = [at for other, at in places.values() if other == text and at > start]
        part = text[start : min(ends, default=len(text))].strip().rstrip(";")
        return part[:1].upper() + part[1:] if _WORD.match(part) else part

    covered = {text for text, _ in places.values()}
    return Statements(
        tuple(reason(*places[difference]) for difference in declared),
        tuple(text for text in unlike if text not in covered),
    )


def of(algorithm: str, declared: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return those of an algorithm."""
    return tuple(difference for difference in declared if difference.algorithm == algorithm)


_FAMILY: Final = re.compile(r'#include "(cc_\w+\.h)"\n')
"""A header that several algorithms share, which edits may concern."""


def as_linux(source: str, differences: Sequence[Difference]) -> str:
    """Return a file of ours and its family's headers, with the edits of these differences."""
    source = _FAMILY.sub(lambda match: (ALGORITHMS / match[1]).read_text(), source)
    for difference in differences:
        for edit in difference.edits:
            count = source.count(edit.find)
            if count != 1:
                raise DeclarationError(
                    f"differences.toml: {difference.algorithm}, '{difference.words}': what is to "
                    f"be found is {count} times in algorithms/{difference.algorithm}.c, not "
                    f"once:\n{edit.find}"
                )
            source = source.replace(edit.find, edit.replace)
    return source
