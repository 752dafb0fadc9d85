"""The results of a study in a notebook."""

from __future__ import annotations

import warnings
from pathlib import Path

from dumbbell.api.runs import Run
from dumbbell.api.verdicts import Claims
from dumbbell.plan.grid import Selection
from dumbbell.results import results


class Results(results.Results):
    """The finished runs of a study by one engine in one results folder.

    Quick runs of a grid point count only until it has runs of full length. Invalid and damaged runs
    do not count as finished, and no verdict depends on them.
    """

    @classmethod
    def holding(cls, stored: results.Results) -> Results:
        """Return results for notebooks."""
        return cls(stored.study, stored.store, stored.plans, stored.engine)

    def claims(self) -> Claims:
        """Judge the claims of the study by these runs."""
        return Claims(super().claims())

    def get_run(self, test: str, where: Selection, repetition: int = 1) -> Run | None:
        """Return the run of one grid point.

        Parameters
        ----------
        test
            Name of the test.
        where
            Axis -> value, or values, of the grid point; the first one that matches counts.
        repetition
            Number of the repetition, from 1.

        Returns
        -------
        Run or None
            None if the run is not finished, or invalid.

        Raises
        ------
        InputError
            If there is no such test.
        """
        run = super().get_run(test, where, repetition)
        return None if run is None else Run.holding(run)

    def run(self, test: str, where: Selection, repetition: int = 1) -> Run | None:
        """Return `get_run`; the next version removes this name."""
        warnings.warn("use Results.get_run", DeprecationWarning, stacklevel=2)
        return self.get_run(test, where, repetition)

    def report(self, output: str | Path = "report") -> Path:
        """Write the report into a folder and return the path of its first page."""
        from dumbbell.reports import site  # noqa: PLC0415 - Altair takes a second to import

        return site.write(self, output)
