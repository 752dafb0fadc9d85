"""Searches, which take long: their workers, their progress and a person's consent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from dumbbell.cli import consent, progress, unfit
from dumbbell.cli.output import say
from dumbbell.cli.workers import workers
from dumbbell.execution.pools import Pool

T = TypeVar("T")


def searched(
    search: Callable[[int | Pool | None, bool, progress.SearchStatus], T],
    *,
    algorithms: Iterable[str],
    jobs: int | None,
    dask: str | None,
    large: bool,
) -> T:
    """Return the result of a search, and show its progress.

    Parameters
    ----------
    search
        Gets the workers, whether a large search is meant, and what shows its progress.
    algorithms
        Those that it runs: a warning names those that the kernel would not take.
    jobs, dask, large
        The options of the command.
    """
    unfit.warn_of(algorithms)
    with workers(jobs, dask) as working:

        def run(meant: bool) -> T:
            with progress.steps(progress.SEARCHING, say) as step:
                return search(working, meant, progress.SearchStatus(step))

        return consent.asking(run, large=large)
