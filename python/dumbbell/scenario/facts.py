"""What can be read off a resolved scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dumbbell.units import NS_PER_S

Resolved = Mapping[str, Any]
"""The data of a resolved scenario, or a part of it."""


def algorithm(flow: Resolved) -> str:
    """Return a flow's algorithm; ``udp`` if it has none."""
    return str(flow["transport"]["tcp"]["algorithm"]) if "tcp" in flow["transport"] else "udp"


def choice(flow: Resolved) -> str:
    """Return a flow's algorithm as it is chosen, with its preset: ``htcp@li2007``."""
    preset = flow["transport"].get("tcp", {}).get("preset")
    return f"{algorithm(flow)}@{preset}" if preset else algorithm(flow)


def algorithms(data: Resolved) -> list[str]:
    """Return the algorithms of a scenario, each once, in alphabetical order."""
    return sorted({algorithm(flow) for flow in data["flows"] if "tcp" in flow["transport"]})


def stacks(data: Resolved) -> list[Resolved]:
    """Return the TCP stacks of a scenario, each once, in the order of the flows."""
    found: list[Resolved] = []
    for flow in data["flows"]:
        stack = flow["transport"].get("tcp", {}).get("stack")
        if stack is not None and stack not in found:
            found.append(stack)
    return found


def base_rtt_ns(data: Resolved, flow: Resolved) -> int:
    """Return the two-way propagation time of a flow's path at the beginning of the run."""
    total_ns = 0
    for route in (flow["forward"], flow["reverse"]):
        total_ns += route["delay_ns"]
        for hop in route["hops"]:
            total_ns += hop["delay_ns"] + data["links"][hop["link"]]["delay"][0][1]
    return total_ns


def mean_rate_bps(link: Resolved, duration_ns: int) -> float | None:
    """Return the mean rate of a link over a run; None: unlimited."""
    match link["rate"]:
        case {"constant": rate_bps} | {"token_bucket": {"rate_bps": rate_bps}}:
            return float(rate_bps)
        case {"trace": {"times_ns": times_ns, "period_ns": period_ns, "bytes": size}}:
            return float(8 * size * len(times_ns) * NS_PER_S / period_ns)
        case {"steps": steps}:
            ends_ns = [*(at for at, _ in steps[1:]), duration_ns]
            spans = [
                rate_bps * max(0, min(end_ns, duration_ns) - at)
                for (at, rate_bps), end_ns in zip(steps, ends_ns, strict=True)
            ]
            return float(sum(spans) / duration_ns)
    return None


def bottleneck_rate_bps(data: Resolved) -> float:
    """Return the mean rate of the first sampled link that has one: of a dumbbell, the bottleneck.

    A scenario without any such link has none: 0.
    """
    sampled = (link for link in data["links"] if link["sampled"])
    rates = (mean_rate_bps(link, data["duration_ns"]) for link in sampled)
    return next((rate for rate in rates if rate is not None), 0.0)
