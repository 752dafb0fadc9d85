"""A suite of cases as data: paths, changes at states, and checks."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Literal

from pydantic import Field, field_validator

from dumbbell.experiments.suites import suite as suites
from dumbbell.scenario.tables import Table

NAME: Final = "bbr-draft"
"""The suite that ships."""

STATES: Final = ("startup", "drain", "down", "cruise", "refill", "up", "probe_rtt")
"""States of BBR, by the names of the draft without ``PROBE_BW_``."""

State = Literal["startup", "drain", "down", "cruise", "refill", "up", "probe_rtt"]


class Check(Table):
    """A measure of a run, and its bound."""

    label: str = Field(max_length=24)
    """Short name, for the column of a terminal."""

    about: str
    """The measure in words."""

    measure: str
    """The function of `measures`."""

    unit: str = ""
    """Its unit; empty: a ratio, a count or a state."""

    scale: float = 1.0
    """Factor from the value to that unit."""

    is_in: tuple[State, ...] = Field((), alias="is")
    """The states that pass."""

    least: float | None = None
    """The smallest value that passes."""

    most: float | None = None
    """The largest value that passes."""

    ensures: bool = False
    """True if the case demands it of the path rather than of the algorithm: without it nothing is
    judged."""

    state: State = "startup"
    """The state that is meant."""

    nth: int = Field(1, ge=1)
    """The number of the visit."""

    since: Literal["start", "change"] = "start"
    """From where visits count: the start of the run, or the change."""

    end: Literal["entered", "left"] = "left"
    """The end of the visit that is meant."""

    variable: str = ""
    """A variable of the algorithm, as `reported.VARIABLES` calls it."""

    rounds: int = Field(3, ge=1)
    """A number of round trips."""

    share: float = 1.0
    """A share of the bottleneck's rate that is to be reached."""

    begin: str = "0s"
    """The beginning of a span of time."""

    span: str = "1s"
    """Its length."""

    among: tuple[State, ...] = ()
    """Some states."""


class Change(Table):
    """A change of the path or of the application, at a moment that the first pass finds."""

    state: State
    """The state whose entry it is."""

    nth: int = Field(1, ge=1)
    """The number of the entry."""

    without: State | None = None
    """A state that the algorithm must lack for another entry to count instead (`instead`)."""

    instead: State | None = None
    """The state whose entry counts for such an algorithm."""

    set: dict[str, Any] = Field({})
    """Part that is merged into the scenario; ``{t}`` in it is the moment, ``{t+40ms}`` later."""

    application: tuple[dict[str, str], ...] = ()
    """Rates of the application from then on, each with `after`, the time after the moment."""


class CaseRun(Table):
    """A path of a case, and its checks."""

    scenario: dict[str, Any] = Field({})
    """Its scenario, on top of that of the suite."""

    change: Change | None = None
    """A change at a state; None: there is none."""

    checks: tuple[Check, ...] = Field(alias="check")
    """Its checks."""


class Case(Table):
    """A case of the draft."""

    number: int
    """Its number: section A.1 is 1."""

    name: str = Field(max_length=18)
    """Short name."""

    title: str
    """Its title in the draft."""

    tests: str
    """The path and the change, in words."""

    cannot: str = ""
    """A part of it that Dumbbell does not see or do; empty: there is none."""

    runs: tuple[CaseRun, ...] = Field(alias="run")
    """Its paths."""

    @property
    def source(self) -> str:
        """Its section."""
        return f"A.{self.number}"


class Cause(Table):
    """The cause why an algorithm fails a case; it counts while that case fails."""

    algorithm: str
    """The algorithm, with its preset if any."""

    case: int
    """The number of the case."""

    text: str
    """The cause."""


class Suite(suites.Suite):
    """A suite of cases."""

    revised: str
    """Its revision in words."""

    cases: tuple[Case, ...] = Field(alias="case")
    """The cases, by their numbers; files have them by their subjects."""

    causes: tuple[Cause, ...] = Field((), alias="cause")
    """Causes why built-in algorithms fail some."""

    @field_validator("cases")
    @classmethod
    def _by_number(cls, cases: tuple[Case, ...]) -> tuple[Case, ...]:
        return tuple(sorted(cases, key=lambda case: case.number))

    def cause(self, algorithm: str, case: Case) -> str:
        """Return why an algorithm fails a case; empty: unknown."""
        causes = (
            cause.text
            for cause in self.causes
            if (cause.algorithm, cause.case) == (algorithm, case.number)
        )
        return next(causes, "")


@cache
def load() -> Suite:
    """Read the suite."""
    return suites.load(Suite, NAME)
