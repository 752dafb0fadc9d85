"""The window of a single flow: sawtooth, epochs, response to loss."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from dumbbell.theory import formulas, responses
from fidelity import measures, oracles
from fidelity.check import Check, about, within
from fidelity.checks.tables import BY_ACKS, EVERY_SEGMENT, flow, lossy, scenario, stack

SAWTOOTH: Final = (
    "deterministic sawtooth of the window between the kept part of D + q and all of it"
)


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _sawtooth()
    yield from _epochs()
    yield from _periodic_loss()
    yield from _random_loss()
    yield from _timeouts()


def _sawtooth() -> Iterator[Check]:
    # 40 ms at 100 Mbit/s are 333 packets; CUBIC stays in its friendly region below 100.
    for queue, packets in ((0.02, 6), (0.05, 16), (0.1, 33), (0.2, 66), (0.5, 166), (1, 333)):
        yield Check(
            name=f"utilisation, Reno, q/D = {queue}",
            oracle=f"{SAWTOOTH}, linear growth (Reno: half kept)",
            scenarios=(
                scenario(
                    "600s",
                    {"rate": "100mbit", "rtt": "40ms", "queue": f"{packets}p"},
                    flow("reno"),
                    interval="1s",
                ),
            ),
            expected=formulas.sawtooth_utilisation(packets / 333.3),
            measure=measures.mean(measures.taken("utilisation")),
            band=about(0.01),
            why="whole packets, and the round trips of detection and recovery: 3 of some 200",
        )
    for queue, packets in ((0.05, 5), (0.2, 20)):
        yield Check(
            name=f"utilisation, CUBIC in its friendly region, q/D = {queue}",
            oracle=f"{SAWTOOTH}, linear growth (0.7 kept; RFC 9438, 4.3)",
            scenarios=(
                scenario(
                    "300s",
                    {"rate": "100mbit", "rtt": "12ms", "queue": f"{packets}p"},
                    flow("cubic"),
                    interval="1s",
                ),
            ),
            expected=formulas.sawtooth_utilisation(packets / 100, 0.7),
            measure=measures.mean(measures.taken("utilisation")),
            band=about(0.015),
            why="an epoch is some 60 round trips of small windows, 3 of them without growth",
        )
    for queue, packets in ((0.02, 16), (0.05, 41), (0.1, 83)):
        yield Check(
            name=f"utilisation, Scalable, q/D = {queue}",
            oracle=f"{SAWTOOTH}, exponential growth (7/8 kept)",
            scenarios=(
                scenario(
                    "300s",
                    {"rate": "250mbit", "rtt": "40ms", "queue": f"{packets}p"},
                    flow("scalable@li2007"),
                    interval="1s",
                ),
            ),
            expected=formulas.exponential_utilisation(packets / 833.3),
            measure=measures.mean(measures.taken("utilisation")),
            band=about(0.02),
            why="detection and recovery take 2 of an epoch's 13 round trips: this share of the "
            "difference from 1",
        )


def _epochs() -> Iterator[Check]:
    path = {"rate": "100mbit", "rtt": "40ms", "queue": "66p"}
    yield Check(
        name="time between losses, Reno",
        oracle="(1 - β) W round trips (fact sheet 7.9), each as long as the queue makes it",
        scenarios=(scenario("600s", path, flow("reno"), interval="1s"),),
        expected=oracles.aimd_epoch_s(333.3, 67, 0.040),
        measure=measures.mean(measures.epoch_s),
        band=within(0.02),
        why="whole packets: one of 200 round trips at either end",
        unit="s",
    )
    acks: dict[str, Any] = {"stack": stack("rfc", **BY_ACKS)}
    yield Check(
        name="time between losses, Reno, delayed ACKs counted once",
        oracle="2 (1 - β) W round trips, as half as many ACKs arrive (Li et al. 2007: 800 s)",
        scenarios=(scenario("600s", path, flow("reno"), interval="1s", **acks),),
        expected=oracles.aimd_epoch_s(333.3, 67, 0.040, per_rtt=0.5),
        measure=measures.mean(measures.epoch_s),
        band=within(0.02),
        why="whole packets: one of 200 round trips at either end",
        unit="s",
    )
    old: dict[str, Any] = {"stack": "linux-3.16"}
    yield Check(
        name="time between losses, Reno, profile linux-3.16",
        oracle="2 (1 - β) W round trips: Linux before 4.0 counted ACKs (fact sheet 2.2)",
        scenarios=(scenario("600s", path, flow("reno"), interval="1s", **old),),
        expected=oracles.aimd_epoch_s(333.3, 67, 0.040, per_rtt=0.5),
        measure=measures.mean(measures.epoch_s),
        band=within(0.02),
        why="whole packets: one of 200 round trips at either end",
        unit="s",
    )
    yield Check(
        name="time between losses, CUBIC",
        oracle="K = cbrt(0.3 W / C), plus the time until C t³ is a segment (RFC 9438, 4.2)",
        scenarios=(
            scenario(
                "400s",
                {"rate": "100mbit", "rtt": "100ms", "queue": "166p"},
                flow("cubic"),
                interval="1s",
            ),
        ),
        expected=oracles.cubic_epoch_s(1000),
        measure=measures.mean(measures.epoch_s),
        band=within(0.05),
        why="the clock starts with the first ACK after recovery: two round trips of 0.1 s in 10 s",
        unit="s",
    )


PERIODIC: Final = 1e-4


def _periodic_loss() -> Iterator[Check]:
    cases = (
        ("reno", "10ms", responses.aimd(PERIODIC, 1, 0.5), "half kept, 1 per round trip"),
        (
            "cubic",
            "10ms",
            responses.aimd(PERIODIC, oracles.CUBIC_FRIENDLY_INCREASE, 0.7),
            "0.7 kept, 0.53 per round trip: RFC 9438, 4.3",
        ),
        (
            "scalable@li2007",
            "10ms",
            oracles.periodic_scalable(PERIODIC),
            "1/p packets in ln(1/β)/0.01 round trips",
        ),
    )
    for algorithm, rtt, window, law in cases:
        drops = [{"flow": "only", "number": 10_000 * n} for n in range(1, 401)]
        yield Check(
            name=f"window if each 10,000th packet is lost, {formulas.family(algorithm)}",
            oracle="√(α(1+β)/(2(1-β)p)) and similar laws (fact sheet 7.8), with a round trip of "
            f"recovery: {law}",
            scenarios=(
                scenario(
                    "300s" if algorithm != "scalable@li2007" else "50s",
                    {
                        "rate": "10gbit",
                        "rtt": rtt,
                        "queue": "1bdp",
                        "loss": [{"place": "receiver", "drops": drops}],
                    },
                    flow(algorithm, label="only"),
                ),
            ),
            expected=oracles.with_recovery(window, PERIODIC),
            measure=measures.mean(measures.window_segs),
            band=within(0.03),
            why="whole packets; CUBIC's estimate of standard TCP leads its window by a segment",
            unit="segments",
        )


RANDOM: Final = {
    "reno": "halving, 1 per round trip",
    "highspeed": "table of RFC 3649, appendix B",
    "scalable@li2007": "1 % per round trip, 7/8 kept",
    "cubic": "RFC 9438 with its friendly region",
    "bic@li2007": "Smax 32, B 4, 0.8 kept",
    "htcp@li2007": "quadratic in time, adaptive backoff",
}
RANDOM_SECONDS: Final = {
    "reno": (4000, 8000, 8000),
    "highspeed": (4000, 6000, 2500),
    "scalable@li2007": (4000, 3000, 600),
    "cubic": (4000, 8000, 3000),
    "bic@li2007": (4000, 6000, 2000),
    "htcp@li2007": (4000, 6000, 2000),
}
"""Long enough for some 400 losses at 1e-5 and 1000 above."""

PARAMETERS: Final = {"highspeed": {"count_acks": 0}}


def _random_loss() -> Iterator[Check]:
    for algorithm, law in RANDOM.items():
        name = formulas.family(algorithm)
        for p, seconds in zip((1e-3, 1e-4, 1e-5), RANDOM_SECONDS[algorithm], strict=True):
            tolerance, losses = (0.1, 400) if p < 5e-5 else (0.06, 1000)
            yield Check(
                name=f"window at random loss {p:g}, {name}",
                oracle=f"stochastic model by quarters of round trips: {law}",
                scenarios=(
                    lossy(seconds, p, flow(algorithm, parameters=PARAMETERS.get(algorithm, {}))),
                ),
                expected=partial(oracles.window_under_loss, name, p, 0.1),
                measure=measures.mean(measures.window_segs),
                band=within(tolerance),
                why=f"about {losses} losses in the run and 1500 in the model: two standard errors, "
                "as epochs vary by half or more",
                unit="segments",
            )


def _timeouts() -> Iterator[Check]:
    for b, counted in ((1, EVERY_SEGMENT), (2, BY_ACKS)):
        for p, seconds in ((1e-4, 3000), (1e-3, 3000), (1e-2, 5000), (3e-2, 5000)):
            yield Check(
                name=f"rate at random loss {p:g}, Reno, b = {b}",
                oracle="Padhye et al. 1998, full model, T0 = 300 ms (RFC 6298 with a minimum of "
                "200 ms)",
                scenarios=(
                    scenario(
                        f"{seconds}s",
                        {
                            "rate": "10gbit",
                            "rtt": "100ms",
                            "queue": "1bdp",
                            "loss": [{"place": "receiver", "probability": p}],
                        },
                        flow("reno"),
                        interval="1s",
                        events=[],
                        stack=stack("rfc", rto_min_ns=200_000_000, **counted),
                    ),
                ),
                expected=responses.pftk(p, 0.1, oracles.rto_s(0.1), b=b),
                measure=measures.mean(measures.packets_per_s),
                band=within(0.1, 0.2),
                why="the model has a timeout where Reno gets too few duplicate ACKs; SACK repairs "
                "such losses without a timeout, and gains up to 20 %",
                unit="packets/s",
            )
