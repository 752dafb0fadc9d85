"""Flows that several connections carry: P-TCP."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from fidelity import measures, oracles
from fidelity.check import Check, about, within
from fidelity.checks.tables import flow, lossy, scenario, seeds

CONNECTIONS: Final = 16
"""Those of Li, Leith and Shorten 2007, section II."""

RTT_S: Final = 0.1


def checks() -> Iterator[Check]:
    """Yield them."""
    for p, seconds in ((1e-3, 300), (1e-4, 600)):
        yield Check(
            name=f"rate at random loss {p:g}, Reno over {CONNECTIONS} connections",
            oracle=f"{CONNECTIONS} √(3/(2p)) / RTT (Mathis et al. 1997; fact sheet 3.24), each "
            "connection by the stochastic model of Reno",
            scenarios=(lossy(seconds, p, flow("reno", parallel=CONNECTIONS)),),
            expected=partial(_rate, p),
            measure=measures.mean(measures.packets_per_s),
            band=within(0.06),
            why="that of Reno alone: 1000 losses in the run and 1500 in the model: two standard "
            "errors, as epochs vary by half or more",
            unit="packets/s",
        )
    yield Check(
        name=f"share of Reno over {CONNECTIONS} connections next to one Reno flow",
        oracle=f"symmetry of {CONNECTIONS + 1} equal connections: {CONNECTIONS}/{CONNECTIONS + 1}",
        scenarios=seeds(
            5,
            scenario(
                "120s",
                {"rate": "100mbit", "rtt": "40ms", "queue": "0.5bdp", "edge_jitter": "120us"},
                flow("reno", parallel=CONNECTIONS, label="p-tcp"),
                flow("reno"),
            ),
        ),
        expected=CONNECTIONS / (CONNECTIONS + 1),
        measure=measures.mean(measures.taken("goodput_share[1]")),
        band=about(0.02),
        why="the one flow's share of 6 % varies by a third from run to run: two standard errors",
    )


def _rate(p: float) -> float:
    """Return the packets per second of all connections."""
    return CONNECTIONS * oracles.window_under_loss("reno", p, RTT_S) / RTT_S
