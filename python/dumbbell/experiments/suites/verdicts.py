"""The verdicts of an algorithm by a suite."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from dumbbell.engines.engine import Engine
from dumbbell.experiments.suites.suite import Suite
from dumbbell.judging.evidence import Verdict
from dumbbell.results.results import Results


class Outcome(StrEnum):
    """Verdict of a check, or of a part of a suite."""

    PASSES = "passes"
    FAILS = "fails"
    UNDECIDED = "undecided"
    UNJUDGED = "not judged"

    @property
    def verdict(self) -> Verdict:
        """The verdict on an expectation that it is."""
        return _VERDICTS.get(self, Verdict.UNDECIDED)

    @property
    def mark(self) -> str:
        """A sign for it."""
        return "–" if self is Outcome.UNJUDGED else self.verdict.mark


PASSES: Final = Outcome.PASSES
FAILS: Final = Outcome.FAILS
UNDECIDED: Final = Outcome.UNDECIDED
UNJUDGED: Final = Outcome.UNJUDGED
_VERDICTS: Final = {PASSES: Verdict.MET, FAILS: Verdict.FAILED}


class Judged(Protocol):
    """A part of a suite, such as a clause or a case, with its verdict."""

    @property
    def id(self) -> str:
        """Its name in baselines."""

    @property
    def title(self) -> str:
        """Its name in tables."""

    @property
    def outcome(self) -> Outcome:
        """Its verdict."""

    @property
    def demands(self) -> bool:
        """True if an algorithm must not fail it."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""


S = TypeVar("S", bound=Suite)
J = TypeVar("J", bound=Judged)


@dataclass(frozen=True, repr=False)
class Judgement(ABC, Generic[S, J]):
    """An algorithm by a suite.

    Attributes
    ----------
    results
        The study that it is, and its runs.
    suite
        The suite.
    """

    results: Results
    suite: S

    @property
    @abstractmethod
    def algorithm(self) -> str:
        """The judged algorithm."""

    @property
    @abstractmethod
    def judged(self) -> Sequence[J]:
        """The parts of the suite with their verdicts."""

    @property
    def engine(self) -> Engine:
        """The engine that ran it."""
        return self.results.engine

    @property
    def passes(self) -> bool:
        """True if nothing fails that an algorithm must not fail; what is undecided does not."""
        return not any(judged.demands for judged in self.having(FAILS))

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Name -> verdict, as baselines have it."""
        return {judged.id: judged.outcome.verdict for judged in self.judged}

    def having(self, outcome: Outcome) -> list[J]:
        """Return the parts of a verdict."""
        return [judged for judged in self.judged if judged.outcome is outcome]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "study": self.results.study.name,
            "suite": self.suite.title,
            "algorithm": self.algorithm,
            "engine": self.engine.identity,
            "passes": self.passes,
        }


class Marked(NamedTuple):
    """A cell with the mark of a verdict."""

    outcome: Outcome
    text: str = ""


Row = tuple[str | Marked, ...]


@dataclass(frozen=True)
class VerdictTable:
    """Verdicts as a terminal shows them.

    Attributes
    ----------
    above, below
        Lines above and below the table.
    heads
        Its columns.
    rows
        Its rows; a single cell is a heading of the rows below.
    numbers, whole
        The columns that hold numbers, and those whose cells are never folded.
    """

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    numbers: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
