"""What BBR and BBRv3 make of a path: rate, queue, the price of probing, losses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from dumbbell.running.result import Run
from dumbbell.validate import measures
from dumbbell.validate.check import Check, Table, about
from dumbbell.validate.checks.tables import flow, scenario, seeds, stack

RTT_S: Final = 0.04
BDP: Final = 50e6 * RTT_S / 8 / 1500
"""Packets of 1500 bytes that fit on the path of these checks."""

RANDOM_LOSS: Final = {"place": "receiver", "probability": 0.01}

LINUX: Final = {"stack": stack("linux-6")}


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _alone()
    yield from _probe_rtt()
    yield from _together()
    yield from _losses()


def _path(*flows: dict[str, Any], queue: str = "2bdp", **network: Any) -> Table:
    path = {"rate": "50mbit", "rtt": "40ms", "queue": queue, **network}
    return scenario("120s", path, *flows, interval="10ms", events=[], **LINUX)


def _alone() -> Iterator[Check]:
    small = (0.2 + RTT_S) / (10.2 + RTT_S)
    yield Check(
        name="utilisation of one BBR flow",
        oracle="0.99 of the rate in six of eight phases, all of it in two, next to nothing for "
        "200 ms and a round trip in 10 s (fact sheet 3.14)",
        scenarios=seeds(3, _path(flow("bbr"))),
        expected=(1 - small) * (2 + 6 * 0.99) / 8,
        measure=measures.mean(measures.utilisation),
        band=about(0.015),
        why="a round trip more passes until the window is small, and one until it is large again",
    )
    yield Check(
        name="mean queue of one BBR flow",
        oracle="a quarter of a BDP comes and goes in two of eight phases: 0.25 / 8 BDP",
        scenarios=seeds(3, _path(flow("bbr"))),
        expected=0.25 / 8 * BDP,
        measure=measures.mean(measures.queue_packets),
        band=about(6, 10),
        why="the phase above lasts until a quarter more is in flight, which needs a second one",
        unit="packets",
    )


def _probe_rtt() -> Iterator[Check]:
    for name, algorithm, interval_s, lacks in (("BBR", "bbr", 10, 1.0), ("BBRv3", "bbr3", 5, 0.5)):
        with_it = _path(flow(algorithm))
        without = _path(flow(algorithm, parameters={"probe_rtt_time": 0}))
        yield Check(
            name=f"throughput left by the search for the RTT, {name}",
            oracle=f"200 ms and a round trip in {interval_s} s with {lacks:g} of a window less "
            "(fact sheet 7.10)",
            scenarios=(with_it, without),
            expected=1 - lacks * (0.2 + RTT_S) / (interval_s + 0.2 + RTT_S),
            measure=_ratio,
            band=about(0.012),
            why="the queue bridges a part; a round trip passes before and one after",
        )


def _ratio(runs: Sequence[Run]) -> float:
    one, other = (measures.utilisation(run) for run in runs)
    return one / other


def _together() -> Iterator[Check]:
    yield Check(
        name="mean queue of four BBR flows",
        oracle="two BDP in flight at most, one of them in the queue (fact sheet 3.14)",
        scenarios=seeds(3, _path(flow("bbr", count=4), queue="3bdp")),
        expected=BDP,
        measure=measures.mean(measures.queue_packets),
        band=about(0.6 * BDP, 0.5 * BDP),
        why="each takes its best of ten round trips for its share, and these add up to more than "
        "the link; a smallest RTT seen with a queue does the same",
        unit="packets",
    )


def _losses() -> Iterator[Check]:
    for name, algorithm, left, oracle in (
        ("BBR", "bbr", 0.99, "it costs what is lost (fact sheet 3.14)"),
        (
            "BBRv3",
            "bbr3",
            _ratchet(0.01),
            "a flight delivers 1 - p of a window: so much of it is left by a round trip with a "
            "loss, until the next probe 2 to 3 s later (draft-ietf-ccwg-bbr)",
        ),
    ):
        calm = _path(flow(algorithm), queue="1bdp")
        lossy = _path(flow(algorithm), queue="1bdp", loss=[RANDOM_LOSS])
        yield Check(
            name=f"throughput left by 1 % random loss, {name}",
            oracle=oracle,
            scenarios=(lossy, calm),
            expected=left,
            measure=_ratio,
            band=about(0.08, 0.08),
            why="the flight of a round trip that lost least, or most, is what counts",
        )
    shallow = [_path(flow(name, count=2), queue="0.1bdp") for name in ("bbr3", "bbr")]
    yield Check(
        name="losses of BBRv3 in a shallow queue, of those of BBR",
        oracle="BBR fills any queue below a BDP; BBRv3 gives up what loses 2 % (fact sheet 3.15)",
        scenarios=tuple(shallow),
        expected=0,
        measure=_loss_ratio,
        band=about(0, 0.33),
        why="a probe in two or three seconds still overflows",
    )


def _ratchet(p: float) -> float:
    """Return the mean of (1 - p)^n over the n lossy round trips of a wait of 2.5 s."""
    lossy = 2.5 / RTT_S * (1 - (1 - p) ** BDP)
    fall = -lossy * math.log(1 - p)
    return (1 - math.exp(-fall)) / fall


def _loss_ratio(runs: Sequence[Run]) -> float:
    third, first = (_repeated_share(run) for run in runs)
    return third / first


def _repeated_share(run: Run) -> float:
    """Share of the segments sent that were sent again."""
    flows = run.summary["flows"]
    sent = sum(flow["sent_segs"] for flow in flows)
    return float(sum(flow["retransmitted_segs"] for flow in flows) / sent)
