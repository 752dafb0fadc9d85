"""Sizes of queues: packets, bytes, time and shares of the BDP as an engine counts them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dumbbell.base.errors import InputError
from dumbbell.base.units import NS_PER_S, QueueSize, format_time
from dumbbell.scenario.model_rates import AnyRate, PacketRate, TokenBucket

_PACKETS_MAX: Final = 2**32 - 2


@dataclass(frozen=True)
class Sizing:
    """The references for the size of a queue; None where there is no such thing."""

    rate_bps: int | None
    rtt_ns: int | None
    wire_bytes: int
    """Size of the largest packet on a link."""


def nominal_rate_bps(rate: AnyRate) -> int | None:
    """Return what a queue in time or BDP refers to: of a changing rate the highest."""
    if rate is None or isinstance(rate, int):
        return rate
    if isinstance(rate, PacketRate):
        return None
    if isinstance(rate, tuple):
        return max(step.rate for step in rate)
    return rate.rate if isinstance(rate, TokenBucket) else rate.mean_bps


def queue_limit(size: QueueSize, sizing: Sizing) -> dict[str, int]:
    """Resolve a queue's limit to packets or bytes.

    Time and BDP become whole packets of `wire_bytes`, rounded down: 0.2 of the BDP of
    100 Mbit/s and 82 ms is 136 packets of 1500 bytes. A share of the BDP smaller than a
    packet is one packet; any other limit that holds no packet is an InputError.
    """
    if size.unit == "bytes":
        if size.amount < sizing.wire_bytes:
            raise InputError(
                "smaller than one packet",
                value=str(size),
                valid=f"at least {sizing.wire_bytes}b, the largest packet on the wire",
            )
        return {"bytes": int(size.amount)}
    return {"packets": whole_packets(size, sizing)}


def whole_packets(size: QueueSize, sizing: Sizing) -> int:
    """Return a size in packets, rounded down; less than one is an InputError, but of a BDP one."""
    exact = exact_packets(size, sizing)
    packets = max(1, int(exact)) if size.unit == "bdp" else int(exact)
    if packets == 0:
        least = f"{sizing.wire_bytes}b"
        if size.unit == "time":
            # Rounded up: the shortest time in which a packet fits.
            least = format_time(-int(-size.amount // exact))
        raise InputError("smaller than one packet", value=str(size), valid=f"at least {least}")
    if packets > _PACKETS_MAX:
        raise InputError("too large", value=str(size), valid=f"at most {_PACKETS_MAX} packets")
    return packets


def exact_packets(size: QueueSize, sizing: Sizing) -> Fraction:
    """Return a size in packets of `wire_bytes`, not rounded."""
    if size.unit == "packets":
        return size.amount
    if size.unit == "bytes":
        return size.amount / sizing.wire_bytes
    if sizing.rate_bps is None:
        raise InputError(
            f"a queue in {size.unit} refers to the link's rate, which is unlimited",
            value=str(size),
            valid="a rate, or the queue in packets or bytes",
        )
    # Exact: 0.2 BDP must not lose a packet because a float lies just below a whole number.
    packets_per_ns = Fraction(sizing.rate_bps, 8 * NS_PER_S * sizing.wire_bytes)
    if size.unit == "time":
        return size.amount * packets_per_ns
    if sizing.rtt_ns is None:
        raise InputError(
            "a queue in bdp refers to network.rtt, which is not set",
            value=str(size),
            valid="set network.rtt, or give the queue in packets, bytes or time",
        )
    return size.amount * sizing.rtt_ns * packets_per_ns
