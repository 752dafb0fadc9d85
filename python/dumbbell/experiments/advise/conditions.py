"""Conditions for an algorithm on a path: bounds with their reasons, and the check of both.

An algorithm is fit if its intervals lie within all bounds, whichever flow starts first. So runs
that are too few make it unfit: the burden of proof is on what is new.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from dumbbell.base.labels import number
from dumbbell.experiments.advise.candidates import Candidate, Meeting, Start
from dumbbell.inference.estimates import Estimate

SHARE_MIN: Final = 0.5
"""Of a fair share, which is what a legacy flow has in its place: with less, staying is better."""

HARM_MAX: Final = 0.2
"""To goodput or round-trip time of the legacy flow, beyond what another legacy flow does to it.

Reno, H-TCP, HighSpeed, Westwood+ and YeAH take up to 10 % from CUBIC at 20 Mbit/s and 40 ms, which
is as much as chance does. BBR, BBRv3, BIC, Scalable TCP and Relentless take 30 % and more.
"""

RETRANSMITTED_MAX: Final = 0.03
"""Of all segments, beyond those that the path loses at random.

BBRv3 takes a loss of 2 % for too much (draft-ietf-ccwg-bbr, `LossThresh`). Loss-based algorithms
send less than 1.5 % again in runs of some hundred round trips, slow start included.
"""

NEEDS_MARKS: Final = "needs congestion marks, which this queue does not set"


@dataclass(frozen=True)
class Condition:
    """A bound: what it bounds, as JSON calls it, its value, and what breaks it, in words."""

    name: str
    bound: float
    words: str


@dataclass(frozen=True)
class Fault:
    """A condition that is not met.

    Attributes
    ----------
    condition
        Its name.
    reason
        The fault, in a clause.
    excess
        Ratio of the mean to the bound; up to 1 only the interval exceeds the bound.
    """

    condition: str
    reason: str
    excess: float


def conditions(legacy: str, loss: float) -> tuple[Condition, ...]:
    """Return the bounds next to a legacy algorithm, on a path with such random loss."""
    again, longer = RETRANSMITTED_MAX + loss, _lengthened(HARM_MAX)
    return (
        Condition(
            "share_of_fair_share",
            SHARE_MIN,
            f"gets less than {percent(SHARE_MIN)} of what {legacy} has in its place",
        ),
        Condition(
            "harm_to_goodput", HARM_MAX, f"takes more than {percent(HARM_MAX)} of its goodput"
        ),
        Condition("harm_to_delay", HARM_MAX, f"lengthens its RTT by more than {percent(longer)}"),
        Condition(
            "retransmitted_share",
            again,
            f"resends, or makes {legacy} resend, more than {percent(again)} of the segments",
        ),
    )


def faults(candidate: Candidate, legacy: str, loss: float) -> list[Fault]:
    """Return what is wrong with a candidate, the worst first; `loss` is the path's at random."""
    faults_of_candidate = [Fault("marks", NEEDS_MARKS, math.inf)] if candidate.needs_marks else []
    for check in _checks(candidate, legacy, RETRANSMITTED_MAX + loss):
        faults_of_candidate += check.faults()
    return sorted(faults_of_candidate, key=lambda fault: -fault.excess)


@dataclass(frozen=True)
class _Check:
    """An estimate against a bound, the most or the least that it may be; `shown` as a share."""

    condition: str
    part: Estimate | None
    bound: float
    reason: str
    is_least: bool = False
    is_needed: bool = False
    shown: Callable[[float], float] = float

    def faults(self) -> Iterator[Fault]:
        """Yield the fault, if it is one; what must have a value is one without."""
        if self.part is None:
            if self.is_needed:
                yield Fault(self.condition, self.reason.format("an unknown share"), math.inf)
            return
        value, end = self.part.value, self.part.low if self.is_least else self.part.high
        if end >= self.bound if self.is_least else end <= self.bound:
            return
        over, under = (self.bound, value) if self.is_least else (value, self.bound)
        # A factor, so that faults by different conditions can be ranked.
        excess = over / under if under > 0 else math.inf
        now, perhaps = (percent(self.shown(max(share, 0.0))) for share in (value, end))
        reason = self.reason.format(now)
        if excess <= 1:
            reason += f", maybe {perhaps}" if math.isfinite(end) else ": too few runs to be sure"
        yield Fault(self.condition, reason, excess)


def _checks(candidate: Candidate, legacy: str, again: float) -> Iterator[_Check]:
    yield _Check(
        "retransmitted_share", candidate.retransmitted, again, "resends {} of its segments"
    )
    for meeting in candidate.meetings:
        yield from _of_meeting(meeting, legacy, again)


def _of_meeting(meeting: Meeting, legacy: str, again: float) -> Iterator[_Check]:
    order = f" if {legacy} starts {'last' if meeting.start is Start.FIRST else 'first'}"
    share = f"gets {{}} of a fair share{order}"
    yield _Check(
        "share_of_fair_share", meeting.share, SHARE_MIN, share, is_least=True, is_needed=True
    )
    taken = f"takes {{}} of {legacy}'s goodput{order}"
    yield _Check("harm_to_goodput", meeting.harm, HARM_MAX, taken, is_needed=True)
    longer = f"lengthens {legacy}'s RTT by {{}}{order}"
    yield _Check("harm_to_delay", meeting.delay_harm, HARM_MAX, longer, shown=_lengthened)
    resent = f"resends {{}} of its segments{order}"
    yield _Check("retransmitted_share", meeting.retransmitted, again, resent)
    # What legacy flows resend among themselves is not the algorithm's doing.
    among_own = meeting.own_kind_retransmitted
    most = max(again, 0.0 if among_own is None else among_own.high)
    theirs = f"makes {legacy} resend {{}} of its segments{order}"
    yield _Check("retransmitted_share", meeting.legacy_retransmitted, most, theirs)


def _lengthened(harm: float) -> float:
    """Return by which share of what it was a harmed delay is longer."""
    return harm / (1 - harm) if harm < 1 else math.inf


def percent(share: float) -> str:
    """Render a share: 27 %, 0.31 %."""
    return f"{number(100 * share, 2)} %"
