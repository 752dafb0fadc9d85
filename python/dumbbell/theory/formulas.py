"""Closed forms: functions of plain numbers, named in the ``arithmetic`` checks of claims."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dumbbell.base.errors import InputError, listed, unknown
from dumbbell.base.units import PACKET_BITS
from dumbbell.theory import expressions, fluid, responses


def bdp_packets(rate_mbit: float, rtt_ms: float, packet_bytes: float = 1500) -> float:
    """Return the bandwidth-delay product in packets."""
    return rate_mbit * rtt_ms * 1000 / (8 * packet_bytes)


def queue_packets(rate_mbit: float, rtt_ms: float, queue_bdp: float) -> float:
    """Return how many packets a queue of a share of the bandwidth-delay product holds."""
    return queue_bdp * bdp_packets(rate_mbit, rtt_ms)


def window_goodput_mbit(window: float, rtt_ms: float, payload_bytes: float = 1448) -> float:
    """Return the payload rate of a window that is sent once per round trip."""
    return window * payload_bytes * 8 / (rtt_ms * 1000)


def refill_rtts(bdp: float, kept: float = 0.5, segs_per_ack: float = 2) -> float:
    """Return how many round trips standard TCP needs to regain what a loss took.

    With delayed ACKs and ACK counting the window grows by 1/`segs_per_ack` per round trip.
    """
    return (1 - kept) * bdp * segs_per_ack


def refill_s(bdp: float, rtt_ms: float, kept: float = 0.5, segs_per_ack: float = 2) -> float:
    """Return how long standard TCP needs to regain what a loss took, in seconds."""
    return refill_rtts(bdp, kept, segs_per_ack) * rtt_ms / 1000


def sawtooth_utilisation(queue_bdp: float, kept: float = 0.5) -> float:
    """Return the utilisation of a single or of synchronised AIMD flows.

    Linear growth from `kept` times the peak; the peak fills the bandwidth-delay product (here 1)
    and the queue.
    """
    peak = 1 + queue_bdp
    if kept * peak >= 1:
        return 1.0
    return (1 - kept**2) * peak**2 / (peak**2 + 1 - 2 * kept * peak)


def exponential_utilisation(queue_bdp: float, kept: float = 0.875) -> float:
    """Return the utilisation of flows that grow by a share of the window, as Scalable TCP."""
    peak = 1 + queue_bdp
    if kept * peak >= 1:
        return 1.0
    return (1 - kept) * peak / (math.log(1 / (kept * peak)) + peak - 1)


def recovery_rtts(kept: float = 0.875, increase: float = 0.01) -> float:
    """Return the round trips in which Scalable TCP regains what a loss took."""
    return math.log(1 / kept) / increase


def events_to_fairness(kept: float, factor: float = 5.0) -> float:
    """Return after how many joint backoffs the difference of two AIMD windows is 1/`factor`."""
    return math.log(factor) / math.log(1 / kept)


def ewma_floor_s(window_s: float, share: float = 0.8) -> float:
    """Return when the moving average of a constant rate from 0 reaches a share of it."""
    return -math.log(1 - share) * window_s


def fast_backlog_packets(flows: float, alpha_packets: float) -> float:
    """Return what FAST flows keep in the queue in equilibrium."""
    return flows * alpha_packets


def fast_throughput_mbit(alpha_packets: float, queueing_ms: float) -> float:
    """Return the rate of a FAST flow in equilibrium: its backlog per queueing delay."""
    return alpha_packets * PACKET_BITS / 1000 / queueing_ms


def efficiency(total_mbit: float, rate_mbit: float, flows: float = 1) -> float:
    """Return E = Q/Q_opt of flows that achieve a total where the bottleneck allows a rate.

    Mani and Mbarek, Section 2.3: Q is the mean rate of the flows, Q_opt what is ideal for each.
    """
    mean_mbit, optimum_mbit = total_mbit / flows, rate_mbit / flows
    return mean_mbit / optimum_mbit


def performance(efficiency: float, fairness: float, weight: float) -> float:
    """Return the weighted sum of efficiency and fairness (Mani and Mbarek, Section 2.5)."""
    return weight * efficiency + (1 - weight) * fairness


def jain(rates: Sequence[float]) -> float:
    """Return Jain's fairness index of some rates, not all 0 (Jain, Chiu and Hawe 1984)."""
    return sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))


def jain_index(one: float, other: float) -> float:
    """Return Jain's fairness index of two rates."""
    return jain((one, other))


def shorten_leith_ratio(
    rtt_1_ms: float, rtt_2_ms: float, sync_1: float = 1.0, sync_2: float = 1.0
) -> float:
    """Return the throughput ratio of two standard flows (Li et al., equation 4).

    The mean window is alpha/(lambda (1 - beta)) with a growth alpha per *second* of 1/T. So the
    throughput of each flow is proportional to 1/(lambda T^2), with T its mean RTT including the
    queue.
    """
    return (sync_2 / sync_1) * (rtt_2_ms / rtt_1_ms) ** 2


def synchronised_ratio(
    algorithm: str, rate_mbit: float, rtt_ms: float, queue_bdp: float
) -> float | None:
    """Return the throughput ratio of two flows in the fluid model of joint backoff.

    The average over five starts of flow 2 between two losses of flow 1; smaller over larger.
    """
    law = fluid.LAWS.get(family(algorithm))
    if law is None:
        return None
    path = fluid.Path(bdp_packets(rate_mbit, rtt_ms), rtt_ms / 1000, queue_bdp)
    return _synchronised_ratio(law, path)


@functools.lru_cache(maxsize=1024)
def _synchronised_ratio(law: Callable[[], fluid.Law], path: fluid.Path) -> float:
    ratios = [
        fluid.synchronised(law, path, phase=phase).ratio for phase in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    return sum(min(ratio, 1 / ratio) for ratio in ratios) / len(ratios)


def scalable_ratio_kept(ratio: float, bdp: float, rtt_ms: float, queue_bdp: float) -> float:
    """Return how much of the window ratio of two Scalable flows is left after 100 joint backoffs.

    Multiplicative increase and decrease scale both windows equally, so it is all of it.
    """
    path = fluid.Path(bdp, rtt_ms / 1000, queue_bdp)
    outcome = fluid.synchronised(fluid.Scalable, path, window_2=ratio * bdp, slow_start=False)
    return outcome.ratios[100] / outcome.ratios[0]


def family(algorithm: str) -> str:
    """Return an algorithm's name without its preset."""
    return algorithm.partition("@")[0]


FORMULAS: Final[Mapping[str, Callable[..., float]]] = {
    form.__name__: form
    for form in (
        bdp_packets,
        queue_packets,
        window_goodput_mbit,
        refill_rtts,
        refill_s,
        sawtooth_utilisation,
        exponential_utilisation,
        recovery_rtts,
        events_to_fairness,
        ewma_floor_s,
        fast_backlog_packets,
        fast_throughput_mbit,
        responses.highspeed_increase,
        responses.highspeed_cut,
        efficiency,
        performance,
        jain_index,
        shorten_leith_ratio,
        scalable_ratio_kept,
    )
}


def formula(name: str) -> Callable[..., float]:
    """Return a closed form; an unknown name is an InputError."""
    if name not in FORMULAS:
        raise unknown("formula", name, FORMULAS)
    return FORMULAS[name]


def check(text: str) -> None:
    """Raise InputError unless a text names a closed form, or is an expression itself."""
    if expressions.is_name(text):
        formula(text)
    else:
        expressions.parse(text)


def evaluate(name: str, args: Mapping[str, float]) -> float:
    """Evaluate a closed form or an expression; wrong arguments are an InputError."""
    if not expressions.is_name(name):
        return expressions.parse(name).value(args)
    form = formula(name)
    parameters = inspect.signature(form).parameters
    for arg in args:
        if arg not in parameters:
            raise unknown(f"argument of {name}", arg, parameters).at(key="args")
    missing = [
        parameter
        for parameter, described in parameters.items()
        if parameter not in args and described.default is inspect.Parameter.empty
    ]
    if missing:
        raise InputError(f"{name} needs more arguments", key="args", valid=listed(missing))
    return float(form(**args))
