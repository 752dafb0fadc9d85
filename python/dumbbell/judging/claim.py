"""What a claim of a study is, as data: the authors' statement, and the checks that decide it.

A study file lists its claims as ``[[claim]]`` tables with one or more ``[[claim.check]]`` each.
There are few kinds of check (`dumbbell.claims.kinds`); what they expect is numbers in the file.
"""

from __future__ import annotations

from typing import Final

from pydantic import Field

from dumbbell.judging.evidence import Statement
from dumbbell.judging.kinds import AnyCheck
from dumbbell.scenario.tables import Table

_WEIGHTIEST_FIRST: Final[tuple[Statement, ...]] = ("number", "order", "arithmetic", "expectation")


class Claim(Table):
    """A statement of the study's authors, and what decides whether it is reproduced.

    A check is decided by the 95 % intervals of what it looks at: it is *reproduced* if they lie
    within its bounds, *not reproduced* if they lie outside, and *undecided* where they cross one or
    runs are missing; then it says how many runs of which grid points are expected to decide.
    Of a single run there is no interval; runs that are all alike have one without length.

    Many comparisons are more likely to be wrong somewhere, which is corrected for. Where `all` must
    agree, one that does not only counts if it is beyond what chance makes of one of so many (Holm's
    correction); where `any` may, the same holds for one that does. `most` asks for more than half.

    A claim is what its checks of the authors' statements are: not reproduced if any is not, else
    undecided if any is. An expectation of our own (`statement = "expectation"`) is shown and
    counted apart, as met or failed.
    """

    id: str = Field(pattern=r"^[A-Z]+[0-9]{2,}$", examples=["E01"])
    """Its number."""

    source: str = Field(examples=["Fig. 4"])
    """Where the study states it."""

    text: str
    """What is claimed."""

    quirk: str = ""
    """What of the authors' testbed the claim may depend on; empty: nothing."""

    expectation: str
    """What a faithful reproduction can meet, in words."""

    checks: tuple[AnyCheck, ...] = Field(alias="check", min_length=1)
    """What decides it: all that hold the runs to what the authors state must agree."""

    reason: str = ""
    """Why it is not reproduced, once that is known."""

    @property
    def statement(self) -> Statement:
        """The kind of statement under which it counts: what asks most of the runs comes first."""
        found = {check.statement for check in self.checks}
        return next(each for each in _WEIGHTIEST_FIRST if each in found)
