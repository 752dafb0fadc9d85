"""Forks in a results folder, and the original of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from dumbbell.base.errors import InputError
from dumbbell.engines import engines
from dumbbell.experiments.forks.change import Changes
from dumbbell.experiments.forks.content import Fork
from dumbbell.results import experiments
from dumbbell.results.campaign import Campaign
from dumbbell.results.results import Results
from dumbbell.study.model import Study


def campaign(forked: Fork, original: Campaign, *, is_kept: bool = True) -> Campaign:
    """Return what is to be run of a fork, as it is asked of the original.

    The results folder keeps the fork, unless nothing is to run.
    """
    with _blaming(forked.changes):
        first = replace(original, study=forked.study)
        _ = first.planned
    if not is_kept:
        return first
    original.store.create()
    with experiments.saved(forked.content, original.store.root) as study:
        return replace(original, study=study)


@contextmanager
def _blaming(changes: Changes) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise changes.blamed(error) from None


@dataclass(frozen=True)
class Original:
    """The original of a fork.

    Attributes
    ----------
    results
        Its runs in the results folder of the fork; None: there are none.
    missing
        The reason, with the command that runs it.
    """

    results: Results | None
    missing: str = ""


def original(results: Results) -> Original | None:
    """Return the original of a fork; None if the study is no fork."""
    of = results.study.header.fork_of
    if not of:
        return None
    try:
        study = Study.load(of, results.store.root)
    except InputError as error:
        return Original(None, f"The original {of} cannot be read: {error}")
    original_results = Results(study, results.store, engine=results.engine)
    if original_results.is_empty:
        run = f"dumbbell run {of}{engines.option(results.engine)}"
        folder = results.store.root
        return Original(
            None,
            f"The original is not drawn: {folder} holds none of its runs. To make them: `{run}`",
        )
    return Original(original_results)
