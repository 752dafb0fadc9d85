"""The suite of a checklist as data: its clauses, and the tests by which they are judged."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Any, Final

from pydantic import Field

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


@cache
def load() -> Suite:
    """Read the suite."""
    return suites.load(Suite, NAME)
