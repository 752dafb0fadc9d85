"""Run a checklist and judge it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from dumbbell.engines import engines
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.checklist import suite
from dumbbell.experiments.checklist.content import content
from dumbbell.experiments.checklist.outcome import Checklist
from dumbbell.experiments.checklist.roles import roles
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.store.store import Store

AGAINST: Final = ("reno", "cubic")
"""References unless others are named: the congestion control of the standards track."""

AT_MOST: Final = 20
QUICK_AT_MOST: Final = 8
"""Repetitions of a grid point beyond which no more are added to decide a clause."""


def checklist(
    algorithms: Sequence[str],
    *,
    against: Sequence[str] = AGAINST,
    clauses: Sequence[str] = (),
    quick: bool = False,
    at_most: int | None = None,
    seed: int = 0,
    engine: Engine | str = EngineName.SIMULATOR,
    results: Store | str | Path = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Checklist]:
    """Run the tests of the checklist, and judge each clause; return one for each algorithm.

    Parameters
    ----------
    algorithms
        The algorithms.
    against
        References: what is not much worse than any of them passes.
    clauses
        Names or sections of the clauses that are judged; none: all.
    quick
        True to run a part of each test, in some minutes.
    at_most
        Repetitions of a grid point at most; by default 20, of quick runs 8.
    seed, engine, results, jobs, retries, large, on_progress
        As for `compare`.
    """
    store = Store.of(results)
    planned = campaign(
        algorithms,
        against,
        clauses,
        quick=quick,
        seed=seed,
        store=store,
        engine=engines.named(engine),
    )
    run = partial(
        Campaign.complete, large=large, jobs=jobs, retries=retries, on_progress=on_progress
    )
    last, _ = planned.run_until_decided(run, most(quick=quick, at_most=at_most), alone=True)
    return judged(last)


def most(*, quick: bool, at_most: int | None) -> int:
    """Return the largest number of repetitions."""
    return at_most or (QUICK_AT_MOST if quick else AT_MOST)


def campaign(
    algorithms: Sequence[str],
    against: Sequence[str],
    clauses: Sequence[str] = (),
    *,
    quick: bool,
    seed: int,
    store: Store,
    engine: Engine,
) -> Campaign:
    """Keep a checklist in a results folder and return what is to be run; see `checklist`."""
    roles_of_checklist = roles(algorithms, against)
    flags = ["--against", ",".join(reference.typed for reference in roles_of_checklist.references)]
    flags += ["--clauses", ",".join(clauses)] if clauses else []
    flags += ["--quick"] if quick else []
    study = content(suite.load().part(clauses), roles_of_checklist, flags=flags)
    store.create()
    return Campaign.of_experiment(study, store, engine, Plan.requested(quick=quick, seed=seed))


def judged(last: Campaign) -> list[Checklist]:
    """Return the verdicts by the runs of a campaign, for each algorithm."""
    return Checklist.of(last.own_results(), suite.load())
