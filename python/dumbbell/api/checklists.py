"""An algorithm by the clauses of RFC 9743, in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from dumbbell.api import arguments
from dumbbell.api.arguments import Folder
from dumbbell.api.results import Results
from dumbbell.api.table import Table
from dumbbell.base.arguments import names, number, wrong
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.checklist import checking, outcome, words


@dataclass(frozen=True, repr=False)
class Checklist(Table, outcome.Checklist):
    """An algorithm by the clauses of RFC 9743, with Dumbbell's bounds.

    Attributes
    ----------
    results
        The runs, as those of a study.
    clauses
        The clauses, each with its verdict (`outcome`), and the checks that decide it (`answers`).
    passes
        True if no clause with a MUST fails.
    """

    results: Results

    @property
    def verdict(self) -> str:
        """The clauses that fail, in sentences."""
        return "\n".join(words.conclusion(self))

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each check of each clause, in the units of the quantities.

        Its first columns are ``section``, ``clause``, ``level`` and ``verdict``.
        """
        return self.frame()

    def report(self, output: str | Path = "checklist.html") -> Path:
        """Write the page, which is a single file, and return its path."""
        from dumbbell.reports import suite_pages  # noqa: PLC0415 - Altair takes a second

        suite_pages.write([self], Path(output), "dumbbell.checklist(...)")
        return Path(output)

    @property
    def _heading(self) -> tuple[str, str]:
        return self.results.study.header.title, words.conclusion(self)[0]


def checklist(
    algorithm: str | Path,
    *,
    against: str | Sequence[str] = checking.AGAINST,
    clauses: str | Sequence[str] = (),
    quick: bool = False,
    at_most: int | None = None,
    seed: int = 0,
    engine: Engine | str = EngineName.SIMULATOR,
    results: Folder = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Checklist:
    """Judge an algorithm by the clauses of RFC 9743, which new congestion control must satisfy.

    Parameters
    ----------
    algorithm
        Its C file, or its name.
    against
        References. A value that is not much worse than that of one of them passes.
    clauses
        Names or sections of the clauses that are judged, such as ``"harm"``; by default all.
    quick
        True to run a part of each test, in a few minutes.
    at_most
        Most repetitions of a grid point; by default 20, and 8 with `quick`. More repetitions than
        planned run only where they decide a clause.
    seed
        Source of the seeds of all runs.
    engine, results, jobs, retries, large, on_progress
        As for `run_study`.

    Returns
    -------
    Checklist
        A table with a row for each check of each clause.

    Raises
    ------
    InputError
        If an argument is wrong.
    DumbbellError
        If a run fails.

    Examples
    --------
    It takes some minutes.

    >>> judged = dumbbell.checklist("my_cc.c", quick=True)  # doctest: +SKIP
    >>> judged.to_frame()["clause"].unique().to_list()  # doctest: +SKIP
    """
    if not isinstance(algorithm, str | Path):
        raise wrong("algorithm", algorithm, "not an algorithm", "its C file, or its name")
    (judged,) = checking.checklist(
        [str(algorithm)],
        against=names(against, "against", "reno"),
        clauses=names(clauses, "clauses", "harm") if clauses else (),
        quick=quick,
        at_most=None if at_most is None else number(at_most, "at_most", 2),
        seed=number(seed, "seed", 0),
        engine=engine,
        results=arguments.store(results),
        jobs=jobs,
        retries=retries,
        large=large,
        on_progress=on_progress,
    )
    return Checklist(Results.holding(judged.results), judged.suite, judged.roles, judged.clauses)
