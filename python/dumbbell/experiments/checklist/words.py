"""A checklist in words and in cells of tables, as terminal and page show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import cut, listing, number
from dumbbell.experiments.checklist.outcome import Answer, Checklist, Judged, Measured
from dumbbell.experiments.checklist.suite import Level
from dumbbell.experiments.suites.verdicts import (
    FAILS,
    PASSES,
    UNDECIDED,
    Marked,
    Row,
    VerdictTable,
)
from dumbbell.judging.words import count
from dumbbell.quantities.cells import Shown
from dumbbell.quantities.shown import brief_interval

_NARROW: Final = 0.005
"""Reach of an interval, as a share of its mean, below which a table shows the mean alone."""

_SMALL: Final = 0.1
"""Values below it have two significant digits."""

_BOUNDS: Final = (
    "RFC 9743 states no bounds, so these are Dumbbell's. A value that is not much worse than "
    "that of a reference also passes"
)
OUR_BOUNDS: Final = f"{_BOUNDS}."
BOUNDS: Final = f"{_BOUNDS} (*: the bound is by a reference)."


def table(checklists: Sequence[Checklist]) -> VerdictTable:
    """Return the verdicts of an algorithm, or which clauses each of several fails."""
    if len(checklists) > 1:
        rows = tuple(map(overview, checklists))
        below = (OUR_BOUNDS, *left_out(checklists[0]))
        return VerdictTable(OVERVIEW, rows, whole=OVERVIEW[:1], below=below)
    (first,) = checklists
    quick = "; quick runs: fewer paths and repetitions" if first.is_quick else ""
    columns = heads(first)
    reasons = (
        f"{judged.outcome.mark} {judged.clause.title}: {fault}" for judged, fault in faults(first)
    )
    return VerdictTable(
        columns,
        tuple(_rows(first)),
        numbers=columns[2:],
        whole=columns,
        above=(f"{first.results.study.header.title} ({first.engine.identity}{quick}).", ""),
        below=("", *reasons, "", BOUNDS, unjudged(first), "", *conclusion(first)),
    )


def _rows(checklist: Checklist) -> Iterator[Row]:
    """Yield a row for each clause, those of a level below its name."""
    ranked = sorted(checklist.clauses, key=lambda judged: [*Level].index(judged.clause.level))
    for level, clauses in groupby(ranked, lambda judged: judged.clause.level):
        yield (level.value,)
        for judged in clauses:
            yield (
                Marked(judged.outcome, judged.clause.title),
                *measures(checklist, judged.deciding),
            )


def heads(checklist: Checklist) -> tuple[str, ...]:
    """Return the headings of the table: the algorithm, its worst run, references, bound."""
    others = (
        role.name for role in checklist.roles.references if role not in checklist.roles.judged
    )
    return ("clause", "unit", checklist.algorithm, "worst", *others, "bound")


def measures(checklist: Checklist, answer: Answer) -> tuple[str, ...]:
    """Return the unit of a check, what was measured, and the bound."""
    of = answer.of or {}
    of_algorithm = of.get(checklist.algorithm)
    others = (
        of.get(role.name)
        for role in checklist.roles.references
        if role not in checklist.roles.judged
    )
    return (
        answer.named.unit,
        interval(answer, of_algorithm),
        value(answer, None if of_algorithm is None else of_algorithm.worst),
        *(
            value(answer, None if of_reference is None else of_reference.mean.value)
            for of_reference in others
        ),
        bound(answer),
    )


def interval(answer: Answer, measured: Measured | None) -> Shown:
    """Return the mean of an algorithm with the farther end of its interval."""
    if measured is None:
        return brief_interval(None, None, None)
    mean, scale = measured.mean, answer.named.scale
    low, high = cut(mean.value, mean.low, mean.high, answer.named.bounds)
    ends = (scale * mean.value, scale * low, scale * high)
    if max(ends[0] - ends[1], ends[2] - ends[0]) < _NARROW * abs(ends[0]):
        return Shown(number(ends[0]), *ends)
    lowest, highest = (scale * bound for bound in answer.named.bounds)
    return brief_interval(*ends, bounds=(lowest, highest))


def value(answer: Answer, plain: float | None) -> str:
    """Return a value in the unit that is shown."""
    if plain is None:
        return number(None)
    shown = plain * answer.named.scale
    return number(shown, 3 if abs(shown) >= _SMALL else 2)


def bound(answer: Answer) -> str:
    """Return the bound at the deciding point."""
    if answer.limit is None:
        return number(None)
    sign = "≤" if answer.check.is_most else "≥"
    return f"{sign} {value(answer, answer.limit)}{'*' if answer.limited_by else ''}"


def rule(answer: Answer) -> str:
    """Say what the bound of a check is, everywhere."""
    check, named = answer.check, answer.named
    return f"{named.between(check.low, check.high)}, or {check.allowance(named)} a reference"


def finding(checklist: Checklist, answer: Answer) -> str:
    """Say what a check found at the point that decides it, and what its bound is."""
    if answer.of is None:
        return f"{answer.named.title}: {answer.result.detail}."
    of_algorithm, *others = (
        f"{role.name} {answer.named.value(answer.of[role.name].mean.value)}"
        for role in checklist.roles.all
        if role.name in answer.of
    )
    worst = answer.named.value(answer.of[checklist.algorithm].worst)
    beside = f"; {', '.join(others)}" if others else ""
    return (
        f"{answer.named.title}: {of_algorithm}, worst run {worst}{beside}. Dumbbell's bound: "
        f"{rule(answer)}. {answer.where}{_counts(answer)}."
    )


def _counts(answer: Answer) -> str:
    """Say at how many points the check has which verdict; nothing of a single one."""
    agree, disagree, unknown = answer.counts
    total = agree + disagree + unknown
    if total == 1:
        return f"; {answer.result.lacks}" if answer.result.lacks else ""
    parts = [f"{disagree} of {count(total, 'grid point')} {'fails' if disagree == 1 else 'fail'}"]
    parts += [f"{unknown} undecided"] if unknown else []
    parts += [answer.result.lacks] if answer.result.lacks else []
    return f"; {', '.join(parts)}"


def faults(checklist: Checklist) -> Iterator[tuple[Judged, str]]:
    """Yield the clauses that do not pass, with what the deciding check of each found."""
    for judged in checklist.clauses:
        if judged.outcome == PASSES:
            continue
        same = sum(answer.outcome == judged.outcome for answer in judged.answers) - 1
        verb = "fail" if judged.outcome == FAILS else "are undecided"
        further = f" {count(same, 'further check')} {verb}." if same else ""
        if same == 1:
            further = further.replace("fail.", "fails.").replace("are ", "is ")
        yield judged, f"{finding(checklist, judged.deciding)}{further}"


OVERVIEW: Final = ("algorithm", "MUST that fail", "others that fail", "undecided")
"""Columns of the table of several algorithms."""


def overview(checklist: Checklist) -> tuple[str, ...]:
    """Return the row of an algorithm among several: the clauses that do not pass."""
    failed = checklist.having(FAILS)
    return (
        checklist.algorithm,
        _names([judged for judged in failed if judged.demands], ", ") or "none",
        _names([judged for judged in failed if not judged.demands], ", ") or "none",
        _names(checklist.having(UNDECIDED), ", ") or "none",
    )


def conclusion(checklist: Checklist) -> list[str]:
    """Say which clauses fail, first of those with a MUST."""
    name = label_of(checklist.algorithm)
    must = [judged for judged in checklist.clauses if judged.demands]
    lines = []
    failed = [judged for judged in must if judged.outcome == FAILS]
    unknown = [judged for judged in must if judged.outcome == UNDECIDED]
    clauses = count(len(must), "MUST clause")
    if failed:
        lines.append(f"{name} fails {len(failed)} of {clauses}: {_names(failed)}.")
    elif unknown:
        lines.append(f"{name} fails none of {clauses}.")
    elif must:
        lines.append(f"{name} passes {'all ' if len(must) > 1 else ''}{clauses}.")
    if unknown:
        lines.append(f"The runs do not decide MUST clauses: {_names(unknown)}.")
    rest = [judged for judged in checklist.clauses if not judged.demands]
    for outcome, verb in ((FAILS, "fails"), (UNDECIDED, "leaves undecided")):
        having = [judged for judged in rest if judged.outcome == outcome]
        if having:
            lines.append(f"Of the others it {verb} {len(having)} of {len(rest)}: {_names(having)}.")
    if rest and not failed and len(lines) <= bool(must):
        passed = count(len(rest), "clause")
        lines.append(
            f"It passes {passed} without a MUST, too." if must else f"{name} passes {passed}."
        )
    return [*lines, *left_out(checklist)]


def left_out(checklist: Checklist) -> Iterator[str]:
    """Say how many clauses of the suite were not asked for, if any."""
    every = len(checklist.suite.clauses)
    if left := every - len(checklist.clauses):
        yield f"Only a part was judged: {left} of {every} clauses were left out."


def _names(judged: list[Judged], separator: str = "") -> str:
    names = [clause_judged.clause.title for clause_judged in judged]
    return separator.join(names) if separator else listing(names)


def unjudged(checklist: Checklist) -> str:
    """Say in a sentence what no run can judge."""
    parts = [f"{clause.section} {clause.title}" for clause in checklist.suite.unjudged]
    return f"Not judged: {'; '.join(parts)}."
