"""Claims judged by the runs of both engines, next to each other.

Tests that are beyond the testbed say nothing there, so a study may have them again, scaled to what
it carries. The same checks judge the tests that both engines have runs of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.judging.claim import Claim
from dumbbell.judging.evidence import CheckResult, Verdict
from dumbbell.judging.judging import ClaimResult, worst


@dataclass(frozen=True)
class Pair:
    """The results of a check on both engines."""

    simulator: CheckResult
    kernel: CheckResult

    @property
    def is_contrary(self) -> bool:
        """True if one engine agrees and the other one does not."""
        ours, theirs = self.simulator.verdict, self.kernel.verdict
        return (ours.is_good and theirs.is_bad) or (ours.is_bad and theirs.is_good)


@dataclass(frozen=True)
class Beside:
    """A claim on both engines.

    Attributes
    ----------
    simulator
        The verdict of the simulator, by all of its runs.
    pairs
        The checks that both engines have runs of; none: the kernel cannot run the claim's tests, or
        has no runs of them.
    """

    simulator: ClaimResult
    pairs: tuple[Pair, ...]

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.simulator.claim

    @property
    def verdicts(self) -> tuple[Verdict, Verdict] | None:
        """The worst verdict of these checks on each engine; None: no checks."""
        if not self.pairs:
            return None
        return (
            worst(pair.simulator.verdict for pair in self.pairs),
            worst(pair.kernel.verdict for pair in self.pairs),
        )


def beside(simulator: Sequence[ClaimResult], kernel: Sequence[ClaimResult]) -> list[Beside]:
    """Pair the verdicts of both engines on the same claims."""
    return [
        Beside(
            ours,
            tuple(
                Pair(*pair)
                for pair in zip(ours.checks, theirs.checks, strict=True)
                if all(any(finding.test for finding in check.findings) for check in pair)
            ),
        )
        for ours, theirs in zip(simulator, kernel, strict=True)
    ]
