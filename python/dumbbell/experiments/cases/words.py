"""Verdicts of cases in words and in cells of tables, as terminal and page show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import DIGITS, listing, number
from dumbbell.experiments.cases.outcome import Answer, Cases, Judged
from dumbbell.experiments.cases.suite import Check, State
from dumbbell.experiments.suites.verdicts import FAILS, PASSES, UNJUDGED, Marked, Row, VerdictTable
from dumbbell.judging.words import count

HEADS: Final = ("case", "check", "found", "bound")
"""Columns of the table of an algorithm: of each case the check that decides it."""

_PROBE_BW: Final[tuple[State, ...]] = ("down", "cruise", "refill", "up")

BOUNDS: Final = (
    "The draft bounds estimates by 2 %. Other numbers are its parameters, or Dumbbell's where it "
    "has none."
)


def table(all_cases: Sequence[Cases]) -> VerdictTable:
    """Return the verdicts of an algorithm, or which cases each of several passes."""
    if len(all_cases) > 1:
        rows: tuple[Row, ...] = tuple(
            (_title(row[0]), *(Marked(judged.outcome) for judged in row))
            for row in zip(*(cases.cases for cases in all_cases), strict=True)
        )
        conclusions = tuple(" ".join(conclusion(cases)) for cases in all_cases)
        heads = ("case", *(cases.algorithm for cases in all_cases))
        return VerdictTable(heads, rows, whole=heads[:1], below=conclusions)
    (first,) = all_cases
    title, engine = first.results.study.header.title, first.engine.identity
    lines = (
        f"{judged.outcome.mark} {judged.case.source}: {text}" for judged, text in reasons(first)
    )
    cannot = "Parts of cases that Dumbbell does not see or do:"
    return VerdictTable(
        HEADS,
        tuple(
            (Marked(judged.outcome, _title(judged)), *_measures(judged)) for judged in first.cases
        ),
        numbers=HEADS[2:3],
        whole=HEADS,
        above=(f"{title}, {first.suite.revised} ({engine}).", ""),
        below=("", *lines, "", BOUNDS, cannot, *unseen(first), "", *conclusion(first)),
    )


def _title(judged: Judged) -> str:
    """Return the number and the name of a case."""
    return f"{judged.case.number:2} {judged.case.name}"


def _measures(judged: Judged) -> tuple[str, ...]:
    """Return the check that decides a case, what it found, and the bound."""
    answer = judged.deciding
    if answer is None:
        return (number(None),) * 3
    return (answer.check.label, measured(answer), bound(answer.check))


def measured(answer: Answer) -> str:
    """Return what a check found, with its unit."""
    if answer.measured is None or isinstance(answer.measured, str):
        return answer.measured or number(None)
    return f"{number(answer.measured * answer.check.scale, DIGITS)} {answer.check.unit}".rstrip()


def bound(check: Check) -> str:
    """Return the bound of a check, in the unit of what it finds."""
    if check.is_in:
        return "PROBE_BW" if check.is_in == _PROBE_BW else "/".join(check.is_in)
    ends = [
        None if end is None else number(end * check.scale, DIGITS)
        for end in (check.least, check.most)
    ]
    match ends:
        case [str(least), str(most)]:
            return f"{least} to {most}"
        case [str(least), None]:
            return f"≥ {least}"
    return f"≤ {ends[1]}" if check.most else "0"


def finding(answer: Answer) -> str:
    """Say what a check found, and what its bound is."""
    check = answer.check
    if answer.measured is None:
        return f"{check.about}: {answer.why}."
    return f"{check.about}: {measured(answer)}. Bound: {bound(check)}."


def reason(judged: Judged) -> str:
    """Say why a case does not pass; nothing of one that does."""
    if judged.outcome == PASSES:
        return ""
    if judged.why or judged.deciding is None:
        return f"{judged.why[:1].upper()}{judged.why[1:]}."
    answer = judged.deciding
    text = plain(finding(answer))
    if answer.check.ensures:
        text = f"The path did not do what the case needs. {text}"
    if judged.outcome == FAILS:
        others = sum(answer.outcome == FAILS for answer in judged.answers) - 1
        if others:
            verb = "fails" if others == 1 else "fail"
            text += f" {count(others, 'further check')} {verb}."
        if judged.cause:
            text += f" Cause: {plain(judged.cause)}"
    return text


def reasons(cases: Cases) -> Iterator[tuple[Judged, str]]:
    """Yield the cases that do not pass, with the reasons."""
    for judged in cases.cases:
        if judged.outcome != PASSES:
            yield judged, reason(judged)


def unseen(cases: Cases) -> Iterator[str]:
    """Yield what each case asks for that Dumbbell does not see or do."""
    for judged in cases.cases:
        if judged.case.cannot:
            yield f"{judged.case.source}: {plain(judged.case.cannot)}"


def called(cases: Cases) -> str:
    """Return the name of the algorithm for readers, with its preset if any."""
    label, preset = label_of(cases.algorithm), cases.algorithm.partition("@")[2]
    return f"{label} ({cases.algorithm})" if preset else label


def conclusion(cases: Cases) -> list[str]:
    """Say how many cases pass, and which do not."""
    total = len(cases.cases)
    lines = [f"{called(cases)} passes {len(cases.having(PASSES))} of {count(total, 'case')}."]
    failed, unjudged = cases.having(FAILS), cases.having(UNJUDGED)
    if failed:
        lines.append(f"It fails {len(failed)}: {_numbers(failed)}.")
    if unjudged:
        verb = "is" if len(unjudged) == 1 else "are"
        lines.append(f"{len(unjudged)} {verb} not judged: {_numbers(unjudged)}.")
    return lines


def _numbers(judged: Sequence[Judged]) -> str:
    return listing([judged_case.case.source for judged_case in judged])


def plain(text: str) -> str:
    """Return a text of the suite without the signs of Markdown."""
    return text.replace("`", "")
