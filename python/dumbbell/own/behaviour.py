"""How an algorithm behaves in the simulator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.catalogue import Algorithm
from dumbbell.errors import BroughtDown
from dumbbell.own.probe import outcomes
from dumbbell.own.verdicts import Row, Verdict, failed, passed
from dumbbell.scenario import facts
from dumbbell.units import NS_PER_S
from dumbbell.validate.agreement.scenarios import Case, Path

PART: Final = "simulator"

ENDS: Final = "runs to its end"

PATH: Final = Path(100, 40, 1.0, 1e-3)
SECONDS: Final = 10

USED_MIN: Final = 0.5
"""Below this share of an empty link, an algorithm is worth a warning: Reno takes over 90 %."""

DELIVERED_MIN_BYTES: Final = 10 * 1448
"""Whoever delivers no more than the first window has stopped."""


def rows(algorithm: Algorithm) -> Iterator[Row]:
    """Yield a row for a link of its own, for random loss, and for running twice."""
    alone = Case((algorithm,), PATH, False, SECONDS).resolve(1)
    lossy = Case((algorithm,), PATH, True, SECONDS).resolve(1)
    try:
        empty, again, lost = outcomes([alone, alone, lossy])
    except BroughtDown as error:
        yield failed(PART, ENDS, str(error), "see what random calls find")
        return
    yield _filled(_used(alone.data, empty["summary"]))
    yield _survived(lost["summary"], _used(lossy.data, lost["summary"]))
    if empty["digest"] == again["digest"]:
        yield passed(PART, "the same twice", "equal to the byte")
    else:
        remedy = "have no static variables, and set all of the state in init"
        yield failed(PART, "the same twice", "two runs of one scenario differ", remedy)


def _filled(used: float) -> Row:
    told = f"uses {used:.1%} of {PATH.rate_mbit} Mbit/s in {SECONDS} s ({PATH.rtt_ms} ms, 1 BDP)"
    if used >= USED_MIN:
        return passed(PART, "fills a link", told)
    remedy = f"expected are {USED_MIN:.0%} or more: does the window grow until packets are lost?"
    return Row(PART, "fills a link", Verdict.WARNING, told, remedy)


def _survived(summary: Mapping[str, Any], used: float) -> Row:
    delivered = summary["flows"][0]["received_bytes"]
    told = f"uses {used:.1%} where a packet in {round(1 / PATH.loss)} is lost"
    if delivered > DELIVERED_MIN_BYTES:
        return passed(PART, "random loss", told)
    remedy = "is ssthresh never 0, and does the window grow again?"
    return failed(PART, "random loss", f"stops after {delivered} bytes", remedy)


def _used(data: facts.Resolved, summary: Mapping[str, Any]) -> float:
    number = facts.bottleneck(data)
    rate_bps = facts.bottleneck_rate_bps(data)
    assert number is not None
    assert rate_bps is not None
    carried_bits = 8 * summary["queues"][number]["departed_bytes"]
    return float(carried_bits * NS_PER_S / (rate_bps * data["duration_ns"]))
