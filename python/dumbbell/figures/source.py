"""Source of the runs of figures, for any owner of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import polars as pl

from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.view import RunView


class Views(Protocol):
    """Finished runs of tests, as figures over time and of distributions see them."""

    @property
    def engine(self) -> Engine:
        """The engine that ran them."""

    def test(self, name: str) -> Test:
        """Return a test."""

    def views(self, test: str, where: Selection) -> Iterator[tuple[Mapping[str, str], RunView]]:
        """Yield the finished runs at some grid points of a test, with their axes."""

    def left_out(self, test: str) -> int:
        """Return how many runs of a test are invalid."""


class Source(Views, Protocol):
    """The finished runs of a study by one engine."""

    def table(self, test: str, columns: Sequence[str]) -> pl.DataFrame:
        """Return a row per finished run of a test.

        The columns are the axes as texts, their numbers (such as ``rtt_ms``), ``repetition``, and
        the quantities that `columns` names.
        """

    def title(self, test: str, column: str) -> str:
        """Return what a column of a test's table is called, with its unit."""

    def described(self, text: str) -> Quantity | Derived:
        """Return the description of the quantity that a reference names."""

    def stored_run(self, test: str, where: Selection, repetition: int = 1) -> Run | None:
        """Return a run of one grid point; None if it is not finished, or invalid."""

    def quick(self, test: str) -> bool:
        """Return True if a test has no finished run of full length."""
