"""Durations of handshakes, requests and transfers, and the repair of single losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fidelity import measures, oracles
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import EVERY_SEGMENT, flow, scenario, stack, udp

MSS: Final = 1448
FAST_PATH: Final = {"rate": "10gbit", "rtt": "100ms", "queue": "1bdp"}
LINUX: Final = {"stack": "linux-6"}


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _handshakes()
    yield from _rounds()
    yield from _transfers()
    yield from _tails()
    yield from _recovery()
    yield from _slow_start()
    yield from _acknowledgements()


def _segs(size: int) -> int:
    return -(-size // MSS)


def _handshakes() -> Iterator[Check]:
    opening = stack("rfc", handshake=True)
    yield Check(
        name="request of 10 kB with its handshake",
        oracle="a round trip of 100 ms for SYN and SYN-ACK, then one for the request",
        scenarios=(scenario("5s", FAST_PATH, flow("reno", bytes=10_000), stack=opening),),
        expected=0.2,
        measure=measures.mean(measures.taken("latency_mean_ms@run", per=1000)),
        band=within(0.001),
        why="serialisation of 9 packets",
        unit="s",
    )
    full = {"rate": "12mbit", "rtt": "100ms", "queue": "unlimited"}
    late = flow("reno", start="2s", bytes=1)
    yield Check(
        name="handshake over a queue of 200 ms",
        oracle="a stream of 110 % fills the queue for 2 s with a tenth of the link's rate, and the "
        "SYN waits for this queue",
        scenarios=(scenario("5s", full, udp("13.2mbit"), late, events=["start"], stack=opening),),
        expected=0.1 + 2 * 0.1,
        measure=measures.mean(measures.handshake_s),
        band=within(0.01),
        why="a packet takes 1 ms",
        unit="s",
    )
    short = {"algorithm": "reno", "rate": 100, "size": "1kb", "stop": "200s"}
    for profile, p, linear, tolerance in (("rfc", 0.1, 0, 0.05), ("linux-6", 0.2, 4, 0.04)):
        lossy = {**FAST_PATH, "loss": [{"place": "receiver", "probability": p}]}
        opening = stack(profile, handshake=True)
        table = scenario("260s", lossy, events=["start"], arrivals=[short], stack=opening)
        yield Check(
            name=f"handshake if SYNs are lost at {p}, {profile}",
            oracle="a round trip, plus p^k times the k-th timeout: 1 s, then doubling (RFC 6298); "
            "in Linux 6 four more of 1 s come before the doubling",
            scenarios=(table,),
            expected=0.1 + oracles.mean_syn_wait_s(p, linear),
            measure=measures.mean(measures.handshake_s),
            band=within(tolerance),
            why="20,000 flows: three standard errors",
            unit="s",
            needs=("handshake",),
        )


def _rounds() -> Iterator[Check]:
    unpushed = stack("linux-6", window_push=False)
    for size in (10_000, 100_000, 1_000_000):
        rounds = oracles.slow_start_rounds(_segs(size))
        yield Check(
            name=f"first request of {size // 1000} kB on an idle path",
            oracle=f"slow start from 10 segments: {rounds} round trips of 100 ms",
            scenarios=(scenario("5s", FAST_PATH, flow("reno", bytes=size), stack=unpushed),),
            expected=oracles.transfer_s(_segs(size), 0.1, 1.2e-6),
            measure=measures.mean(measures.taken("latency_mean_ms@run", per=1000)),
            band=within(0.001),
            why="microseconds of serialisation in each round trip",
            unit="s",
        )
    yield Check(
        name="first request of 100 kB whose 23rd segment is pushed",
        oracle="this is more than half of the first window (64 kB), so the receiver acknowledges "
        "the segment alone; then segment 30 waits for a second one, and the last two segments "
        "wait 40 ms for its ACK",
        scenarios=(scenario("5s", FAST_PATH, flow("reno", bytes=100_000), **LINUX),),
        expected=oracles.transfer_s(_segs(100_000), 0.1, 1.2e-6) + 0.04,
        measure=measures.mean(measures.taken("latency_mean_ms@run", per=1000)),
        band=within(0.001),
        why="microseconds of serialisation; Linux 6.18 needs 340.8 ms with such a window",
        unit="s",
    )
    rpc = {"kind": "rpc", "bytes": 10_000}
    yield Check(
        name="requests of 10 kB one after the other",
        oracle="one round trip each, as they fit the initial window",
        scenarios=(scenario("10s", FAST_PATH, flow("reno", workload=rpc), **LINUX),),
        expected=0.1,
        measure=measures.mean(measures.taken("latency_mean_ms@run", per=1000)),
        band=within(0.001),
        why="serialisation of 7 packets",
        unit="s",
    )


def _transfers() -> Iterator[Check]:
    slow = {"rate": "10mbit", "rtt": "100ms", "queue": "unlimited"}
    for size in (20_000, 200_000, 2_000_000):
        yield Check(
            name=f"transfer of {size // 1000} kB at 10 Mbit/s",
            oracle="round trips of slow start until the pipe is full, then serialisation (Kurose "
            "and Ross)",
            scenarios=(scenario("10s", slow, flow("reno", bytes=size)),),
            expected=oracles.transfer_s(_segs(size), 0.1, 1.2e-3),
            measure=measures.mean(measures.taken("latency_mean_ms@run", per=1000)),
            band=within(0.01),
            why="the last segment is shorter than the others, by up to 1.2 ms",
            unit="s",
        )


def _tail(rtt: str, first_lost: int, profile: str, **switches: Any) -> Table:
    """Return a flight of ten segments that loses its end."""
    drops = [{"flow": "only", "number": number} for number in range(first_lost, 10)]
    path = {**FAST_PATH, "rtt": rtt, "loss": [{"place": "receiver", "drops": drops}]}
    return scenario(
        "5s",
        path,
        flow("reno", label="only", bytes=10 * MSS),
        events=["retransmit", "loss"],
        stack=stack(profile, **{**EVERY_SEGMENT, **switches}),
    )


def _tails() -> Iterator[Check]:
    for rtt_ms in (1, 50):
        yield Check(
            name=f"repair of a lost last segment without probes, {rtt_ms} ms",
            oracle="RTO after the last ACK: SRTT plus at least 200 ms (RFC 6298 as in Linux)",
            scenarios=(_tail(f"{rtt_ms}ms", 9, "linux-2.6.6", initial_window_segs=10),),
            expected=rtt_ms / 1e3 + oracles.rto_s(rtt_ms / 1e3),
            measure=measures.mean(measures.repair_s),
            band=about(0.002),
            why="a clock with ticks of a millisecond",
            unit="s",
        )
    yield Check(
        name="repair of two lost last segments by a tail loss probe, 50 ms",
        oracle="2 SRTT after the last ACK (RFC 8985, 7.2)",
        scenarios=(_tail("50ms", 8, "linux-6"),),
        expected=0.05 + oracles.tail_probe_s(0.05),
        measure=measures.mean(measures.repair_s),
        band=about(0.003),
        why="clock ticks",
        unit="s",
        needs=("tail_probe",),
    )


def _recovery() -> Iterator[Check]:
    drops = [{"flow": "only", "number": 100}]
    path = {
        "rate": "10mbit",
        "rtt": "100ms",
        "queue": "unlimited",
        "loss": [{"place": "receiver", "drops": drops}],
    }
    one = scenario(
        "5s",
        path,
        flow("reno", label="only"),
        interval="100us",
        events=["congestion", "recovered"],
        stack=stack("linux-6", **EVERY_SEGMENT),
    )
    yield Check(
        name="window after recovery relative to that before, Reno",
        oracle="ssthresh = half (RFC 5681), which PRR reaches (RFC 9937)",
        scenarios=(one,),
        expected=0.5,
        measure=measures.mean(measures.window_kept),
        band=about(0.01),
        why="half of an odd window is rounded down",
    )
    yield Check(
        name="segments sent in recovery relative to the window before, Reno",
        oracle="PRR: ssthresh/RecoverFS of the delivered data, so half (RFC 9937, 6)",
        scenarios=(one,),
        expected=0.5,
        measure=measures.mean(measures.sent_share_in_recovery),
        band=about(0.03),
        why="the three segments that proved the loss were delivered before; rounding up",
    )


def _slow_start() -> Iterator[Check]:
    path = {"rate": "100mbit", "rtt": "100ms", "queue": "2bdp"}
    yield Check(
        name="window at which HyStart ends slow start",
        oracle="ACK trains (Ha and Rhee 2008): the first ACK that arrives half of the RTT and a "
        "millisecond of slack after the first ACK of its burst; bursts are 10, 20, ... 640 "
        "segments",
        scenarios=(scenario("3s", path, flow("cubic"), interval="1ms"),),
        expected=oracles.hystart_exit_segs(0.1, 1.2e-4),
        measure=measures.mean(measures.first_ssthresh),
        band=about(2),
        why="whole segments; the slack in the threshold",
        unit="segments",
    )


def _acknowledgements() -> Iterator[Check]:
    path = {"rate": "100mbit", "rtt": "20ms", "queue": "unlimited"}
    # What raises the receiver's window is acknowledged at once.
    never_raised = stack("linux-6", receive_buffer_max_bytes=0)
    yield Check(
        name="ACKs per segment with delayed ACKs",
        oracle="one for each second segment (RFC 5681, 4.2)",
        scenarios=(scenario("5s", path, flow("reno", bytes=30_000_000), stack=never_raised),),
        expected=0.5,
        measure=measures.mean(measures.acks_per_segment),
        band=about(0.0, 0.001),
        why="the first 16 segments are acknowledged one by one: 8 of 20,718",
    )
