"""Rates of flows and of the bottleneck.

Throughput counts IP packets, as a link does: a bottleneck of 250 Mbit/s carries at most 250 Mbit/s
of it. Goodput counts payload that has arrived for the first time.
"""

from __future__ import annotations

from dumbbell.quantities.registry import Best, of_flows, of_queue
from dumbbell.quantities.view import FlowsView, QueueView


def mbit_per_s(size_bytes: float, seconds: float) -> float:
    """Return a rate in Mbit/s."""
    return size_bytes * (8 / 1e6 / seconds)


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """Divide; None where there is nothing to divide, or to divide by."""
    if numerator is None or not denominator:
        return None
    return numerator / denominator


def throughputs(view: FlowsView) -> list[float]:
    """Return the throughput of each flow in Mbit/s, headers included; nothing if one is unknown."""
    payloads, segs = view.grown("sent_bytes"), view.grown("sent_segs")
    return [
        mbit_per_s(payload + sent * flow.first.header_bytes, view.span.seconds)
        # `grown` is empty if one of the flows is unknown, and so is the result.
        for flow, payload, sent in zip(view.flows, payloads, segs, strict=False)
    ]


def goodputs(view: FlowsView) -> list[float]:
    """Return the goodput of each flow in Mbit/s; nothing if one is unknown."""
    return [mbit_per_s(grown, view.span.seconds) for grown in view.grown("received_bytes")]


@of_flows("goodput", "Mbit/s", best=Best.HIGHEST)
def goodput_mbit_per_s(view: FlowsView) -> float | None:
    """Payload that arrived for the first time; several flows together."""
    rates = goodputs(view)
    return sum(rates) if rates else None


@of_flows("throughput", "Mbit/s", best=Best.HIGHEST)
def throughput_mbit_per_s(view: FlowsView) -> float | None:
    """IP packets sent, with retransmissions; several flows together."""
    rates = throughputs(view)
    return sum(rates) if rates else None


@of_flows("goodput per flow", "Mbit/s", best=Best.HIGHEST)
def goodput_mean_mbit_per_s(view: FlowsView) -> float | None:
    """Goodput, averaged over the flows that are on in the window."""
    rates = goodputs(view.on)
    return sum(rates) / len(rates) if rates else None


@of_flows("goodput of the fastest flow", "Mbit/s", several=True)
def goodput_fastest_mbit_per_s(view: FlowsView) -> float | None:
    """Largest goodput of a flow that is on in the window."""
    return max(goodputs(view.on), default=None)


@of_flows("goodput of the slowest flow", "Mbit/s", best=Best.HIGHEST, several=True)
def goodput_slowest_mbit_per_s(view: FlowsView) -> float | None:
    """Smallest goodput of a flow that is on in the window."""
    return min(goodputs(view.on), default=None)


@of_flows("goodput, fastest less slowest flow", "Mbit/s", best=Best.LOWEST, several=True)
def goodput_apart_mbit_per_s(view: FlowsView) -> float | None:
    """Goodput of the fastest flow minus that of the slowest; only if several flows are on."""
    rates = goodputs(view.on)
    return max(rates) - min(rates) if len(rates) > 1 else None


def _life_goodputs(view: FlowsView) -> list[float]:
    """Return the goodput of each flow over its life, as far as that is in the window."""
    on = view.on
    lives = [flow.life.inside(view.span) for flow in on.flows]
    return [
        mbit_per_s(grown, life.seconds)
        for life, grown in zip(lives, on.grown("received_bytes"), strict=False)
        if life is not None
    ]


@of_flows("life-time goodput", "Mbit/s", best=Best.HIGHEST)
def goodput_life_mbit_per_s(view: FlowsView) -> float | None:
    """Goodput from a flow's start to its end, as far as that is in the window; the flows' mean."""
    rates = _life_goodputs(view)
    return sum(rates) / len(rates) if rates else None


@of_flows("life-time goodput of the fastest flow", "Mbit/s", several=True)
def goodput_life_fastest_mbit_per_s(view: FlowsView) -> float | None:
    """Largest of the flows' goodputs, each from its start to its end."""
    return max(_life_goodputs(view), default=None)


@of_flows("life-time goodput of the slowest flow", "Mbit/s", best=Best.HIGHEST, several=True)
def goodput_life_slowest_mbit_per_s(view: FlowsView) -> float | None:
    """Smallest of the flows' goodputs, each from its start to its end."""
    return min(_life_goodputs(view), default=None)


@of_queue("utilisation", best=Best.HIGHEST, percent=True)
def utilisation(view: QueueView) -> float | None:
    """Rate at which packets left the link, as a share of the link's rate; at most 100 %.

    A packet counts when its last bit leaves: one that is being sent as the window begins counts
    whole. A token bucket sends its burst beyond its rate. Neither uses a link more than fully.
    """
    departed_bytes = view.grown("departed_bytes")
    if departed_bytes is None:
        return None
    used = ratio(8 * departed_bytes / view.span.seconds, view.rate_bps)
    return None if used is None else min(1.0, used)
