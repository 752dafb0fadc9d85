"""Curves: the expected value of a quantity at the grid points of a test.

Figures draw them, and ``theory`` checks of claims compare with them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from dumbbell.base.errors import InputError, listed, unknown
from dumbbell.base.units import PACKET_BITS
from dumbbell.theory import fluid, responses
from dumbbell.theory.formulas import (
    bdp_packets,
    family,
    sawtooth_utilisation,
    shorten_leith_ratio,
    synchronised_ratio,
)

RESPONSES: Final[Mapping[str, Callable[[float, float], float]]] = {
    "reno": lambda p, rtt_s: responses.reno(p),  # noqa: ARG005
    "scalable": lambda p, rtt_s: responses.scalable(p),  # noqa: ARG005
    "highspeed": lambda p, rtt_s: responses.highspeed(p),  # noqa: ARG005
    "bic": lambda p, rtt_s: responses.bic(p, increase_max=32),  # noqa: ARG005
    "cubic": responses.cubic,
    "htcp": lambda p, rtt_s: responses.htcp(p, rtt_s, scale=responses.htcp_scale_linux(rtt_s)),
}
"""Algorithm -> mean window in packets at a loss probability and RTT; FAST has no such law."""


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
    names = ("rtt_mean_ms[1]@run", "rtt_mean_ms[2]@run", "sync[1]", "sync[2]")
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
            ("rtt_mean_ms[1]@run", "rtt_mean_ms[2]@run", "sync[1]", "sync[2]"),
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
    The columns ``by`` and ``theory``, without points for which the curve has no value.
    """
    chosen = curve(name)
    lacking = [column for column in chosen.columns if column not in runs.columns]
    if lacking:
        raise InputError(
            f"the curve {name} needs columns that this test does not have",
            value=", ".join(lacking),
            valid=listed(chosen.columns),
        )
    points = runs.group_by(by, maintain_order=True).agg(
        [_average(runs, column) for column in chosen.columns if column not in by]
    )
    values: Iterable[float | None] = [chosen.at(row) for row in points.iter_rows(named=True)]
    theory = pl.Series("theory", values, dtype=pl.Float64)
    return points.select(by).with_columns(theory).drop_nulls("theory")


def _average(runs: pl.DataFrame, column: str) -> pl.Expr:
    value = pl.col(column)
    return value.mean() if runs.schema[column].is_numeric() else value.first()
