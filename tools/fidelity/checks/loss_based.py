"""Algorithms that answer losses otherwise than standard TCP, or delay by chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.engines.result import Run
from dumbbell.theory import responses
from fidelity import measures, oracles
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import EVERY_SEGMENT, flow, scenario, seeds, stack


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _relentless()
    yield from _westwood()
    yield from _hybla()
    yield from _cdg()
    yield from _lp()


PERIODIC: Final = 1e-3


def _lossy(duration: str, rtt: str, losses: int, algorithm: str, **parameters: int) -> Table:
    """Return a flow that loses each 1/p-th packet of its first transmissions."""
    every = round(1 / PERIODIC)
    drops = [{"flow": "only", "number": every * n} for n in range(1, losses + 1)]
    network = {
        "rate": "10gbit",
        "rtt": rtt,
        "queue": "1bdp",
        "loss": [{"place": "receiver", "drops": drops}],
    }
    return scenario(duration, network, flow(algorithm, label="only", parameters=parameters))


def _relentless() -> Iterator[Check]:
    for grows, share, law in (
        (
            0,
            0.5,
            "one of 1/(p w) round trips has no growth, and another regains the loss: w = 1/(2p)",
        ),
        (1, 1.0, "each gains a segment and loses p w: w = 1/p"),
    ):
        yield Check(
            name="window if each 1,000th packet is lost, Relentless"
            + (", recovery counts" if grows else ""),
            oracle=f"Mathis 2009; by round trips: {law}",
            scenarios=(_lossy("40s", "10ms", 5000, "relentless", grow_in_recovery=grows),),
            expected=share / PERIODIC,
            measure=measures.mean(measures.window_segs),
            band=within(0.05),
            why="retransmissions are sent too; successive recoveries last a little longer or "
            "shorter than a round trip",
            unit="segments",
        )


BDP: Final = 100e6 * 0.040 / 8 / 1500


def _westwood() -> Iterator[Check]:
    yield Check(
        name="window after a loss, Westwood+, queue of 3 BDP",
        oracle="bandwidth x smallest RTT (Mascolo et al. 2001), thus the BDP",
        scenarios=(
            scenario(
                "300s",
                {"rate": "100mbit", "rtt": "40ms", "queue": "3bdp"},
                flow("westwood"),
            ),
        ),
        expected=BDP,
        measure=measures.mean(_smallest_window),
        band=within(0.01, 0.04),
        why="the smallest RTT, which includes the packet's own time, is rounded up to 41 ms; "
        "the bandwidth is rounded down to whole bytes per ms",
        unit="segments",
    )
    yield Check(
        name="utilisation, Westwood+, paced, q/D = 0.2",
        oracle="sawtooth that keeps D of D + q, so only recovery leaves the link idle; with half "
        "of the window kept, it would be 0.87",
        scenarios=(
            scenario(
                "300s",
                {"rate": "100mbit", "rtt": "40ms", "queue": "66p"},
                flow("westwood"),
                interval="1s",
                # Unpaced, the window's jump at the end of recovery is a burst of D / 2.
                stack=stack(pacing="fq", **EVERY_SEGMENT),
            ),
        ),
        expected=westwood_utilisation(BDP, 67),
        measure=measures.mean(measures.taken("utilisation")),
        band=about(0.005),
        why="whole packets, and an RTT of 41 ms instead of 40: half of the cost of two round trips "
        "at half the window",
    )


def westwood_utilisation(bdp: float, queue: float) -> float:
    """Return the utilisation of one paced Westwood+ flow whose queue is shorter than the path.

    From the BDP the window grows by a packet per round trip to what path and queue hold, and for
    one more until the loss is known. In recovery it is half of that, and so is the data of the
    round trip in which the window is filled again. So twice the BDP is missed by as much.
    """
    peak = bdp + queue
    carried = (peak**2 - bdp**2) / 2 + peak + 2 * (peak / 2)
    return carried / (carried + 2 * max(0.0, bdp - peak / 2))


def _smallest_window(run: Run) -> float:
    (windows,) = measures.flows_of(run).samples("cwnd_segs").values()
    return float(windows.min())


def _hybla() -> Iterator[Check]:
    fine = {"fraction_bits": 16}
    windows = {
        rho: oracles.with_recovery(responses.aimd(PERIODIC, rho**2, 0.5), PERIODIC)
        for rho in (1, 4)
    }
    yield Check(
        name="window at 100 ms over that at 25 ms, each 1,000th packet lost, Hybla",
        oracle="growth of rho^2 segments per round trip, and half of the window kept: w = rho "
        "√(1.5/p) (Caini and Firrincieli 2004), with a round trip of recovery",
        scenarios=(
            _lossy("400s", "100ms", 1000, "hybla", **fine),
            _lossy("100s", "25ms", 1000, "hybla", **fine),
        ),
        expected=windows[4] / windows[1],
        measure=_ratio,
        band=within(0.05),
        why="whole packets of a window of 37, and of its half",
    )
    yield Check(
        name="window at 100 ms, each 1,000th packet lost, Hybla",
        oracle="the same law: √(1.5 rho^2 / p), rho = 4",
        scenarios=(_lossy("400s", "100ms", 1000, "hybla", **fine),),
        expected=windows[4],
        measure=measures.mean(measures.window_segs),
        band=within(0.05),
        why="while losses are suspected, the window grows as in standard TCP: a quarter of a round "
        "trip",
        unit="segments",
    )


def _ratio(runs: Sequence[Run]) -> float:
    one, other = (measures.window_segs(run) for run in runs)
    return one / other


def _cdg() -> Iterator[Check]:
    table = scenario(
        "600s",
        {"rate": "100mbit", "rtt": "40ms", "queue": "2bdp"},
        flow("cdg"),
        interval="100ms",
    )
    yield Check(
        name="queue of one CDG flow",
        oracle="probability of backoff by the sum of 8 gradients, each the time of a packet; then "
        "0.7 of the window is kept (Hayes and Armitage 2011)",
        scenarios=seeds(3, table),
        expected=cdg_queue(BDP, 120e-6),
        measure=measures.mean(measures.taken("queue_mean_packets")),
        band=within(0.35),
        why="the peaks of some 400 backoffs vary by as much as their mean, so two standard errors "
        "of the mean of their squares are 20 %; and the packet being sent",
        unit="packets",
    )
    yield Check(
        name="largest queue of one CDG flow, over its limit of 2 BDP",
        oracle="none of 400 backoffs comes so late: their probability is 4 % in each round trip, "
        "and each round trip adds a packet",
        scenarios=seeds(3, table),
        expected=0.25,
        measure=_queue_over_limit,
        band=about(0.25, 0.5),
        why="a bound: 1 is drop-tail, where standard TCP ends",
    )


def _lp() -> Iterator[Check]:
    yield Check(
        name="share of a TCP-LP flow next to a Reno flow",
        oracle="the rate that standard TCP leaves unused: with a queue of 1 BDP nothing "
        "(Kuzmanovic and Knightly 2003)",
        scenarios=seeds(
            3,
            scenario(
                "120s",
                {"rate": "100mbit", "rtt": "40ms", "queue": "1bdp"},
                flow("lp"),
                flow("reno", start="3s"),
            ),
        ),
        expected=0,
        measure=measures.mean(measures.taken("goodput_share[1]")),
        band=about(0, 0.1),
        why="the range of one-way times begins again with each indication, and the flow grows "
        "until the queue is longer than this range; a share of half would be no priority at all",
    )


def _queue_over_limit(runs: Sequence[Run]) -> float:
    largest = measures.taken("queue_max_packets", measures.since(5.0))
    return max(largest(run) for run in runs) / (2 * BDP)


def cdg_queue(
    bdp: float, packet_s: float, factor_per_s: float = 42.0, window: int = 8, kept: float = 0.7071
) -> float:
    """Return the mean queue of one CDG flow, in packets.

    The window grows by a packet per round trip. Below the BDP the RTT is constant. Beyond, it rises
    by a packet's time each, so that n round trips later the sum of the gradients is min(n, window)
    of these. With 1 - exp(-factor sum) the window falls to `kept` of it, and a round trip passes
    before it grows again.
    """
    survival, peak, area, most = 1.0, 0.0, 0.0, 2000
    for n in range(1, most):
        falls = survival * (1 - math.exp(-factor_per_s * packet_s * min(n, window)))
        peak += falls * n
        area += falls * n * (n + 1) / 2
        survival -= falls
    refill = bdp - kept * (bdp + peak)
    return area / (max(refill, 0.0) + peak + 1)
