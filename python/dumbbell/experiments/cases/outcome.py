"""The verdicts of cases: of each check, of each case, of an algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from dumbbell.base.labels import listing
from dumbbell.experiments.cases.measures import MEASURES
from dumbbell.experiments.cases.suite import Case, CaseRun, Check, Suite
from dumbbell.experiments.cases.trace import Trace, UnknownError
from dumbbell.experiments.suites.roles import Role
from dumbbell.experiments.suites.verdicts import FAILS, PASSES, UNJUDGED, Judgement, Outcome


@dataclass(frozen=True)
class Answer:
    """A check and what it found.

    Attributes
    ----------
    check
        The check.
    measured
        The value, without its scale, or the state; None: the run does not say.
    why
        The reason for that; empty: there is a value.
    """

    check: Check
    measured: float | str | None
    why: str = ""

    @property
    def outcome(self) -> Outcome:
        """Its verdict."""
        if self.measured is None:
            return UNJUDGED
        if isinstance(self.measured, str):
            return PASSES if self.measured in self.check.is_in else FAILS
        least, most = self.check.least, self.check.most
        is_within = (least is None or self.measured >= least) and (
            most is None or self.measured <= most
        )
        return PASSES if is_within else FAILS

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in the unit of the check."""
        check, scale = self.check, self.check.scale
        ends = {
            "least": None if check.least is None else check.least * scale,
            "most": None if check.most is None else check.most * scale,
        }
        measured = self.measured * scale if isinstance(self.measured, float) else self.measured
        return {
            "label": check.label,
            "about": check.about,
            "ensures": check.ensures,
            "unit": check.unit,
            "verdict": self.outcome,
            "found": measured,
            "states": list(check.is_in),
            **ends,
            "why": self.why,
        }


@dataclass(frozen=True)
class Judged:
    """A case and its verdict.

    Attributes
    ----------
    case
        The case.
    answers
        Its checks, those of all its paths.
    why
        Reason why the case as a whole is not judged; empty: its checks say all.
    cause
        Cause of its failure, if that is known.
    changed_at_ns
        The moments of the changes, one for each path that has one.
    """

    case: Case
    answers: tuple[Answer, ...]
    why: str = ""
    cause: str = ""
    changed_at_ns: tuple[int, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Its verdict."""
        if self.why or self._missed:
            return UNJUDGED
        outcomes = {answer.outcome for answer in self.answers}
        return FAILS if FAILS in outcomes else UNJUDGED if UNJUDGED in outcomes else PASSES

    @property
    def id(self) -> str:
        """Its section."""
        return self.case.source

    @property
    def title(self) -> str:
        """Its section, which tables show."""
        return self.case.source

    @property
    def demands(self) -> bool:
        """True, as of every case."""
        return True

    @property
    def _missed(self) -> Answer | None:
        """A demand on the path that is not met; None: there is none."""
        demands = (answer for answer in self.answers if answer.check.ensures)
        return next((answer for answer in demands if answer.outcome != PASSES), None)

    @property
    def deciding(self) -> Answer | None:
        """The check that decides the verdict; of those that pass the first. None: there is none."""
        if self.why:
            return None
        if self._missed is not None:
            return self._missed
        judging = [answer for answer in self.answers if not answer.check.ensures]
        return next((answer for answer in judging if answer.outcome == self.outcome), None)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "number": self.case.number,
            "section": self.case.source,
            "name": self.case.name,
            "title": self.case.title,
            "tests": self.case.tests,
            "cannot": self.case.cannot,
            "verdict": self.outcome,
            "why": self.why,
            "cause": self.cause,
            "changed_at_s": [at_ns / 1e9 for at_ns in self.changed_at_ns],
            "checks": [answer.as_dict() for answer in self.answers],
        }


@dataclass(frozen=True, repr=False)
class Cases(Judgement[Suite, Judged]):
    """An algorithm by the cases of a draft; see `Judgement`.

    Attributes
    ----------
    role
        The algorithm.
    cases
        The verdicts.
    """

    role: Role
    cases: tuple[Judged, ...]

    @property
    def algorithm(self) -> str:
        """The algorithm."""
        return self.role.name

    @property
    def judged(self) -> tuple[Judged, ...]:
        """The cases."""
        return self.cases

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            **super().as_dict(),
            "revised": self.suite.revised,
            "cases": [judged.as_dict() for judged in self.cases],
        }

    def frame(self) -> pl.DataFrame:
        """Return a row for each check of each case, in the units of the checks."""
        schema: dict[str, Any] = {
            "case": pl.Int64,
            "name": pl.String,
            "verdict": pl.String,
            "check": pl.String,
            "check_verdict": pl.String,
            "found": pl.Float64,
            "state": pl.String,
            "least": pl.Float64,
            "most": pl.Float64,
            "unit": pl.String,
            "why": pl.String,
        }
        rows = [_row(judged, answer) for judged in self.cases for answer in judged.answers]
        return pl.DataFrame(rows, schema=schema)


def _row(judged: Judged, answer: Answer) -> dict[str, Any]:
    plain = answer.as_dict()
    measured = plain["found"]
    return {
        "case": judged.case.number,
        "name": judged.case.name,
        "verdict": judged.outcome,
        "check": plain["label"],
        "check_verdict": plain["verdict"],
        "found": measured if isinstance(measured, float) else None,
        "state": measured if isinstance(measured, str) else None,
        "least": plain["least"],
        "most": plain["most"],
        "unit": plain["unit"],
        "why": plain["why"],
    }


def answers(run: CaseRun, trace: Trace) -> tuple[Answer, ...]:
    """Return what the checks of a path found in a run."""
    return tuple(_answer(check, trace) for check in run.checks)


def _answer(check: Check, trace: Trace) -> Answer:
    if check.is_in and trace.reported.has.isdisjoint(check.is_in):
        return Answer(check, None, f"it has no state {listing(check.is_in)}")
    try:
        return Answer(check, MEASURES[check.measure](trace, check))
    except UnknownError as unknown:
        return Answer(check, None, str(unknown))


def judged(
    suite: Suite,
    case: Case,
    role: Role,
    traces: Sequence[Trace | str],
) -> Judged:
    """Judge a case by its runs; of a path that could not be run there is the reason."""
    whys = [trace for trace in traces if isinstance(trace, str)]
    if whys:
        return Judged(case, (), whys[0])
    all_answers = [
        answer
        for run, trace in zip(case.runs, traces, strict=True)
        if isinstance(trace, Trace)
        for answer in answers(run, trace)
    ]
    changed = (trace.change_ns for trace in traces if isinstance(trace, Trace))
    verdict = Judged(
        case, tuple(all_answers), changed_at_ns=tuple(at for at in changed if at is not None)
    )
    if verdict.outcome != FAILS:
        return verdict
    return Judged(case, verdict.answers, "", suite.cause(role.name, case), verdict.changed_at_ns)
