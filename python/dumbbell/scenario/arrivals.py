"""Short flows that arrive: when they start, and how much they send."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from dumbbell.base.errors import InputError
from dumbbell.base.units import NS_PER_S, format_time
from dumbbell.scenario import draws
from dumbbell.scenario.model_flows import ALL_FLOWS_MAX, Arrivals
from dumbbell.scenario.model_sizes import (
    AnySize,
    Empirical,
    Exponential,
    Fixed,
    LogNormal,
    Published,
)

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

    Unless a file lists them, the times between starts are exponential. `number` identifies the
    process within its scenario, and a load is a share of `slowest_bps`. Packets count there as
    links carry them: `header_bytes` of each are no payload, and links add `overhead_bytes`. More
    flows than a scenario may have are an InputError.
    """
    if spec.listed is not None:
        return _listed(spec, spec.listed, duration_ns)
    assert spec.size is not None, "only a file has the sizes otherwise"
    per_s = _flows_per_s(spec, spec.size, slowest_bps, header_bytes, overhead_bytes)
    end_ns = min(duration_ns, duration_ns if spec.stop is None else spec.stop)
    expected = int(per_s * (end_ns - spec.start) / NS_PER_S)
    # Chance makes little of it: who expects twice as many need not count them.
    drawn = () if expected > 2 * ALL_FLOWS_MAX else _drawn(spec, spec.size, seed, number, per_s)
    return _limited(spec, drawn, expected, end_ns)


def _drawn(
    spec: Arrivals, size: AnySize, seed: int, number: int, per_s: Fraction
) -> Iterator[tuple[int, int]]:
    """Yield start and size of flow after flow."""
    # A fixed precision: the caller's context must not change what a seed draws.
    with localcontext(prec=28):
        gap_ns = draws.decimal(NS_PER_S / per_s)
        time_ns = Decimal(spec.start)
    # One more than there may be, so that `_limited` sees that there are too many.
    for flow in range(ALL_FLOWS_MAX + 1):
        with localcontext(prec=28):
            time_ns += gap_ns * draws.exponential("gap", seed, number, flow)
        yield int(time_ns), draw_size(size, seed, number, flow)


def _limited(
    spec: Arrivals, arriving: Iterable[tuple[int, int]], expected: int, end_ns: int
) -> Iterator[tuple[int, int]]:
    """Yield what starts before an end; that there is always more is an InputError."""
    for start_ns, size in arriving:
        if start_ns >= end_ns:
            return
        yield start_ns, size
    raise InputError(
        f"about {expected} flows arrive",
        key="rate" if spec.load is None else "load",
        value=spec.rate if spec.load is None else spec.load,
        valid=f"less, or a shorter time: at most {ALL_FLOWS_MAX} flows",
    )


def _listed(
    spec: Arrivals, listed: Sequence[tuple[int, int]], duration_ns: int
) -> Iterator[tuple[int, int]]:
    """Yield what a file lists; all of it must start before the end of the run."""
    latest_ns = spec.start + listed[-1][0]
    if latest_ns >= duration_ns:
        raise InputError(
            f"its last flow starts at {format_time(latest_ns)}, "
            f"not before the end of the run at {format_time(duration_ns)}",
            key="file",
            value=spec.file,
            valid="a longer run, or a file that ends before it",
        )
    for after_ns, size in listed:
        yield spec.start + after_ns, size


def _flows_per_s(
    spec: Arrivals,
    size: AnySize,
    slowest_bps: int | None,
    header_bytes: int,
    overhead_bytes: int,
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
    wire = mean_size(size) * Fraction(spec.packet + overhead_bytes, spec.packet - header_bytes)
    return Fraction(str(spec.load)) * slowest_bps / (8 * wire)


def mean_size(size: AnySize) -> Fraction:
    """Return the mean of a distribution in bytes."""
    return size.points.mean if isinstance(size, Empirical | Published) else Fraction(size.mean)


def draw_size(size: AnySize, *purpose: object) -> int:
    """Draw a size in bytes, at least one."""
    if isinstance(size, Empirical | Published):
        return size.points.at(draws.share("size", *purpose))
    with localcontext(prec=28):
        drawn = _draw(size, *purpose)
    return min(_SIZE_MAX, max(1, int(drawn)))


def _draw(size: AnySize, *purpose: object) -> Decimal:
    assert not isinstance(size, Empirical | Published)
    mean = Decimal(size.mean)
    if isinstance(size, Fixed):
        return mean
    if isinstance(size, Exponential):
        return mean * draws.exponential("size", *purpose)
    shape = Decimal(str(size.shape))
    if isinstance(size, LogNormal):
        # The mean of a log-normal distribution is exp(location + shape^2 / 2).
        location = draws.logarithm(mean) - shape * shape / 2
        return draws.power(location + shape * draws.normal("size", *purpose))
    # A Pareto distribution has the mean least * shape / (shape - 1), and draws least * e^(x /
    # shape) with an exponential x.
    least = mean * (shape - 1) / shape
    return least * draws.power(draws.exponential("size", *purpose) / shape)
