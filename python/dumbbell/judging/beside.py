"""Claims judged by the runs of both engines, beside each other.

Tests that are beyond the testbed say nothing there, so a study may have them again, scaled to what
it carries. Whatever both engines have runs of is judged by the same checks on either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.judging.claim import Claim
from dumbbell.judging.evidence import CheckResult, Verdict
from dumbbell.judging.judging import ClaimResult, worst


@dataclass(frozen=True)
class Pair:
    """What a check came to on each engine."""

    simulator: CheckResult
    kernel: CheckResult

    @property
    def is_contrary(self) -> bool:
        """Whether one engine agrees and the other one does not."""
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
        The checks that both engines have runs of; none: the claim rests on what the kernel does
        not carry, or on no runs.
    """

    simulator: ClaimResult
    pairs: tuple[Pair, ...]

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.simulator.claim

    @property
    def verdicts(self) -> tuple[Verdict, Verdict] | None:
        """What these checks come to on the simulator and on the kernel."""
        if not self.pairs:
            return None
        return (
            worst(pair.simulator.verdict for pair in self.pairs),
            worst(pair.kernel.verdict for pair in self.pairs),
        )


def beside(simulator: Sequence[ClaimResult], kernel: Sequence[ClaimResult]) -> list[Beside]:
    """Put the verdicts of both engines on the same claims beside each other."""
    return [
        Beside(
            ours,
            tuple(
                Pair(*pair)
                for pair in zip(ours.checks, theirs.checks, strict=True)
                if all(any(finding.test for finding in each.findings) for each in pair)
            ),
        )
        for ours, theirs in zip(simulator, kernel, strict=True)
    ]
