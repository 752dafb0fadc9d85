"""Texts of a study's page, tied to the verdicts that they are about.

A page is written from results. No result can explain why a claim fails, so such texts are data
here, with the claims that they are about. A text shows only while these have the verdicts that it
names, so no later run makes it false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.keys import numbered
from dumbbell.judging.standing import Standing
from dumbbell.scenario.tables import Table, Title

WORDS_MAX: Final = 80
"""Words of a cause."""

_LINE_MAX: Final = 30
"""Words of a finding, or of a fact to ask for."""


def _short(text: str, most: int) -> str:
    words = len(text.split())
    if words > most:
        raise InputError(f"{words} words", key="text", value=text, valid=f"{most} words or fewer")
    return text


class Question(Table):
    """A question that several claims answer, and a heading of the page."""

    title: Title = Field(examples=["Who wins next to CUBIC?"])
    """The question."""

    claims: tuple[str, ...] = Field(min_length=1)
    """The claims, in the order of the page. Claims without a question come last."""


class FoundOut(Table):
    """A result in a sentence. The page begins with the first three true ones."""

    text: str = Field(examples=["BBR loses 90 times as many packets as CUBIC."])
    """The sentence, of 30 words at most."""

    when: dict[str, Literal["holds", "tie", "contradicted", "open"]] = Field(min_length=1)
    """The claims that it depends on, with their results. The sentence is shown only while all of
    them have these results."""

    @model_validator(mode="after")
    def _is_short(self) -> Self:
        _short(self.text, _LINE_MAX)
        return self

    def is_true(self, standings: Mapping[str, Standing]) -> bool:
        """Return True if all claims have the results that it names."""
        return all(
            standings[name].holds if wanted == "holds" else standings[name] == wanted
            for name, wanted in self.when.items()
        )


class Cause(Table):
    """A cause of contradictions. It is shown while any of its claims is contradicted."""

    title: Title = Field(examples=["YeAH never leaves its fast mode"])
    """The cause, in a line."""

    text: str
    """The explanation, of 80 words at most. It may name tests in backticks."""

    claims: tuple[str, ...] = Field(min_length=1)
    """The claims that it explains. The page names the contradicted ones."""

    tests: tuple[str, ...] = ()
    """The tests that show it. Without one it is an assumption, which the page notes."""

    refuted_by: str = Field("", examples=["a switch whose buffer is known to be 1.5 MB"])
    """The fact or measurement that would refute it."""

    @model_validator(mode="after")
    def _is_short(self) -> Self:
        _short(self.text, WORDS_MAX)
        return self


class Ask(Table):
    """A fact that the authors know. It is shown while any of its claims does not plainly hold."""

    text: str = Field(examples=["Which switch was in the rack, and how large is its buffer?"])
    """The question to them, of 30 words at most."""

    claims: tuple[str, ...] = Field(min_length=1)
    """The claims that the answer may decide."""

    @model_validator(mode="after")
    def _is_short(self) -> Self:
        _short(self.text, _LINE_MAX)
        return self


PageText = Question | FoundOut | Cause | Ask


def named(table: PageText) -> Iterator[tuple[str, str]]:
    """Yield the claims that a table names, each with its place."""
    if isinstance(table, FoundOut):
        yield from ((f"when.{name}", name) for name in table.when)
    else:
        yield from numbered("claims", table.claims)


def of_part(
    tables: Mapping[str, Sequence[PageText]], claims: Set[str], tests: Set[str]
) -> dict[str, tuple[PageText, ...]]:
    """Return the texts of a part of a study, of the claims and tests that it has."""

    def kept(table: PageText) -> PageText | None:
        if isinstance(table, FoundOut):
            return table if table.when.keys() <= claims else None
        names = tuple(name for name in table.claims if name in claims)
        update: dict[str, tuple[str, ...]] = {"claims": names}
        if isinstance(table, Cause):
            update["tests"] = tuple(name for name in table.tests if name in tests)
        return table.model_copy(update=update) if names else None

    return {
        key: tuple(
            kept_table for table in tables_of_kind if (kept_table := kept(table)) is not None
        )
        for key, tables_of_kind in tables.items()
    }
