"""Measurements of an algorithm on a path: alone, and when it meets a legacy flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dumbbell.inference.estimates import Estimate


class Start(StrEnum):
    """When the algorithm's flow starts, compared with the legacy flow."""

    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True)
class Meeting:
    """A flow of the algorithm and a legacy flow, from when both are on; on all paths.

    Every comparison is with two legacy flows: same path, same order of start, same random numbers.
    An estimate is None where the flow has no such value, as one that starves may have no RTT.

    Attributes
    ----------
    start
        The flow that starts first.
    share
        Goodput of the algorithm's flow over that of a legacy flow in its place, its fair share.
    harm
        Harm to the legacy flow's goodput: see `statistics.harm`.
    delay_harm
        Harm to its mean round-trip time.
    loss_harm
        Harm to its share of segments sent again.
    retransmitted
        Segments that the algorithm sends again, over all it sends.
    legacy_retransmitted
        The same of the legacy flow.
    own_kind_retransmitted
        The same of the legacy flow next to another legacy flow.
    """

    start: Start
    share: Estimate | None
    harm: Estimate | None
    delay_harm: Estimate | None
    loss_harm: Estimate | None
    retransmitted: Estimate | None
    legacy_retransmitted: Estimate | None
    own_kind_retransmitted: Estimate | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "starts": self.start.value,
            "share_of_fair_share": plain(self.share),
            "harm_to_goodput": plain(self.harm),
            "harm_to_delay": plain(self.delay_harm),
            "harm_to_loss": plain(self.loss_harm),
            "retransmitted_share": plain(self.retransmitted),
            "legacy_retransmitted_share": plain(self.legacy_retransmitted),
            "legacy_retransmitted_share_among_own_kind": plain(self.own_kind_retransmitted),
        }


@dataclass(frozen=True)
class Candidate:
    """An algorithm on the path.

    Attributes
    ----------
    name
        Its name.
    needs_marks
        True if it listens to congestion marks, which no queue here sets.
    goodput
        Mbit/s alone before the datagrams, on the path itself.
    rtt
        Mean round-trip time in ms alone over the whole run, on the path itself.
    retransmitted
        Segments sent again over all that were sent, alone over the whole run, on all paths.
    recovery
        Goodput after the datagrams over that before them, on all paths.
    meetings
        With a legacy flow: once it starts first, once last.
    goodputs
        Mbit/s alone before the datagrams of each run, on all paths.
    """

    name: str
    needs_marks: bool
    goodput: Estimate | None
    rtt: Estimate | None
    retransmitted: Estimate | None
    recovery: Estimate | None
    meetings: tuple[Meeting, Meeting]
    goodputs: tuple[float, ...]

    @property
    def share(self) -> Estimate | None:
        """Its share of a fair share, in the order of start that is worse for it."""
        return self._worse(min, lambda meeting: meeting.share)

    @property
    def harm(self) -> Estimate | None:
        """Harm to the legacy flow's goodput, in the order of start that is worse for that."""
        return self._worse(max, lambda meeting: meeting.harm)

    @property
    def delay_harm(self) -> Estimate | None:
        """Harm to its round-trip time, likewise."""
        return self._worse(max, lambda meeting: meeting.delay_harm)

    @property
    def loss_harm(self) -> Estimate | None:
        """Harm to its share of segments sent again, likewise."""
        return self._worse(max, lambda meeting: meeting.loss_harm)

    def _worse(
        self,
        pick: Callable[..., Estimate],
        taken: Callable[[Meeting], Estimate | None],
    ) -> Estimate | None:
        there = [part for meeting in self.meetings if (part := taken(meeting)) is not None]
        return pick(there, key=lambda part: part.value) if there else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "algorithm": self.name,
            "goodput_mbit_per_s": plain(self.goodput),
            "rtt_mean_ms": plain(self.rtt),
            "retransmitted_share": plain(self.retransmitted),
            "recovery": plain(self.recovery),
            "share_of_fair_share": plain(self.share),
            "harm_to_goodput": plain(self.harm),
            "harm_to_delay": plain(self.delay_harm),
            "harm_to_loss": plain(self.loss_harm),
            "meetings": [meeting.as_dict() for meeting in self.meetings],
        }


def plain(part: Estimate | None) -> dict[str, float | None] | None:
    """Return an estimate as plain data; None where there is none."""
    return None if part is None else part.as_dict()
