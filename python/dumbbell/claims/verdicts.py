"""Which of a study's claims its runs reproduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dumbbell.analysis import metrics
from dumbbell.claims import checks
from dumbbell.claims.checks import TestRuns
from dumbbell.claims.evidence import CheckResult, Finding, Verdict
from dumbbell.errors import InputError
from dumbbell.running.store import Store
from dumbbell.study.claim_spec import Claim
from dumbbell.study.grid import Selection
from dumbbell.study.model import Study

__all__ = ["CheckResult", "ClaimResult", "Finding", "Verdict", "evaluate", "judge"]


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on one claim, and what it rests on.

    Attributes
    ----------
    claim
        The claim.
    verdict
        Not reproduced if any check is not, else not decidable if any is not, else reproduced.
    checks
        The results of its checks, in their order.
    """

    claim: Claim
    verdict: Verdict
    checks: tuple[CheckResult, ...]

    @property
    def decisive(self) -> CheckResult:
        """The check that the verdict rests on: the first that has it."""
        return next(check for check in self.checks if check.verdict == self.verdict)

    @property
    def measured(self) -> str:
        """The deciding value with its interval; empty if there is none."""
        return str(self.decisive.decisive or "")

    @property
    def detail(self) -> str:
        """How each check came out."""
        return " | ".join(f"{check.expected}: {check.detail}" for check in self.checks)

    @property
    def reason(self) -> str:
        """Why it is not reproduced, as far as that is known; empty if it is."""
        return "" if self.verdict == Verdict.REPRODUCED else self.claim.reason

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "text": self.claim.text,
            "kind": self.claim.kind,
            "quirk": self.claim.quirk,
            "expectation": self.claim.expectation,
            "verdict": self.verdict.value,
            "measured": self.measured,
            "reason": self.reason,
            "checks": [check.as_dict() for check in self.checks],
        }


def evaluate(
    study: Study,
    store: Store,
    *,
    quick: bool = False,
    where: Selection | None = None,
    runs: int | None = None,
    seed: int = 0,
    claims: Sequence[Claim] | None = None,
) -> list[ClaimResult]:
    """Judge a study's claims by the runs that are in the store.

    The parameters choose runs as in `Study.runs`; grid points outside the choice count as not
    asked for, those inside it that have no run make a claim undecidable.
    """

    @cache
    def source(name: str) -> TestRuns:
        test = study.test(name)
        planned = study.points(test, quick=quick, where=where, runs=runs)
        return TestRuns(
            test.axes,
            [point.axes for point in planned],
            metrics.table(study, test, store, quick=quick, where=where, runs=runs, seed=seed),
        )

    return [judge(claim, source) for claim in (study.claims if claims is None else claims)]


def judge(claim: Claim, source: checks.Source) -> ClaimResult:
    """Judge one claim."""
    results = []
    for index, check in enumerate(claim.checks):
        try:
            results.append(checks.evaluate(check, source))
        except InputError as error:
            raise error.at(key=f"claim {claim.id}.check.{index}") from None
    verdicts = {result.verdict for result in results}
    for verdict in (Verdict.NOT_REPRODUCED, Verdict.NOT_DECIDABLE):
        if verdict in verdicts:
            return ClaimResult(claim, verdict, tuple(results))
    return ClaimResult(claim, Verdict.REPRODUCED, tuple(results))
