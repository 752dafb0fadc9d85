"""The 80 % convergence time of a flow that starts next to another, in both of Li's definitions.

Li, Leith and Shorten 2007, equation 3: the short-term throughput is an exponentially weighted
moving average. Its window 1/lambda is proportional to the bandwidth-delay product. The printed
integral omits the factor lambda; with it, the average of a constant rate tends to that rate.

Section IV-A calls a flow converged when its short-term throughput reaches 80 % of the flow's
long-term average. The caption of Fig. 11 speaks of a fairness ratio of 80 % between the flows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from dumbbell.base.units import NS_PER_S, Duration
from dumbbell.contract.scenario import Scenario
from dumbbell.plan.settings import Settings
from dumbbell.quantities.counters import Counters, Times, Values
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView
from dumbbell.scenario import facts


class Convergence(Settings):
    """Criteria of convergence after the start of a flow.

    The short-term throughput is an exponentially weighted moving average whose window (the
    inverse of lambda) grows with the bandwidth-delay product.
    """

    table: ClassVar[str] = "convergence"

    share: float = Field(0.8, gt=0, lt=1)
    """Share of the goal to reach. The goal is the flow's own average, or the other flow's rate."""

    lost: float = Field(0.4, gt=0, lt=1)
    """Converged flows diverge when the slower one has less than this share of the faster one's
    rate."""

    window_per_packet: Duration = Field(1_500_000, validate_default=False, examples=["1.5ms"])
    """Length of the averaging window for each packet of the bandwidth-delay product."""

    window_minimum: Duration = Field(2_000_000_000, validate_default=False, examples=["2s"])
    """Shortest window."""


@dataclass(frozen=True)
class Course:
    """Convergence of a late flow to its share; times are None if it never converged.

    Attributes
    ----------
    own_s
        From its start until its short-term throughput reached the share of its long-term average.
    fairness_s
        From its start until its short-term throughput reached the share of the other flow's.
    diverged
        True if the ratio of the two short-term throughputs was lost again after `fairness_s`.
    """

    own_s: float | None
    fairness_s: float | None
    diverged: bool


@of_flows("convergence (own average)", "s", best=Best.LOWEST, several=True, settings=Convergence)
def convergence_own_s(view: FlowsView) -> float | None:
    """Time from the later flow's start until it reached a share of its average throughput."""
    course_of_flow = view.once(course)
    return None if course_of_flow is None else course_of_flow.own_s


@of_flows("convergence", "s", best=Best.LOWEST, several=True, settings=Convergence)
def convergence_own_bound_s(view: FlowsView) -> float | None:
    """Time until the later flow reached a share of its average; if never, the window's length."""
    course_of_flow = view.once(course)
    if course_of_flow is None:
        return None
    return view.span.seconds if course_of_flow.own_s is None else course_of_flow.own_s


@of_flows("convergence (fairness)", "s", best=Best.LOWEST, several=True, settings=Convergence)
def convergence_fairness_s(view: FlowsView) -> float | None:
    """Time from the later flow's start until it reached a share of the other's throughput."""
    course_of_flow = view.once(course)
    return None if course_of_flow is None else course_of_flow.fairness_s


@of_flows("convergence to fairness", "s", best=Best.LOWEST, several=True, settings=Convergence)
def convergence_bound_s(view: FlowsView) -> float | None:
    """As `convergence_fairness_s`; the window's length if the flow did not reach the share."""
    course_of_flow = view.once(course)
    if course_of_flow is None:
        return None
    return view.span.seconds if course_of_flow.fairness_s is None else course_of_flow.fairness_s


@of_flows("converged", best=Best.HIGHEST, several=True, settings=Convergence, yes_or_no=True)
def converged_fairness(view: FlowsView) -> float | None:
    """1 if the later flow reached a share of the other's throughput, else 0."""
    course_of_flow = view.once(course)
    return None if course_of_flow is None else float(course_of_flow.fairness_s is not None)


@of_flows("diverged", best=Best.LOWEST, several=True, settings=Convergence, yes_or_no=True)
def diverged(view: FlowsView) -> float | None:
    """1 if the flows became unfair again after they had converged, else 0."""
    course_of_flow = view.once(course)
    return None if course_of_flow is None else float(course_of_flow.diverged)


def window_ns(scenario: Scenario, rules: Convergence) -> int:
    """Return the window of the moving average, 1/lambda."""
    rtt_ns = max(facts.base_rtt_ns(scenario, flow) for flow in scenario.flows)
    packet_bits = 8 * max(flow.packet_bytes for flow in scenario.flows)
    bdp_packets = (facts.bottleneck_rate_bps(scenario) or 0) * rtt_ns / NS_PER_S / packet_bits
    return max(int(rules.window_minimum), round(rules.window_per_packet * bdp_packets))


def short_term(counters: Counters, start_ns: int, window: int) -> tuple[Times, Values]:
    """Return the moving average of a flow's rate in segments/s, from its start at 0 on."""
    later = counters.time_ns > start_ns
    times = np.concatenate(([start_ns], counters.time_ns[later]))
    sent = np.concatenate(([0.0], counters.columns["sent_segs"][later]))
    steps_s = np.diff(times) / NS_PER_S
    # The average starts from rest: a flow that begins has sent nothing yet.
    rates = pl.Series([0.0, *(np.diff(sent) / steps_s)])
    # The weight of one sample in an average with the window 1/lambda: 1 - exp(-dt lambda). `expm1`
    # keeps its digits where samples are close together.
    weight = -math.expm1(-float(np.median(steps_s)) * NS_PER_S / window)
    return times, rates.ewm_mean(alpha=weight, adjust=False).to_numpy()


def course(view: FlowsView) -> Course | None:
    """Judge the later of two flows.

    None where flows are not two, samples are too coarse, or the window ends before it starts.
    """
    rules, scenario = view.run.settings(Convergence), view.run.scenario
    sampled = sorted(
        view.counters, key=lambda flow_with_counters: flow_with_counters[0].life.start_ns
    )
    window, interval_ns = window_ns(scenario, rules), scenario.record.interval_ns
    # Samples further apart than half of the window would leave the average hardly any memory.
    if len(view.flows) != 2 or len(sampled) != 2 or not interval_ns or interval_ns > window / 2:
        return None
    (old, old_counters), (new, new_counters) = sampled
    start_ns = new.life.start_ns
    if not new_counters.samples("sent_segs", start_ns + 1, view.span.end_ns).size:
        return None
    times, new_rate = short_term(new_counters, start_ns, window)
    old_times, old_rate = short_term(old_counters, old.life.start_ns, window)
    inside = (times > start_ns) & (times <= view.span.end_ns)
    times, new_rate = times[inside], new_rate[inside]
    # Each series begins at the start of its flow, so the places of their samples differ.
    old_rate = old_rate[np.searchsorted(old_times, times, side="right") - 1]

    sent_segs = new_counters.between("sent_segs", view.span.start_ns, view.span.end_ns)
    average = sent_segs / view.span.seconds
    fair = _first(new_rate >= rules.share * old_rate)
    # A flow that sent nothing would reach its share of nothing at once.
    reached = _first(new_rate >= rules.share * average) if average else None
    return Course(
        own_s=_after(times, start_ns, reached),
        fairness_s=_after(times, start_ns, fair),
        diverged=fair is not None and _lost(new_rate[fair:], old_rate[fair:], rules.lost),
    )


def _first(condition: np.ndarray[Any, np.dtype[np.bool_]]) -> int | None:
    return int(condition.argmax()) if condition.any() else None


def _after(times: Times, start_ns: int, at: int | None) -> float | None:
    return None if at is None else float(times[at] - start_ns) / NS_PER_S


def _lost(one: Values, other: Values, share: float) -> bool:
    return bool((np.minimum(one, other) < share * np.maximum(one, other)).any())
