"""Laws of networks and runs as a whole: conservation, sharing over hops, repetition."""

from __future__ import annotations

from collections.abc import Iterator

from fidelity import measures, oracles
from fidelity.check import EXACT, Check, Table, about
from fidelity.checks.tables import flow, scenario, seeds


def checks() -> Iterator[Check]:
    """Yield them."""
    yield Check(
        name="packets unaccounted for, five hops with reverse traffic",
        oracle="sent = delivered + dropped + lost + under way, of each flow and of each queue",
        scenarios=(_busy(),),
        expected=0,
        measure=measures.total(measures.unaccounted),
        band=EXACT,
        why="a count",
        unit="packets",
    )
    yield Check(
        name="differences between two runs of the same scenario",
        oracle="equal seeds give equal tables and summaries",
        scenarios=(_busy(),),
        expected=0,
        measure=measures.differences,
        band=EXACT,
        why="a count",
        unit="tables",
        repeated=True,
    )
    for hops in (2, 4):
        yield Check(
            name=f"long flow's share of a parking lot of {hops} hops, Reno",
            oracle="below max-min's half, towards proportional fairness' 1/(n+1) (Kelly et al. "
            "1998)",
            scenarios=seeds(3, _lot(hops)),
            expected=oracles.long_share_proportional(hops),
            measure=measures.mean(measures.share_of_hop),
            band=about(0.1),
            why="standard TCP gets at most the share of minimum potential delay, 1/(1+√n), and "
            "less if drop-tail drops the long flow's bursts at every hop",
        )


def _lot(hops: int) -> Table:
    path = {
        "topology": "parking-lot",
        "hops": hops,
        "rate": "20mbit",
        "delay": "5ms",
        "rtt": "60ms",
        "queue": "50p",
        "edge_jitter": "600us",
    }
    short = [flow("reno", hops=[hop, hop]) for hop in range(1, hops + 1)]
    return scenario("240s", path, flow("reno"), *short, interval="1s")


def _busy() -> Table:
    path = {
        "topology": "parking-lot",
        "hops": 5,
        "rate": "20mbit",
        "delay": "3ms",
        "queue": "20p",
        "duplicate": 1e-3,
        "reorder": {"probability": 1e-3, "delay": "1ms"},
        "loss": [{"place": "bottleneck", "probability": 1e-3}],
        "reverse": {"queue": "20p"},
    }
    across = [flow("cubic", hops=[hop, hop]) for hop in range(1, 6)]
    back = [flow("htcp", hops=[hop, 5], direction="reverse") for hop in (1, 3)]
    return scenario("30s", path, flow("reno", count=2), *across, *back)
