"""Verdicts on the claims of a study, by its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.base.errors import InputError
from dumbbell.base.keys import numbered
from dumbbell.judging.claim import Claim
from dumbbell.judging.evidence import STATEMENTS, CheckResult, Need, Statement, Verdict, counted
from dumbbell.judging.runs import Source

_HEADINGS: Final[Mapping[tuple[str, str], tuple[Statement, ...]]] = {
    ("claim judged by runs", "claims judged by runs"): ("number", "order"),
    ("claim of arithmetic or parameters", "claims of arithmetic and parameters"): ("arithmetic",),
    ("expectation of our own", "expectations of our own"): ("expectation",),
    ("claim that is no evidence", "claims that are no evidence"): ("calibration", "reported"),
}
"""Nouns for counted claims, one and several."""


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on one claim, and its checks.

    Attributes
    ----------
    claim
        The claim.
    verdict
        Of the checks of what the authors state: contradicted if any is, else undecided if any
        is, else a tie if any is one, else it holds. Where it `holds_if` any of them agrees,
        the best of them. A claim with expectations of our own only has their verdict.
    checks
        The results of its checks, in their order.
    """

    claim: Claim
    verdict: Verdict
    checks: tuple[CheckResult, ...]

    @property
    def statement(self) -> Statement:
        """The kind of statement under which it counts."""
        return self.claim.statement

    @property
    def decisive(self) -> CheckResult:
        """The check that decides the verdict: the first that has it, with runs if possible."""
        having = [check for check in _deciding(self.checks) if check.verdict is self.verdict]
        return next(
            (check for check in having if check.question.statement != "arithmetic"), having[0]
        )

    @property
    def apart(self) -> tuple[CheckResult, ...]:
        """The checks of our expectations, which do not affect the verdict."""
        deciding = _deciding(self.checks)
        return tuple(check for check in self.checks if check not in deciding)

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """Our expectations that failed, apart from the statement of the authors."""
        return tuple(check for check in self.apart if check.verdict.is_bad)

    @property
    def outcome(self) -> str:
        """The verdict in words, whether it counts, and whether an expectation of ours failed."""
        notes = (
            "an expectation of ours failed" if self.failed else "",
            "it set a reading" if self.claim.calibrates else "",
            "reported only" if self.claim.reported else "",
        )
        return "; ".join((self.verdict.value, *filter(None, notes)))

    @property
    def measured(self) -> str:
        """The result of the deciding check, in a sentence."""
        return self.decisive.measured

    @property
    def detail(self) -> str:
        """The result of each check, in words."""
        return " | ".join(check.sentence for check in self.checks)

    @property
    def reason(self) -> str:
        """The known reason why it, or our expectation, does not hold; empty: none."""
        return "" if self.verdict.is_good and not self.failed else self.claim.reason

    @property
    def is_quick(self) -> bool:
        """True if it depends on quick runs."""
        return any(check.is_quick for check in self.checks)

    @property
    def needs(self) -> tuple[Need, ...]:
        """The runs that are expected to decide it; of a point the most that a check needs."""
        most: dict[object, Need] = {}
        if self.verdict is Verdict.UNDECIDED:
            for need in (need for check in _deciding(self.checks) for need in check.needs):
                point = (need.test, *need.axes.items())
                most[point] = max(need, most.get(point, need), key=lambda candidate: candidate.runs)
        return tuple(most.values())

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "text": self.claim.text,
            "statement": self.statement,
            "quirk": self.claim.quirk,
            "calibrates": self.claim.calibrates,
            "reported": self.claim.reported,
            "expectation": self.claim.expectation,
            "verdict": self.verdict.value,
            "quick": self.is_quick,
            "measured": self.measured,
            "reason": self.reason,
            "needs": [need.as_dict() for need in self.needs],
            "checks": [check.as_dict() for check in self.checks],
        }


def judge(claim: Claim, source: Source) -> ClaimResult:
    """Judge one claim."""
    results = []
    for key, check in numbered(f"claim {claim.id}.check", claim.checks):
        try:
            results.append(check.judge(source))
        except InputError as error:
            raise error.at(key=key) from None
    decides = worst if claim.holds_if == "all" else best
    verdict = decides(check.verdict for check in _deciding(results))
    return ClaimResult(claim, verdict, tuple(results))


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return what several checks come to: one that disagrees decides, then one open, then a tie."""
    return min(verdicts, key=_goodness)


def best(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on several readings of a sentence, of which one is enough to agree."""
    # A reading that is undecided may still agree with more runs. A tie will not.
    return max(verdicts, key=lambda verdict: _goodness(verdict, tie=1, undecided=2))


def _goodness(verdict: Verdict, *, undecided: int = 1, tie: int = 2) -> int:
    if verdict is Verdict.TIE:
        return tie
    return 0 if verdict.is_bad else 3 if verdict.is_good else undecided


def by_verdict(claims: Iterable[ClaimResult]) -> dict[Verdict, int]:
    """Count claims by verdict; ties and our own expectations only where there are any."""
    counts = Counter(claim.verdict for claim in claims)
    rare = (Verdict.TIE, Verdict.MET, Verdict.FAILED)
    return {
        verdict: counts[verdict] for verdict in Verdict if counts[verdict] or verdict not in rare
    }


def judged_by_runs(claims: Iterable[ClaimResult]) -> list[ClaimResult]:
    """Return the authors' claims that runs judge: not arithmetic, ours, or no evidence."""
    return [claim for claim in claims if claim.statement in ("number", "order")]


def headline(claims: Sequence[ClaimResult]) -> str:
    """Return the number of claims by verdict, in words: first claims judged by runs."""
    lines = []
    for (one, several), statements in _HEADINGS.items():
        counts = Counter(claim.verdict for claim in claims if claim.statement in statements)
        parts = [counted(counts[verdict], verdict) for verdict in Verdict if counts[verdict]]
        if counts:
            what = one if counts.total() == 1 else several
            lines.append(f"{counts.total()} {what}: {', '.join(parts)}")
    return "; ".join(lines)


def tally(claims: Iterable[ClaimResult]) -> dict[Statement, dict[Verdict, int]]:
    """Count claims by the kind of their statement and by verdict; every kind has every verdict."""
    counts = {statement: dict.fromkeys(Verdict, 0) for statement in STATEMENTS}
    for claim in claims:
        counts[claim.statement][claim.verdict] += 1
    return counts


def _deciding(checks: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """Return the checks of what the authors state; if there are none, those of our own."""
    return tuple(check for check in checks if not check.is_ours) or tuple(checks)
