"""What applications send, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dumbbell.scenario.model_sizes import published
from fidelity import measures
from fidelity.check import Check, Table, about, within
from fidelity.checks.tables import scenario

DRAWN: Final = 8000
"""Flows of which sizes are looked at."""


def checks() -> Iterator[Check]:
    """Yield them."""
    yield from _sizes()


def _arriving(size: str) -> Table:
    """Return flows that begin within 0.1 s; few of them end."""
    network = {"rate": "100mbit", "rtt": "10ms", "queue": "1bdp"}
    arrivals = {"algorithm": "reno", "rate": DRAWN * 10, "size": size}
    return scenario("0.1s", network, arrivals=[arrivals])


def _sizes() -> Iterator[Check]:
    # The share of flows that are larger, with the papers that say so; a drawn share has a
    # deviation of half a percent at most.
    for name, source, size_bytes, share in (
        ("web-search", "0.3 (Alizadeh et al. 2013)", 1_000_000, 0.3),
        ("data-mining", "0.2 (Alizadeh et al. 2013)", 10_000, 0.2),
        ("data-mining", "0.02 (Greenberg et al. 2009)", 100_000_000, 0.02),
        ("cache", "0.5 (Roy et al. 2015)", 28_270, 0.5),
    ):
        yield Check(
            name=f"share of {name} flows over {size_bytes / 1e6:g} MB",
            oracle=source,
            scenarios=(_arriving(name),),
            expected=share,
            measure=measures.mean(measures.share_larger(size_bytes)),
            band=about(4 * (share * (1 - share) / DRAWN) ** 0.5),
            why=f"four deviations of a share of {DRAWN} flows",
        )
    yield Check(
        name="mean size of web-search flows",
        oracle="the integral of its published distribution, linear between its points",
        scenarios=(_arriving("web-search"),),
        expected=float(published("web-search").mean) / 1e6,
        measure=measures.mean(measures.mean_mb),
        band=within(0.1),
        why=f"four deviations of the mean of {DRAWN} flows: 2.3 times the mean each",
        unit="MB",
    )
