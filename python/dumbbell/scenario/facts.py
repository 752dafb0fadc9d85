"""Facts that follow from a resolved scenario."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Final

from dumbbell.algorithms import catalogue
from dumbbell.base.units import NS_PER_S
from dumbbell.contract.scenario import (
    Flow,
    LinkConfig,
    RateConfig,
    Scenario,
    StackChoice,
    TokenBucketConfig,
    TraceConfig,
)


def algorithm(flow: Flow) -> str:
    """Return a flow's algorithm; ``udp`` if it has none."""
    tcp = flow.transport.tcp
    return "udp" if tcp is None else tcp.algorithm


def choice(flow: Flow) -> str:
    """Return a flow's algorithm as it is chosen, with its preset: ``htcp@li2007``."""
    tcp = flow.transport.tcp
    if tcp is None or not tcp.preset:
        return algorithm(flow)
    return f"{tcp.algorithm}@{tcp.preset}"


def algorithms(scenario: Scenario) -> list[str]:
    """Return the algorithms of a scenario, each once, in alphabetical order."""
    connections = (flow.transport.tcp for flow in scenario.flows)
    return sorted({tcp.algorithm for tcp in connections if tcp is not None})


def described(scenario: Scenario, name: str) -> catalogue.Algorithm:
    """Return what is known of one of the algorithms of a scenario, which may bring its source."""
    return catalogue.described(name, scenario.sources.get(name))


def own_algorithms(scenario: Scenario) -> catalogue.OwnAlgorithms:
    """Return the algorithms whose source a scenario brings, by name."""
    return {name: catalogue.described(name, code) for name, code in scenario.sources.items()}


def stacks(scenario: Scenario) -> list[StackChoice]:
    """Return the TCP stacks of a scenario, each once, in the order of the flows."""
    choices: list[StackChoice] = []
    for flow in scenario.flows:
        tcp = flow.transport.tcp
        if tcp is not None and tcp.stack not in choices:
            choices.append(tcp.stack)
    return choices


def base_rtt_ns(scenario: Scenario, flow: Flow) -> int:
    """Return the two-way propagation time of a flow's path at the beginning of the run."""
    total_ns = 0
    for route in (flow.forward, flow.reverse):
        total_ns += route.delay_ns
        for hop in route.hops:
            total_ns += hop.delay_ns + scenario.links[hop.link].delay[0][1]
    return total_ns


_CONNECTION: Final = re.compile(r" \d+/\d+$")


def connection_label(label: str, number: int, count: int) -> str:
    """Name one of the connections that carry a flow together: ``bulk 3/16``."""
    return f"{label} {number}/{count}"


def is_connection(label: str) -> bool:
    """Return True if a label is that of one of several connections of a flow."""
    return _CONNECTION.search(label) is not None


def whole(label: str) -> str:
    """Return the label of the flow that a connection carries alone or with others."""
    return _CONNECTION.sub("", label)


def family(label: str) -> str:
    """Return what the labels of equal flows have in common: ``page`` of ``page 7``."""
    return re.sub(r" \d+$", "", whole(label))


def bundles(flows: Sequence[Flow]) -> list[list[int]]:
    """Return the connections of each flow, by number; most flows have just one.

    A scenario knows connections only; the labels identify those of a `parallel` flow.
    """
    by_label: dict[str, list[int]] = {}
    for number, flow in enumerate(flows):
        by_label.setdefault(whole(flow.label), []).append(number)
    return list(by_label.values())


def mean_rate_bps(link: LinkConfig, start_ns: int, end_ns: int) -> float | None:
    """Return the mean rate of a link over a part of a run; None: unlimited.

    For a token bucket, return the long-term rate, without the burst.
    """
    match link.rate:
        case RateConfig(constant=int(rate_bps)):
            return float(rate_bps)
        case RateConfig(token_bucket=TokenBucketConfig(rate_bps=rate_bps)):
            return float(rate_bps)
        case RateConfig(trace=TraceConfig() as trace):
            # Departures of the part itself: it need not hold whole periods of the trace.
            bits = 8 * trace.bytes * (_chances(trace, end_ns) - _chances(trace, start_ns))
            return bits * NS_PER_S / (end_ns - start_ns)
        case RateConfig(steps=tuple(steps)):
            ends_ns = [*(at for at, _ in steps[1:]), end_ns]
            spans = [
                rate_bps * max(0, min(until_ns, end_ns) - max(at, start_ns))
                for (at, rate_bps), until_ns in zip(steps, ends_ns, strict=True)
            ]
            return sum(spans) / (end_ns - start_ns)
    return None


def _chances(trace: TraceConfig, time_ns: int) -> int:
    """Return how many departures a trace allows up to a time."""
    periods, rest_ns = divmod(time_ns, trace.period_ns)
    return periods * len(trace.times_ns) + bisect.bisect_right(trace.times_ns, rest_ns)


def sampled_links(scenario: Scenario) -> list[LinkConfig]:
    """Return the links that have entries in the summary and rows in the table of queues."""
    return [link for link in scenario.links if link.sampled]


def data_queues(scenario: Scenario) -> dict[int, str]:
    """Return number and name of the sampled links that data passes."""
    passed = {hop.link for flow in scenario.flows for hop in flow.forward.hops}
    sampled = [number for number, link in enumerate(scenario.links) if link.sampled]
    return {
        number: scenario.links[link].name for number, link in enumerate(sampled) if link in passed
    }


def bottleneck(scenario: Scenario, flow: Flow | None = None) -> int | None:
    """Return the number of a flow's bottleneck among the sampled links.

    It is the slowest one on the path of the flow's data, of equals the first. *The* bottleneck is
    that of the first flow; of a dumbbell, the one that the first flow sends over. None where none
    of them has a rate.
    """
    numbers = [number for number, link in enumerate(scenario.links) if link.sampled]
    rates = {
        hop.link: mean_rate_bps(scenario.links[hop.link], 0, scenario.duration_ns)
        for hop in (flow or scenario.flows[0]).forward.hops
        if scenario.links[hop.link].sampled
    }
    known = {link: rate for link, rate in rates.items() if rate is not None}
    return numbers.index(min(known, key=known.__getitem__)) if known else None


def passes(scenario: Scenario, flow: Flow, number: int) -> bool:
    """Return True if a flow's data pass the sampled link of this number."""
    sampled = [link for link in range(len(scenario.links)) if scenario.links[link].sampled]
    return any(hop.link == sampled[number] for hop in flow.forward.hops)


def slowest_link(scenario: Scenario, flow: Flow) -> tuple[float, int] | None:
    """Return the mean rate of the slowest link of a flow's data, in bit/s, and its overhead.

    The overhead are bytes of each packet beyond those of IP. None: none of them has a rate.
    """
    links = [scenario.links[hop.link] for hop in flow.forward.hops]
    rates = [(mean_rate_bps(link, 0, scenario.duration_ns), link.overhead_bytes) for link in links]
    known = [(rate_bps, overhead) for rate_bps, overhead in rates if rate_bps]
    return min(known, key=lambda rate_and_overhead: rate_and_overhead[0], default=None)


def bottleneck_rate_bps(
    scenario: Scenario, start_ns: int = 0, end_ns: int | None = None
) -> float | None:
    """Return the mean rate of the bottleneck, by default over the whole run; None: it has none."""
    number = bottleneck(scenario)
    if number is None:
        return None
    end_ns = scenario.duration_ns if end_ns is None else end_ns
    return mean_rate_bps(sampled_links(scenario)[number], start_ns, end_ns)


def state_column(scenario: Scenario, algorithm: str, name: str) -> tuple[str, float] | None:
    """Return the column of `internals` that holds what an algorithm exports as `name`.

    With it comes how many of the column's units make one: a name that ends with ``_milli`` is
    exported in thousandths. None if the algorithm does not export it.
    """
    units = {name: 1.0, f"{name}_milli": 1e3}
    for index, exported in enumerate(described(scenario, algorithm).sampled_info):
        if exported in units:
            return f"info{index}", units[exported]
    return None


def mode_number(scenario: Scenario, algorithm: str, mode: str) -> int | None:
    """Return the number of an algorithm's mode in the table `modes`; None: it has no such mode."""
    names = described(scenario, algorithm).modes
    return names.index(mode) if mode in names else None
