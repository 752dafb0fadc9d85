"""Standings of the authors' claims: five words that need no explanation.

A verdict is decided by runs. A standing also shows whether a claim owes it to a decision that was
taken for the authors: it holds as the set-up is described, or under the declared reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from enum import StrEnum

from dumbbell.judging.evidence import Verdict, counted
from dumbbell.judging.judging import ClaimResult, judged_by_runs


class Standing(StrEnum):
    """Where a claim stands."""

    HOLDS = "holds"
    READING = "holds under the declared reading"
    TIE = "tie"
    CONTRADICTED = "contradicted"
    OPEN = "open"

    @property
    def holds(self) -> bool:
        """True if the claim holds, under whatever reading."""
        return self in (Standing.HOLDS, Standing.READING)

    @property
    def mark(self) -> str:
        """A sign for it."""
        return _MARKS[self]

    def counted(self, count: int) -> str:
        """Say how many claims stand so."""
        return counted(count, self.value)


_MARKS: Mapping[Standing, str] = {
    Standing.HOLDS: "✓",
    Standing.READING: "◐",
    Standing.TIE: "=",
    Standing.CONTRADICTED: "✗",
    Standing.OPEN: "?",
}


def standing(claim: ClaimResult, dependent: Set[str]) -> Standing:
    """Return where a claim stands; `dependent` are the claims that owe it to a reading."""
    if claim.verdict.is_bad:
        return Standing.CONTRADICTED
    if claim.verdict.is_good:
        return Standing.READING if claim.claim.id in dependent else Standing.HOLDS
    return Standing.TIE if claim.verdict is Verdict.TIE else Standing.OPEN


def counts(claims: Iterable[ClaimResult], dependent: Set[str]) -> dict[Standing, int]:
    """Count the authors' claims that runs judge, by where they stand; each standing is there."""
    number = Counter(standing(claim, dependent) for claim in judged_by_runs(claims))
    return {kind: number[kind] for kind in Standing}
