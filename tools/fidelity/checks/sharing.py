"""Sharing of a bottleneck by flows: convergence, unequal round trips, FAST, schedulers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from dumbbell.theory import formulas
from fidelity import measures, oracles
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import flow, scenario, seeds

SECOND: Final = {"from": "60s", "to": "90s"}
"""The second flow starts anywhere in an epoch of the first."""


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _convergence()
    yield from _unequal()
    yield from _fast()
    yield from _schedulers()


def _convergence() -> Iterator[Check]:
    path = {"rate": "100mbit", "rtt": "42ms", "queue": "0.2bdp", "edge_jitter": "120us"}

    def late(algorithm: str) -> tuple[Table, ...]:
        return seeds(5, scenario("690s", path, flow(algorithm), flow(algorithm, start=SECOND)))

    for algorithm in ("reno", "htcp@li2007"):
        yield Check(
            name=f"smaller over larger goodput, late flow, {formulas.family(algorithm)}",
            oracle="fluid model of joint backoff, mean over phases (fact sheet 7.5)",
            scenarios=late(algorithm),
            expected=partial(_synchronised, algorithm),
            measure=measures.mean(measures.smaller_over_larger),
            band=about(0.05, 0.02),
            why="if backoff is not joint, either flow may be ahead, and both cases count as less "
            "than 1",
        )
    yield Check(
        name="smaller over larger goodput, late flow, scalable",
        oracle="0.3 to 0.9 if only 70 % of losses hit a flow (fact sheet 7.5); 0.06 if all do",
        scenarios=late("scalable@li2007"),
        expected=0.6,
        measure=measures.mean(measures.smaller_over_larger),
        band=about(0.3),
        why="multiplicative windows converge only by chance; the check only has to show a value "
        "below Reno's",
    )


def _synchronised(algorithm: str) -> float:
    ratio = formulas.synchronised_ratio(algorithm, 100, 42, 0.2)
    assert ratio is not None
    return ratio


def _unequal() -> Iterator[Check]:
    path = {"rate": "100mbit", "rtt": "40ms", "queue": "0.5bdp", "edge_jitter": "120us"}
    yield Check(
        name="share of one of two equal Reno flows",
        oracle="symmetry",
        scenarios=seeds(5, scenario("300s", path, flow("reno", count=2))),
        expected=0.5,
        measure=measures.mean(measures.taken("goodput_share[1]")),
        band=about(0.03),
        why="40 epochs in a run: each ends with one flow or the other ahead",
    )
    yield Check(
        name="exponent of the ratio of RTTs, Reno, 40 and 120 ms",
        oracle="u1/u2 = (λ2/λ1) (T2/T1)^k, k from 1 to 2 (Li et al. 2007, equation 4; fact sheet "
        "6.15)",
        scenarios=seeds(
            5, scenario("300s", path, flow("reno", rtt="40ms"), flow("reno", rtt="120ms"))
        ),
        expected=2,
        measure=measures.shorten_leith_exponent,
        band=about(1, 0.1),
        why="2 for windows in proportion to 1/(λ T), and less because the queue changes T; above "
        "2, two standard errors of 5 runs",
    )
    long = {"rate": "250mbit", "rtt": "162ms", "queue": "0.2bdp", "edge_jitter": "48us"}
    yield Check(
        name="share of a Reno flow of 162 ms next to one of 42 ms",
        oracle="fluid model of two RTTs with joint backoff (fact sheet 7.5b: 0.083)",
        scenarios=seeds(
            3, scenario("360s", long, flow("reno", rtt="162ms"), flow("reno", rtt="42ms"))
        ),
        expected=partial(oracles.unequal_share, 3375, 0.162, 0.042, 0.2),
        measure=measures.mean(measures.taken("goodput_share[1]")),
        band=about(0.03, 0.06),
        why="if backoff is not always joint, the slower flow gains, up to 0.133 in the fact sheet",
    )


def _fast() -> Iterator[Check]:
    alpha = {"m0a": 50, "m1a": 50, "m2a": 50}
    # Hosts hold nothing, so that first windows come one after the other.
    path = {"rate": "100mbit", "rtt": "50ms", "queue": "1000p", "edge_jitter": "0us"}
    for flows in (1, 2, 4):
        yield Check(
            name=f"queue of {flows} FAST flows, alpha = 50",
            oracle="alpha of each flow (Jin et al. 2004), and the error of its estimate of the "
            "path's RTT, which includes the other flows' first windows (Low et al. 2002)",
            scenarios=(scenario("60s", path, flow("fast", count=flows, parameters=alpha)),),
            expected=oracles.fast_queue(flows, 50),
            measure=measures.mean(measures.taken("queue_mean_packets")),
            band=within(0.02),
            why="whole windows: half a packet of each flow",
            unit="packets",
        )


def _schedulers() -> Iterator[Check]:
    rtts = ("20ms", "40ms", "80ms", "160ms")
    flows = [flow("cubic", rtt=rtt) for rtt in rtts]
    reno = [flow("reno", rtt=rtt) for rtt in rtts]
    for name, queue in (
        ("fq-codel", {"discipline": "fq-codel", "ecn": False}),
        ("fq-pie", {"discipline": "fq-pie"}),
        ("fq", {"discipline": "fq", "flow_limit": "400p"}),
    ):
        yield Check(
            name=f"Jain's index of four CUBIC flows, 20 to 160 ms, {name}",
            oracle="equal turns (RFC 8290, 4.1; Shreedhar and Varghese 1995)",
            scenarios=(
                scenario("120s", {"rate": "50mbit", "rtt": "40ms", "queue": queue}, *flows),
            ),
            expected=1.0,
            measure=measures.mean(measures.taken("jain")),
            band=about(0.01, 0),
            why="a flow that has just backed off may leave its turn unused",
        )
    yield Check(
        name="Jain's index of four Reno flows, 20 to 160 ms, drop-tail",
        oracle="below 0.9: 0.74 for rates as 1/T, 0.49 as 1/T² (fact sheet 6.15)",
        scenarios=seeds(
            3, scenario("240s", {"rate": "50mbit", "rtt": "40ms", "queue": "0.5bdp"}, *reno)
        ),
        expected=0.9,
        measure=measures.mean(measures.taken("jain")),
        band=about(0.65, 0),
        why="a bound; 0.25 would be one flow alone",
    )
