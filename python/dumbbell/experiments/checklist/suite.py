"""The suite of a checklist as data: its clauses, and the tests by which they are judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Final

from pydantic import Field

from dumbbell.base.errors import unknown
from dumbbell.experiments.suites import suite as suites
from dumbbell.scenario.tables import Table

NAME: Final = "rfc9743"
"""The suite that ships."""


class Level(StrEnum):
    """Demand of a clause, by the word of the RFC."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    LESSER = "should"
    OUGHT = "ought"


class Clause(Table):
    """A clause of the RFC, and the checks that judge it."""

    id: str
    """Its number among the claims of the study."""

    name: str
    """Short name."""

    section: str
    """Section of the RFC; empty if only RFC 9438 has it."""

    level: Level
    """Its demand."""

    cubic: str = ""
    """Sections of RFC 9438, in which CUBIC's authors answer the same question."""

    quote: str
    """Words of the RFC."""

    tests: str
    """The test in words."""

    checks: list[dict[str, Any]] = Field(alias="check")
    """Checks of the kind `reference`, without the groups that they compare."""

    @property
    def title(self) -> str:
        """Its section and name."""
        return f"{self.section or '–'} {self.name}"

    @property
    def source(self) -> str:
        """The RFCs and sections that demand it."""
        ours = f"RFC 9743, {self.section}" if self.section else ""
        cubic = f"RFC 9438, {self.cubic}" if self.cubic else ""
        return "; ".join(filter(None, (ours, cubic)))


class Unjudged(Table):
    """A clause that Dumbbell cannot judge, and why."""

    section: str
    """Section of the RFC."""

    title: str
    """Its subject."""

    cubic: str = ""
    """Section of RFC 9438."""

    why: str
    """Why Dumbbell cannot judge it."""


class Suite(suites.Suite):
    """A checklist: clauses, and the parts of the study that judges them."""

    summary: str
    """It in a sentence."""

    clauses: tuple[Clause, ...] = Field(alias="clause")
    """The clauses that Dumbbell judges."""

    unjudged: tuple[Unjudged, ...]
    """The others."""

    quantities: list[dict[str, Any]] = Field(alias="quantity")
    """Derived quantities."""

    tests: list[dict[str, Any]] = Field(alias="test")
    """Tests."""

    def part(self, wanted: Sequence[str]) -> Suite:
        """Return the suite with some clauses and their tests alone, or whole if none is named.

        A name is that of a clause, such as `harm`, or a section, which may have several. Any other
        name is an InputError.
        """
        if not wanted:
            return self
        chosen = {clause.id for name in wanted for clause in self._named(name)}
        clauses = tuple(clause for clause in self.clauses if clause.id in chosen)
        checks = [check for clause in clauses for check in clause.checks]
        used = {
            "clauses": clauses,
            "quantities": _named_by("quantity", checks, self.quantities),
            "tests": _named_by("test", checks, self.tests),
        }
        return self.model_copy(update=used)

    def _named(self, name: str) -> Iterator[Clause]:
        having = [
            clause for clause in self.clauses if name in {clause.name, clause.section, clause.title}
        ]
        if not having:
            names = (clause.name for clause in self.clauses)
            raise unknown("clause", name, names, "docs/checklist.md").at(key="clauses")
        yield from having


def _named_by(
    key: str, checks: Sequence[dict[str, Any]], tables: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the tables whose name is the value of a key of some check."""
    names = {check[key] for check in checks}
    return [table for table in tables if table["name"] in names]


@cache
def load() -> Suite:
    """Read the suite."""
    return suites.load(Suite, NAME)
