"""Base classes of all checks of claims, as tables of a study file."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal, Self, cast

from pydantic import AfterValidator, Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.judging import words
from dumbbell.judging.authors import Stated
from dumbbell.judging.deciding import decide
from dumbbell.judging.evidence import (
    CheckQuestion,
    CheckResult,
    Finding,
    Lack,
    Place,
    Quantifier,
    Statement,
    Verdict,
)
from dumbbell.judging.runs import Points, Source, gather
from dumbbell.judging.words import Named
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.quantities import names
from dumbbell.quantities.names import Chosen, QuantityName, TestName, Use
from dumbbell.scenario.tables import Table

_STATISTIC: Final = re.compile(r"mean|median|worst|best|q[0-9]{1,2}")


def _known_statistic(text: str) -> str:
    if not _STATISTIC.fullmatch(text):
        raise InputError(
            "not a statistic of runs", value=text, valid='"mean", "median", "q25", "worst", "best"'
        )
    return text


Statistic = Annotated[str, AfterValidator(_known_statistic)]

Resolution = Annotated[float, Field(ge=0, le=0.5)]
"""A relative difference that the authors could not have seen."""


class Check(Table):
    """A check that decides a claim; each kind is a file in `dumbbell.judging.kinds`."""

    noun: ClassVar[str] = "grid points"
    """Name of its findings, in the plural."""

    statement: Statement

    @property
    def how_many(self) -> Quantifier:
        """Share of its findings that must agree."""
        return cast("Quantifier", getattr(self, "quantifier", "all"))

    def uses(self) -> Iterator[Use]:
        """Yield all names that the check refers to."""
        yield from names.uses(self)

    def title(self, source: Source) -> str:
        """Name what is looked at, without its place."""
        return self.subject(source)

    def authors(self, source: Source) -> Stated | None:  # noqa: ARG002 - most state none
        """Return the number that the authors state, if there is one."""
        return None

    @abstractmethod
    def subject(self, source: Source) -> str:
        """Say what is looked at."""

    @abstractmethod
    def expected(self, source: Source) -> str:
        """Say what would agree."""

    @abstractmethod
    def findings(self, source: Source) -> Iterator[Finding]:
        """Yield what was found, at least one thing; raise `Lack` if runs are missing."""

    def judge(self, source: Source) -> CheckResult:
        """Evaluate the check."""
        subject, expected = self.subject(source), self.expected(source)
        question = CheckQuestion(
            self.statement,
            self.how_many,
            self.noun,
            subject,
            expected,
            self.title(source),
            self.authors(source),
        )
        try:
            return decide(question, tuple(self.findings(source)))
        except Lack as lack:
            return CheckResult.lacking(question, lack)


class Measured(Check):
    """A check over the runs of one test."""

    statement: Literal["number", "order", "expectation"]

    test: TestName
    """Name of the test whose runs decide."""

    where: Chosen = Field({})
    """Grid points that count; all if empty. `{ algorithm = "htcp" }` includes presets of it;
    `{ algorithm = "htcp@" }` does not."""

    quantity: QuantityName = Field(examples=["ratio_min_max", "goodput_mbit_per_s[1]@during"])
    """The quantity: its name, its subject in brackets, and its window after `@`."""

    def subject(self, source: Source) -> str:
        """Name the quantity, and the grid points that are meant."""
        chosen = words.selection(self.where)
        title = self.title(source)
        return f"{title} ({chosen})" if chosen else title

    def title(self, source: Source) -> str:
        """Name the quantity."""
        return self.named(source).title

    def named(self, source: Source) -> Named:
        """Return the quantity in words."""
        return source.named(self.quantity)

    @property
    def groups(self) -> tuple[Selection, ...]:
        """The groups of grid points that it compares; none: all that are meant."""
        return ()

    def judge(self, source: Source) -> CheckResult:
        """Evaluate the check; quick runs refute nothing that needs longer ones or more points."""
        result = super().judge(source)
        if not result.is_quick or result.verdict.is_good or result.verdict is Verdict.UNDECIDED:
            return result
        test = source.runs(self.test, (self.quantity,))
        # One counterexample refutes what all points shall show, whatever the other points do.
        # A trend or a ranking is of points together, which others along the axis may change.
        needs_all = self.how_many != "all" or hasattr(self, "axis")
        why = words.only_in_full(
            is_shorter=test.is_shorter,
            missing=sum(map(self.means, test.left_out)) if needs_all else 0,
        )
        return result.left_open(why) if why else result

    def points(self, source: Source, *, also: tuple[str, ...] = ()) -> Points:
        """Return the runs of the grid points that the check refers to; `also` names columns."""
        runs = source.runs(self.test, (self.quantity, *also))
        derived = source.derived.get(self.quantity)
        return gather(self.test, runs, self.quantity, self.means, derived)

    def means(self, point: Place) -> bool:
        """Return True if the check refers to a grid point."""
        in_group = any(grid.matches(point, group) for group in self.groups or ({},))
        return in_group and grid.matches(point, self.where)


class Numbered(Measured):
    """A check whose findings can be divided by a number of the authors.

    The number is theirs, where the bounds of the check are what a reproduction can meet.
    """

    stated: float | None = Field(None, gt=0, examples=[218])
    """The authors' number, in the unit of the bounds."""

    stated_low: float | None = Field(None, gt=0, examples=[949])
    """Their number as a limit, "at least", or as the lower end of a range."""

    stated_high: float | None = Field(None, gt=0, examples=[1800])
    """Their number as a limit, "at most", or as the upper end of a range."""

    @model_validator(mode="after")
    def _states_one_number(self) -> Self:
        limits = (self.stated_low, self.stated_high)
        if self.stated is not None and limits != (None, None):
            raise InputError("a number, not a limit or a range", key="stated", value=self.stated)
        if None not in limits and (self.stated_low or 0) >= (self.stated_high or 0):
            problem = "not above stated_low"
            raise InputError(problem, key="stated_high", value=self.stated_high)
        return self

    def authors(self, source: Source) -> Stated | None:
        """Return the number that the authors state, if there is one."""
        named = self.shown_as(source)
        if self.stated is not None:
            return Stated(self.stated, self.stated, named.value(self.stated))
        if self.stated_low is None and self.stated_high is None:
            return None
        return Stated(
            -math.inf if self.stated_low is None else self.stated_low,
            math.inf if self.stated_high is None else self.stated_high,
            named.between(self.stated_low, self.stated_high),
        )

    def shown_as(self, source: Source) -> Named:
        """Return how the numbers are shown."""
        return self.named(source)
