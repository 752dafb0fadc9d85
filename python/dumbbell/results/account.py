"""The result of a study: where each claim stands, as described or under a reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dumbbell.judging import standing
from dumbbell.judging.decision import Decided, decide
from dumbbell.judging.judging import ClaimResult
from dumbbell.judging.standing import Standing
from dumbbell.results.results import Results


@dataclass(frozen=True)
class Account:
    """The verdicts on a study's claims, and the decisions on which they hang.

    Attributes
    ----------
    claims
        The verdict on each claim, in the order of the study.
    decided
        The study's decisions, with the result of the runs of each.
    tests
        The tests with a finished run.
    """

    claims: Sequence[ClaimResult]
    decided: Sequence[Decided]
    tests: frozenset[str] = frozenset()

    @cached_property
    def dependent(self) -> frozenset[str]:
        """The claims that hold under a declared reading only."""
        return frozenset(name for decided in self.decided for name in decided.dependent)

    @cached_property
    def standings(self) -> Mapping[str, Standing]:
        """Claim -> where it stands; those that do not count, too."""
        return {
            result.claim.id: standing.standing(result, self.dependent) for result in self.claims
        }

    @cached_property
    def counts(self) -> Mapping[Standing, int]:
        """Number of the authors' claims that runs judge, by where they stand."""
        return standing.counts(self.claims, self.dependent)


def of(results: Results, claims: Sequence[ClaimResult] | None = None) -> Account:
    """Judge a study's claims, and its decisions, by its results; `claims` if they are judged."""
    judged = results.claims() if claims is None else claims
    axes = [test.axes for test in results.study.tests]
    return Account(
        judged,
        [decide(decision, judged, axes, results.source) for decision in results.study.decisions],
        frozenset(test.name for test in results.study.tests if results.finished(test.name)),
    )
