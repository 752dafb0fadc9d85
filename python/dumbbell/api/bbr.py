"""An algorithm by the cases of BBR's draft, in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from dumbbell.api import arguments
from dumbbell.api.arguments import Folder
from dumbbell.api.results import Results
from dumbbell.api.table import Table
from dumbbell.base.arguments import number, wrong
from dumbbell.engines.choices import RETRIES
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.cases import outcome, running, suite, words


@dataclass(frozen=True, repr=False)
class BbrCases(Table, outcome.Cases):
    """An algorithm by the cases of draft-ietf-ccwg-bbr.

    Attributes
    ----------
    results
        The runs, as those of a study.
    cases
        The cases, each with its verdict (`outcome`) and its checks (`answers`).
    passes
        True if no case fails.
    """

    results: Results

    @property
    def verdict(self) -> str:
        """The number of cases that pass, and those that do not, in sentences."""
        return "\n".join(words.conclusion(self))

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each check of each case, in the units of the checks.

        Its first columns are ``case``, ``name``, ``verdict`` and ``check``. ``found`` has numbers,
        and ``state`` has states.
        """
        return self.frame()

    def report(self, output: str | Path = "bbr-draft.html") -> Path:
        """Write the page, which is a single file, and return its path."""
        from dumbbell.reports import suite_pages  # noqa: PLC0415 - Altair takes a second

        suite_pages.write([self], Path(output), "dumbbell.bbr_cases(...)")
        return Path(output)

    @property
    def _heading(self) -> tuple[str, str]:
        return self.results.study.header.title, words.conclusion(self)[0]


def bbr_cases(
    algorithm: str | Path,
    *,
    seed: int = 0,
    results: Folder = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> BbrCases:
    """Judge an algorithm that has BBR's states by the cases of draft-ietf-ccwg-bbr.

    Some cases change the path when the algorithm enters a state. For these cases, a first run finds
    the moment, and a second run repeats the first one with the change.

    Parameters
    ----------
    algorithm
        Its C file, or its name.
    seed
        Source of the seeds of all runs.
    results, jobs, retries, large, on_progress
        As for `run_study`.

    Returns
    -------
    BbrCases
        A table with a row for each check of each case.

    Raises
    ------
    InputError
        If an argument is wrong, or the algorithm does not report the states of BBR.
    DumbbellError
        If a run fails.

    Examples
    --------
    It takes about a minute.

    >>> judged = dumbbell.bbr_cases("bbr3")  # doctest: +SKIP
    >>> judged.report("bbr3.html")  # doctest: +SKIP
    """
    if not isinstance(algorithm, str | Path):
        raise wrong("algorithm", algorithm, "not an algorithm", "its C file, or its name")
    (judged,) = running.cases(
        [str(algorithm)],
        suite.load(),
        seed=number(seed, "seed", 0),
        results=arguments.store(results),
        jobs=jobs,
        retries=retries,
        large=large,
        on_progress=on_progress,
    )
    return BbrCases(Results.holding(judged.results), judged.suite, judged.role, judged.cases)
