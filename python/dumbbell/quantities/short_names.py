"""Short names of the quantities and series that people use most.

A short name means one thing as a number of a run and over time: ``rtt`` is the mean round-trip time
of a run, and its history as a series. So do the names of either, ``rtt_mean_ms`` and ``rtt_ms``.
They hold for a single run only: in a study ``rtt`` and ``queue`` are axes, and ``rtt_ms`` is the
number of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dumbbell.quantities.reference import Reference, parse

_BOTH: Final[Mapping[str, tuple[str, str]]] = {
    "goodput": ("goodput_mbit_per_s", "goodput_mbit_per_s"),
    "throughput": ("throughput_mbit_per_s", "throughput_mbit_per_s"),
    "rtt": ("rtt_mean_ms", "rtt_ms"),
    "cwnd": ("cwnd_mean_segs", "cwnd_segs"),
    "queue": ("queue_mean_packets", "queue_packets"),
}
"""Short name -> quantity, series."""

OF_QUANTITIES: Final = tuple(_BOTH)

ONLY_SERIES: Final[Mapping[str, str]] = {
    "ssthresh": "ssthresh_segs",
    "in_flight": "in_flight_segs",
    "drops": "drops_per_s",
    "retransmissions": "retransmissions_per_s",
}
"""Short name -> series of which no number of a run is the mean."""

_QUANTITIES: Final[Mapping[str, str]] = {
    **{short: quantity for short, (quantity, _) in _BOTH.items()},
    **{series: quantity for quantity, series in _BOTH.values() if series != quantity},
}
"""Other name of a quantity -> its own."""

_SERIES: Final[Mapping[str, str]] = {
    **{short: series for short, (_, series) in _BOTH.items()},
    **{quantity: series for quantity, series in _BOTH.values() if series != quantity},
    **ONLY_SERIES,
}
"""Other name of a series -> its own."""


def quantity(text: str) -> Reference:
    """Return what a reference to a quantity means whose name may be a short one."""
    reference = parse(text)
    return replace(reference, name=_QUANTITIES.get(reference.name, reference.name))


def series(name: str) -> str:
    """Return the name of a series that may be a short one."""
    return _SERIES.get(name, name)
