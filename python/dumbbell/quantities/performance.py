"""Efficiency and performance as Mani and Mbarek 2012 define them.

Section 2.3 defines a flow's average rate q_i, the mean Q of all n flows, and the efficiency E =
Q/Q_opt. Q_opt is the share that each flow has in an ideal network. Section 2.4: the fairness F is
Jain's index of x_i/x_opt. All x_opt are equal, so F is also Jain's index of the x_i. Section 2.5:
the performance is alpha E + (1 - alpha) F; Fig. 6 has alphas of 0.8, 0.5 and 0.2.

Interpretation: q_i is goodput. Throughput also counts dropped packets and retransmissions, so a
wasteful algorithm could seem more efficient than an ideal network. Q_opt is therefore each flow's
part of the payload that the bottleneck carries when it is never idle.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dumbbell.quantities.fairness import jain
from dumbbell.quantities.rates import goodputs
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView
from dumbbell.scenario import facts
from dumbbell.theory import formulas


@of_flows("efficiency", best=Best.HIGHEST, percent=True)
def efficiency(view: FlowsView) -> float | None:
    """Flows' mean goodput, divided by the share of each in an ideal bottleneck's payload."""
    scenario = view.run.scenario
    rate_bps = facts.bottleneck_rate_bps(scenario, view.span.start_ns, view.span.end_ns)
    number = facts.bottleneck(scenario)
    if not rate_bps or number is None:
        return None
    # Flows of the other direction, or of another part of a parking lot, do not pass it.
    over_it = (flow for flow in view.flows if facts.passes(scenario, flow.first, number))
    view = replace(view, flows=tuple(over_it))
    if not (rates := goodputs(view)):
        return None
    overhead_bytes = facts.sampled_links(scenario)[number].overhead_bytes
    # Headers pass an ideal bottleneck, too, so only this share of its rate is goodput.
    payload = np.mean(
        [
            (flow.first.packet_bytes - flow.first.header_bytes)
            / (flow.first.packet_bytes + overhead_bytes)
            for flow in view.flows
        ]
    )
    return formulas.efficiency(sum(rates), float(rate_bps * payload) / 1e6, len(rates))


def _performance(view: FlowsView, weight: float) -> float | None:
    efficient, fair = efficiency(view), jain(view)
    if efficient is None or fair is None:
        return None
    return formulas.performance(efficient, fair, weight)


@of_flows("performance (efficient network)", best=Best.HIGHEST, index=True)
def performance_efficient(view: FlowsView) -> float | None:
    """0.8 efficiency + 0.2 Jain's index."""
    return _performance(view, 0.8)


@of_flows("performance (balanced network)", best=Best.HIGHEST, index=True)
def performance_balanced(view: FlowsView) -> float | None:
    """0.5 efficiency + 0.5 Jain's index."""
    return _performance(view, 0.5)


@of_flows("performance (fair network)", best=Best.HIGHEST, index=True)
def performance_fair(view: FlowsView) -> float | None:
    """0.2 efficiency + 0.8 Jain's index."""
    return _performance(view, 0.2)
