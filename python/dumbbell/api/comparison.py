"""A comparison of algorithms in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from dumbbell.api.results import Results
from dumbbell.api.table import Table
from dumbbell.base import hypertext
from dumbbell.experiments import comparison
from dumbbell.figures.figure import Figure


@dataclass(frozen=True, repr=False)
class Comparison(Table, comparison.Comparison):
    """Algorithms on one path: what each achieved, with 95 % intervals.

    Attributes
    ----------
    results
        The runs, as those of a study.
    runs
        A row for each run and line of the table: ``line``, ``algorithm`` (null: all flows of a
        mix), ``repetition``, and a column for each quantity.
    means
        A row for each line and ``quantity``: ``mean``, ``se``, ``low``, ``high`` and ``n``.
    windows
        The part of a run that each quantity covers, in seconds; it spans the windows of all runs.
    """

    results: Results

    @classmethod
    def holding(cls, compared: comparison.Comparison) -> Comparison:
        """Return a comparison for notebooks."""
        return cls(
            Results.holding(compared.results), compared.runs, compared.means, compared.windows
        )

    def summary(self) -> pl.DataFrame:
        """Return a row for each line, with the mean of each quantity.

        Columns are ``line``, ``algorithm``, ``runs`` and the quantities in the units of their
        names, as `dumbbell.take` has them; null where a quantity has no value.

        Examples
        --------
        >>> compared.summary().columns[:4]
        ['line', 'algorithm', 'runs', 'goodput_mbit_per_s']
        """
        by_line = self.runs.group_by("line", "algorithm", maintain_order=True)
        return by_line.agg(
            pl.col("repetition").n_unique().alias("runs"),
            *(pl.col(name).mean() for name in self.shown),
        )

    def to_frame(self) -> pl.DataFrame:
        """Return the means with their intervals, a row for each line and quantity.

        Examples
        --------
        >>> compared.to_frame().columns
        ['line', 'algorithm', 'quantity', 'mean', 'se', 'low', 'high', 'n']
        """
        return self.means

    def chart(self, name: str = "tradeoff") -> Figure:
        """Draw a figure.

        Names are ``tradeoff`` (goodput against delay), ``over-time`` and ``delays``. Raises
        InputError if there is no such figure.

        Examples
        --------
        >>> compared.chart("tradeoff").spec.title
        'Goodput against delay'
        """
        return self.results.figure("trade-off" if name == "tradeoff" else name)

    def report(self, output: str | Path = "report") -> Path:
        """Write the report into a folder and return the path of its first page."""
        return self.results.report(output)

    def _repr_html_(self) -> str:
        """Return means with intervals, for notebooks."""
        from dumbbell.reports import own_tables  # noqa: PLC0415 - as for `Results.report`

        shown = own_tables.compared(self)
        title, about = self._heading
        note = f"{about}. {shown.note}" if shown.note else about
        return hypertext.summary(title, note, shown.heads, shown.rows)

    def __repr__(self) -> str:
        return self._text(self.summary())

    @property
    def _heading(self) -> tuple[str, str]:
        return self.results.study.header.title, self.path
