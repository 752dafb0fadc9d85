"""Checks of links: rates, buckets, traces, losses, waiting."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final

from fidelity import measures, oracles
from fidelity.check import EXACT, Check, Table, about, within
from fidelity.checks.tables import flow, scenario, seeds, udp

PACKETS: Final = "datagrams that overload the link"


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _serialisation()
    yield from _shaping()
    yield from _losses()
    yield from _waiting()
    yield from _lines()
    yield from _handovers()


def _serialisation() -> Iterator[Check]:
    network = {"rate": "100mbit", "rtt": "10ms", "queue": "100p"}
    yield Check(
        name="departures of an overloaded link",
        oracle="D/D/1: exactly the link's rate",
        scenarios=(scenario("20s", network, udp("1gbit"), events=[]),),
        expected=100.0,
        measure=measures.mean(measures.departed_mbit(1, 19)),
        band=about(0.002),
        why="a packet more or less at either end: 12 kbit in 18 s",
        unit="Mbit/s",
    )
    yield Check(
        name="largest queue of a link at 99 % load by one stream",
        oracle="D/D/1: each packet has left when the next one arrives",
        scenarios=(scenario("20s", network, udp("99mbit"), interval="1ms", events=[]),),
        expected=1,
        measure=measures.mean(measures.taken("queue_max_packets@run")),
        band=EXACT,
        why="a count",
        unit="packets",
    )
    ethernet = {**network, "overhead": "ethernet", "queue": "1bdp"}
    yield Check(
        name="goodput of a full Ethernet link",
        oracle="1448 bytes of payload for each 1538 on the wire (fact sheet 6.2)",
        scenarios=(scenario("60s", ethernet, flow("cubic")),),
        expected=100 * 1448 / 1538,
        measure=measures.mean(measures.taken("goodput_mbit_per_s")),
        band=within(0.002),
        why="the cost of a loss: one segment in thousands",
        unit="Mbit/s",
    )


def _shaping() -> Iterator[Check]:
    bucket: dict[str, Any] = {"rate": "50mbit", "burst": "64kb"}
    base = {"rtt": "10ms", "queue": "1000p"}
    for name, network in (
        ("token bucket", {**base, "rate": bucket}),
        ("policer", {**base, "rate": "1gbit", "policer": bucket}),
    ):
        run = scenario("20s", network, udp("100mbit"), interval="1ms", events=[])
        yield Check(
            name=f"rate behind a {name} of 50 Mbit/s",
            oracle=f"the rate at which it fills; {PACKETS}",
            scenarios=(run,),
            expected=50.0,
            measure=measures.mean(measures.departed_mbit(1, 19)),
            band=about(0.002),
            why="a packet more or less at either end",
            unit="Mbit/s",
        )
        yield Check(
            name=f"burst of a {name} of 64 kB",
            oracle=f"it is never ahead of its rate by more than its size; {PACKETS}",
            scenarios=(run,),
            expected=64_000,
            measure=measures.mean(measures.burst_bytes(50e6)),
            band=about(1500, 0),
            why="only whole packets pass",
            unit="bytes",
        )
    yield Check(
        name="rate of a link driven by a trace",
        oracle="12 opportunities of 1504 bytes in 10 ms; the unused part of one is kept (mahimahi)",
        scenarios=(
            scenario("20s", {**base, "rate": {"trace": "uneven.trace"}}, udp("50mbit"), events=[]),
        ),
        expected=oracles.trace_mbit(12, 10),
        measure=measures.mean(measures.departed_mbit(1, 19)),
        band=about(0.002),
        why="a packet more or less at either end",
        unit="Mbit/s",
    )
    steps = [("0s", 100), ("10s", 40), ("20s", 160)]
    rate = [{"at": at, "rate": f"{mbit}mbit"} for at, mbit in steps]
    loaded = scenario("30s", {**base, "rate": rate}, udp("200mbit"), events=[])
    filled = scenario("30s", {**base, "rate": rate, "queue": "100p"}, flow("cubic"), events=[])
    for number, (at, mbit) in enumerate(steps):
        yield Check(
            name=f"departures after the rate step to {mbit} Mbit/s",
            oracle=f"the new rate; {PACKETS}",
            scenarios=(loaded,),
            expected=float(mbit),
            measure=measures.mean(measures.departed_mbit(10 * number + 1, 10 * number + 9)),
            band=about(0.004),
            why="a packet more or less at either end",
            unit="Mbit/s",
        )
        yield Check(
            name=f"CUBIC's use of the link after the rate step to {mbit} Mbit/s",
            oracle=f"the new rate, which CUBIC finds after {at}",
            scenarios=(filled,),
            expected=float(mbit),
            measure=measures.mean(measures.departed_mbit(10 * number + 5, 10 * number + 9)),
            band=within(0.02, 0.0002),
            why="CUBIC needs five seconds to find it, with 0.7 of the window kept",
            unit="Mbit/s",
        )


def _losses() -> Iterator[Check]:
    def stream(loss: dict[str, Any] | None = None, **network: Any) -> tuple[Table, ...]:
        path = {"rate": "100mbit", "rtt": "10ms", "queue": "100p", **network}
        if loss:
            path["loss"] = [{"place": "bottleneck", **loss}]
        return seeds(4, scenario("300s", path, udp("96mbit"), interval="10s", events=["loss"]))

    share_lost = functools.partial(
        Check, measure=measures.mean(measures.taken("lost_share[1]@run"))
    )
    burst_length = functools.partial(
        Check, measure=measures.mean(measures.loss_burst), unit="packets"
    )
    yield share_lost(
        name="share lost, independent losses at 1e-3",
        oracle="the probability",
        scenarios=stream({"probability": 1e-3}),
        expected=1e-3,
        band=within(0.03),
        why="9,600 losses: three standard errors of 1 %",
    )
    bursts = stream({"gilbert_elliott": {"to_bad": 0.001, "to_good": 0.1}})
    yield share_lost(
        name="share lost, Gilbert-Elliott",
        oracle="p/(p+r) (Gilbert 1960), p = 0.001, r = 0.1",
        scenarios=bursts,
        expected=oracles.gilbert_loss(0.001, 0.1),
        band=within(0.045),
        why="9,600 bursts of geometric length: three standard errors of 1.5 %",
    )
    yield burst_length(
        name="length of bursts, Gilbert-Elliott",
        oracle="1/r, r = 0.1",
        scenarios=bursts,
        expected=oracles.gilbert_burst(0.1),
        band=within(0.03),
        why="9,600 bursts of geometric length: three standard errors of 1 %",
    )
    yield burst_length(
        name="length of bursts, losses of correlation 0.5",
        oracle="1/((1-p)(1-c)), p = 0.001, c = 0.5",
        scenarios=stream({"probability": 1e-3, "correlation": 0.5}),
        expected=oracles.gilbert_burst((1 - 1e-3) * (1 - 0.5)),
        band=within(0.03),
        why="4,800 bursts of geometric length: three standard errors of 1 %",
    )
    fades = stream({"bursts": {"mean_good": "490ms", "mean_bad": "10ms"}})
    yield share_lost(
        name="share lost, bursts in time",
        oracle="b/(g+b), g = 490 ms, b = 10 ms",
        scenarios=fades,
        expected=oracles.gilbert_loss(10, 490),
        band=within(0.085),
        why="2,400 bursts of exponential length: three standard errors of 2.8 %",
    )
    yield burst_length(
        name="length of bursts, bursts in time",
        oracle="1/(1-exp(-t/b)), b = 10 ms, a packet each t = 125 us",
        scenarios=fades,
        expected=oracles.timed_burst(10_000, 125),
        band=within(0.06),
        why="2,400 bursts of exponential length: three standard errors of 2 %",
    )
    yield share_lost(
        name="share lost at bit errors of 1e-7",
        oracle="1 - (1-p)^12000, p = 1e-7",
        scenarios=stream({"bit_errors": 1e-7}),
        expected=oracles.bit_error_loss(1e-7, 1500),
        band=within(0.03),
        why="11,500 losses: three standard errors of 1 %",
    )
    yield Check(
        name="share doubled at 1e-3",
        oracle="the probability",
        scenarios=stream(duplicate=1e-3),
        expected=1e-3,
        measure=measures.mean(measures.doubled_share),
        band=within(0.03),
        why="9,600 duplicates: three standard errors of 1 %",
    )


def _waiting() -> Iterator[Check]:
    for load, seconds, tolerance in ((0.5, 18, 0.06), (0.8, 11, 0.12)):
        arrivals = [{"algorithm": "reno", "rate": 1000 * load, "size": "1448b"}]
        network = {"rate": "12mbit", "rtt": "10ms", "queue": "unlimited"}
        table = scenario(f"{seconds}s", network, events=[], arrivals=arrivals)
        yield Check(
            name=f"packets waiting at {load:.0%} load, random arrivals",
            oracle="M/D/1: ρ²/(2(1-ρ)) (Pollaczek and Khinchine)",
            scenarios=seeds(4, table),
            expected=oracles.md1_waiting(load),
            measure=measures.mean(measures.taken("queue_mean_packets@run")),
            band=within(tolerance),
            why=f"{4 * 1000 * load * seconds:,.0f} arrivals whose waiting times are correlated: "
            "three standard errors",
            unit="packets",
        )


DELAY_MS: Final = "one_way_delay_mean_ms[1]@run"
"""Of hosts that are 1 ms apart, over a link on which a packet takes 12 us."""
HOSTS_MS: Final = 1.012


def _lines() -> Iterator[Check]:
    """Yield checks of what lines of netem do."""

    def stream(rate: str, **network: Any) -> Table:
        path = {"rate": "1gbit", "rtt": "2ms", "queue": "1000p", **network}
        return scenario("100s", path, udp(rate), interval="10s", events=[])

    pareto = {"mean": "20ms", "deviation": "5ms", "distribution": "pareto", "overtaken": True}
    yield Check(
        name="mean delay by netem's Pareto distribution, 20 ms and 5 ms",
        oracle="20 ms + 5 ms times the mean of min(4, 4/3 (u^(-1/3) - 1.5)) (iproute2's pareto.c)",
        scenarios=seeds(2, stream("12mbit", jitter=pareto)),
        expected=HOSTS_MS + 20 + 5 * oracles.netem_pareto(),
        measure=measures.mean(measures.taken(DELAY_MS)),
        band=about(0.03),
        why="200,000 packets of a deviation of 4.1 ms: three standard errors",
        unit="ms",
    )
    normal = {"mean": "5ms", "deviation": "1ms", "distribution": "normal"}
    yield Check(
        name="differences of delays by a normal distribution of 1 ms",
        oracle="2/√π deviations, of two independent normal numbers",
        scenarios=seeds(4, stream("1.2mbit", jitter=normal)),
        expected=oracles.normal_differences(1),
        measure=measures.mean(measures.taken("jitter_ms[1]@run")),
        band=within(0.015),
        why="40,000 differences of a deviation of 0.85 ms: three standard errors",
        unit="ms",
    )
    yield Check(
        name="rate of a delay of 40 ms that holds 100 packets",
        oracle="Little 1961: number of packets divided by the time that each is held",
        scenarios=(stream("100mbit", delay="40ms", rtt="80ms", holds="100p"),),
        expected=oracles.held_mbit(100, 12_000, 0.040012),
        measure=measures.mean(measures.departed_mbit(10, 90)),
        band=within(0.005),
        why="packets arrive every 120 us, and one leaves every 400 us: the next one may arrive up "
        "to one gap later",
        unit="Mbit/s",
    )


def _handovers() -> Iterator[Check]:
    """Yield checks of a delay that falls from 60 to 20 ms."""
    for name, route in (("on one route", 0), ("to another route", 1)):
        fall = [
            {"at": "0s", "delay": "60ms"},
            {"at": "501ms", "delay": "20ms", "route": route},
        ]
        path = {"rate": "1gbit", "rtt": "122ms", "queue": "1000p", "delay": fall}
        yield Check(
            name=f"mean delay over a handover {name}",
            oracle="each packet has the delay of its route; on the same route, packets under way "
            "arrive first",
            scenarios=(scenario("1s", path, udp("12mbit"), events=[]),),
            expected=HOSTS_MS - 1 + oracles.handover_ms(61, 21, 500, 1000, overtaken=bool(route)),
            measure=measures.mean(measures.taken(DELAY_MS)),
            band=about(0.1),
            why="a packet more or less before the handover and at the end: 0.04 ms each",
            unit="ms",
        )
