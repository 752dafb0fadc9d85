"""Checks of BBR and BBRv3 on a path: rate, queue, the price of probing, losses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from dumbbell.engines.result import Run
from fidelity import measures
from fidelity.check import Check, Table, about
from fidelity.checks.tables import flow, scenario, seeds, stack

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


SEARCH_S: Final = 0.2 + RTT_S
"""A round trip until the window is small, then 200 ms, which are five of them."""


def _alone() -> Iterator[Check]:
    yield Check(
        name="utilisation of one BBR flow",
        oracle="all of the link, as the room for chunks keeps a few packets in the queue, except "
        "a round trip and 200 ms in 10 s with almost no data (fact sheet 3.14)",
        scenarios=seeds(3, _path(flow("bbr"))),
        expected=1 - SEARCH_S / (10 + SEARCH_S),
        measure=measures.mean(measures.taken("utilisation")),
        band=about(0.006),
        why="a round trip more in 10 s is 0.004, nine or ten searches in 96 s are 0.001, and the "
        "data queued and sent during a search is 0.001",
    )
    yield Check(
        name="mean queue of one BBR flow",
        oracle="cycle of phases: the queue grows to a quarter of a BDP and the room for chunks, "
        "falls by 0.2575 BDP in a round trip, and by 0.01 BDP in each of the six others",
        scenarios=seeds(3, _path(flow("bbr"))),
        expected=_queue_of_cycle(),
        measure=measures.mean(measures.taken("queue_mean_packets")),
        band=about(5),
        why="a chunk, which is five segments: packets leave by chunks, and ACKs report them by "
        "chunks",
        unit="packets",
    )


def _queue_of_cycle() -> float:
    """Return the mean queue over a cycle of eight phases, packets, with the one being sent."""
    # Three chunks of five segments and two more, less the chunk that is about to leave.
    top = 0.25 * BDP + 2 * 5 + 2
    # At 0.99 of 0.75 and of 1 of the rate.
    drained = max(top - 0.2575 * BDP, 0)
    low = max(drained - 6 * 0.01 * BDP, 0)
    rise = (top - low) / (0.2375 * BDP)
    area = rise * (low + top) / 2 + (top + drained) / 2 + 6 * (drained + low) / 2
    return area / (rise + 1 + 6) + 1


def _probe_rtt() -> Iterator[Check]:
    for name, algorithm, interval_s, lacks in (("BBR", "bbr", 10, 1.0), ("BBRv3", "bbr3", 5, 0.5)):
        with_it = _path(flow(algorithm))
        without = _path(flow(algorithm, parameters={"probe_rtt_time": 0}))
        yield Check(
            name=f"throughput left by the search for the RTT, {name}",
            oracle=f"200 ms and a round trip in {interval_s} s with {lacks:g} of a window missing "
            "(fact sheet 7.10)",
            scenarios=(with_it, without),
            expected=1 - lacks * SEARCH_S / (interval_s + SEARCH_S),
            measure=_ratio,
            band=about(0.006),
            why="a round trip more in the interval is 0.004, and one search more or less in 96 s "
            "is 0.002",
        )


def _ratio(runs: Sequence[Run]) -> float:
    one, other = (measures.taken("utilisation")(run) for run in runs)
    return one / other


def _together() -> Iterator[Check]:
    yield Check(
        name="mean queue of four BBR flows",
        oracle="two BDP in flight at most, one of them in the queue (fact sheet 3.14)",
        scenarios=seeds(3, _path(flow("bbr", count=4), queue="3bdp")),
        expected=BDP,
        measure=measures.mean(measures.taken("queue_mean_packets")),
        band=about(0.6 * BDP, 0.5 * BDP),
        why="each flow estimates its share by the best of ten round trips, and these shares add "
        "up to more than the link; a smallest RTT that was measured with a queue has the same "
        "effect",
        unit="packets",
    )


def _losses() -> Iterator[Check]:
    for name, algorithm, left, oracle, band, why in (
        (
            "BBR",
            "bbr",
            0.99,
            "the loss costs only the lost share (fact sheet 3.14)",
            about(0.02, 0.012),
            "bw is the best of ten round trips, so between 0.99 of the link and all of it, and the "
            "flow cruises at 0.99 of bw",
        ),
        (
            "BBRv3",
            "bbr3",
            _ratchet(0.01),
            "a flight delivers 1 - p of a window, so a round trip with a loss leaves this share of "
            "the window until the next probe 2 to 3 s later (draft-ietf-ccwg-bbr)",
            about(0.08),
            "the flight of the round trip with the fewest or the most losses counts",
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
            band=band,
            why=why,
        )
    shallow = [_path(flow(name, count=2), queue="0.1bdp") for name in ("bbr3", "bbr")]
    yield Check(
        name="losses of BBRv3 in a shallow queue, of those of BBR",
        oracle="BBR fills any queue below a BDP; BBRv3 reduces its data in flight if 2 % are lost "
        "(fact sheet 3.15)",
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
    return float((1 - math.exp(-fall)) / fall)


def _loss_ratio(runs: Sequence[Run]) -> float:
    third, first = (_repeated_share(run) for run in runs)
    return third / first


def _repeated_share(run: Run) -> float:
    """Share of the segments sent that were sent again."""
    flows = run.summary.flows
    sent = sum(flow.sent_segs for flow in flows)
    return sum(flow.retransmitted_segs for flow in flows) / sent
