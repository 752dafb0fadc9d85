"""Short flows that arrive at random: when they start, and how much they send."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

from dumbbell.errors import InputError
from dumbbell.scenario import draws
from dumbbell.scenario.model_flows import FLOWS_MAX, Arrivals
from dumbbell.scenario.model_sizes import AnySize, Empirical, Exponential, Fixed, LogNormal
from dumbbell.units import NS_PER_S

_SIZE_MAX = 2**62 - 1


def arrivals(
    spec: Arrivals,
    seed: int,
    number: int,
    duration_ns: int,
    *,
    slowest_bps: int | None,
    header_bytes: int,
    overhead_bytes: int,
) -> Iterator[tuple[int, int]]:
    """Yield start and size of each flow of an arrival process, in order.

    The times between starts are exponential. `number` tells the processes of a scenario apart,
    `slowest_bps` is what a load refers to. Packets count there as links carry them:
    `header_bytes` of each are no payload, and links add `overhead_bytes`. More flows than a
    scenario may have are an InputError.
    """
    per_s = _flows_per_s(spec, slowest_bps, header_bytes, overhead_bytes)
    end_ns = min(duration_ns, duration_ns if spec.stop is None else spec.stop)
    with localcontext(prec=28):
        gap_ns = draws.decimal(NS_PER_S / per_s)
        time_ns = Decimal(spec.start)
    for flow in range(FLOWS_MAX + 1):
        with localcontext(prec=28):
            time_ns += gap_ns * draws.exponential("gap", seed, number, flow)
        if time_ns >= end_ns:
            return
        yield int(time_ns), draw_size(spec.size, seed, number, flow)
    expected = int(per_s * (end_ns - spec.start) / NS_PER_S)
    raise InputError(
        f"about {expected} flows arrive",
        key="rate" if spec.load is None else "load",
        value=spec.rate if spec.load is None else spec.load,
        valid=f"less, or a shorter time: at most {FLOWS_MAX} flows",
    )


def _flows_per_s(
    spec: Arrivals, slowest_bps: int | None, header_bytes: int, overhead_bytes: int
) -> Fraction:
    if spec.load is None:
        return Fraction(str(spec.rate))
    if slowest_bps is None:
        raise InputError(
            "a load refers to a rate, and all links of the path are unlimited",
            key="load",
            valid="rate, in flows per second",
        )
    # As if all packets were full; the last one of a flow may be short.
    wire = mean_size(spec.size) * Fraction(spec.packet + overhead_bytes, spec.packet - header_bytes)
    return Fraction(str(spec.load)) * slowest_bps / (8 * wire)


def mean_size(size: AnySize) -> Fraction:
    """Return the mean of a distribution in bytes."""
    return size.points.mean if isinstance(size, Empirical) else Fraction(size.mean)


def draw_size(size: AnySize, *purpose: object) -> int:
    """Draw a size in bytes, at least one."""
    if isinstance(size, Empirical):
        return size.points.at(draws.share("size", *purpose))
    with localcontext(prec=28):
        drawn = _draw(size, *purpose)
    return min(_SIZE_MAX, max(1, int(drawn)))


def _draw(size: AnySize, *purpose: object) -> Decimal:
    assert not isinstance(size, Empirical)
    mean = Decimal(size.mean)
    if isinstance(size, Fixed):
        return mean
    if isinstance(size, Exponential):
        return mean * draws.exponential("size", *purpose)
    shape = Decimal(str(size.shape))
    if isinstance(size, LogNormal):
        location = draws.logarithm(mean) - shape * shape / 2
        return draws.power(location + shape * draws.normal("size", *purpose))
    least = mean * (shape - 1) / shape
    return least * draws.power(draws.exponential("size", *purpose) / shape)
