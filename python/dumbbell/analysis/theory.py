"""What theory says: closed forms that claims evaluate, and curves that figures overlay.

`FORMULAS` are functions of plain numbers, named in the ``arithmetic`` checks of a study's claims.
`CURVES` give the expected value of a metric at the grid points of a test; figures draw them and
``theory`` checks compare with them.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from dumbbell.analysis import fluid, performance, responses, testbed_10g
from dumbbell.errors import InputError, listed, unknown

PACKET_BITS: Final = 12_000
"""A full IP packet of 1500 bytes, as in all studies."""


def bdp_packets(rate_mbit: float, rtt_ms: float, packet_bytes: float = 1500) -> float:
    """Return the bandwidth-delay product in packets."""
    return rate_mbit * rtt_ms * 1000 / (8 * packet_bytes)


def queue_packets(rate_mbit: float, rtt_ms: float, queue_bdp: float) -> float:
    """Return how many packets a queue of a share of the bandwidth-delay product holds."""
    return queue_bdp * bdp_packets(rate_mbit, rtt_ms)


def refill_rtts(bdp: float, kept: float = 0.5, segs_per_ack: float = 2) -> float:
    """Return how many round trips standard TCP needs to regain what a loss took.

    With delayed ACKs and ACK counting the window grows by 1/`segs_per_ack` per round trip.
    """
    return (1 - kept) * bdp * segs_per_ack


def refill_s(bdp: float, rtt_ms: float, kept: float = 0.5, segs_per_ack: float = 2) -> float:
    """Return the same time in seconds."""
    return refill_rtts(bdp, kept, segs_per_ack) * rtt_ms / 1000


def sawtooth_utilisation(queue_bdp: float, kept: float = 0.5) -> float:
    """Return the utilisation of a single or of synchronised AIMD flows.

    Linear growth from `kept` times the peak; the peak fills the bandwidth-delay product (here 1)
    and the queue.
    """
    peak = 1 + queue_bdp
    if kept * peak >= 1:
        return 1.0
    return (1 - kept**2) * peak**2 / (peak**2 + 1 - 2 * kept * peak)


def exponential_utilisation(queue_bdp: float, kept: float = 0.875) -> float:
    """Return the same for multiplicative increase, such as Scalable TCP's."""
    peak = 1 + queue_bdp
    if kept * peak >= 1:
        return 1.0
    return (1 - kept) * peak / (math.log(1 / (kept * peak)) + peak - 1)


def recovery_rtts(kept: float = 0.875, increase: float = 0.01) -> float:
    """Return the round trips in which Scalable TCP regains what a loss took."""
    return math.log(1 / kept) / increase


def events_to_fairness(kept: float, factor: float = 5.0) -> float:
    """Return after how many joint backoffs the difference of two AIMD windows is 1/`factor`."""
    return math.log(factor) / math.log(1 / kept)


def ewma_floor_s(window_s: float, share: float = 0.8) -> float:
    """Return when the moving average of a constant rate from 0 reaches a share of it."""
    return -math.log(1 - share) * window_s


def fast_backlog_packets(flows: float, alpha_packets: float) -> float:
    """Return what FAST flows keep in the queue in equilibrium."""
    return flows * alpha_packets


def fast_throughput_mbit(alpha_packets: float, queueing_ms: float) -> float:
    """Return the rate of a FAST flow in equilibrium: its backlog per queueing delay."""
    return alpha_packets * PACKET_BITS / 1000 / queueing_ms


def yeah_backlog_packets(rtt_ms: float, base_rtt_ms: float, window: float) -> float:
    """Return what YeAH takes for its backlog (Mani and Mbarek, Section I)."""
    return (rtt_ms - base_rtt_ms) * window / rtt_ms


def jain_index(one: float, other: float) -> float:
    """Return Jain's fairness index of two rates."""
    return (one + other) ** 2 / (2 * (one**2 + other**2))


def shorten_leith_ratio(
    rtt_1_ms: float, rtt_2_ms: float, sync_1: float = 1.0, sync_2: float = 1.0
) -> float:
    """Return the throughput ratio of two standard flows (Li et al., equation 4).

    The mean window is alpha/(lambda (1 - beta)) with a growth alpha per *second* of 1/T, so the
    throughput of each flow goes as 1/(lambda T^2), with T its mean RTT including the queue.
    """
    return (sync_2 / sync_1) * (rtt_2_ms / rtt_1_ms) ** 2


def synchronised_ratio(
    algorithm: str, rate_mbit: float, rtt_ms: float, queue_bdp: float
) -> float | None:
    """Return the throughput ratio of two flows in the fluid model of joint backoff.

    The average over five starts of flow 2 between two losses of flow 1; smaller over larger.
    """
    law = fluid.LAWS.get(family(algorithm))
    if law is None:
        return None
    path = fluid.Path(bdp_packets(rate_mbit, rtt_ms), rtt_ms / 1000, queue_bdp)
    return _synchronised_ratio(law, path)


@functools.lru_cache(maxsize=1024)
def _synchronised_ratio(law: Callable[[], fluid.Law], path: fluid.Path) -> float:
    ratios = [
        fluid.synchronised(law, path, phase=phase).ratio for phase in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    return sum(min(ratio, 1 / ratio) for ratio in ratios) / len(ratios)


def scalable_ratio_kept(ratio: float, bdp: float, rtt_ms: float, queue_bdp: float) -> float:
    """Return how much of the window ratio of two Scalable flows is left after 100 joint backoffs.

    Multiplicative increase and decrease scale both windows alike, so it is all of it.
    """
    path = fluid.Path(bdp, rtt_ms / 1000, queue_bdp)
    outcome = fluid.synchronised(fluid.Scalable, path, window_2=ratio * bdp, slow_start=False)
    return outcome.ratios[100] / outcome.ratios[0]


def family(algorithm: str) -> str:
    """Return an algorithm's name without its preset."""
    return algorithm.partition("@")[0]


RESPONSES: Final[Mapping[str, Callable[[float, float], float]]] = {
    "reno": lambda p, rtt_s: responses.reno(p),  # noqa: ARG005
    "scalable": lambda p, rtt_s: responses.scalable(p),  # noqa: ARG005
    "highspeed": lambda p, rtt_s: responses.highspeed(p),  # noqa: ARG005
    "bic": lambda p, rtt_s: responses.bic(p, increase_max=32),  # noqa: ARG005
    "cubic": responses.cubic,
    "htcp": lambda p, rtt_s: responses.htcp(p, rtt_s, scale=responses.htcp_scale_linux(rtt_s)),
}
"""Algorithm -> mean window in packets at a loss probability and RTT; FAST has no such law."""


FORMULAS: Final[Mapping[str, Callable[..., float]]] = {
    form.__name__: form
    for form in (
        bdp_packets,
        queue_packets,
        refill_rtts,
        refill_s,
        sawtooth_utilisation,
        exponential_utilisation,
        recovery_rtts,
        events_to_fairness,
        ewma_floor_s,
        fast_backlog_packets,
        fast_throughput_mbit,
        yeah_backlog_packets,
        responses.highspeed_increase,
        responses.highspeed_cut,
        performance.efficiency,
        performance.performance,
        jain_index,
        shorten_leith_ratio,
        scalable_ratio_kept,
        testbed_10g.ethernet_goodput_gbit,
        testbed_10g.loss_probability,
        testbed_10g.rings_rtt_ms,
        testbed_10g.planned_runs,
        testbed_10g.ewma_samples,
    )
}


def formula(name: str) -> Callable[..., float]:
    """Return a closed form; an unknown name is an InputError."""
    if name not in FORMULAS:
        raise unknown("formula", name, FORMULAS)
    return FORMULAS[name]


def evaluate(name: str, args: Mapping[str, float]) -> float:
    """Evaluate a closed form; wrong arguments are an InputError."""
    form = formula(name)
    parameters = inspect.signature(form).parameters
    for arg in args:
        if arg not in parameters:
            raise unknown(f"argument of {name}", arg, parameters).at(key="args")
    missing = [
        parameter
        for parameter, described in parameters.items()
        if parameter not in args and described.default is inspect.Parameter.empty
    ]
    if missing:
        raise InputError(f"{name} lacks arguments", key="args", valid=listed(missing))
    return float(form(**args))


RESPONSE_QUEUE_BDP: Final = 0.2
"""Queue of the path whose response is expected; it matters only where the link is full."""

Row = Mapping[str, Any]
"""A grid point: its axes, their numbers, and the averages of its metrics."""


def _sawtooth_throughput(row: Row) -> float | None:
    return float(row["rate_mbit"]) * sawtooth_utilisation(row["queue_bdp"])


def _sawtooth(row: Row) -> float | None:
    return sawtooth_utilisation(row["queue_bdp"])


def _response_throughput(row: Row) -> float | None:
    rtt_s: float = row["rtt_ms"] / 1000
    response = RESPONSES.get(family(row["algorithm"]))
    if response is None:
        return None
    window = response(row["loss_value"], rtt_s)
    return min(float(row["rate_mbit"]), window * PACKET_BITS / 1e6 / rtt_s)


def _response_expected(row: Row) -> float | None:
    law = fluid.LAWS.get(family(row["algorithm"]))
    if law is None:
        return None
    path = fluid.Path(
        bdp_packets(row["rate_mbit"], row["rtt_ms"]), row["rtt_ms"] / 1000, RESPONSE_QUEUE_BDP
    )
    return _rate_under_loss(law, path, row["loss_value"]) * PACKET_BITS / 1e6


@functools.lru_cache(maxsize=1024)
def _rate_under_loss(law: Callable[[], fluid.Law], path: fluid.Path, p: float) -> float:
    return fluid.under_loss(law, path, p)


def _shorten_leith(row: Row) -> float | None:
    names = ("rtt_mean_ms_1", "rtt_mean_ms_2", "sync_1", "sync_2")
    if any(not row[name] for name in names):
        return None
    return shorten_leith_ratio(*(row[name] for name in names))


def _synchronised(row: Row) -> float | None:
    return synchronised_ratio(row["algorithm"], row["rate_mbit"], row["rtt_ms"], row["queue_bdp"])


@dataclass(frozen=True)
class Curve:
    """The expected value of a metric at each grid point."""

    name: str
    what: str
    columns: tuple[str, ...]
    """Columns of the metrics table that it depends on; metrics among them are averaged."""
    at: Callable[[Row], float | None]


_SENT: Final = ("algorithm", "rate_mbit", "rtt_ms")

CURVES: Final[Mapping[str, Curve]] = {
    curve.name: curve
    for curve in (
        Curve(
            "sawtooth_utilisation",
            "utilisation of two synchronised standard flows",
            ("queue_bdp",),
            _sawtooth,
        ),
        Curve(
            "sawtooth_throughput",
            "throughput (Mbit/s) of two synchronised standard flows",
            ("rate_mbit", "queue_bdp"),
            _sawtooth_throughput,
        ),
        Curve(
            "response_throughput",
            "throughput (Mbit/s) of one flow under random loss, at most the link's rate",
            (*_SENT, "loss_value"),
            _response_throughput,
        ),
        Curve(
            "response_expected",
            "throughput (Mbit/s) of one flow that loses at random, by simulating its law",
            (*_SENT, "loss_value"),
            _response_expected,
        ),
        Curve(
            "shorten_leith_ratio",
            "throughput ratio of two standard flows from RTTs and synchronisation factors",
            ("rtt_mean_ms_1", "rtt_mean_ms_2", "sync_1", "sync_2"),
            _shorten_leith,
        ),
        Curve(
            "synchronised_ratio",
            "throughput ratio (smaller/larger) in the fluid model of joint backoff",
            (*_SENT, "queue_bdp"),
            _synchronised,
        ),
    )
}


def curve(name: str) -> Curve:
    """Return a curve; an unknown name is an InputError."""
    if name not in CURVES:
        raise unknown("curve", name, CURVES)
    return CURVES[name]


def along(name: str, runs: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Evaluate a curve at the grid points of a metrics table.

    Parameters
    ----------
    name
        The curve.
    runs
        One row per run.
    by
        The axes; runs that agree in them are one point, over which metrics are averaged.

    Returns
    -------
    The columns `by` and ``theory``, without points that the curve says nothing about.
    """
    found = curve(name)
    lacking = [column for column in found.columns if column not in runs.columns]
    if lacking:
        raise InputError(
            f"the curve {name} needs columns that this test does not have",
            value=", ".join(lacking),
            valid=listed(found.columns),
        )
    points = runs.group_by(by, maintain_order=True).agg(
        [_average(runs, column) for column in found.columns if column not in by]
    )
    values: Iterable[float | None] = [found.at(row) for row in points.iter_rows(named=True)]
    theory = pl.Series("theory", values, dtype=pl.Float64)
    return points.select(by).with_columns(theory).drop_nulls("theory")


def _average(runs: pl.DataFrame, column: str) -> pl.Expr:
    value = pl.col(column)
    return value.mean() if runs.schema[column].is_numeric() else value.first()
