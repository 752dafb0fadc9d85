"""The coupled dual-queue of L4S."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dumbbell.base.units import Count, Duration, Integer, Limit, Number, Share
from dumbbell.scenario.disciplines.pie import ProportionalIntegral


class DualPi2(ProportionalIntegral):
    """Two queues for L4S (RFC 9332; defaults of Linux 6.18): packets with ECT(1) or CE go first.

    These packets are marked early, and PI2 controls all others. The switch `ecn = "l4s"` of a
    flow's stack lets it send ECT(1). Linux's `split_gso`, `any_ect`, `memory_limit` and a step in
    packets do not exist here.
    """

    title = "DualPI2"

    discipline: Literal["dualpi2"]

    limit: Limit = Field("10000p", validate_default=True, examples=["10000p"])
    """Limit of both queues together."""

    target: Duration = Field("15ms", validate_default=True, examples=["15ms"])
    """Target of the waiting time in the classic queue."""

    update: Duration = Field("16ms", validate_default=True, examples=["16ms"])
    """Time between updates of the base probability, at least 10 us (`tupdate`)."""

    alpha: Number = Field(0.16, examples=[0.16, 10])
    """Weight of the delay's distance from the target, per second."""

    beta: Number = Field(3.2, examples=[3.2, 100])
    """Weight of the delay's trend, per second."""

    step: Duration = Field("1ms", validate_default=True, examples=["1ms"])
    """Wait in the L4S queue from which all its packets are marked (`step_thresh`)."""

    step_min: Integer = Field(0, examples=[0, 3])
    """Packets that must remain in the L4S queue so that `step` marks (`min_qlen_step`)."""

    coupling: Count = Field(2, examples=[2, 1])
    """Factor of the L4S queue, which marks with so many times the base probability. The classic
    queue drops or marks with the square of the base probability (`coupling_factor`)."""

    classic_protection: Share = Field(0.1, examples=[0.1, "50%", 0])
    """Share of the link that the classic queue keeps under any load of L4S."""

    drop_overload: bool = True
    """True if the L4S queue also drops packets when it already marks all of them. If false, the
    base probability rises no further."""

    drop_early: bool = False
    """True if packets are dropped as they come, not as they leave."""

    @classmethod
    def marks(cls, resolved: Any) -> bool:  # noqa: ARG003 - it always does
        """Return True."""
        return True
