"""A path like the one that was measured: rate, base RTT, buffer and loss, to start from.

The fit depends only on what the flows themselves show, so each value names its evidence. A path
that they never filled has at least this rate; a queue that they never overran holds at least this
much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dumbbell.base.errors import InputError
from dumbbell.base.units import NS_PER_S, format_rate, format_time, parse_rate, parse_time
from dumbbell.experiments.imports import limits, rates
from dumbbell.experiments.imports.limits import Limit, Signs
from dumbbell.experiments.imports.measurement import Direction, MeasuredFlow, Measurement
from dumbbell.experiments.imports.rates import Rate

_DIGITS: Final = 3
"""Of a fitted rate."""

PACKET_BYTES: Final = 1500
_MSS_BYTES: Final = 1448

_ROOM: Final = 2
"""A path that flows never filled gets so many times the rate that they had, to limit nothing."""

_PACKET_SHARE: Final = 0.02
"""Of the RTT: what a packet may take there at most."""

_QUEUE_MIN: Final = 10
"""Packets: TCP sends as many at once."""

_LITTLE: Final = 0.1
"""The rest of an RTT without a packet's time is too little to be known below this share."""

_LOSSES: Final = 4
"""A buffer is as large as it was when so many losses, or more, were seen."""

_LOSS_MAX: Final = 0.9
"""No flow measures a path that loses more."""

_SHORT_AT_LOSS: Final = 0.3
"""A queue of less than this share of the longest did not overflow."""

_LEAST_BPS: Final = 1000


@dataclass(frozen=True)
class Fitted:
    """One value of a path, as scenario files write it, and its evidence.

    `is_shown` is True if the transfer shows the value, not only a bound or a guess.
    """

    value: str
    why: str
    is_shown: bool = True


@dataclass(frozen=True)
class Path:
    """A path: what of it was fitted, and what was given; and what limited each flow.

    The reverse path has a separate rate and queue where data went there, too.
    """

    rate: Fitted
    rtt: Fitted
    queue: Fitted
    loss: Fitted
    reverse_rate: Fitted | None
    reverse_queue: Fitted | None
    limits: Sequence[Limit]

    def rows(self) -> list[tuple[str, str, str]]:
        """Return name, value and reason of each."""
        named = {
            "rate": self.rate,
            "rtt": self.rtt,
            "queue": self.queue,
            "loss": self.loss,
            "rate back": self.reverse_rate,
            "queue back": self.reverse_queue,
        }
        return [
            (name, fitted.value, fitted.why) for name, fitted in named.items() if fitted is not None
        ]


def directions(measured: Measurement) -> dict[Direction, list[MeasuredFlow]]:
    """Return the flows of each direction; if there is one alone, it is the way forward."""
    by_direction: dict[Direction, list[MeasuredFlow]] = {}
    for flow in measured.flows:
        by_direction.setdefault(flow.direction, []).append(flow)
    return by_direction if len(by_direction) > 1 else {"forward": list(measured.flows)}


def path(measured: Measurement, given: Mapping[str, str], algorithm: str | None = None) -> Path:
    """Fit a path; values that are `given`, by the names of its fields, stay as they are.

    Raises InputError if the file has no RTT and none is given.
    """
    ways = directions(measured)
    base_ms = _base_ms(measured, given)
    shown = {name: limits.signs(flows, base_ms, "rtt" in given) for name, flows in ways.items()}
    seen = [signs_of_way for signs_of_way in shown.values() if signs_of_way.full_ms is not None]
    source = str(measured.file)
    sides = {}
    for name, flows in ways.items():
        # RTTs are those of both ways, so a way without any has those of the other.
        signs = shown[name]
        if signs.full_ms is None and seen:
            signs = replace(signs, full_ms=seen[0].full_ms, waited=seen[0].waited)
        limits_of_flows = [limits.of(flow, signs, algorithm, source) for flow in flows]
        by_rate = any(limits.family(flow, algorithm, source) == "rate" for flow in flows)
        by_window = all(limit.kind == "path" for limit in limits_of_flows)
        busy = rates.rate(flows, base_ms / 1000, by_window=by_window, by_rate=by_rate)
        sides[name] = _Side(measured, flows, signs, base_ms, limits_of_flows, busy)
    known = {name: Fitted(value, "given") for name, value in given.items()}
    forward, back = sides["forward"], sides.get("reverse")
    shared = back is not None and forward.shown.fills and back.shown.fills
    rate = known.get("rate") or forward.rate()
    reverse_rate = None if back is None else back.rate()
    limit_of = {
        # By identity: a flow has a table, and no hash.
        id(flow): limit
        for side in sides.values()
        for flow, limit in zip(side.flows, side.limits, strict=True)
    }
    return Path(
        rate=rate,
        rtt=known.get("rtt") or forward.rtt(rate),
        queue=known.get("queue") or forward.queue(rate, shared=shared),
        loss=known.get("loss") or forward.loss(),
        reverse_rate=reverse_rate,
        reverse_queue=back.queue(reverse_rate, shared=shared) if back and reverse_rate else None,
        limits=[limit_of[id(flow)] for flow in measured.flows],
    )


def _base_ms(measured: Measurement, given: Mapping[str, str]) -> float:
    if "rtt" in given:
        return parse_time(given["rtt"]) / 1e6
    least_ms = [flow.rtt_min_ms for flow in measured.flows if flow.rtt_min_ms is not None]
    if not least_ms:
        why = next((f": {flow.no_rtt}" for flow in measured.flows if flow.no_rtt), "")
        raise InputError(
            f"no RTT is in the file{why}",
            source=str(measured.file),
            valid="`rtt`, of the path while nothing waits; or a file with the sender's side: of"
            " `iperf3 --reverse`, one with --get-server-output and a server that has --json",
        )
    return min(least_ms)


@dataclass(frozen=True)
class _Side:
    """The flows of one direction, and what they show of the bottleneck there."""

    measured: Measurement
    flows: Sequence[MeasuredFlow]
    shown: Signs
    base_ms: float
    limits: Sequence[Limit]
    busy: Rate

    def rate(self) -> Fitted:
        """Fit the rate on the wire with which the flows go where they are fastest."""
        sizes = [flow.mss_bytes for flow in self.flows if flow.mss_bytes]
        mss_bytes = min(max(sizes, default=_MSS_BYTES), _MSS_BYTES)
        # Goodput is payload, and the rate of a scenario counts whole IP packets.
        wire_bps = self.busy.mbit_per_s * 1e6 * (mss_bytes + PACKET_BYTES - _MSS_BYTES) / mss_bytes
        if wire_bps < _LEAST_BPS:
            raise InputError(
                f"its flows have {wire_bps:.3g} bit/s together",
                source=str(self.measured.file),
                valid=f"a test in which {_LEAST_BPS} bit/s or more arrive",
            )
        kinds = {limit.kind for limit in self.limits}
        if "path" in kinds:
            why = f"{self.busy.why}, with headers"
            why += "" if self.busy.is_busy else "; packets seldom waited, so it may be more"
            return Fitted(_rounded(wire_bps), why, is_shown=self.busy.is_busy)
        if kinds == {"unknown"}:
            why = f"{self.busy.why}, with headers; no evidence that this is all, so it may be more"
            return Fitted(_rounded(wire_bps), why, is_shown=False)
        # A packet's time must not make the RTT longer, which was flat.
        room_bps = max(_ROOM * wire_bps, 8 * PACKET_BYTES / (_PACKET_SHARE * self.base_ms / 1000))
        why = f"nothing filled the path, which has {_rounded(wire_bps)} or more"
        return Fitted(_rounded(room_bps), f"{why}; so much limits nothing", is_shown=False)

    def rtt(self, rate: Fitted) -> Fitted:
        """Fit the RTT of the empty path."""
        base_ns = self.base_ms * 1e6
        if not self.shown.fills:
            return Fitted(_time(base_ns), "the shortest RTT")
        # The shortest RTT holds the time of a packet on the link, which a simulation adds again.
        rest_ns = base_ns - 8 * PACKET_BYTES * NS_PER_S / parse_rate(rate.value)
        if rest_ns < _LITTLE * base_ns:
            why = "the shortest RTT, hardly more than a packet's time, so it may be less"
            return Fitted(_time(base_ns), why, is_shown=False)
        why = "the shortest RTT, less a packet's time at this rate"
        if not self.busy.emptied:
            why += "; packets waited then, too, so it may be less"
        return Fitted(_time(rest_ns), why, is_shown=self.busy.emptied)

    def queue(self, rate: Fitted, *, shared: bool) -> Fitted:
        """Fit the buffer: what waited when it was fullest, as far as anything did."""
        full_ms = self.shown.full_ms
        if full_ms is None:
            return Fitted("1bdp", "no RTTs show it, so it is a guess", is_shown=False)
        if not self.shown.fills:
            return Fitted("1bdp", "not seen: hardly anything waited", is_shown=False)
        why = f"{full_ms:.3g} ms between the shortest RTT and the longest"
        if shared:
            # An RTT is the sum over both directions, and nothing shows which queue it waited in.
            full_ms /= 2
            why += ", of which half is taken for each direction"
        packets = full_ms / 1000 * parse_rate(rate.value) / (8 * PACKET_BYTES)
        if self.shown.lost_share is None:
            why += "; whether it overflowed is not in the file"
        elif not self.shown.lost_share:
            packets *= _ROOM
            why += f"; nothing was lost, so it is more: {_ROOM} times that"
        elif not self.shown.overflows:
            why += "; no loss shows that it was full, so it may be more"
        elif not self.busy.emptied:
            why += "; packets waited with the shortest, too, so it is more"
        elif self.shown.losses < _LOSSES:
            why += "; it was full once or twice only, and RTTs may have missed that"
        if packets < _QUEUE_MIN:
            return Fitted(f"{_QUEUE_MIN}p", f"{why}; as many as TCP sends at once", is_shown=False)
        is_full = self.shown.overflows and self.shown.losses >= _LOSSES
        is_shown = is_full and self.busy.emptied and not shared
        return Fitted(f"{round(packets)}p", why, is_shown=is_shown)

    def loss(self) -> Fitted:
        """Fit the probability of a loss that no full queue explains."""
        share = self.shown.lost_share
        if share is None:
            return Fitted("0", "retransmissions are not in the file", is_shown=False)
        if not share:
            return Fitted("0", "nothing was sent again")
        at_loss = self.shown.at_loss
        is_short = at_loss is not None and at_loss < _SHORT_AT_LOSS
        if share > _LOSS_MAX and (is_short or not self.shown.fills):
            raise InputError(
                f"{share:.4%} of its segments were sent again",
                source=str(self.measured.file),
                valid="`loss`, the share that the path loses; or another test",
            )
        again = f"{share:.2g} of the segments were sent again"
        if self.shown.full_ms is None:
            why = f"{again}; no RTTs show whether a full queue explains it"
            return Fitted(f"{share:.2g}", why, is_shown=False)
        if not self.shown.fills:
            return Fitted(f"{share:.2g}", f"{again} while hardly anything waited")
        if is_short:
            return Fitted(f"{share:.2g}", f"{again}, mostly while the queue was short")
        why = "nothing shows that a queue was full then, so it may be more"
        if self.shown.overflows:
            why = "a full queue explains it"
        return Fitted("0", f"{again}; {why}", is_shown=self.shown.overflows)


def _rounded(rate_bps: float) -> str:
    return format_rate(round(round(rate_bps, _DIGITS - math.ceil(math.log10(rate_bps)))))


def _time(time_ns: float) -> str:
    """Return a time in whole microseconds, or in nanoseconds if it is shorter."""
    return format_time(int(round(time_ns, -3)) or max(round(time_ns), 1))
