"""What can be read off a resolved scenario."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dumbbell import catalogue
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


def described(data: Resolved, name: str) -> catalogue.Algorithm:
    """Return the description of one of the algorithms of a scenario, which may bring its source."""
    code = data.get("sources", {}).get(name)
    return catalogue.algorithm(name) if code is None else catalogue.loaded(name, code)


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


_CONNECTION: Final = re.compile(r" \d+/\d+$")


def connection_label(label: str, number: int, count: int) -> str:
    """Name one of the connections that carry a flow together: ``bulk 3/16``."""
    return f"{label} {number}/{count}"


def is_connection(label: str) -> bool:
    """Tell whether a label is that of one of several connections of a flow."""
    return _CONNECTION.search(label) is not None


def whole(label: str) -> str:
    """Return the label of the flow that a connection carries alone or with others."""
    return _CONNECTION.sub("", label)


def family(label: str) -> str:
    """Return what the labels of equal flows have in common: ``page`` of ``page 7``."""
    return re.sub(r" \d+$", "", whole(label))


def bundles(flows: Sequence[Resolved]) -> list[list[int]]:
    """Return the connections of each flow, by number; most flows have just one.

    A scenario knows connections only; those of a `parallel` flow are told by their labels.
    """
    found: dict[str, list[int]] = {}
    for number, flow in enumerate(flows):
        found.setdefault(whole(flow["label"]), []).append(number)
    return list(found.values())


def mean_rate_bps(link: Resolved, start_ns: int, end_ns: int) -> float | None:
    """Return the mean rate of a link over a part of a run; None: unlimited.

    Of a token bucket it is the rate in the long run, without its burst.
    """
    match link["rate"]:
        case {"constant": rate_bps} | {"token_bucket": {"rate_bps": rate_bps}}:
            return float(rate_bps)
        case {"trace": trace}:
            bits = 8 * trace["bytes"] * (_chances(trace, end_ns) - _chances(trace, start_ns))
            return float(bits * NS_PER_S / (end_ns - start_ns))
        case {"steps": steps}:
            ends_ns = [*(at for at, _ in steps[1:]), end_ns]
            spans = [
                rate_bps * max(0, min(until_ns, end_ns) - max(at, start_ns))
                for (at, rate_bps), until_ns in zip(steps, ends_ns, strict=True)
            ]
            return float(sum(spans) / (end_ns - start_ns))
    return None


def _chances(trace: Resolved, time_ns: int) -> int:
    """Return how many departures a trace allows up to a time."""
    periods, rest_ns = divmod(time_ns, trace["period_ns"])
    return int(periods * len(trace["times_ns"]) + bisect.bisect_right(trace["times_ns"], rest_ns))


def sampled_links(data: Resolved) -> list[Resolved]:
    """Return the links that have entries in the summary and rows in the table of queues."""
    return [link for link in data["links"] if link["sampled"]]


def data_queues(data: Resolved) -> dict[int, str]:
    """Return number and name of the sampled links that data passes."""
    passed = {hop["link"] for flow in data["flows"] for hop in flow["forward"]["hops"]}
    sampled = [number for number, link in enumerate(data["links"]) if link["sampled"]]
    return {
        number: data["links"][link]["name"] for number, link in enumerate(sampled) if link in passed
    }


def bottleneck(data: Resolved) -> int | None:
    """Return the number of the bottleneck among the sampled links.

    It is the slowest one on the way of the first flow's data, of equals the first; of a dumbbell,
    the one that the first flow sends over. None where none of them has a rate.
    """
    numbers = [number for number, link in enumerate(data["links"]) if link["sampled"]]
    rates = {
        hop["link"]: mean_rate_bps(data["links"][hop["link"]], 0, data["duration_ns"])
        for hop in data["flows"][0]["forward"]["hops"]
        if data["links"][hop["link"]]["sampled"]
    }
    known = {link: rate for link, rate in rates.items() if rate is not None}
    return numbers.index(min(known, key=known.__getitem__)) if known else None


def bottleneck_rate_bps(
    data: Resolved, start_ns: int = 0, end_ns: int | None = None
) -> float | None:
    """Return the mean rate of the bottleneck, by default over the whole run; None: it has none."""
    number = bottleneck(data)
    if number is None:
        return None
    end_ns = data["duration_ns"] if end_ns is None else end_ns
    return mean_rate_bps(sampled_links(data)[number], start_ns, int(end_ns))
