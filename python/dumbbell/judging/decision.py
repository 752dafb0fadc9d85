"""Decisions that a study takes for its authors, and the claims whose verdict hangs on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.keys import numbered
from dumbbell.judging import readings
from dumbbell.judging.evidence import Verdict
from dumbbell.judging.judging import ClaimResult, judge, judged_by_runs
from dumbbell.judging.kinds import AnyCheck
from dumbbell.judging.runs import Source
from dumbbell.judging.spec import Measured
from dumbbell.plan import grid
from dumbbell.plan.tests import Test
from dumbbell.scenario.tables import Table


class Tried(Table):
    """A check that represents a claim in a test of open details."""

    claim: str = Field(examples=["E11"])
    """The claim."""

    check: AnyCheck
    """The check. It is evaluated at each value of the decision's axis."""


class Decision(Table):
    """A detail that the authors leave open, and the study's choice.

    With an `axis`, runs show which claims depend on the choice: those that hold with it, but not at
    another value. Without an axis, all `claims` that hold count as holding under the declared
    reading.
    """

    parameter: str = Field(examples=["buffer of the switch"])
    """The detail."""

    stated: str = Field("not stated", examples=["1 to 2 MB, of another test"])
    """The paper's words about it."""

    value: str = Field(examples=["4.3 MB"])
    """The choice."""

    evidence: str
    """The reason, in a sentence."""

    decided: str = Field("", examples=["2026-11-27"])
    """The day of the decision. It is before the runs that depend on it."""

    set_by: tuple[str, ...] = ()
    """The claims that set the value. They are not counted (`calibrates`, `reported`)."""

    axis: str = Field("", examples=["reading"])
    """The axis that has other values."""

    main: str = ""
    """The value of the axis that was chosen."""

    others: tuple[str, ...] = ()
    """The other values of the axis that belong to this decision; all if empty."""

    claims: tuple[str, ...] = ()
    """The claims that it affects; if empty, all that name the axis."""

    tried: tuple[Tried, ...] = ()
    """Checks that represent claims, where a separate test has the axis."""

    @model_validator(mode="after")
    def _has_an_axis(self) -> Self:
        if self.axis and not self.main:
            raise InputError("an axis needs the chosen value", key="main", valid="a value of it")
        if self.axis:
            return self
        for key, value in (("main", self.main), ("others", self.others), ("tried", self.tried)):
            if value:
                raise InputError("it needs an axis", key=key, valid="with axis")
        if not self.claims:
            raise InputError("it bears on no claim", key="claims", valid="claims, or an axis")
        return self

    @model_validator(mode="after")
    def _tries_runs(self) -> Self:
        for key, represented in numbered("tried", self.tried):
            if not isinstance(represented.check, Measured):
                problem = "it needs no runs, so it is the same at each value"
                raise InputError(problem, key=f"{key}.check.type", value=represented.check.type)
        return self

    def of_part(self, claims: Set[str], tests: Sequence[Test]) -> Self | None:
        """Return it as far as it concerns a part of a study; None: not at all."""
        names = {test.name for test in tests}
        tried = tuple(
            represented
            for represented in self.tried
            if represented.claim in claims and getattr(represented.check, "test", None) in names
        )
        bears = tuple(name for name in self.claims if name in claims)
        # Without its tried checks, `decide` would judge the claims themselves.
        has_axis = any(self.main in test.axes.get(self.axis, ()) for test in tests)
        if self.axis and not (has_axis and bool(tried) is bool(self.tried)):
            return None
        if not self.axis and not bears:
            return None
        set_by = tuple(name for name in self.set_by if name in claims)
        kept = {"tried": tried, "claims": bears, "set_by": set_by}
        return self.model_copy(update=kept)

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the claims that it names, each with its place."""
        for key, names in (("set_by", self.set_by), ("claims", self.claims)):
            yield from numbered(key, names)
        for key, represented in numbered("tried", self.tried):
            yield f"{key}.claim", represented.claim


@dataclass(frozen=True)
class Decided:
    """A decision, and the result of its runs.

    Attributes
    ----------
    decision
        The decision.
    values
        Each value of its axis -> claim -> verdict there, the chosen value first; none without axis.
    dependent
        The claims that hold, but owe it to the decision.
    tests
        The tests whose runs show that.
    """

    decision: Decision
    values: Mapping[str, Mapping[str, Verdict]]
    dependent: Sequence[str]
    tests: Sequence[str] = ()

    @property
    def has_not_run(self) -> bool:
        """True if its axis has other values, and no claim is decided at any of them."""
        others = [*self.values.values()][1:]
        verdicts = [verdict for value in others for verdict in value.values()]
        return bool(others) and all(verdict is Verdict.UNDECIDED for verdict in verdicts)


def decide(
    decision: Decision, claims: Sequence[ClaimResult], axes: Sequence[grid.Axes], source: Source
) -> Decided:
    """Judge the claims at each value of a decision's axis; `axes` are those of all tests."""
    good = {claim.claim.id for claim in judged_by_runs(claims) if claim.verdict.is_good}
    if not decision.axis:
        return Decided(decision, {}, [name for name in decision.claims if name in good])
    if decision.tried:
        values, tests = _of_checks(decision, axes, source), _tests(decision)
    else:
        values, tests = _of_claims(decision, claims, axes, source), ()
    # Both functions above put the chosen value first.
    (main, *others) = values.values()
    dependent = [
        name
        for name, verdict in main.items()
        # A tried check may agree where the claim that it represents does not hold.
        if name in good and verdict.is_good and any(_is_lost(verdicts[name]) for verdicts in others)
    ]
    return Decided(decision, values, dependent, tests)


def _is_lost(verdict: Verdict) -> bool:
    # A tie supports the authors no longer. Undecided may only be too few runs, so nothing is lost.
    return verdict.is_bad or verdict is Verdict.TIE


def _tests(decision: Decision) -> tuple[str, ...]:
    checks = (represented.check for represented in decision.tried)
    return tuple(dict.fromkeys(check.test for check in checks if isinstance(check, Measured)))


def _others(decision: Decision, axes: Sequence[grid.Axes]) -> list[str]:
    known = dict.fromkeys(
        value for axes_of_test in axes for value in axes_of_test.get(decision.axis, ())
    )
    return [value for value in decision.others or known if value != decision.main]


def _of_claims(
    decision: Decision, claims: Sequence[ClaimResult], axes: Sequence[grid.Axes], source: Source
) -> dict[str, dict[str, Verdict]]:
    """Judge the authors' claims that name the axis at each of its values."""
    meant = [
        result
        for result in judged_by_runs(claims)
        if readings.named([result.claim], decision.axis)
        and (not decision.claims or result.claim.id in decision.claims)
    ]
    verdicts = {decision.main: {result.claim.id: result.verdict for result in meant}}
    for value in _others(decision, axes):
        verdicts[value] = {
            result.claim.id: judge(readings.at(result.claim, decision.axis, value), source).verdict
            for result in meant
        }
    return verdicts


def _of_checks(
    decision: Decision, axes: Sequence[grid.Axes], source: Source
) -> dict[str, dict[str, Verdict]]:
    """Judge the checks that represent claims at each value of the axis."""
    return {
        value: {
            represented.claim: represented.check.model_copy(
                update={"where": {**getattr(represented.check, "where", {}), decision.axis: value}}
            )
            .judge(source)
            .verdict
            for represented in decision.tried
        }
        for value in (decision.main, *_others(decision, axes))
    }
