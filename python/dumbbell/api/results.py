"""The results of a study in a notebook."""

from __future__ import annotations

import warnings
from pathlib import Path

from dumbbell.api.runs import Run
from dumbbell.api.verdicts import Claims
from dumbbell.base.errors import InputError, listed, placed
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.results import results
from dumbbell.results.planned_runs import Listed, State


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

    def get_run(self, test: str, where: Selection, repetition: int = 1) -> Run:
        """Return the run of one grid point.

        Parameters
        ----------
        test
            Name of the test.
        where
            Axis -> value, or values, of the grid point; the first one that matches counts.
        repetition
            Number of the repetition, from 1.

        Raises
        ------
        InputError
            If there is no such test, axis, value or run, or if the run is not finished or invalid.
            The error names what there is.
        """
        run = self.stored_run(test, where, repetition)
        if run is None:
            raise self._without_run(test, where, repetition)
        return Run.holding(run)

    def _without_run(self, test: str, where: Selection, repetition: int) -> InputError:
        """Return the error for a run that cannot be read, with the runs that can."""
        with placed(key="where"):
            grid.check(where, self.test(test).axes)
        runs = [one for one in self.runs(test) if grid.matches(one.run.axes, where)]
        outcomes = [_outcome(one) for one in runs if one.run.repetition == repetition]
        finished = [_place(one) for one in self.runs(test) if one.state is State.FINISHED]
        return InputError(
            f"repetition {repetition} is {outcomes[0] if outcomes else 'not planned'}",
            key="where",
            value=dict(where),
            valid=listed(finished) if finished else "run the study first: no run is finished",
        )

    def run(self, test: str, where: Selection, repetition: int = 1) -> Run:
        """Return `get_run`; the next version removes this name."""
        warnings.warn("use Results.get_run", DeprecationWarning, stacklevel=2)
        return self.get_run(test, where, repetition)

    def report(self, output: str | Path = "report") -> Path:
        """Write the report into a folder and return the path of its first page."""
        from dumbbell.reports import site  # noqa: PLC0415 - Altair takes a second to import

        return site.write(self, output)


def _outcome(planned: Listed) -> str:
    return f"{planned.state}: {planned.why}" if planned.why else planned.state.value


def _place(planned: Listed) -> str:
    return f"{', '.join(planned.run.axes.values())} (repetition {planned.run.repetition})"
