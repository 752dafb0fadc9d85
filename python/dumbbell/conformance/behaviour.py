"""Behaviour of an algorithm in the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import BroughtDown
from dumbbell.conformance.lone_flow import Path, resolved
from dumbbell.conformance.probe import outcomes
from dumbbell.conformance.verdicts import Row, Verdict, failed, passed
from dumbbell.contract.summary import Summary
from dumbbell.engines.result import Run
from dumbbell.quantities import taking
from dumbbell.scenario.resolve import ResolvedScenario

PART: Final = "simulator"

ENDS: Final = "runs to its end"

UTILISATION: Final = "utilisation@run"

PATH: Final = Path(100, 40, 1.0, 1e-3)
SECONDS: Final = 10

IN_FLIGHT_MAX_SEGS: Final = 1 << 24
"""Most segments that the simulator sends before any acknowledgement (crates/tcp, tcp_bpf.rs)."""

USED_MIN: Final = 0.5
"""Below this share of an empty link, an algorithm is worth a warning: Reno takes over 90 %."""

DELIVERED_MIN_BYTES: Final = 10 * 1448
"""A flow that delivers no more than the first window has stopped."""


def rows(algorithm: Algorithm) -> Iterator[Row]:
    """Yield a row for a link without other flows, for random loss, and for running twice."""
    alone = resolved(algorithm, PATH, SECONDS, loss=False)
    lossy = resolved(algorithm, PATH, SECONDS, loss=True)
    try:
        empty, again, lost = outcomes([alone, alone, lossy])
    except BroughtDown as error:
        yield failed(PART, ENDS, str(error), "see what random calls find")
        return
    yield _bounded(max(empty.cwnd_max_segs, lost.cwnd_max_segs))
    yield _filled(_used(alone, empty.summary))
    yield _survived(lost.summary, _used(lossy, lost.summary))
    if empty.digest == again.digest:
        yield passed(PART, "the same twice", "equal to the byte")
    else:
        remedy = "have no static variables, and set all of the state in init"
        yield failed(PART, "the same twice", "two runs of one scenario differ", remedy)


def _bounded(cwnd_segs: int) -> Row:
    if cwnd_segs <= IN_FLIGHT_MAX_SEGS:
        return passed(PART, "window", f"{cwnd_segs} segments at most")
    remedy = "grow with cc_grow, by what was acknowledged; no path holds so much"
    figure = f"grows to {cwnd_segs} segments; never more than {IN_FLIGHT_MAX_SEGS} are in flight"
    return failed(PART, "window", figure, remedy)


def _filled(used: float) -> Row:
    figure = f"uses {used:.1%} of {PATH.rate_mbit} Mbit/s in {SECONDS} s ({PATH.rtt_ms} ms, 1 BDP)"
    if used >= USED_MIN:
        return passed(PART, "fills a link", figure)
    remedy = f"expected are {USED_MIN:.0%} or more: does the window grow until packets are lost?"
    return Row(PART, "fills a link", Verdict.WARNING, figure, remedy)


def _survived(summary: Summary, used: float) -> Row:
    delivered = summary.flows[0].received_bytes
    figure = f"uses {used:.1%} where a packet in {round(1 / PATH.loss)} is lost"
    if delivered > DELIVERED_MIN_BYTES:
        return passed(PART, "random loss", figure)
    remedy = "is ssthresh never 0, and does the window grow again?"
    return failed(PART, "random loss", f"stops after {delivered} bytes", remedy)


def _used(case: ResolvedScenario, summary: Summary) -> float:
    """Return the utilisation of the bottleneck, computed from the summary alone."""
    run = Run(case.key, case.scenario, summary, {})
    used = taking.of_run(run, [UTILISATION])[UTILISATION]
    assert used is not None
    return used
