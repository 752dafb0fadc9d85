"""Checks of receivers: applications that lag, and hosts that serve packets at a rate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fidelity import measures
from fidelity.check import EXACT, Check, Table, about, within
from fidelity.checks.tables import flow, scenario, stack, udp

PATH: Final = {"rate": "100mbit", "rtt": "20ms", "queue": "1bdp"}
PAYLOAD_MBIT: Final = 100 * 1448 / 1500
"""Of the full path."""


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _applications()
    yield from _rings()
    yield from _pushes()


def _lagging(rate: str, block: str, **network: Any) -> Table:
    entry = flow("cubic", read_rate=rate, read_bytes=block)
    return {**scenario("30s", {**PATH, **network}, entry, events=[]), "stack": "linux-6"}


def _applications() -> Iterator[Check]:
    slow = _lagging("40mbit", "28960b")
    yield Check(
        name="goodput of a flow whose application reads 40 Mbit/s",
        oracle="the rate of reading, because each read makes room for as much new data",
        scenarios=(slow,),
        expected=40.0,
        measure=measures.mean(measures.taken("goodput_mbit_per_s")),
        band=within(0.002),
        why="a block more or less at either end: 29 kB in 15 s, and segments under way",
        unit="Mbit/s",
    )
    yield Check(
        name="segments per ACK, application that reads 20 segments at once too slowly",
        oracle="a block: Linux sends an ACK when a read makes room for it",
        scenarios=(slow,),
        expected=20.0,
        measure=measures.mean(measures.segments_per_ack),
        band=within(0.01),
        why="an ACK more or less for each loss and timer",
        unit="segments",
    )
    for rate_mbit in (200, 400):
        read = _lagging(f"{rate_mbit}mbit", "28960b")
        segs = PAYLOAD_MBIT / rate_mbit * 20
        yield Check(
            name=f"segments per ACK, reads of 20 segments at {rate_mbit} Mbit/s",
            oracle="each read causes one ACK, of all packets that arrived since the last read",
            scenarios=(read,),
            expected=segs,
            measure=measures.mean(measures.segments_per_ack),
            band=within(0.02),
            why="an ACK more or less for each loss, after which the buffer fills again",
            unit="segments",
        )


def _rings() -> Iterator[Check]:
    def served(rate: str, ring: str) -> Table:
        network = {**PATH, "rate": "1gbit", "receive_rate": 4_000, "receive_ring": ring}
        return scenario("20s", network, udp(rate, packet=600), interval="1s", events=[])

    for ring in ("2p", "256p"):
        yield Check(
            name=f"share lost at a ring of {ring[:-1]} packets by twice what is served",
            oracle="the load beyond the rate of service (fluid limit): half, whatever the size",
            scenarios=(served("38400kbit", ring),),
            expected=0.5,
            measure=measures.mean(measures.dropped_share),
            band=within(0.01),
            why="the ring first fills: 256 of 160,000 packets",
        )
    yield Check(
        name="share lost at a ring of one packet at 99 % load by one stream",
        oracle="D/D/1: each packet has left when the next one arrives",
        scenarios=(served("19008kbit", "1p"),),
        expected=0.0,
        measure=measures.mean(measures.dropped_share),
        band=EXACT,
        why="a count",
    )
    yield Check(
        name="goodput of a flow whose receiver serves 4,000 packets a second",
        oracle="4,000 segments a second",
        scenarios=(scenario("30s", {**PATH, "receive_rate": 4_000}, flow("cubic"), events=[]),),
        expected=4_000 * 1448 * 8 / 1e6,
        measure=measures.mean(measures.taken("goodput_mbit_per_s")),
        band=about(0.02),
        why="a segment more or less at either end",
        unit="Mbit/s",
    )


def _pushes() -> Iterator[Check]:
    for segs in (56, 58):
        window = stack("linux-6", receive_window_bytes=segs * 1448)
        path = {"rate": "20mbit", "rtt": "40ms", "queue": "1bdp"}
        half = segs // 2 + 1
        yield Check(
            name=f"segments per ACK, receiver with a window of {segs} segments",
            oracle="Linux pushes a segment that exceeds half of the largest window: the receiver "
            f"acknowledges at once segment {half} after the last such segment, and the others in "
            "pairs",
            scenarios=({**scenario("30s", path, flow("reno"), events=[]), "stack": window},),
            expected=half / -(-half // 2),
            measure=measures.mean(measures.segments_per_ack),
            band=within(0.002),
            why="at first each segment is acknowledged",
            unit="segments",
        )
