"""A sweep of paths in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from dumbbell.api.results import Results
from dumbbell.api.table import Table
from dumbbell.experiments.sweeps import SHOWN
from dumbbell.figures.figure import Figure
from dumbbell.quantities.tables import aggregate
from dumbbell.quantities.taking import described
from dumbbell.results import results

_TEST: Final = "sweep"
_STATISTICS: Final = ("mean", "se", "low", "high", "n")
_QUANTITIES: Final = (*SHOWN, "utilisation")


class Sweep(Table):
    """Algorithms on all combinations of a path's values, with 95 % intervals.

    Attributes
    ----------
    results
        The runs, as those of a study whose test is called ``sweep``.
    """

    def __init__(self, stored: results.Results) -> None:
        self.results = Results.holding(stored)

    def summary(self) -> pl.DataFrame:
        """Return a row for each combination, with the mean of each quantity.

        Columns are ``algorithm``, the axes ``rate``, ``rtt``, ``buffer``, ``loss`` and ``flows``,
        ``runs``, and the quantities in the units of their names.

        Examples
        --------
        >>> swept.summary().height
        2
        """
        frame = self._runs
        by_point = frame.group_by(*self._axes, maintain_order=True)
        return by_point.agg(pl.len().alias("runs"), *(pl.col(name).mean() for name in _QUANTITIES))

    def to_frame(self) -> pl.DataFrame:
        """Return means with intervals, a row for each combination and quantity.

        Columns are the axes, ``quantity``, ``mean``, ``se``, ``low``, ``high`` and ``n``; low and
        high are null for less than two runs.

        Examples
        --------
        >>> swept.to_frame().columns[-6:]
        ['quantity', 'mean', 'se', 'low', 'high', 'n']
        """
        parts = [
            aggregate(self._runs, self._axes, name, share=described(name).is_share).select(
                *self._axes, pl.lit(name).alias("quantity"), *_STATISTICS
            )
            for name in _QUANTITIES
        ]
        return pl.concat(parts).filter(pl.col("n") > 0)

    def chart(self, name: str | None = None) -> Figure:
        """Draw a figure; by default the first of `figures`. Raises InputError if it is unknown."""
        return self.results.figure(self.figures[0] if name is None else name)

    @property
    def figures(self) -> list[str]:
        """The names of its figures: maps over pairs of axes, or lines along one."""
        return [figure.name for figure in self.results.study.figures]

    def report(self, output: str | Path = "report") -> Path:
        """Write the report into a folder and return the path of its first page."""
        return self.results.report(output)

    @property
    def _runs(self) -> pl.DataFrame:
        return self.results.table(_TEST, _QUANTITIES)

    @property
    def _axes(self) -> list[str]:
        return list(self.results.test(_TEST).axes)

    def _repr_html_(self) -> str:
        """Return the means, for notebooks."""
        return self._html(self.summary())

    def __repr__(self) -> str:
        return self._text(self.summary())

    @property
    def _heading(self) -> tuple[str, str]:
        header = self.results.study.header
        return header.title, header.summary
