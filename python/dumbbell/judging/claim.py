"""A claim of a study as data: the authors' statement, and the checks that decide it.

A study file lists its claims as ``[[claim]]`` tables with one or more ``[[claim.check]]`` each.
There are few kinds of check (`dumbbell.judging.kinds`); what they expect is numbers in the file.
"""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.judging.evidence import Statement
from dumbbell.judging.kinds import AnyCheck
from dumbbell.scenario.tables import Table

_WEIGHTIEST_FIRST: Final[tuple[Statement, ...]] = ("number", "order", "arithmetic", "expectation")


class Claim(Table):
    """A statement of the study's authors, and what decides whether it holds.

    95 % intervals decide a check. A check *holds* if they are within its bounds, and is
    *contradicted* if they are outside. It is *undecided* if they cross a bound or runs are missing.
    An undecided check reports how many further runs, at which grid points, are likely to decide it.
    A single run has no interval. Identical runs have an interval of length zero.

    Among many comparisons some are wrong by chance, so Holm's correction applies. If `all` must
    agree, one that disagrees counts only if chance does not explain it. If `any` is enough, one
    that agrees counts only if chance does not explain it. `most` requires more than half.

    A check with a `resolution` is a *tie* if all compared values lie within what the authors could
    have seen. Quick runs never contradict a check that needs longer runs or other grid points. Such
    a check is undecided.

    A claim is contradicted if any check of the authors' statements is contradicted. Otherwise it is
    undecided if any of these checks is undecided, and a tie if any of them is a tie. An expectation
    of ours (`statement = "expectation"`) is shown and counted separately, as met or failed. Claims
    that are no evidence are also counted separately: those that set a reading (`calibrates`), and
    those that are only `reported`.
    """

    id: str = Field(pattern=r"^[A-Z]+[0-9]{2,}$", examples=["E01"])
    """Its number."""

    source: str = Field(examples=["Fig. 4"])
    """Its place in the publication."""

    text: str
    """The claim."""

    quirk: str = ""
    """Property of the authors' testbed that may decide the claim; empty if there is none."""

    expectation: str
    """The claim as a faithful reproduction can meet it, in words."""

    calibrates: str = Field("", examples=["the buffer of the rack's switch"])
    """The reading that this claim set. A claim cannot confirm a reading that was fitted to it, so
    it is not counted."""

    reported: str = Field("", examples=["the author withdraws it as an artefact"])
    """The reason why it is reported but not counted: the authors withdraw it, or no run can
    contradict it."""

    holds_if: Literal["all", "any"] = "all"
    """Number of its checks that must agree: all, or any if they are readings of one ambiguous
    sentence."""

    checks: tuple[AnyCheck, ...] = Field(alias="check", min_length=1)
    """Its checks. Those of the authors' statements must agree, as `holds_if` says."""

    reason: str = ""
    """The reason why it is contradicted, once it is known."""

    @model_validator(mode="after")
    def _leaves_the_count_once(self) -> Self:
        if self.calibrates and self.reported:
            raise InputError(
                "a claim that set a reading is not counted anyway",
                key="reported",
                value=self.reported,
                valid="calibrates or reported",
            )
        return self

    @property
    def statement(self) -> Statement:
        """The kind of statement under which it counts: what asks most of the runs comes first."""
        if self.calibrates:
            return "calibration"
        if self.reported:
            return "reported"
        statements = {check.statement for check in self.checks}
        return next(statement for statement in _WEIGHTIEST_FIRST if statement in statements)
