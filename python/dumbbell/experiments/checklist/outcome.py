"""The verdicts of a checklist, with what was measured of the algorithm and of its references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

import polars as pl

from dumbbell.experiments.checklist import content
from dumbbell.experiments.checklist.roles import Roles
from dumbbell.experiments.checklist.suite import Clause, Level, Suite
from dumbbell.experiments.suites.verdicts import FAILS, PASSES, UNDECIDED, Judgement, Outcome
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.judging import words
from dumbbell.judging.evidence import CheckResult, Place, State
from dumbbell.judging.judging import ClaimResult
from dumbbell.judging.kinds.reference import Reference
from dumbbell.plan import grid
from dumbbell.quantities.derived import Derived
from dumbbell.results.results import Results

_OUTCOMES: Final = {outcome.verdict: outcome for outcome in (PASSES, FAILS, UNDECIDED)}


@dataclass(frozen=True)
class Measured:
    """A quantity of an algorithm at a grid point, in the unit of the quantity.

    Attributes
    ----------
    mean
        Mean of its runs.
    worst
        The worst of them.
    """

    mean: Estimate
    worst: float


@dataclass(frozen=True)
class Answer:
    """A check of a clause: its verdict, and the grid point that decides it.

    Attributes
    ----------
    check
        The check.
    result
        Its result.
    named
        The quantity in words.
    where
        The deciding grid point in words, with its test.
    limit
        The bound that decides there; None if nothing was measured.
    limited_by
        The reference by which it is; empty: it is the bound of the suite.
    of
        The measurements there, by algorithm.
    """

    check: Reference
    result: CheckResult
    named: words.Named
    where: str = ""
    limit: float | None = None
    limited_by: str = ""
    of: Mapping[str, Measured] | None = None

    @property
    def outcome(self) -> Outcome:
        """Its verdict."""
        return _OUTCOMES[self.result.verdict]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Grid points that agree, that disagree and that are undecided."""
        agree, disagree = (
            self.result.states.count(state) for state in (State.AGREES, State.DISAGREES)
        )
        return agree, disagree, len(self.result.states) - agree - disagree


@dataclass(frozen=True)
class Judged:
    """A clause and its verdict.

    Attributes
    ----------
    clause
        The clause.
    result
        The verdict of the claim that it is.
    answers
        Its checks.
    """

    clause: Clause
    result: ClaimResult
    answers: tuple[Answer, ...]

    @property
    def outcome(self) -> Outcome:
        """Its verdict."""
        return _OUTCOMES[self.result.verdict]

    @property
    def id(self) -> str:
        """The name of that claim."""
        return self.result.claim.id

    @property
    def title(self) -> str:
        """The section and name of the clause."""
        return self.clause.title

    @property
    def deciding(self) -> Answer:
        """The check that decides the verdict."""
        return next(answer for answer in self.answers if answer.result is self.result.decisive)

    @property
    def demands(self) -> bool:
        """True if it is a MUST."""
        return self.clause.level is Level.MUST

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            **self.clause.model_dump(exclude={"checks"}, mode="json"),
            "verdict": self.outcome,
            "checks": [
                {
                    "quantity": answer.check.quantity,
                    "title": answer.named.title,
                    "verdict": answer.outcome,
                    "where": answer.where,
                    "bound": answer.limit,
                    "bound_by": answer.limited_by or "Dumbbell",
                    "measured": {
                        name: {
                            **measured.mean.as_dict(answer.named.bounds),
                            "worst": measured.worst,
                        }
                        for name, measured in (answer.of or {}).items()
                    },
                    "grid_points": dict(
                        zip(("agree", "disagree", "undecided"), answer.counts, strict=True)
                    ),
                    "detail": answer.result.detail,
                }
                for answer in self.answers
            ],
        }


@dataclass(frozen=True, repr=False)
class Checklist(Judgement[Suite, Judged]):
    """An algorithm by the clauses of an RFC; see `Judgement`.

    Attributes
    ----------
    roles
        The algorithm and its references.
    clauses
        The verdicts.
    """

    roles: Roles
    clauses: tuple[Judged, ...]

    @classmethod
    def of(cls, results: Results, suite: Suite) -> list[Checklist]:
        """Judge the runs of a checklist; return one for each judged algorithm."""
        roles = content.roles_of(results.study)
        by_id = {clause.id: clause for clause in suite.clauses}
        # Many checks look at the same column, which takes time to gather.
        tables = cache(lambda test, column: results.table(test, [column]))
        judged: dict[str, list[Judged]] = {role.value: [] for role in roles.judged}
        for claim in results.claims():
            (of,) = grid.wanted_values(cast("Reference", claim.claim.checks[0]).of, "algorithm")
            clause = by_id[content.clause_of(claim.claim)]
            judged_role = next(role for role in roles.judged if role.value == of)
            answers = tuple(_answers(claim, results, roles.of(judged_role), tables))
            judged[of].append(Judged(clause, claim, answers))
        return [
            cls(results, suite, roles.of(role), tuple(judged[role.value])) for role in roles.judged
        ]

    @property
    def algorithm(self) -> str:
        """The judged algorithm."""
        return self.roles.judged[0].name

    @property
    def judged(self) -> tuple[Judged, ...]:
        """The clauses."""
        return self.clauses

    @property
    def is_quick(self) -> bool:
        """True if it is of quick runs."""
        return any(judged.result.is_quick for judged in self.clauses)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            **super().as_dict(),
            "against": [role.name for role in self.roles.references],
            "quick": self.is_quick,
            "clauses": [judged.as_dict() for judged in self.clauses],
            "not_judged": [clause.model_dump() for clause in self.suite.unjudged],
            "invalid": list(self.results.invalid.values()),
            "doubtful": list(self.results.doubtful),
        }

    def frame(self) -> pl.DataFrame:
        """Return a row for each check of each clause, with means, intervals and worst runs."""
        names = [role.name for role in self.roles.all]
        schema: dict[str, Any] = dict.fromkeys(
            ("section", "clause", "level", "verdict", "quantity", "check_verdict", "where"),
            pl.String,
        )
        schema["bound"] = pl.Float64
        schema |= {
            f"{name}{end}": pl.Float64 for name in names for end in ("", "_low", "_high", "_worst")
        }
        rows = [_row(judged, answer, names) for judged in self.clauses for answer in judged.answers]
        return pl.DataFrame(rows, schema=schema)


def _row(judged: Judged, answer: Answer, names: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "section": judged.clause.section,
        "clause": judged.clause.name,
        "level": judged.clause.level.value,
        "verdict": judged.outcome,
        "quantity": answer.check.quantity,
        "check_verdict": answer.outcome,
        "where": answer.where,
        "bound": answer.limit,
    }
    for name in names:
        measured = (answer.of or {}).get(name)
        ends = {} if measured is None else measured.mean.as_dict()
        row[name] = ends.get("value")
        row |= {f"{name}_{end}": ends.get(end) for end in ("low", "high")}
        row[f"{name}_worst"] = None if measured is None else measured.worst
    return row


_Tables = Callable[[str, str], pl.DataFrame]


def _answers(claim: ClaimResult, results: Results, roles: Roles, tables: _Tables) -> list[Answer]:
    checks = cast("Sequence[Reference]", claim.claim.checks)
    return [
        _answer(check, result, results, roles, tables)
        for check, result in zip(checks, claim.checks, strict=True)
    ]


def _answer(
    check: Reference, result: CheckResult, results: Results, roles: Roles, tables: _Tables
) -> Answer:
    derived: dict[str, Derived] = {
        quantity_of_study.name: quantity_of_study for quantity_of_study in results.study.quantities
    }
    named = words.named(check.quantity, derived)
    decisive = result.decisive
    if decisive is None:
        return Answer(check, result, named)
    judged = decisive.points[0]
    others = {axis: value for axis, value in judged.items() if axis != "algorithm"}
    frame = tables(check.test, check.quantity)
    measured = {}
    for role in roles.all:
        measured_of_role = _measured(frame, check, {**others, "algorithm": role.value})
        if measured_of_role is not None:
            measured[role.name] = measured_of_role
    limiting = (decisive.limiting or {}).get("algorithm")
    names = {role.value: role.name for role in roles.references}
    limited_by = "" if limiting is None else names[limiting]
    place = ": ".join(filter(None, (results.study.test(check.test).title, words.place(others))))
    return Answer(check, result, named, place, decisive.limit, limited_by, measured)


def _measured(frame: pl.DataFrame, check: Reference, place: Place) -> Measured | None:
    rows = frame.filter(*(pl.col(axis) == value for axis, value in place.items()))
    values = [value for value in rows[check.quantity].to_list() if value is not None]
    if not values:
        return None
    worst = (max if check.is_most else min)(values)
    return Measured(statistics.mean(values), worst)
