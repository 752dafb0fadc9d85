"""Where controllers rest: CCP, CCPD, DCTCP, TCP Prague, TCP-NV, LEDBAT++."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fidelity import measures, oracles
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import EVERY_SEGMENT, flow, scenario, stack

PIPE: Final = 500
"""Packets of 1500 bytes in 60 ms at 100 Mbit/s."""
SEGS_PER_US: Final = 1 / 120
KD_US: Final = 4000

MARKED: Final[Mapping[str, Any]] = {"stack": stack("linux-6", ecn="dctcp", **EVERY_SEGMENT)}
RACK: Final = 83.3
"""Packets of 1500 bytes in 1 ms at 1 Gbit/s."""
THRESHOLD: Final = 65


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _probing()
    yield from _dctcp()
    yield from _prague()
    yield from _nv()
    yield from _ledbat()


def _probing() -> Iterator[Check]:
    # (algorithm, Kp, queue): those that fill the pipe rest at a queue, the others at a share.
    for name, kp, queue in (
        ("ccp", 1, 500),
        ("ccp", 2, 500),
        ("ccp", 4, 500),
        ("ccp", 2, 1000),
        ("ccp", 4, 1000),
        ("ccp", 1, 100),
        ("ccp", 2, 100),
        ("ccpd", 2, 500),
        ("ccpd", 4, 500),
        ("ccpd", 4, 1000),
        ("ccpd", 2, 100),
        ("ccpd", 4, 100),
    ):
        rest = oracles.ccp_rest if name == "ccp" else oracles.ccpd_rest
        used, waiting = rest(kp, PIPE, queue)
        path = {"rate": "100mbit", "rtt": "60ms", "queue": f"{queue}p"}
        run = scenario("60s", path, flow(name, parameters={"kp": kp}))
        title = f"{name.upper()}({kp}{', 4000' if name == 'ccpd' else ''})"
        oracle = "the law at rest (Kumazoe et al. 2012, equations 5 and 6; fact sheet 3.11)"
        # With D an ACK that lets nothing go lifts the window, by Kd over the time of a segment.
        lift = 0.0 if name == "ccp" else KD_US * SEGS_PER_US / (1 + kp)
        if waiting:
            yield Check(
                name=f"queue of {title}, Q = {queue / PIPE:g} D",
                oracle=oracle,
                scenarios=(run,),
                expected=waiting,
                measure=measures.mean(measures.taken("queue_mean_packets")),
                band=about(0.05 * waiting, 0.05 * waiting + lift),
                why="capacity and the largest RTT are estimates, each accurate to a percent or "
                "two; while nothing is sent, CCPD's D is Kd / (1 + Kp) times the rate of ACKs",
                unit="packets",
            )
        else:
            yield Check(
                name=f"utilisation, {title}, Q = {queue / PIPE:g} D",
                oracle=oracle,
                scenarios=(run,),
                expected=used,
                measure=measures.mean(measures.taken("utilisation")),
                band=about(0.03),
                why="capacity and the largest RTT are estimates, each accurate to a percent or two",
            )


def _marking(flows: int, **keys: Any) -> Table:
    queue = {"discipline": "step", "limit": "1000p", "threshold": f"{THRESHOLD}p"}
    path = {"rate": "1gbit", "rtt": "1ms", "queue": queue}
    record = {"interval": "100us", "events": [], "algorithm_state": True}
    table = scenario("4s", path, flow("dctcp", count=flows, **keys), **MARKED)
    return {**table, "record": record}


def _dctcp() -> Iterator[Check]:
    for flows in (1, 2):
        sawtooth = oracles.dctcp_sawtooth(RACK, THRESHOLD, flows)
        source = "sawtooth of flows that step together (Alizadeh et al. 2010, section 3.3)"
        run = (_marking(flows),)
        yield Check(
            name=f"alpha of {flows} DCTCP flows, step marking at {THRESHOLD}",
            oracle=source,
            scenarios=run,
            expected=sawtooth.alpha,
            measure=measures.mean(measures.marked(measures.taken("state:alpha_x1024", per=1024))),
            band=within(0.25),
            why="the model marks one whole round trip of each sawtooth, and assumes a constant "
            "alpha, but alpha varies by half; Linux rounds it down",
            needs=("ecn",),
        )
        yield Check(
            name=f"largest queue of {flows} DCTCP flows, step marking at {THRESHOLD}",
            oracle=source,
            scenarios=run,
            expected=sawtooth.queue_max,
            measure=measures.mean(
                measures.marked(measures.taken("queue_max_packets", measures.since(1.0)))
            ),
            band=about(2, 3),
            why="whole packets; the packet being sent counts, and growth may be spread over two "
            "round trips",
            unit="packets",
            needs=("ecn",),
        )
        yield Check(
            name=f"swing of the queue of {flows} DCTCP flows, step marking at {THRESHOLD}",
            oracle=source,
            scenarios=run,
            expected=sawtooth.amplitude,
            measure=measures.mean(
                measures.marked(measures.queue_swing_packets(measures.since(1.0)))
            ),
            band=within(0.25, 0.8),
            why="a reduction takes a round trip (RFC 9937), in which segments are still marked, "
            "so a second reduction follows; and the swing is between the extremes of some 300 "
            "sawteeth",
            unit="packets",
            needs=("ecn",),
        )
        yield Check(
            name=f"utilisation of {flows} DCTCP flows, step marking at {THRESHOLD}",
            oracle="the queue never empties if K exceeds a seventh of the pipe (RFC 8257)",
            scenarios=run,
            expected=1.0,
            measure=measures.mean(measures.marked(measures.taken("utilisation"))),
            band=about(0.005, 0),
            why="a sample is up to a round trip late",
            needs=("ecn",),
        )


def _prague() -> Iterator[Check]:
    queue = {"discipline": "step", "limit": "1000p", "threshold": "8p"}
    path = {"rate": "100mbit", "rtt": "5ms", "queue": queue, "edge_jitter": "120us"}
    flows = [flow("prague", rtt=rtt) for rtt in ("5ms", "20ms")]
    yield Check(
        name="smaller over larger goodput, TCP Prague, 5 and 20 ms",
        oracle="growth per second does not depend on RTTs below 25 ms (draft on Prague "
        "congestion control, section on RTT independence)",
        scenarios=(scenario("60s", path, *flows, **MARKED),),
        expected=1.0,
        measure=measures.mean(measures.marked(measures.smaller_over_larger)),
        band=about(0.3, 0),
        why="the flows do not get the same marks, so a part of the ratio of 4 in RTTs remains",
        needs=("ecn",),
    )


def _nv() -> Iterator[Check]:
    path = {"rate": "1gbit", "rtt": "1ms", "queue": "500p"}
    informed = flow("nv", parameters={"base_rtt": 1012})
    yield Check(
        name="queue of one TCP-NV flow that knows the path's RTT",
        oracle="a pad of 10 segments more than the path holds (Linux nv_pad), and the packet "
        "being sent",
        scenarios=(scenario("10s", path, informed, interval="1ms"),),
        expected=11,
        measure=measures.mean(measures.taken("queue_mean_packets")),
        band=about(3),
        why="the window grows to a segment more than the pad allows and falls by 2; the rate is "
        "the largest of a round trip, and its RTT lags behind",
        unit="packets",
    )


def _ledbat() -> Iterator[Check]:
    path = {"rate": "50mbit", "rtt": "40ms", "queue": "4bdp"}
    for flows in (1, 2):
        yield Check(
            name=f"queueing delay of {flows} LEDBAT++ flows",
            oracle="the target of 60 ms (draft-irtf-iccrg-ledbat-plus-plus)",
            scenarios=(scenario("120s", path, flow("ledbatpp", count=flows)),),
            expected=60,
            measure=measures.mean(measures.taken("queueing_delay_mean_ms")),
            band=within(0.15, 0.05),
            why="slowdowns take a tenth of the time, and the queue is shorter during them",
            unit="ms",
        )
    yield Check(
        name="share of LEDBAT++ next to CUBIC",
        oracle="next to nothing: CUBIC keeps the delay beyond the target "
        "(draft-irtf-iccrg-ledbat-plus-plus)",
        scenarios=(scenario("120s", path, flow("ledbatpp"), flow("cubic", start="10s")),),
        expected=0.0,
        measure=measures.mean(measures.taken("goodput_share[1]")),
        band=about(0, 0.1),
        why="LEDBAT++ gains a share after CUBIC's reductions, while the delay is below the target",
    )
