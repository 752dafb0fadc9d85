"""Building blocks of the checks' scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fidelity.check import Table

EVERY_SEGMENT: Final[Mapping[str, Any]] = {"quick_acks": 1_000_000_000}
"""Switches with which each segment is acknowledged, as the laws of most papers assume."""

BY_ACKS: Final[Mapping[str, Any]] = {"growth": "acks"}
"""Switches with which windows grow by ACKs, as in Linux before 4.0."""


def stack(profile: str = "rfc", **switches: Any) -> dict[str, Any]:
    """Return a stack with some switches set otherwise."""
    return {"profile": profile, "switches": switches}


def flow(algorithm: str, **keys: Any) -> dict[str, Any]:
    """Return a TCP flow."""
    return {"algorithm": algorithm, **keys}


def udp(rate: str, **keys: Any) -> dict[str, Any]:
    """Return a constant stream of datagrams."""
    return {"transport": "udp", "rate": rate, **keys}


def scenario(
    duration: str,
    network: Mapping[str, Any],
    *flows: Mapping[str, Any],
    interval: str = "100ms",
    events: Sequence[str] = ("congestion",),
    **keys: Any,
) -> Table:
    """Return a scenario; events are few, for there may be many."""
    record = {"interval": interval, "events": list(events)}
    return {
        "duration": duration,
        "stack": stack(**EVERY_SEGMENT),
        "network": dict(network),
        "flow": [dict(flow) for flow in flows],
        "record": record,
        **keys,
    }


def lossy(seconds: int, probability: float, entry: Mapping[str, Any]) -> Table:
    """Return a flow on a path where nothing waits, and packets are lost at random."""
    network = {
        "rate": "100gbit",
        "rtt": "100ms",
        "queue": "1bdp",
        "loss": [{"place": "receiver", "probability": probability}],
    }
    return scenario(f"{seconds}s", network, entry, interval="1s", events=[])


def seeds(count: int, table: Table) -> tuple[Table, ...]:
    """Return the same scenario with seeds 1, 2 ..."""
    return tuple({**table, "seed": seed} for seed in range(1, count + 1))
