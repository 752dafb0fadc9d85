"""Sharing of the bottleneck among flows."""

from __future__ import annotations

from collections.abc import Callable

from dumbbell.quantities.rates import goodputs, ratio, throughputs
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.spans import Span
from dumbbell.quantities.view import FlowsView
from dumbbell.theory import formulas


@of_flows("fairness (Jain)", best=Best.HIGHEST, several=True, index=True)
def jain(view: FlowsView) -> float | None:
    """Jain's fairness index of the throughputs of the flows that are on in the window."""
    rates = throughputs(view.on)
    return formulas.jain(rates) if any(rates) else None


@of_flows("share of the throughput", percent=True)
def share(view: FlowsView) -> float | None:
    """Share of the throughput of all flows that are sampled."""
    return _share(view, throughputs)


@of_flows("share of the goodput", percent=True)
def goodput_share(view: FlowsView) -> float | None:
    """Share of the goodput of all flows that are sampled."""
    return _share(view, goodputs)


def _share(view: FlowsView, rates: Callable[[FlowsView], list[float]]) -> float | None:
    rates_of_flows = rates(view)
    return ratio(sum(rates_of_flows), sum(rates(view.everyone))) if rates_of_flows else None


@of_flows("largest share", best=Best.LOWEST, percent=True, several=True)
def share_max(view: FlowsView) -> float | None:
    """Largest share that one flow has in the throughput of all these flows."""
    rates = throughputs(view)
    return ratio(max(rates, default=None), sum(rates))


@of_flows("throughput ratio of two flows", best=Best.HIGHEST, several=True, index=True)
def ratio_min_max(view: FlowsView) -> float | None:
    """Smaller throughput divided by the larger, of the two flows that are on in the window."""
    rates = throughputs(view.on)
    return ratio(min(rates), max(rates)) if len(rates) == 2 else None


@of_flows("leader kept", several=True, yes_or_no=True)
def leader_kept(view: FlowsView) -> float | None:
    """1 if the same flow sent most in both halves of the window, else 0."""
    middle_ns = (view.span.start_ns + view.span.end_ns) // 2
    leaders = []
    for half in (Span(view.span.start_ns, middle_ns), Span(middle_ns, view.span.end_ns)):
        sent = throughputs(view.within(half))
        if len(sent) < 2 or not any(sent):
            return None
        leaders.append(sent.index(max(sent)))
    return float(leaders[0] == leaders[1])
