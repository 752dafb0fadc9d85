"""One-way delays, jitter and losses of datagrams.

Without brackets, they cover all sampled flows of datagrams. TCP flows have none. The one-way delay
is the time from when a datagram leaves its host to when it reaches the other host. For jitter, each
datagram's delay is compared with that of the datagram that arrived before it. Jitter is the mean
absolute difference (RFC 3393). The estimate of RFC 3550 is a moving average of these differences.
For a part of a run, percentiles use only the periods of `record.delays` that lie completely inside
it. They are accurate to 0.5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np

from dumbbell.contract.summary import DelaySummary
from dumbbell.quantities import histograms
from dumbbell.quantities.counters import Counters
from dumbbell.quantities.histograms import Histogram
from dumbbell.quantities.rates import ratio
from dumbbell.quantities.registry import DELAYS, Best, of_flows
from dumbbell.quantities.view import FlowsView, known

_NS_PER_MS: Final = 10**6
_of_delays: Final = partial(
    of_flows, unit="ms", best=Best.LOWEST, datagrams=True, needs=DELAYS, whole_without=True
)


def _delays(view: FlowsView) -> list[DelaySummary]:
    """Return the delays in the summary of the run, of each flow that has some."""
    return [flow.delay for flow in view.summaries if flow.delay is not None]


def _sampled(view: FlowsView) -> Iterator[Counters]:
    for flow, counters in view.counters:
        if flow.is_datagrams:
            yield counters


def _grown_ms(view: FlowsView, name: str) -> float | None:
    """Return by how much a sum of delays grew per datagram that arrived; the flows' mean."""
    start_ns, end_ns = view.span.start_ns, view.span.end_ns
    means = known(
        [
            ratio(
                counters.between(name, start_ns, end_ns),
                counters.between("received_packets", start_ns, end_ns),
            )
            for counters in _sampled(view)
        ]
    )
    return float(np.mean(means)) / _NS_PER_MS if means else None


def _mean_ms(values_ns: Sequence[float]) -> float | None:
    return float(np.mean(values_ns)) / _NS_PER_MS if values_ns else None


@of_flows("one-way delay", "ms", best=Best.LOWEST, datagrams=True)
def one_way_delay_mean_ms(view: FlowsView) -> float | None:
    """Mean one-way delay of datagrams; the flows' mean."""
    if view.whole:
        return _mean_ms([delays.mean_ns for delays in _delays(view)])
    return _grown_ms(view, "delay_sum_ns")


def _histogram(view: FlowsView) -> Histogram | None:
    connections = [flow.connections[0] for flow in view.flows if flow.is_datagrams]
    return histograms.on_the_way(view.run, view.span, connections) if connections else None


def _of_histogram(view: FlowsView, value: Callable[[Histogram], float | None]) -> float | None:
    histogram = view.once(_histogram)
    return None if histogram is None else value(histogram)


@_of_delays("median one-way delay")
def one_way_delay_p50_ms(view: FlowsView) -> float | None:
    """Median of the one-way delays of datagrams, by nearest rank."""
    return _of_histogram(view, lambda histogram: histogram.percentile_ms(500))


@_of_delays("95 % of one-way delays")
def one_way_delay_p95_ms(view: FlowsView) -> float | None:
    """95 % of the datagrams that arrived took no longer."""
    return _of_histogram(view, lambda histogram: histogram.percentile_ms(950))


@_of_delays("99 % of one-way delays")
def one_way_delay_p99_ms(view: FlowsView) -> float | None:
    """99 % of the datagrams that arrived took no longer."""
    return _of_histogram(view, lambda histogram: histogram.percentile_ms(990))


@_of_delays("largest one-way delay")
def one_way_delay_max_ms(view: FlowsView) -> float | None:
    """Largest one-way delay of a datagram; exact for the whole run, else within 0.5 %."""
    if view.whole:
        largest_ns = [delays.max_ns for delays in _delays(view)]
        return max(largest_ns) / _NS_PER_MS if largest_ns else None
    return _of_histogram(view, Histogram.max_ms)


@of_flows("jitter", "ms", best=Best.LOWEST, datagrams=True)
def jitter_ms(view: FlowsView) -> float | None:
    """Mean difference of the one-way delays of two successive datagrams; the flows' mean."""
    if view.whole:
        return _mean_ms(known([delays.jitter_ns for delays in _delays(view)]))
    return _grown_ms(view, "variation_sum_ns")


@of_flows("datagrams lost", best=Best.LOWEST, percent=True, datagrams=True)
def datagrams_lost_share(view: FlowsView) -> float | None:
    """Lost datagrams, in queues or at random, as a share of those that arrived or were lost."""
    if view.whole:
        flows = [counted for counted in view.summaries if counted.algorithm is None]
        lost_packets = sum(counted.dropped_packets + counted.lost_packets for counted in flows)
        return ratio(
            lost_packets, lost_packets + sum(counted.received_packets for counted in flows)
        )
    start_ns, end_ns = view.span.start_ns, view.span.end_ns
    sampled = list(_sampled(view))
    lost = sum(counted.between("lost_packets", start_ns, end_ns) for counted in sampled)
    arrived = sum(counted.between("received_packets", start_ns, end_ns) for counted in sampled)
    return ratio(lost, lost + arrived)
