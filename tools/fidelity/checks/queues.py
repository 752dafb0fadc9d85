"""Checks of queue disciplines: delay, average queue, marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fidelity import measures, oracles
from fidelity.check import EXACT, Check, Table, about, within
from fidelity.checks.tables import EVERY_SEGMENT, flow, scenario, seeds, stack, udp

ECN: Final[Mapping[str, Any]] = {"stack": stack("linux-6", ecn="classic", **EVERY_SEGMENT)}
EVERY: Final[Mapping[str, Any]] = {"stack": stack("linux-6", **EVERY_SEGMENT)}
THRESHOLD: Final = 50


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _delays()
    yield from _averages()
    yield from _marks()
    yield from _coupled()
    yield from _hosts()
    yield from _shaped()
    yield from _shared()


def _many(queue: Mapping[str, Any], flows: int, seconds: int = 60) -> Table:
    path = {"rate": "50mbit", "rtt": "40ms", "queue": queue, "edge_jitter": "240us"}
    load = flow("reno", count=flows, start={"from": "0s", "to": "1s"})
    return scenario(f"{seconds}s", path, load, interval="10ms", events=[])


def _delays() -> Iterator[Check]:
    for name, target, queue, source, why in (
        (
            "CoDel",
            5.0,
            {"discipline": "codel"},
            "RFC 8289",
            "it keeps the smallest wait in 100 ms at the target; the sawtooth adds to it",
        ),
        (
            "FQ-CoDel",
            5.0,
            {"discipline": "fq-codel", "ecn": False},
            "RFC 8290",
            "each flow has a separate queue, which is empty after its backoff: 2.8 ms in a run in "
            "which flows backed off together, 4 ms in the others",
        ),
        (
            "CAKE in one queue",
            5.0,
            {"discipline": "cake", "isolate": "flowblind"},
            "a twentieth of its rtt, tc-cake(8)",
            "as CoDel, because it has the same law",
        ),
        (
            "PIE",
            15.0,
            {"discipline": "pie"},
            "RFC 8033",
            "drops at random, adjusted every 15 ms",
        ),
        (
            "FQ-PIE in one queue",
            15.0,
            {"discipline": "fq-pie", "queues": 1},
            "RFC 8033",
            "as PIE; in separate queues, in which 15 ms are 8 packets, the delay is 18.5 ms",
        ),
        (
            "DualPI2",
            15.0,
            {"discipline": "dualpi2"},
            "RFC 9332, appendix A",
            "drops at random, adjusted every 16 ms",
        ),
    ):
        yield Check(
            name=f"mean delay of 8 Reno flows, {name}",
            oracle=f"its target ({source})",
            scenarios=seeds(5, _many(queue, 8)),
            expected=target,
            measure=measures.mean(measures.taken("queueing_delay_mean_ms")),
            band=about(2),
            why=why,
            unit="ms",
        )


def _averages() -> Iterator[Check]:
    thresholds = {"limit": "500p", "min_threshold": "40p", "max_threshold": "120p"}
    yield Check(
        name="mean queue of 48 Reno flows, RED",
        oracle="between its thresholds of 40 and 120 packets (Floyd and Jacobson 1993)",
        scenarios=(_many({"discipline": "red", **thresholds}, 48),),
        expected=80,
        measure=measures.mean(measures.taken("queue_mean_packets")),
        band=about(40),
        why="the load decides where between them it is; with fewer flows the queue is sometimes "
        "empty",
        unit="packets",
    )
    yield Check(
        name="mean queue of 32 Reno flows, adaptive RED",
        oracle="midway between its thresholds of 40 and 120 packets (Floyd et al. 2001: the "
        "middle fifth)",
        scenarios=(_many({"discipline": "ared", **thresholds}, 32, 120),),
        expected=80,
        measure=measures.mean(measures.taken("queue_mean_packets")),
        band=about(8),
        why="in the middle fifth of the range the probability does not change",
        unit="packets",
    )


def _marks() -> Iterator[Check]:
    step = {"discipline": "step", "limit": "1000p", "threshold": f"{THRESHOLD}p"}
    for algorithm in ("reno", "cubic"):
        path = {"rate": "100mbit", "rtt": "20ms", "queue": step}
        one = scenario("60s", path, flow(algorithm), interval="1ms", **ECN)
        yield Check(
            name=f"largest queue, step marking at {THRESHOLD}, {algorithm} with ECN",
            oracle="K and the growth of the window in the round trip until the sender reduces it",
            scenarios=(one,),
            expected=oracles.ecn_peak(THRESHOLD),
            measure=measures.mean(
                measures.marked(measures.taken("queue_max_packets", measures.since(10.0)))
            ),
            band=about(1, 2),
            why="whole packets; the growth of one round trip may be spread over two",
            unit="packets",
            needs=("ecn",),
        )
        yield Check(
            name=f"drops, step marking at {THRESHOLD}, {algorithm} with ECN",
            oracle="none: marks come before the queue is full (RFC 3168)",
            scenarios=(one,),
            expected=0,
            measure=measures.total(measures.marked(measures.taken("dropped_packets@run"))),
            band=EXACT,
            why="nothing else may lose packets",
            unit="packets",
            needs=("ecn",),
        )
        yield Check(
            name=f"reductions per round trip, step marking, {algorithm} with ECN",
            oracle="one for each window (RFC 3168, 6.1.2)",
            scenarios=(one,),
            expected=1,
            measure=measures.mean(measures.marked(measures.reductions_per_window)),
            band=EXACT,
            why="a count",
            needs=("ecn",),
        )
    # Deep enough that a class whose flow backs off still has packets for each of its turns.
    classes = {"discipline": "classes", "limit": "200p", "threshold": "100p"}
    marked = flow("cubic", stack=ECN["stack"])
    yield Check(
        name="share of one ECN flow next to four others, two classes",
        oracle="half: the classes take turns (Brakmo 2017)",
        scenarios=(
            scenario(
                "60s",
                {"rate": "100mbit", "rtt": "20ms", "queue": classes},
                marked,
                flow("cubic", count=4),
            ),
        ),
        expected=0.5,
        measure=measures.mean(measures.taken("goodput_share[1]")),
        band=about(0.01),
        why="slow start; the threshold keeps the class busy through a reduction",
        needs=("ecn",),
    )


def _coupled() -> Iterator[Check]:
    """Yield checks of the two queues of L4S."""
    # The L4S queue marks by the coupling alone.
    queue = {"discipline": "dualpi2", "step": "100ms"}
    path = {"rate": "100mbit", "rtt": "30ms", "queue": queue, "edge_jitter": "120us"}
    low = flow(
        "prague", count=4, group="low", start={"from": "0s", "to": "1s"}, switches={"ecn": "l4s"}
    )
    classic = flow("reno", count=4, group="classic", start={"from": "0s", "to": "1s"})
    table = scenario("60s", path, low, classic, interval="10ms", **EVERY)
    yield Check(
        name="marks of 4 Prague flows over the root of the drops of 4 Reno flows, DualPI2",
        oracle="k = 2: p_L = k p' and p_C = p'^2 (RFC 9332, section 2.1)",
        scenarios=seeds(3, table),
        expected=2.0,
        measure=measures.mean(measures.coupling),
        band=within(0.1),
        why="p' varies, and the mean of squares is more than the square of the mean",
        needs=("ecn",),
    )
    yield Check(
        name="window of 4 Prague flows over that of a scalable law, DualPI2",
        oracle="1, by our law: growth of 1 - p segments in a round trip, and a reduction by p / 2 "
        "at the first mark after it (Prague draft: 2 / p if there are many marks)",
        scenarios=seeds(3, table),
        expected=1.0,
        measure=measures.mean(measures.scalable_law),
        band=about(0.1),
        why="p and the window vary together; the path is longer than Prague's virtual RTT",
        needs=("ecn",),
    )
    path = {"rate": "100mbit", "rtt": "10ms", "queue": {"discipline": "dualpi2"}}
    one = scenario("30s", path, flow("prague", switches={"ecn": "l4s"}), interval="1ms", **EVERY)
    yield Check(
        name="largest queue of one Prague flow, DualPI2",
        oracle="its step of 1 ms and the growth of the round trip until the sender reduces",
        scenarios=(one,),
        expected=oracles.ecn_peak(100e6 * 1e-3 / 12_000),
        measure=measures.mean(
            measures.marked(measures.taken("queue_max_packets", measures.since(10.0)))
        ),
        band=about(1, 2),
        why="whole packets; the growth of one round trip may be spread over two",
        unit="packets",
        needs=("ecn",),
    )


def _hosts() -> Iterator[Check]:
    """Yield checks of the shares of hosts."""
    path = {"rate": "50mbit", "rtt": "10ms", "queue": {"discipline": "cake"}}
    alone, busy = flow("cubic", host="alone"), flow("cubic", count=4, host="busy")
    yield Check(
        name="share of a host with one flow next to one with four, CAKE",
        oracle="half: a turn is split among the flows of a host (Høiland-Jørgensen et al. 2018)",
        scenarios=(scenario("30s", path, alone, busy),),
        expected=0.5,
        measure=measures.mean(measures.taken("goodput_share[1]")),
        band=about(0.02),
        why="the lone flow's queue is empty for short times after its backoffs",
    )


def _shaped() -> Iterator[Check]:
    """Yield checks of a shaper that knows the framing of a slower link."""
    queue = {"discipline": "cake", "rate": "10mbit", "overhead": 32, "framing": "atm"}
    path = {"rate": "100mbit", "rtt": "10ms", "queue": queue}
    yield Check(
        name="IP rate of a stream shaped for ATM, CAKE",
        oracle="10 Mbit/s * 1500 / 1696: with 32 bytes a packet is 32 cells of 53 (ITU-T I.361)",
        scenarios=(scenario("10s", path, udp("12mbit")),),
        expected=10 * 1500 / (32 * 53),
        measure=measures.mean(measures.departed_mbit(2, 10)),
        band=about(0.002),
        why="whole packets at the ends of the window",
        unit="Mbit/s",
    )


def _shared() -> Iterator[Check]:
    """Yield checks of queues that share a memory."""
    memory = 480_000
    for ports, alpha in ((1, 1.0), (3, 1.0), (3, 8.0)):
        names = [f"h{port}" for port in range(1, ports + 1)]
        switch = {"node": "s", "memory": f"{memory}b", "alpha": alpha}
        links = [{"from": "s", "to": name, "rate": "100mbit", "delay": "1ms"} for name in names]
        network = {"topology": "graph", "link": links, "switch": [switch]}
        load = [udp("150mbit", **{"from": "s", "to": name}) for name in names]
        yield Check(
            name=f"queue at each of {ports} full ports of a switch, alpha {alpha:g}",
            oracle="alpha B / (1 + n alpha), and the packet being sent (Choudhury and Hahne 1998)",
            scenarios=(scenario("2s", network, *load, interval="10ms", events=[]),),
            expected=alpha * memory / (1 + ports * alpha) / 1500 + 1,
            measure=measures.mean(
                measures.mean_of([f"queue_mean_packets[s>{name}]" for name in names])
            ),
            band=about(1),
            why="whole packets",
            unit="packets",
        )
