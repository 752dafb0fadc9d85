"""Two algorithms against each other, in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from dumbbell.api import arguments
from dumbbell.api.arguments import Folder
from dumbbell.api.results import Results
from dumbbell.api.table import Table
from dumbbell.base.arguments import Values, name, number, values
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.compete import competing, contest, words
from dumbbell.figures.figure import Figure


@dataclass(frozen=True, repr=False)
class Contest(Table, contest.Contest):
    """Two algorithms on one path at the same time: shares and harm, with 95 % intervals.

    Attributes
    ----------
    results
        The runs, as those of a study.
    sides
        Both sides: algorithm and number of flows.
    outcomes
        Each side in each order of start, on each path.
    window
        The part of a run that quantities cover, in seconds; None if no run is valid.
    """

    results: Results

    @property
    def verdict(self) -> str:
        """The side that harms the other, in sentences."""
        return "\n".join(words.conclusion(self))

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each path, order of start and side, with the ends of intervals.

        Examples
        --------
        >>> contest.to_frame().columns[:5]
        ['algorithm', 'flows', 'starts', 'fair_share', 'share']
        """
        return self.frame()

    def chart(self, name: str) -> Figure:
        """Draw a figure of the contest; raise InputError with all names if it is unknown."""
        return self.results.figure(name)

    def report(self, output: str | Path = "report") -> Path:
        """Write the report into a folder and return the path of its first page."""
        return self.results.report(output)

    @property
    def _heading(self) -> tuple[str, str]:
        return self.results.study.header.title, self.path


def compete(
    one: str,
    other: str,
    *,
    rate: Values,
    rtt: Values,
    buffer: Values = "1bdp",
    loss: Values = "0",
    duration: str = "60s",
    runs: int = 5,
    seed: int = 0,
    stack: str = "linux-6",
    engine: Engine | str = EngineName.SIMULATOR,
    results: Folder = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Contest:
    """Let two algorithms share a path, and decide whether one harms the other.

    Parameters
    ----------
    one, other
        Both sides: an algorithm with its number of flows, such as ``"bbr3:4"``; without a number
        it is one flow.
    rate, rtt, buffer, loss
        The path, as for `compare`. Lists or ranges of values make a sweep.
    duration, runs, seed, stack
        As for `compare`.
    engine, results, jobs, retries, large, on_progress
        As for `run_study`.

    Returns
    -------
    Contest
        A table with a row for each path, order of start and side.

    Raises
    ------
    InputError
        If an argument is wrong.
    DumbbellError
        If a run fails, or none is valid.

    Examples
    --------
    >>> contest = dumbbell.compete(
    ...     "reno", "cubic", rate="10mbit", rtt="20ms", duration="5s", runs=2
    ... )
    >>> contest.to_frame()["algorithm"].to_list()
    ['reno', 'cubic', 'reno', 'cubic']
    """
    path = {"rate": rate, "rtt": rtt, "buffer": buffer, "loss": loss}
    texts = {key: ",".join(values(value, key, "10mbit")) for key, value in path.items()}
    contest = competing.compete(
        (name(one, "one", "bbr3:4"), name(other, "other", "cubic:4")),
        competing.Paths(**texts, duration=duration, stack=stack),
        runs=number(runs, "runs", 1),
        seed=number(seed, "seed", 0),
        engine=engine,
        results=arguments.store(results),
        jobs=jobs,
        retries=retries,
        large=large,
        on_progress=on_progress,
    )
    return Contest(
        Results.holding(contest.results), contest.sides, contest.outcomes, contest.window
    )
