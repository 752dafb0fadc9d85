"""Slow starts that a stack gives to algorithms, and reductions by congestion marks (ABE)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fidelity import measures, oracles
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import EVERY_SEGMENT, flow, scenario, stack

RATE_MBIT: Final = 20
RTT_S: Final = 0.1
SERVICE_S: Final = 6e-4
BDP_SEGS: Final = RTT_S / SERVICE_S
NEEDS: Final = ("slow_start",)


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _exits()
    yield from _durations()
    yield from _marks()


def _path(queue: str) -> dict[str, str]:
    return {"rate": f"{RATE_MBIT}mbit", "rtt": "100ms", "queue": queue}


def _exits() -> Iterator[Check]:
    for name, queue, expected, oracle, band, why in (
        (
            "hystart",
            "2bdp",
            oracles.hystart_exit_segs(RTT_S, SERVICE_S),
            "as in CUBIC: an ACK train of half an RTT (Ha and Rhee 2008)",
            about(2),
            "whole segments; the slack in the threshold",
        ),
        (
            "hystart++",
            "16bdp",
            oracles.hystart_pp_exit_segs(RTT_S, SERVICE_S),
            "RFC 9406: a round whose eighth RTT is 12.5 ms longer, then five rounds with a quarter "
            "of the growth",
            within(0.03),
            "whole segments",
        ),
        (
            "search",
            "8bdp",
            BDP_SEGS * oracles.search_exit_bdp(),
            "draft-chung-ccwg-search-09 in fluid slow start: 26 % of what was sent in 3.5 RTTs are "
            "not delivered one RTT later",
            within(0.12),
            "slow start sends in bursts, and SEARCH decides once in 0.35 RTT",
        ),
    ):
        one = scenario(
            "4s",
            _path(queue),
            flow("reno", switches={"slow_start": name}),
            interval="1ms",
            stack=stack("linux-6", **EVERY_SEGMENT),
        )
        yield Check(
            name=f"window at which {name} of the stack ends slow start, reno",
            oracle=oracle,
            scenarios=(one,),
            expected=expected,
            measure=measures.mean(measures.first_ssthresh),
            band=band,
            why=why,
            unit="segments",
            needs=NEEDS,
        )


def _durations() -> Iterator[Check]:
    fast = {"rate": "10gbit", "rtt": "100ms", "queue": "1bdp"}
    latency = measures.mean(measures.taken("latency_mean_ms@run", per=1000))
    segs = 1_500
    limited = {"slow_start": "limited", "limited_slow_start_segs": 100}
    rounds = oracles.limited_rounds(segs, 100)
    yield Check(
        name=f"transfer of {segs} segments in limited slow start",
        oracle=f"RFC 3742 from 100 segments: 50 more per round trip, {rounds} round trips",
        scenarios=(_transfer(fast, segs, limited),),
        expected=rounds * RTT_S,
        measure=latency,
        band=within(0.01),
        why="microseconds of serialisation in each round trip",
        unit="s",
        needs=NEEDS,
    )
    saved = 1_000
    resume = {
        "slow_start": "careful-resume",
        "resume_window_segs": saved,
        "resume_rtt_ns": round(RTT_S * 1e9),
    }
    yield Check(
        name=f"transfer of 400 segments with Careful Resume from {saved}",
        oracle="RFC 9959: one round trip of slow start, then half of the saved window, paced",
        scenarios=(_transfer(fast, 400, resume),),
        expected=oracles.resume_s(400, saved, RTT_S),
        measure=latency,
        band=within(0.03),
        why="the first ten segments are not paced; whole segments",
        unit="s",
        needs=("slow_start", "resume_window_segs"),
    )


def _transfer(path: dict[str, str], segs: int, switches: dict[str, Any]) -> Table:
    bulk = flow("reno", bytes=segs * 1448, switches=switches)
    return scenario("5s", path, bulk, stack=stack("linux-6", **EVERY_SEGMENT))


def _marks() -> Iterator[Check]:
    step = {"discipline": "step", "limit": "1000p", "threshold": "5p"}
    path = {"rate": "20mbit", "rtt": "100ms", "queue": step}
    ecn: Mapping[str, Any] = {"stack": stack("linux-6", ecn="classic", **EVERY_SEGMENT)}
    for name, algorithm, kept in (
        ("standard TCP", "reno", 0.5),
        ("ABE", "reno@abe", 0.8),
    ):
        yield Check(
            name=f"window times the root of the reductions per segment, {name}",
            oracle=f"sqrt((1 + b) / (2 (1 - b))) with b = {kept:g} (RFC 8511; Floyd et al. 2000)",
            scenarios=(scenario("300s", path, flow(algorithm), **ecn),),
            expected=oracles.aimd_factor(kept),
            measure=measures.mean(measures.marked(measures.law_factor)),
            band=within(0.05),
            why="the queue of five packets; the segments of the round trip until the reduction",
            needs=("ecn",),
        )
    for algorithm, kept in (("reno@abe", 0.8), ("cubic@abe", 0.85)):
        yield Check(
            name=f"window kept on a mark, {algorithm}",
            oracle="RFC 8511, section 3.1",
            scenarios=(scenario("60s", path, flow(algorithm), **ecn),),
            expected=kept,
            measure=measures.mean(measures.marked(measures.kept_share)),
            band=about(0.01),
            why="whole segments",
            needs=("ecn",),
        )
