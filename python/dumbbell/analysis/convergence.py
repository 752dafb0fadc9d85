"""The 80 % convergence time of a flow that starts beside another, in both of Li's definitions.

Li, Leith and Shorten 2007, equation 3: the short-term throughput is an exponentially weighted
moving average. Its window 1/lambda is proportional to the bandwidth-delay product. As printed the
integral lacks the factor lambda; with it, the average of a constant rate tends to that rate.

Section IV-A calls a flow converged when its short-term throughput reaches 80 % of its own
long-term average; the caption of Fig. 11 speaks of a fairness ratio of 80 % between the flows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from dumbbell.analysis.window import Counters, Sampled, Times, Values, Window
from dumbbell.scenario import facts
from dumbbell.study.model import Convergence as Rules
from dumbbell.units import NS_PER_S


@dataclass(frozen=True)
class Convergence:
    """How a late flow came to its share; times are None if it never did.

    Attributes
    ----------
    own_s
        From its start until its short-term throughput reached the share of its own average.
    fairness_s
        From its start until its short-term throughput reached the share of the other flow's.
    diverged
        Whether the ratio of the two short-term throughputs was lost again after `fairness_s`.
    """

    own_s: float | None
    fairness_s: float | None
    diverged: bool


def window_ns(scenario: Mapping[str, Any], rules: Rules) -> int:
    """Return the window of the moving average, 1/lambda."""
    rtt_ns = max(facts.base_rtt_ns(scenario, flow) for flow in scenario["flows"])
    packet_bits: int = 8 * max(flow["packet_bytes"] for flow in scenario["flows"])
    bdp_packets = (facts.bottleneck_rate_bps(scenario) or 0) * rtt_ns / NS_PER_S / packet_bits
    return max(int(rules.window_minimum), round(rules.window_per_packet * bdp_packets))


def short_term(counters: Counters, start_ns: int, window: int) -> tuple[Times, Values]:
    """Return the moving average of a flow's rate in segments/s, from its start at 0 on."""
    later = counters.time_ns > start_ns
    times = np.concatenate(([start_ns], counters.time_ns[later]))
    sent = np.concatenate(([0.0], counters.columns["sent_segs"][later]))
    steps_s = np.diff(times) / NS_PER_S
    rates = pl.Series([0.0, *(np.diff(sent) / steps_s)])
    weight = -math.expm1(-float(np.median(steps_s)) * NS_PER_S / window)
    return times, rates.ewm_mean(alpha=weight, adjust=False).to_numpy()


def convergence(sampled: Sampled, rules: Rules) -> Convergence | None:
    """Judge the later of two flows; None where samples are too coarse or flows are not two."""
    if len(sampled.flows) != 2 or sampled.window is None:
        return None
    counters = [found for found in sampled.flow_counters if found is not None]
    if len(counters) != 2:
        return None
    window = window_ns(sampled.scenario, rules)
    interval_ns = sampled.scenario["record"]["interval_ns"]
    if interval_ns > window / 2:
        return None
    old, new = sorted(range(2), key=lambda index: sampled.flows[index]["start_ns"])
    start_ns = sampled.flows[new]["start_ns"]
    times, new_rate = short_term(counters[new], start_ns, window)
    _, old_rate = short_term(counters[old], sampled.flows[old]["start_ns"], window)
    # Both end with the same sample; what the older flow did before is left out.
    inside = (times > start_ns) & (times <= sampled.window.end_ns)
    old_rate = old_rate[-len(times) :][inside]
    times, new_rate = times[inside], new_rate[inside]

    own = _own_average(sampled.window, counters[new])
    fair = _first(new_rate >= rules.share * old_rate)
    return Convergence(
        own_s=_after(times, start_ns, _first(new_rate >= rules.share * own) if own else None),
        fairness_s=_after(times, start_ns, fair),
        diverged=fair is not None and _lost(new_rate[fair:], old_rate[fair:], rules.lost),
    )


def _own_average(window: Window, counters: Counters) -> float:
    return counters.between("sent_segs", window.start_ns, window.end_ns) / window.seconds


def _first(condition: np.ndarray[Any, np.dtype[np.bool_]]) -> int | None:
    return int(condition.argmax()) if condition.any() else None


def _after(times: np.ndarray[Any, np.dtype[np.int64]], start: int, at: int | None) -> float | None:
    return None if at is None else float(times[at] - start) / NS_PER_S


def _lost(one: Values, other: Values, share: float) -> bool:
    return bool((np.minimum(one, other) < share * np.maximum(one, other)).any())
