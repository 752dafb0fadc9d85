"""From findings to the verdict of a check, by their 95 % intervals, and the runs that are missing.

A finding agrees if its whole interval lies between the bounds, and disagrees if all of it lies
beyond one of them. Otherwise its runs cannot decide. The rules keep the chance of a wrong verdict,
in either direction, at 2.5 % on each side, for any number of findings:

``all``
    Holds if each agrees; that needs no correction, as a single wrong one spoils it
    (an intersection-union test, Berger 1982). Contradicted if any disagrees after Holm's
    correction for their number: of 36 pairs in order one or two lie beyond by chance.
``any``
    The other way round: holds if any agrees after Holm's correction, contradicted if each
    disagrees.
``most``
    Holds if more than half agree, contradicted if at least half disagree (the partial
    conjunctions of Benjamini and Heller 2008, which hold for dependent findings too). Pairs at the
    same place, where they share runs, count together: the place agrees if more than half of its
    pairs do, by the same rule.
``median``
    As ``most``, for each bound separately: the median lies above a bound if more than half do.

Where a check names the resolution of the authors, a finding whose compared values all lie within it
is tied. It says nothing for the authors or against them, so the others decide. If all are tied, so
is the check; for ``most``, if more than half are: then a few others cannot speak for most.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dumbbell.inference.statistics import RUNS_MIN, at_least, holm, runs_needed
from dumbbell.judging import words
from dumbbell.judging.evidence import (
    TAIL,
    CheckQuestion,
    CheckResult,
    Finding,
    Need,
    Quantifier,
    State,
    Verdict,
)

RUNS_MOST: Final = 1000
"""No more runs of a grid point are proposed."""


def decide(question: CheckQuestion, findings: Sequence[Finding]) -> CheckResult:
    """Judge findings; there must be at least one."""
    verdict = _verdict(question, findings)
    states = _states(findings, question.quantifier)
    needs: tuple[Need, ...] = ()
    lacks = ""
    if verdict is Verdict.UNDECIDED:
        needs = _needs(findings, states, question.quantifier)
        lacks = words.lacking([need.runs for need in needs], len(needs), RUNS_MOST)
    return CheckResult(
        question,
        verdict,
        _explanation(question, findings, states),
        lacks,
        _decisive(findings, states, question.quantifier),
        tuple(findings),
        tuple(states),
        needs,
        is_quick=any(finding.is_quick for finding in findings),
    )


def _verdict(question: CheckQuestion, findings: Sequence[Finding]) -> Verdict:
    agree, disagree, tied = _p_values(findings, question.quantifier)
    # A tie comes first: within what the authors could not see, no order is right or wrong.
    if tied <= TAIL:
        return Verdict.TIE
    ours = question.statement == "expectation"
    if agree <= TAIL:
        return Verdict.MET if ours else Verdict.HOLDS
    if disagree <= TAIL:
        return Verdict.FAILED if ours else Verdict.CONTRADICTED
    return Verdict.UNDECIDED


def _p_values(findings: Sequence[Finding], quantifier: Quantifier) -> tuple[float, float, float]:
    """Return the p-values of agreeing, of disagreeing and of a tie as a whole."""
    p_tied = [finding.p_tied for finding in findings]
    # A tie of all needs no correction (Berger 1982): the largest p-value is theirs.
    tied = _more_than_half(p_tied) if quantifier == "most" else max(p_tied)
    apart = [finding for finding in findings if not _is_tied(finding)]
    # Without any of them `at_least` 0 of none would agree. Each may be tied and most not certain
    # to be, as that most are takes a correction.
    if tied <= TAIL or not apart:
        return 1.0, 1.0, tied
    return (*_P_VALUES[quantifier](apart), tied)


def _is_tied(finding: Finding) -> bool:
    return finding.p_tied <= TAIL


def _all(findings: Sequence[Finding]) -> tuple[float, float]:
    # That all agree needs no correction (Berger 1982). That one disagrees does: among many, one
    # does so by chance.
    agree = at_least(len(findings), [finding.p_agrees for finding in findings])
    return agree, at_least(1, [finding.p_disagrees for finding in findings])


def _any(findings: Sequence[Finding]) -> tuple[float, float]:
    agree = at_least(1, [finding.p_agrees for finding in findings])
    return agree, at_least(len(findings), [finding.p_disagrees for finding in findings])


def _most(findings: Sequence[Finding]) -> tuple[float, float]:
    places: dict[str, list[Finding]] = {}
    for finding in findings:
        places.setdefault(finding.place, []).append(finding)
    both = [
        (
            _more_than_half([finding.p_agrees for finding in at_place]),
            _at_least_half([finding.p_disagrees for finding in at_place]),
        )
        for at_place in places.values()
    ]
    return _more_than_half([agree for agree, _ in both]), _at_least_half([no for _, no in both])


def _median(findings: Sequence[Finding]) -> tuple[float, float]:
    # The median lies within a bound if more than half of the findings do. It must be within both
    # bounds, and is outside if it is beyond either.
    inside = zip(*(finding.inside for finding in findings), strict=True)
    outside = zip(*(finding.outside for finding in findings), strict=True)
    return max(map(_more_than_half, inside)), min(map(_at_least_half, outside))


def _more_than_half(p_values: Sequence[float]) -> float:
    return at_least(len(p_values) // 2 + 1, p_values)


def _at_least_half(p_values: Sequence[float]) -> float:
    return at_least(len(p_values) - len(p_values) // 2, p_values)


_P_VALUES: Final[Mapping[Quantifier, Callable[[Sequence[Finding]], tuple[float, float]]]] = {
    "all": _all,
    "any": _any,
    "most": _most,
    "median": _median,
}
"""The p-values of agreeing and of disagreeing as a whole."""


def _states(findings: Sequence[Finding], quantifier: Quantifier) -> list[State]:
    """Return whether each agrees, corrected where one alone would decide."""
    apart = [finding for finding in findings if not _is_tied(finding)]
    agree = [finding.p_agrees for finding in apart]
    disagree = [finding.p_disagrees for finding in apart]
    if quantifier == "any":
        agree = holm(agree)
    if quantifier == "all":
        disagree = holm(disagree)
    states = iter(
        State.AGREES if yes <= TAIL else State.DISAGREES if no <= TAIL else State.OPEN
        for yes, no in zip(agree, disagree, strict=True)
    )
    return [State.TIED if _is_tied(finding) else next(states) for finding in findings]


def _ranked(findings: Sequence[Finding], states: Sequence[State]) -> list[Finding]:
    """Return findings from the worst to the best."""
    worst_first = (State.DISAGREES, State.OPEN, State.TIED, State.AGREES)
    both = sorted(
        zip(findings, states, strict=True),
        key=lambda both: (worst_first.index(both[1]), both[0].margin),
    )
    return [finding for finding, _ in both]


def _decisive(
    findings: Sequence[Finding], states: Sequence[State], quantifier: Quantifier
) -> Finding:
    """Return the worst where all must agree, the best where any may, else the one in the middle."""
    if quantifier == "median":
        # The ranking is by margin, and bounds on both sides bend it. The median is of values.
        middle = statistics.median(finding.estimate.value for finding in findings)
        return min(findings, key=lambda finding: abs(finding.estimate.value - middle))
    # Of an even number the worse middle decides `most`: half of them are not more than half.
    ranked = _ranked(findings, states)
    return ranked[{"all": 0, "most": (len(ranked) - 1) // 2, "any": -1}[quantifier]]


def _explanation(
    question: CheckQuestion, findings: Sequence[Finding], states: Sequence[State]
) -> str:
    """Say in a line what was found: the worst, the one in the middle, and how many there are."""
    if len(findings) == 1:
        return str(findings[0])
    ranked = _ranked(findings, states)
    end = f"best {ranked[-1]}" if question.quantifier == "any" else f"worst {ranked[0]}"
    middle = f"; median {ranked[len(ranked) // 2]}" if len(ranked) > 2 else ""
    counts = Counter(states)
    agree = f"{counts[State.AGREES]} of {len(findings)} {question.noun} agree"
    others = [
        f"{counts[state]} {word}"
        for state, word in (
            (State.DISAGREES, "disagree"),
            (State.OPEN, "undecided"),
            (State.TIED, "tied"),
        )
        if counts[state]
    ]
    return f"{end}{middle}; {', '.join([agree, *others])}"


def _needs(
    findings: Sequence[Finding], states: Sequence[State], quantifier: Quantifier
) -> tuple[Need, ...]:
    """Return the runs that are expected to decide: as many of each open finding."""
    # Where each is decided, it is their number that asks for more.
    is_open = [state is State.OPEN or State.OPEN not in states for state in states]
    lacking = [finding for finding, here in zip(findings, is_open, strict=True) if here]

    def decided(runs: int) -> bool:
        more = [
            # What is decided keeps the runs that it has: nobody would make more.
            finding.with_runs(runs) if here else finding
            for finding, here in zip(findings, is_open, strict=True)
        ]
        # Agreeing, disagreeing or a tie: each of them is a decision.
        return min(_p_values(more, quantifier)) <= TAIL

    fewest = min(finding.estimate.runs for finding in lacking)
    # One run has no variance from which to predict, so ask for the fewest runs that have one.
    runs: int | None = RUNS_MIN
    if fewest >= RUNS_MIN:
        runs = runs_needed(decided, fewest + 1, RUNS_MOST)
    if runs is None:
        return ()
    numbers = {
        (finding.test, *point.items()): Need(finding.test, point, runs)
        for finding in lacking
        for point in finding.points
        if finding.estimate.runs < runs
    }
    return tuple(numbers.values())
