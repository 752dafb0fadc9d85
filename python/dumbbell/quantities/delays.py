"""Round-trip times and delays in queues.

For the whole run, means use every measured round-trip time and are exact. For a part of the run,
they use the latest round-trip time at each sample, until the flow has ended.
"""

from __future__ import annotations

import numpy as np

from dumbbell.quantities.counters import Values, percentile
from dumbbell.quantities.rates import ratio
from dumbbell.quantities.registry import Best, of_flows, of_queue
from dumbbell.quantities.view import FlowsView, QueueView, known
from dumbbell.scenario import facts

_US_PER_MS = 1000


def _means_us(view: FlowsView) -> dict[int, float]:
    """Return the mean round-trip time of each connection that has one, by its number."""
    if not view.whole:
        return {number: float(values.mean()) for number, values in view.samples("rtt_us").items()}
    summaries = zip(view.connections, view.summaries, strict=True)
    return {
        number: summary.rtt_mean_us
        for number, summary in summaries
        if summary.rtt_mean_us is not None
    }


@of_flows("RTT", "ms", best=Best.LOWEST)
def rtt_mean_ms(view: FlowsView) -> float | None:
    """Mean round-trip time with queueing; the flows' mean."""
    means = _means_us(view)
    of_flows_ms = [
        # Over connections first, so that a flow of many connections counts once.
        float(np.mean(of_connections)) / _US_PER_MS
        for flow in view.flows
        if (of_connections := [means[number] for number in flow.connections if number in means])
    ]
    return float(np.mean(of_flows_ms)) if of_flows_ms else None


@of_flows("RTT inflation", best=Best.LOWEST)
def rtt_inflation(view: FlowsView) -> float | None:
    """Mean RTT divided by that of the empty path at the run's beginning; the connections' mean.

    The RTT of an empty path is propagation only, so serialisation counts as inflation.
    """
    ratios = []
    for number, mean_us in _means_us(view).items():
        base_ns = facts.base_rtt_ns(view.run.scenario, view.run.scenario.flows[number])
        if base_ns:
            ratios.append(1000 * mean_us / base_ns)
    return sum(ratios) / len(ratios) if ratios else None


def _rtts_ms(view: FlowsView) -> Values:
    """Return the round-trip times at the samples of all flows."""
    samples = view.samples("rtt_us").values()
    return np.concatenate([np.empty(0), *samples]) / _US_PER_MS


@of_flows("smallest RTT", "ms")
def rtt_min_ms(view: FlowsView) -> float | None:
    """Smallest round-trip time; for a part of a run, the smallest that was sampled."""
    if view.whole:
        smallest_us = known([flow.rtt_min_us for flow in view.summaries])
        return min(smallest_us) / _US_PER_MS if smallest_us else None
    values = view.once(_rtts_ms)
    return float(values.min()) if values.size else None


@of_flows("largest RTT", "ms", best=Best.LOWEST)
def rtt_max_ms(view: FlowsView) -> float | None:
    """Largest round-trip time; for a part of a run, the largest that was sampled."""
    if view.whole:
        largest_us = known([flow.rtt_max_us for flow in view.summaries])
        return max(largest_us) / _US_PER_MS if largest_us else None
    values = view.once(_rtts_ms)
    return float(values.max()) if values.size else None


@of_flows("median RTT", "ms", best=Best.LOWEST)
def rtt_p50_ms(view: FlowsView) -> float | None:
    """Median of the round-trip times at the samples of all flows (nearest rank)."""
    return percentile(view.once(_rtts_ms), 500)


@of_flows("95 % of RTTs", "ms", best=Best.LOWEST)
def rtt_p95_ms(view: FlowsView) -> float | None:
    """95 % of the round-trip times at the samples are no longer; needs 200 samples."""
    return percentile(view.once(_rtts_ms), 950)


@of_flows("99 % of RTTs", "ms", best=Best.LOWEST)
def rtt_p99_ms(view: FlowsView) -> float | None:
    """99 % of the round-trip times at the samples are no longer; needs 1000 samples."""
    return percentile(view.once(_rtts_ms), 990)


def _queueing_ms(view: QueueView) -> Values:
    """Return how long a packet that came at a sample would wait, from the bytes before it.

    They leave at the link's mean rate in the window.
    """
    if not view.rate_bps:
        return np.empty(0)
    return view.samples("backlog_bytes") * (8 * 1000 / view.rate_bps)


@of_queue("queueing delay", "ms", best=Best.LOWEST)
def queueing_delay_mean_ms(view: QueueView) -> float | None:
    """Mean time that the backlog needs to leave at the link's mean rate."""
    if view.whole:
        waiting_bits = 8 * view.summary.waiting_bytes_mean
        return ratio(1000 * waiting_bits, view.rate_bps)
    values = _queueing_ms(view)
    return float(values.mean()) if values.size else None


@of_queue("median queueing delay", "ms", best=Best.LOWEST)
def queueing_delay_p50_ms(view: QueueView) -> float | None:
    """Median of the queueing delays at the samples (nearest rank)."""
    return percentile(_queueing_ms(view), 500)


@of_queue("95 % of queueing delays", "ms", best=Best.LOWEST)
def queueing_delay_p95_ms(view: QueueView) -> float | None:
    """95 % of the queueing delays at the samples are no longer; needs 200 samples."""
    return percentile(_queueing_ms(view), 950)


@of_queue("99 % of queueing delays", "ms", best=Best.LOWEST)
def queueing_delay_p99_ms(view: QueueView) -> float | None:
    """99 % of the queueing delays at the samples are no longer; needs 1000 samples."""
    return percentile(_queueing_ms(view), 990)
