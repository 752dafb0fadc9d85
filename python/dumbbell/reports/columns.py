"""Quantities of a test that a report shows.

Those by which algorithms are compared, and those that figures and claims name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dumbbell.plan.tests import Test
from dumbbell.quantities.names import Use, What
from dumbbell.quantities.tables import number_columns
from dumbbell.study.model import Study
from dumbbell.theory import curves

KEY: Final = (
    "utilisation",
    "jain",
    "retransmitted_share@late",
    "convergence_bound_s",
    "rtt_inflation@run",
)
"""The quantities by which algorithms are compared."""

FURTHER: Final = (
    "goodput_mbit_per_s",
    "throughput_mbit_per_s",
    "queue_mean_packets@run",
    "dropped_packets@run",
    "timeouts@run",
)
"""Further quantities of a run."""


def columns(study: Study, test: Test) -> list[str]:
    """Return the quantities, each once: those of comparisons first."""
    return list(dict.fromkeys([*KEY, *FURTHER, *_named(study, test)]))


def _named(study: Study, test: Test) -> Iterator[str]:
    """Yield the quantities of a test that figures and claims name."""
    numbers = {*number_columns(test).values(), *test.axes}
    for use in study.uses():
        for column in _columns_of(use):
            if use.test == test.name and column not in numbers:
                yield column


def _columns_of(use: Use) -> tuple[str, ...]:
    match use.what:
        case What.QUANTITY | What.COLUMN:
            return (str(use.name),)
        case What.CURVE:
            return curves.curve(str(use.name)).columns
    return ()
