"""Checks of what senders know of marks: Accurate ECN (RFC 9768)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fidelity import measures, oracles
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import EVERY_SEGMENT, flow, scenario, stack

LOST: Final = 0.3
"""Share of the ACKs that get lost."""

STRETCH: Final = 16
"""Segments that receive offload merges."""

RACK: Final = 83.3
"""Packets of 1500 bytes in 1 ms at 1 Gbit/s."""

THRESHOLD: Final = 65


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _counted()
    yield _alpha()


def _counted() -> Iterator[Check]:
    lost = [{"place": "reverse", "probability": LOST}]
    low = {"rate": "50mbit", "rtt": "20ms", "queue": {"discipline": "dualpi2"}, "loss": lost}
    l4s = {"ecn": "l4s", "accecn": True}
    every = stack("linux-6", **EVERY_SEGMENT)
    yield _all_counted(
        f"marks counted of those made, {LOST:.0%} of the ACKs lost",
        "all: the counter in a later ACK includes the marks of a lost ACK (RFC 9768, section 6)",
        scenario("60s", low, flow("prague", switches=l4s), interval="1s", stack=every),
    )
    queue = {"discipline": "step", "limit": "1000p", "threshold": "20p"}
    path = {"rate": "100mbit", "rtt": "20ms", "queue": queue}
    merged = {"gro_segs": STRETCH, "gro_flush_ns": 5_000_000, "accecn": True}
    yield _all_counted(
        f"marks counted of those made, ACKs of up to {STRETCH} segments",
        "all: the count of marked bytes shows how often the counter of three bits wrapped (RFC "
        "9768, appendix A.2.2)",
        scenario("30s", path, flow("dctcp"), interval="1s", stack=stack("linux-6", **merged)),
    )


def _all_counted(name: str, oracle: str, table: Table) -> Check:
    return Check(
        name=name,
        oracle=oracle,
        scenarios=(table,),
        expected=1.0,
        measure=measures.mean(measures.taken("counted_marks@run", measures.EVERYTHING)),
        band=about(0.003),
        why="the marks of the last round trip are still on their way back",
        needs=("accecn",),
    )


def _alpha() -> Check:
    queue = {"discipline": "step", "limit": "1000p", "threshold": f"{THRESHOLD}p"}
    path = {"rate": "1gbit", "rtt": "1ms", "queue": queue}
    switches: dict[str, Any] = {"ecn": "dctcp", "accecn": True, **EVERY_SEGMENT}
    table = scenario("4s", path, flow("dctcp"), stack=stack("linux-6", **switches))
    record = {"interval": "100us", "events": [], "algorithm_state": True}
    return Check(
        name=f"alpha of a DCTCP flow that counts marks, step marking at {THRESHOLD}",
        oracle="sawtooth of a flow (Alizadeh et al. 2010, section 3.3)",
        scenarios=({**table, "record": record},),
        expected=oracles.dctcp_sawtooth(RACK, THRESHOLD, 1).alpha,
        measure=measures.mean(measures.marked(measures.taken("state:alpha_x1024", per=1024))),
        band=within(0.25),
        why="as with the echo of DCTCP; the model marks one whole round trip of each sawtooth, "
        "and assumes a constant alpha",
        needs=("accecn",),
    )
