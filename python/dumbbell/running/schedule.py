"""How large runs will be, as far as their scenarios tell, and the order in which to run them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

from dumbbell.contract.scenario import (
    Bernoulli,
    GilbertElliott,
    LinkConfig,
    LossConfig,
    Scenario,
)
from dumbbell.running.places import Places
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.units import NS_PER_S, PACKET_BITS

_OVERHEAD_PACKETS: Final = 100_000
"""What a run costs beside its packets, counted in packets: 10 ms to begin, write and keep it."""


def expected_packets(scenario: Scenario) -> float:
    """Return about how many packets a run takes.

    It is what the bottleneck can carry, or what its flows can send under random losses if that is
    less: under those a path of 10 Gbit/s may carry a thousandth of its rate. Algorithms differ
    widely there, so the response function of HighSpeed TCP stands for all, which lies between those
    of standard and of Scalable TCP: w = 0.12 / p^0.835 (RFC 3649, section 5).
    """
    duration_s = scenario.duration_ns / NS_PER_S
    rate_bps = facts.bottleneck_rate_bps(scenario)
    limits = [] if rate_bps is None else [rate_bps / PACKET_BITS]
    lossy_pps = _lossy_pps(scenario)
    if math.isfinite(lossy_pps):
        limits.append(lossy_pps)
    return _OVERHEAD_PACKETS + duration_s * min(limits, default=0.0)


def _lossy_pps(scenario: Scenario) -> float:
    """Return the packets per second of all flows together if nothing but losses limited them."""
    total_pps = 0.0
    for flow in scenario.flows:
        links = (scenario.links[hop.link] for hop in flow.forward.hops)
        p = sum(_loss(link, scenario.duration_ns) for link in links)
        rtt_s = facts.base_rtt_ns(scenario, flow) / NS_PER_S
        if p == 0 or rtt_s == 0 or flow.transport.tcp is None:
            return math.inf
        total_pps += max(1.0, 0.12 / min(p, 1.0) ** 0.835) / rtt_s
    return total_pps


def _loss(link: LinkConfig, duration_ns: int) -> float:
    """Return the share of packets that a link loses at random, in the mean."""
    return sum(_share(loss, duration_ns) for loss in link.loss)


def _share(loss: LossConfig, duration_ns: int) -> float:
    match loss:
        case Bernoulli(probability=steps):
            ends_ns = [*(at for at, _ in steps[1:]), duration_ns]
            lost = (
                p * max(0, min(until, duration_ns) - at)
                for (at, p), until in zip(steps, ends_ns, strict=True)
            )
            return sum(lost) / duration_ns
        case GilbertElliott():
            bad = loss.to_bad / (loss.to_bad + loss.to_good)
            return (1 - bad) * loss.loss_good + bad * loss.loss_bad
        case _:
            return 0.0


def ordered(
    runs: Sequence[ResolvedScenario], places: Places, stored: Collection[str]
) -> list[ResolvedScenario]:
    """Return runs in the order in which to run them; it depends on nothing but the arguments.

    First what is `stored` already (by key), so that soon only work is left. Then one repetition
    of every grid point after the other, so that a campaign that is stopped has something of each
    point, and what the first repetitions took tells what the others will take. Within a repetition
    the largest come first, so that several at a time end together.
    """

    def rank(run: ResolvedScenario) -> tuple[bool, int, float]:
        place = places.get(run.key)
        repetition = 0 if place is None else place.repetition
        return run.key not in stored, repetition, -expected_packets(run.scenario)

    return sorted(runs, key=rank)
