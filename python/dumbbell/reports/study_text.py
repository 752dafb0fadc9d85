"""The content of a study's page in any form: HTML in a report, Markdown in docs/.

Numbers, lists and verdicts come from results. Texts of a person are data of the study, tied to
verdicts (`dumbbell.study.telling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dumbbell.base.labels import listing, number
from dumbbell.judging import effects
from dumbbell.judging.decision import Decided
from dumbbell.judging.effects import NEAR, Effect, Summary
from dumbbell.judging.evidence import CheckResult, Verdict
from dumbbell.judging.judging import ClaimResult, judged_by_runs
from dumbbell.judging.standing import Standing
from dumbbell.results.account import Account
from dumbbell.study.model import Study
from dumbbell.study.telling import Ask, Cause

FINDINGS: Final = 3
_LEAST: Final = 3
"""Fewer numbers have no median worth a sentence."""


@dataclass(frozen=True)
class Line:
    """A claim in a line: the numbers of the authors, those of the runs, and its standing."""

    claim: str
    text: str
    theirs: str
    ours: str
    standing: Standing


@dataclass(frozen=True)
class Group:
    """The claims that answer a question."""

    title: str
    lines: Sequence[Line]

    @property
    def has_numbers(self) -> bool:
        """True if the authors state a number for any of them."""
        return any(line.theirs for line in self.lines)


@dataclass(frozen=True)
class Sensitivity:
    """The claims that a decision judges, counted at one value of it.

    Attributes
    ----------
    parameter, value
        The decision and the value; `is_chosen` of the one that the study takes.
    holding, contradicted, undecided
        Numbers of claims; ties are among the undecided.
    gained, lost
        The claims that hold here only, and at the chosen value only.
    """

    parameter: str
    value: str
    is_chosen: bool
    holding: int
    contradicted: int
    undecided: int
    gained: Sequence[str]
    lost: Sequence[str]


@dataclass(frozen=True)
class Explained:
    """A cause with the contradicted claims that it explains.

    Attributes
    ----------
    cause
        The cause.
    claims
        The claims.
    shown_by
        Its tests with a finished run.
    """

    cause: Cause
    claims: Sequence[str]
    shown_by: Sequence[str]

    @property
    def waiting(self) -> list[str]:
        """Its tests that have not run yet."""
        return [test for test in self.cause.tests if test not in self.shown_by]


@dataclass(frozen=True)
class StudyText:
    """The content of a study's page.

    Attributes
    ----------
    counts
        Number of the authors' claims that runs judge, by where they stand.
    findings
        The results in sentences.
    numbers
        The sentence of the figure of effect sizes; empty without any.
    effects
        The authors' numbers.
    decided
        The decisions of the study.
    groups
        The claims by question.
    not_counted
        The other claims, in a sentence; empty without any.
    explained
        Contradictions by cause.
    unexplained
        The contradicted claims without one.
    sensitivity
        The sensitivity of the verdicts.
    undecided
        The needs of the open claims, with the claims.
    asks
        Questions to the authors.
    """

    counts: Mapping[Standing, int]
    findings: Sequence[str]
    numbers: str
    effects: Sequence[Effect]
    decided: Sequence[Decided]
    groups: Sequence[Group]
    not_counted: str
    explained: Sequence[Explained]
    unexplained: Sequence[str]
    sensitivity: Sequence[Sensitivity]
    undecided: Sequence[tuple[str, Sequence[str]]]
    asks: Sequence[Ask]

    @property
    def total(self) -> int:
        """Number of the authors' claims that runs judge."""
        return sum(self.counts.values())


def of(study: Study, account: Account) -> StudyText:
    """Return the content of a study's page."""
    effect_sizes = effects.effects(account.claims)
    summary = effects.summary(effect_sizes)
    bad = [claim.claim.id for claim in judged_by_runs(account.claims) if claim.verdict.is_bad]
    explained = [
        Explained(cause, names, [test for test in cause.tests if test in account.tests])
        for cause in study.causes
        if (names := [name for name in cause.claims if name in bad])
    ]
    known = {name for explanation in explained for name in explanation.claims}
    unexplained = [name for name in bad if name not in known]
    text = StudyText(
        account.counts,
        (),
        _numbers(summary),
        effect_sizes,
        account.decided,
        list(_groups(study, account)),
        _not_counted(account.claims),
        explained,
        unexplained,
        [row for decided in account.decided for row in _sensitivity(decided)],
        list(_undecided(account)),
        list(_asks(study, account)),
    )
    true = [finding.text for finding in study.findings if finding.is_true(account.standings)]
    return replace(text, findings=[*true, *_general(text, summary)][:FINDINGS])


def _asks(study: Study, account: Account) -> Iterator[Ask]:
    """Yield the questions, each with the claims that do not simply hold."""
    for ask in study.asks:
        if names := [name for name in ask.claims if account.standings[name] is not Standing.HOLDS]:
            yield ask.model_copy(update={"claims": tuple(names)})


def _general(text: StudyText, summary: Summary) -> Iterator[str]:
    """Yield sentences that fit any results, for as many as a study lacks."""
    if text.total == text.counts[Standing.OPEN]:
        yield "No claim is decided yet."
        return
    if summary.values >= _LEAST:
        near, far = (summary.within[factor] / summary.values for factor in NEAR)
        yield (
            f"Of {summary.values} numbers {100 * near:.0f} % are within a factor of {NEAR[0]:g} "
            f"of the authors', and {100 * far:.0f} % within {NEAR[1]:g}."
        )
    if bad := text.counts[Standing.CONTRADICTED]:
        known = bad - len(text.unexplained)
        yield (
            f"{known} of {bad} contradicted {'claim has' if bad == 1 else 'claims have'} "
            "a named cause."
        )
    if read := text.counts[Standing.READING]:
        what = "claim holds" if read == 1 else "claims hold"
        yield f"{read} {what} only as the paper is read here."


def _numbers(summary: Summary) -> str:
    sentences = []
    if summary.values:
        within = [f"{summary.within[factor]} within {factor:g}" for factor in NEAR]
        what = "value" if summary.values == 1 else "values"
        sentences.append(
            f"Of {summary.values} {what} that the authors state, the median of ours / theirs is "
            f"{number(summary.median)}; by a factor, {listing(within)}."
        )
    if summary.limits:
        sentences.append(f"Limits and ranges that are kept: {summary.kept} of {summary.limits}.")
    return " ".join(sentences)


def _groups(study: Study, account: Account) -> Iterator[Group]:
    lines = {claim.claim.id: _line(claim, account) for claim in judged_by_runs(account.claims)}
    for question in study.questions:
        if answers := [lines.pop(name) for name in question.claims if name in lines]:
            yield Group(question.title, answers)
    if lines:
        yield Group("Other claims" if study.questions else "Claims", list(lines.values()))


def _line(claim: ClaimResult, account: Account) -> Line:
    theirs = dict.fromkeys(
        check.question.stated.text
        for check in claim.checks
        if check.question.stated and not check.is_ours
    )
    return Line(
        claim.claim.id,
        claim.claim.text,
        ", ".join(theirs),
        _ours(claim),
        account.standings[claim.claim.id],
    )


def _ours(claim: ClaimResult) -> str:
    """Return the deciding values, with the quantity unless the authors' number names it."""
    check = _shown(claim)
    if not check.brief or check.question.stated:
        return check.brief
    return f"{check.question.title}: {check.brief}"


def _shown(claim: ClaimResult) -> CheckResult:
    """Return the check that represents a claim; of a claim run in part, one with findings."""
    if claim.decisive.findings:
        return claim.decisive
    return next((check for check in claim.checks if check.findings), claim.decisive)


def _not_counted(claims: Sequence[ClaimResult]) -> str:
    parts = []
    for statements, one, several in (
        (("arithmetic",), "statement of arithmetic or parameters", "of arithmetic or parameters"),
        (("expectation",), "expectation of ours", "expectations of ours"),
        (("calibration", "reported"), "that is no evidence", "that are no evidence"),
    ):
        group = [claim for claim in claims if claim.statement in statements]
        good = sum(claim.verdict.is_good for claim in group)
        if group:
            parts.append(f"{len(group)} {one if len(group) == 1 else several} ({good} hold)")
    return f"Not counted: {listing(parts)}." if parts else ""


def _sensitivity(decided: Decided) -> Iterator[Sensitivity]:
    if not decided.values or decided.has_not_run:
        return
    (main, *_) = decided.values.values()
    held = {name for name, verdict in main.items() if verdict.is_good}
    for place, (value, verdicts) in enumerate(decided.values.items()):
        here = {name for name, verdict in verdicts.items() if verdict.is_good}
        bad = [name for name, verdict in verdicts.items() if verdict.is_bad]
        yield Sensitivity(
            decided.decision.parameter,
            value,
            place == 0,
            len(here),
            len(bad),
            len(verdicts) - len(here) - len(bad),
            [name for name in verdicts if name in here - held],
            [name for name in bad if name in held],
        )


def _undecided(account: Account) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the needs of open claims, with the claims that need the same."""
    needs: dict[str, list[str]] = {}
    for claim in judged_by_runs(account.claims):
        if claim.verdict is Verdict.UNDECIDED:
            needs.setdefault(_needs(claim), []).append(claim.claim.id)
    yield from needs.items()


def _needs(claim: ClaimResult) -> str:
    """Return the needs of an open claim; the page of checks has the number of runs."""
    if claim.decisive.findings:
        return "more runs would decide" if claim.decisive.needs else claim.decisive.lacks
    return "run in part only" if _shown(claim).findings else "not run yet"
