"""Claims judged at every value of an axis, such as the readings of what a paper leaves open.

A check that names values of the axis looks at another one instead; all else stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dumbbell.judging.claim import Claim
from dumbbell.judging.judging import ClaimResult
from dumbbell.judging.spec import Measured
from dumbbell.plan import grid


@dataclass(frozen=True)
class Reading:
    """The verdicts on the claims at one value of an axis.

    Attributes
    ----------
    value
        The value.
    is_main
        True if the claims themselves name it.
    claims
        The verdicts on all claims, in their order.
    """

    value: str
    is_main: bool
    claims: Sequence[ClaimResult]

    @property
    def held(self) -> frozenset[str]:
        """The claims that hold."""
        return frozenset(result.claim.id for result in self.claims if result.verdict.is_good)


def at(claim: Claim, axis: str, value: str) -> Claim:
    """Return a claim whose checks look at a value of an axis where they name one."""
    checks = tuple(
        check.model_copy(update={"where": {**check.where, axis: value}})
        if isinstance(check, Measured) and axis in check.where
        else check
        for check in claim.checks
    )
    return claim.model_copy(update={"checks": checks})


def named(claims: Sequence[Claim], axis: str) -> list[str]:
    """Return the values of an axis that the claims name, in order."""
    checks = (check for claim in claims for check in claim.checks)
    values = (
        value
        for check in checks
        if isinstance(check, Measured) and axis in check.where
        for value in grid.wanted_values(check.where, axis)
    )
    return list(dict.fromkeys(values))


def ranked(readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings by how many claims hold, the most first."""
    return sorted(readings, key=lambda reading: -len(reading.held))


def gained(reading: Reading, main: Sequence[Reading]) -> tuple[list[str], list[str]]:
    """Return the claims that hold in a reading but not in the main one, and the reverse."""
    held = frozenset[str]().union(*(other.held for other in main))
    order = [result.claim.id for result in reading.claims]
    return (
        [name for name in order if name in reading.held - held],
        [name for name in order if name in held - reading.held],
    )


def by_claim(readings: Sequence[Reading]) -> Iterator[tuple[Claim, Mapping[str, ClaimResult]]]:
    """Yield each claim, as the study has it, with its verdict in each reading."""
    for place, first in enumerate(readings[0].claims):
        yield first.claim, {reading.value: reading.claims[place] for reading in readings}
