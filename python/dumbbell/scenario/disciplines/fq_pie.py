"""Proportional integral controller enhanced, of a queue for each flow."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dumbbell.base.units import Count, Duration, Limit, Number, Share, Volume
from dumbbell.scenario.disciplines.pie import ProportionalIntegral


class FqPie(ProportionalIntegral):
    """A queue for each flow, served in turn, each with PIE (tc-fq_pie(8), RFC 8033).

    Linux's `memory_limit`, `bytemode` and `dq_rate_estimator` do not exist here: a limit may be in
    bytes, the size of a packet does not matter, and the delay is measured.
    """

    title = "FQ-PIE"

    discipline: Literal["fq-pie"]

    limit: Limit = Field("10240p", validate_default=True, examples=["10240p"])
    """Limit of all queues together."""

    target: Duration = Field("15ms", validate_default=True, examples=["15ms"])
    """Target of the waiting time in each queue."""

    update: Duration = Field("15ms", validate_default=True, examples=["15ms"])
    """Time between updates of the drop probabilities (T_UPDATE), at least 10 us."""

    alpha: Number = Field(0.125, examples=[0.125, 10])
    """Weight of the delay's distance from the target, per second; Linux's number divided by 16."""

    beta: Number = Field(1.25, examples=[1.25, 100])
    """Weight of the delay's trend, per second; Linux's number divided by 16."""

    queues: Count = Field(1024, examples=[1024, 4, 1])
    """Number of queues that flows are hashed to (`flows` in Linux)."""

    quantum: Volume = Field(1514, examples=[1514, 300])
    """Bytes that a queue may send in its turn."""

    ecn: bool = False
    """True if ECN-capable packets are marked instead of dropped while the probability is low."""

    ecn_probability: Share = Field(0.1, examples=[0.1, "50%"])
    """Probability up to which they are marked (`ecn_prob` in Linux)."""
