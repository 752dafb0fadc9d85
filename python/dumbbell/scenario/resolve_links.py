"""Translate a link of the file into one in base units."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import format_bytes
from dumbbell.scenario.disciplines import AnyQueue
from dumbbell.scenario.disciplines.base import Passing, base_key
from dumbbell.scenario.disciplines.drop_tail import UNLIMITED
from dumbbell.scenario.model_links import Impairments, LinkLoss
from dumbbell.scenario.model_rates import (
    AnyDelay,
    AnyRate,
    PacketRate,
    TokenBucket,
    delay_steps,
    route_steps,
)
from dumbbell.scenario.model_switches import Memory
from dumbbell.scenario.model_traces import LossTrace, Trace
from dumbbell.scenario.model_variations import Varying
from dumbbell.scenario.resolve_queues import resolve_queue
from dumbbell.scenario.sizing import Sizing, nominal_rate_bps
from dumbbell.scenario.traces import OPPORTUNITY_BYTES

Losses = tuple[tuple[str, LinkLoss], ...]
"""Losses with their keys in the file."""

IDLE: Final = Impairments()


@dataclass(frozen=True, slots=True)
class Wire:
    """One direction of a link, as the file describes it; the name does not count in comparisons.

    Attributes
    ----------
    key
        Its place in the file.
    queue_key
        Name of its queue's key there.
    exit_jitter
        Longest random hold behind its transmitter, in ns.
    is_interface
        True if it is the interface of a sending host.
    memory
        The memory that its queues share with others; None: they have room of their own.
    """

    name: str = field(compare=False)
    key: str
    rate: AnyRate = None
    delay: AnyDelay = 0
    queue: AnyQueue = UNLIMITED
    losses: Losses = ()
    impairments: Impairments = IDLE
    sampled: bool = False
    queue_key: str = "queue"
    exit_jitter: int = 0
    is_interface: bool = False
    memory: Memory | None = None

    @property
    def is_transparent(self) -> bool:
        """True if the link only delays, always by the same time."""
        delays = isinstance(self.delay, int) and not self.losses and self.impairments.is_idle
        return self.rate is None and delays and not self.exit_jitter


@dataclass(frozen=True)
class Common:
    """Properties that all links of a network share."""

    overhead_bytes: int
    wire_bytes: int
    rtt_ns: int | None
    duration_ns: int
    passing: Passing


def active(losses: Losses, labels: Iterable[str] | None = None) -> Losses:
    """Leave out losses that never happen, and those of chosen segments of other flows."""
    if not losses:
        return ()
    known = None if labels is None else set(labels)
    return tuple(
        (key, loss)
        for key, loss in losses
        if not _never_happens(loss)
        and (known is None or not loss.drops or any(drop.flow in known for drop in loss.drops))
    )


def _never_happens(loss: LinkLoss) -> bool:
    if loss.gilbert_elliott is not None:
        return loss.gilbert_elliott.to_bad == 0 and loss.gilbert_elliott.loss_good == 0
    if loss.bursts is not None:
        return loss.bursts.loss_good == loss.bursts.loss_bad == 0
    return loss.probability == 0 or loss.bit_errors == 0


class LinkResolver:
    """Puts links in base units; equal ones share their common part."""

    def __init__(self, common: Common) -> None:
        self._duration_ns = common.duration_ns
        self._alike = functools.cache(functools.partial(_alike, common=common))

    def resolve(self, wire: Wire, passing: Mapping[str, int]) -> dict[str, Any]:
        """Return a link in base units; `passing` numbers the flows whose data passes, by label."""
        losses = [
            _loss(key, loss, passing, self._duration_ns)
            for key, loss in wire.losses
            if _hits(loss, passing)
        ]
        return {"name": wire.name, "loss": losses, **self._alike(wire)}


def _alike(wire: Wire, common: Common) -> dict[str, Any]:
    """Return what a link has in common with those that differ in their names alone."""
    # Left out where it is not used, so that the keys of all other runs stay as they are.
    memory = {"memory": wire.memory.resolved(common.wire_bytes)} if wire.memory else {}
    with placed(key=wire.key):
        return {
            **memory,
            "rate": _rate(wire, common),
            **_delay(wire, common),
            "overhead_bytes": common.overhead_bytes,
            "queue": _queue(wire, common),
            **_impairments(wire.impairments, common),
            "exit_jitter_ns": wire.exit_jitter,
            "interface": wire.is_interface,
            "sampled": wire.sampled,
        }


def _delay(wire: Wire, common: Common) -> dict[str, Any]:
    with placed(key="delay"):
        steps = delay_steps(wire.delay, common.duration_ns)
        routes = route_steps(wire.delay, common.duration_ns)
    return {"delay": steps} if routes is None else {"delay": steps, "route": routes}


def _rate(wire: Wire, common: Common) -> dict[str, Any] | None:
    match wire.rate:
        case PacketRate(packets_per_s):
            return {"packets": packets_per_s}
        case int(rate_bps):
            return {"constant": rate_bps}
        case tuple():
            return {"steps": [[step.at, step.rate] for step in wire.rate]}
        case Trace():
            return _trace(wire.rate, common)
        case TokenBucket():
            _fits("rate.burst", wire.rate.burst, common, "a bucket for at least one packet")
            peak = {"peak_bps": wire.rate.peak}
            bucket = {"rate_bps": wire.rate.rate, "burst_bytes": wire.rate.burst, **peak}
            return {"token_bucket": bucket}
    return None


def _trace(trace: Trace, common: Common) -> dict[str, Any]:
    opportunities = trace.opportunities
    if opportunities is None:
        with placed(key="rate"):
            return {"steps": trace.steps(common.duration_ns)}
    times_ns, period_ns = list(opportunities.times_ns), opportunities.period_ns
    return {"trace": {"times_ns": times_ns, "period_ns": period_ns, "bytes": OPPORTUNITY_BYTES}}


def _fits(key: str, size_bytes: int, common: Common, what: str) -> None:
    """Raise InputError where the largest packet does not fit."""
    if size_bytes < common.wire_bytes:
        largest = format_bytes(common.wire_bytes)
        raise InputError(
            "smaller than one packet",
            key=key,
            value=format_bytes(size_bytes),
            valid=f"at least {largest}, the largest packet on the wire: {what}",
        )


def _queue(wire: Wire, common: Common) -> dict[str, Any]:
    sizing = Sizing(nominal_rate_bps(wire.rate), common.rtt_ns, common.wire_bytes)
    with placed(key=wire.queue_key):
        return resolve_queue(wire.queue, sizing, common.passing)


def _hits(loss: LinkLoss, passing: Mapping[str, int]) -> bool:
    return not loss.drops or any(drop.flow in passing for drop in loss.drops)


def _loss(key: str, loss: LinkLoss, passing: Mapping[str, int], duration_ns: int) -> dict[str, Any]:
    match loss.kind:
        case "drops":
            drops = [
                {"flow": passing[drop.flow], "number": drop.number, "times": drop.times}
                for drop in loss.drops or ()
                if drop.flow in passing
            ]
            return {"kind": "scripted", "drops": drops}
        case "bit_errors":
            return {"kind": "bit-errors", "probability": loss.bit_errors}
        case "bursts" if (bursts := loss.bursts) is not None:
            means = {"mean_good_ns": bursts.mean_good, "mean_bad_ns": bursts.mean_bad}
            shares = {"loss_good": bursts.loss_good, "loss_bad": bursts.loss_bad}
            return {"kind": "bursts", **means, **shares}
        case "gilbert_elliott" if loss.gilbert_elliott is not None:
            return {"kind": "gilbert-elliott", **loss.gilbert_elliott.model_dump()}
    with placed(key=f"{key}.probability"):
        return _by_chance(loss, duration_ns)


def _by_chance(loss: LinkLoss, duration_ns: int) -> dict[str, Any]:
    match loss.probability:
        case LossTrace() as trace:
            steps = trace.steps(duration_ns)
        case tuple() as changing:
            steps = [[step.at, step.probability] for step in changing]
        case float(share) if loss.correlation:
            # The chain of two states whose bad one loses all has this autocorrelation.
            turns = {
                "to_bad": share * (1 - loss.correlation),
                "to_good": (1 - share) * (1 - loss.correlation),
            }
            return {"kind": "gilbert-elliott", **turns, "loss_good": 0.0, "loss_bad": 1.0}
        case share:
            steps = [[0, share]]
    return {"kind": "bernoulli", "probability": steps}


_ALWAYS: Final = frozenset({"policer", "duplicate", "reorder", "jitter", "batch"})
"""Impairments that every resolved link has, used or not."""


def _impairments(impairments: Impairments, common: Common) -> dict[str, Any]:
    policer = reorder = None
    more: dict[str, Any] = {}
    if impairments.policer is not None:
        _fits(
            "policer.burst",
            impairments.policer.burst,
            common,
            "a policer that lets one packet pass",
        )
        policer = {"rate_bps": impairments.policer.rate, "burst_bytes": impairments.policer.burst}
    if impairments.reorder is not None and impairments.reorder.probability > 0:
        late = impairments.reorder
        reorder = {"probability": late.probability, "delay_ns": late.delay}
    if isinstance(impairments.jitter, Varying):
        more["variation"] = impairments.jitter.resolved()
    for name, described in Impairments.model_fields.items():
        value = getattr(impairments, name)
        # Keys that came later are left out where they are not used: so older runs keep theirs.
        if name not in _ALWAYS and value is not None:
            more[base_key(name, described)] = value
    return {
        "policer": policer,
        "duplicate": impairments.duplicate,
        "reorder": reorder,
        "jitter_ns": impairments.jitter if isinstance(impairments.jitter, int) else 0,
        "batch_ns": impairments.batch,
        **more,
    }
