"""What applications send, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dumbbell.scenario.model_sizes import published
from fidelity import measures
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import EVERY_SEGMENT, flow, scenario, seeds, stack

MSS: Final = 1448
HEADER_BYTES: Final = 52

DRAWN: Final = 8000
"""Flows of which sizes are looked at."""


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _sizes()
    yield from _queries()
    yield from _thinking()
    yield from _media()


def _arriving(size: str) -> Table:
    """Return flows that begin within 0.1 s; few of them end."""
    network = {"rate": "100mbit", "rtt": "10ms", "queue": "1bdp"}
    arrivals = {"algorithm": "reno", "rate": DRAWN * 10, "size": size}
    return scenario("0.1s", network, arrivals=[arrivals])


def _sizes() -> Iterator[Check]:
    # The share of flows that are larger, with the papers that say so; a drawn share has a
    # deviation of half a percent at most.
    for name, source, size_bytes, share in (
        ("web-search", "0.3 (Alizadeh et al. 2013)", 1_000_000, 0.3),
        ("data-mining", "0.2 (Alizadeh et al. 2013)", 10_000, 0.2),
        ("data-mining", "0.02 (Greenberg et al. 2009)", 100_000_000, 0.02),
        ("cache", "0.5 (Roy et al. 2015)", 28_270, 0.5),
    ):
        yield Check(
            name=f"share of {name} flows over {size_bytes / 1e6:g} MB",
            oracle=source,
            scenarios=(_arriving(name),),
            expected=share,
            measure=measures.mean(measures.share_larger(size_bytes)),
            band=about(4 * (share * (1 - share) / DRAWN) ** 0.5),
            why=f"four deviations of a share of {DRAWN} flows",
        )
    yield Check(
        name="mean size of web-search flows",
        oracle="the integral of its published distribution, linear between its points",
        scenarios=(_arriving("web-search"),),
        expected=float(published("web-search").mean) / 1e6,
        measure=measures.mean(measures.mean_mb),
        band=within(0.1),
        why=f"four deviations of the mean of {DRAWN} flows: 2.3 times the mean each",
        unit="MB",
    )


def _queries() -> Iterator[Check]:
    workers, size, rate_mbit, rtt_ms = 32, 30_000, 1000, 1
    segments = -(-size // MSS)
    path = {"rate": f"{rate_mbit}mbit", "rtt": f"{rtt_ms}ms", "queue": "unlimited"}
    wire_bits = 8 * workers * (size + segments * HEADER_BYTES)
    # The answers are there before the first window is acknowledged, or keep the link busy.
    window = stack("linux-6", initial_window_segs=segments, **EVERY_SEGMENT)
    workload = {"kind": "incast", "bytes": size, "pause": "2ms", "random": True}
    answers = flow("reno", count=workers, workload=workload)
    yield Check(
        name=f"time of a query that {workers} flows answer with {size // 1000} kB each",
        oracle="all answers pass the link one after the other, plus a round trip: N size / rate + "
        "RTT",
        scenarios=(scenario("2s", path, answers, stack=window),),
        expected=wire_bits / rate_mbit / 1e3 + rtt_ms,
        measure=measures.mean(measures.taken("query_mean_ms@run")),
        band=within(0.005),
        why="the last ACK takes 0.4 µs; the handshake raises no window",
        unit="ms",
    )
    yield Check(
        name="queries a second with a pause of 2 ms at random",
        oracle="a closed loop: 1 / (mean pause + N size / rate + RTT)",
        scenarios=seeds(4, scenario("10s", path, answers, stack=window)),
        expected=1e3 / (2 + wire_bits / rate_mbit / 1e3 + rtt_ms),
        measure=measures.mean(measures.taken("queries_per_s@run")),
        band=within(0.015),
        why="four deviations of the mean of some 3,600 pauses, which are a fifth of the time",
        unit="1/s",
    )


def _thinking() -> Iterator[Check]:
    # A request fits the first window: it takes a round trip of 10 ms and its serialisation.
    path = {"rate": "1gbit", "rtt": "10ms", "queue": "unlimited"}
    took_s = 0.01 + 8 * (10_000 + 7 * HEADER_BYTES) / 1e9
    for random in (False, True):
        rpc = {"kind": "rpc", "bytes": 10_000, "pause": "30ms", "random": random}
        one = scenario("100s", path, flow("reno", workload=rpc), stack="linux-6")
        yield Check(
            name=f"goodput of requests with {'random ' if random else ''}pauses of 30 ms",
            oracle="a closed loop: size / (think time + transfer)",
            scenarios=seeds(4, one) if random else (one,),
            expected=8 * 10_000 / (0.03 + took_s) / 1e6,
            measure=measures.mean(measures.taken("requests_mbit_per_s@run")),
            band=within(0.03 if random else 0.001),
            why="four deviations of the mean of 10,000 pauses" if random else "the last request",
            unit="Mbit/s",
        )
    every = {"kind": "rpc", "bytes": 10_000, "period": "50ms"}
    yield Check(
        name="requests a second with a period of 50 ms",
        oracle="1 / period",
        scenarios=(scenario("10s", path, flow("reno", workload=every), stack="linux-6"),),
        expected=20,
        measure=measures.mean(measures.taken("requests_per_s@run")),
        band=within(0.001),
        why="no request is under way at the end",
        unit="1/s",
    )


def _media() -> Iterator[Check]:
    # 2 s of 2 Mbit/s, 1 s of silence, 3 s of 5 Mbit/s and 4 s of 1 Mbit/s.
    steps = [(0, "2mbit"), (2, "0bit"), (3, "5mbit"), (6, "1mbit")]
    rates = [{"at": f"{at}s", "rate": rate} for at, rate in steps]
    path = {"rate": "100mbit", "rtt": "10ms", "queue": "unlimited"}
    media = {"kind": "app-limited", "rate": rates}
    for name, sender, measure in (
        ("datagrams", {"transport": "udp", "rate": rates}, measures.departed_mbit(0, 10)),
        ("TCP", flow("cubic", workload=media), measures.taken("goodput_mbit_per_s@run")),
    ):
        yield Check(
            name=f"rate of media over {name} whose rate changes",
            oracle="the mean of the rates, weighted by their durations: 23 Mbit in 10 s",
            scenarios=(scenario("10s", path, sender),),
            expected=2.3,
            measure=measures.mean(measure),
            band=within(0.005),
            why="the last packet, and the first one, which is early: 2 of 1,900",
            unit="Mbit/s",
        )
