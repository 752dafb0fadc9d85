"""Algorithms that watch the RTT: what they leave in the queue, how they grow without one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dumbbell.theory import responses
from fidelity import measures, oracles
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import flow, scenario


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _vegas()
    yield from _yeah()
    yield from _illinois()
    yield from _compound()


def _vegas() -> Iterator[Check]:
    oracle = (
        "alpha to beta of the flow's segments (Brakmo and Peterson 1995), and the one being sent"
    )
    for rate, rtt in (("10mbit", "40ms"), ("100mbit", "10ms"), ("1gbit", "4ms")):
        network = {"rate": rate, "rtt": rtt, "queue": "100p"}
        yield Check(
            name=f"queue of one Vegas flow, {rate}, {rtt}",
            oracle=oracle,
            scenarios=(scenario("60s", network, flow("vegas")),),
            expected=4.5,
            measure=measures.mean(measures.taken("queue_mean_packets")),
            band=about(1.5),
            why="the law itself: the flow rests anywhere from alpha, 2, until whole segments "
            "exceed beta, 4, so below 5",
            unit="packets",
        )
    network = {"rate": "1gbit", "rtt": "4ms", "queue": "100p"}
    levels = {"alpha": 20, "beta": 22}
    yield Check(
        name="queue of one Vegas flow, alpha 20, beta 22",
        oracle=oracle,
        scenarios=(scenario("60s", network, flow("vegas", parameters=levels)),),
        expected=21.5,
        measure=measures.mean(measures.taken("queue_mean_packets")),
        band=about(1.7),
        why="the law itself; and because it divides by the smallest RTT, 19 next to the path's 333 "
        "count as 20",
        unit="packets",
    )


YEAH_QUEUE: Final = 80


def _yeah() -> Iterator[Check]:
    for rate, rtt, path in (("100mbit", "100ms", 833), ("1gbit", "40ms", 3333)):
        growth = (path + YEAH_QUEUE) / 100
        network = {"rate": rate, "rtt": rtt, "queue": f"{path}p"}
        yield Check(
            name=f"largest queue of one YeAH flow, {rate}, {rtt}",
            oracle="80 packets, which the flow then gives up (Baiocchi et al. 2007); the window "
            "grows by 1/100 per round trip for one until the sender learns of them, one in which "
            "all RTTs show them, and up to one that had begun before",
            scenarios=(scenario("60s", network, flow("yeah")),),
            expected=YEAH_QUEUE + 1 + 2.5 * growth,
            measure=measures.mean(measures.taken("queue_max_packets", measures.since(30))),
            band=about(growth + 1, growth / 2 + 1),
            why="the last of these three lasts from no to a whole round trip; the value is lower "
            "if samples miss the peak",
            unit="packets",
        )


def _periodic(seconds: int, segs: int, algorithm: str) -> tuple[Table, ...]:
    """Return a path that loses every so manieth packet and never makes one wait."""
    drops = [{"flow": "only", "number": segs * n} for n in range(1, 401)]
    network = {
        "rate": "100gbit",
        "rtt": "10ms",
        "queue": "1bdp",
        "loss": [{"place": "receiver", "drops": drops}],
    }
    return (scenario(f"{seconds}s", network, flow(algorithm, label="only")),)


def _illinois() -> Iterator[Check]:
    yield Check(
        name="window if each 10,000th packet is lost, illinois",
        oracle="√(α(1+β)/(2(1-β)p)) with α = 10 and 7/8 of the window kept, as nothing waits (Liu "
        "et al. 2006); the ACK that repairs a hole counts with all that it covers, so the window "
        "also grows for the round trip of recovery (Linux counts what an ACK covers, not what it "
        "newly delivers)",
        scenarios=_periodic(40, 10_000, "illinois"),
        expected=responses.aimd(1e-4, 10, 0.875),
        measure=measures.mean(measures.window_segs),
        band=within(0.05),
        why="an epoch is 11 round trips, and growth by an ACK is rounded down to whole segments",
        unit="segments",
    )


def _compound_window(p: float) -> float:
    """Growth by W^0.75 / 8 per round trip, and halving (fact sheet 7.3)."""
    return float(0.255 / p**0.8)


def _compound() -> Iterator[Check]:
    for segs, seconds in ((10_000, 100), (100_000, 60), (1_000_000, 30)):
        p = 1 / segs
        window = _compound_window(p)
        yield Check(
            name=f"window if each {segs:,}th packet is lost, compound",
            oracle="0.255/p^0.8: growth by w^0.75/8 per round trip, and half of the window kept "
            "(Tan et al. 2006; fact sheet 7.3), with a round trip of recovery",
            scenarios=_periodic(seconds, segs, "compound"),
            expected=oracles.with_recovery(window, p),
            measure=measures.mean(measures.window_segs),
            band=within(1.5 * p * window + 0.01, 0.02),
            why="growth comes at the end of round trips, and the first one after a loss has no "
            "result yet: 1.5 of the epoch's round trips",
            unit="segments",
        )
