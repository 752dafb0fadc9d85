"""``dumbbell run``: how a campaign goes, and what is said of it at its end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from dumbbell.cli import cli_tables, progress
from dumbbell.cli.output import say, say_table
from dumbbell.cli.progress import Tracker
from dumbbell.quantities import duration
from dumbbell.results import Plan, remember
from dumbbell.running import campaigns, failures, schedule
from dumbbell.running.campaigns import Command, Cost, Effort, Logbook
from dumbbell.running.engine import Engine
from dumbbell.running.executor import Interrupted, Outcome, execute
from dumbbell.running.executor import Progress as State
from dumbbell.running.places import Places, words
from dumbbell.running.store import Store
from dumbbell.running.validity import described
from dumbbell.study.model import PlannedRun, Study, places, scenarios

_SHOWN: Final = 10


def run(
    study: Study,
    wanted: Sequence[PlannedRun],
    store: Store,
    engine: Engine,
    *,
    jobs: int,
    retries: int,
    plan: Plan,
) -> Outcome:
    """Run what is wanted of a study, and tell what became of it."""
    placed = places(wanted)
    planned = scenarios(wanted)
    stored = {run.key for run in planned if store.has(run.key)}
    if engine.real_time:
        missing = [run for run in planned if run.key not in stored]
        say.print(progress.announcement(missing, jobs))
    planned = schedule.ordered(planned, placed, stored)
    began_s = time.monotonic()
    tracker = Tracker(planned, began_s, jobs, placed, stored, real_time=engine.real_time)
    book = Logbook(store, study.name, engine.identity, quick=plan.quick, jobs=jobs)
    try:
        with book, progress.shown(tracker, len(planned), say) as display:

            def follow(state: State) -> None:
                if state.finished == 1:
                    remember(store, study, plan)
                book.note(state.ran, state.failed)
                display.on_progress(state)

            outcome = execute(
                planned,
                store,
                engine,
                jobs,
                follow,
                retries=retries,
                places=placed,
                on_wait=display.on_wait,
            )
    except Interrupted as stopped:
        _tell_failed(stopped.outcome, placed, store)
        raise
    _tell(outcome, placed, store, time.monotonic() - began_s)
    _tell_cost(outcome, book.command, store)
    return outcome


def _tell(outcome: Outcome, placed: Places, store: Store, elapsed_s: float) -> None:
    invalid = f"{len(outcome.invalid)} invalid, " if outcome.invalid else ""
    say.print(
        f"{len(outcome.done)} run, {len(outcome.reused)} reused, {invalid}"
        f"{len(outcome.failed)} failed in {duration(elapsed_s)}"
    )
    _tell_failed(outcome, placed, store)
    tell_invalid([described(*each) for each in outcome.invalid])


def _tell_failed(outcome: Outcome, placed: Places, store: Store) -> None:
    """Name the runs that failed, with their reasons."""
    tell(
        [
            f"failed: {words(run, placed.get(run.key))}: {str(error) or type(error).__name__}"
            for run, error in outcome.failed
        ]
    )
    if outcome.failed:
        where = store.root / failures.FOLDER
        say.print(
            f"Failed runs are recorded in {where}; the same command tries them again.",
            markup=False,
            soft_wrap=True,
        )


def tell_invalid(runs: Sequence[str]) -> None:
    """Name the runs that nothing may rest on."""
    tell(runs)
    if runs:
        say.print("Invalid runs are left out of everything; the same command tries them again.")


def tell(lines: Sequence[str]) -> None:
    """Say some lines; of many the first, and how many more there are."""
    for line in lines[:_SHOWN]:
        say.print(line, markup=False, soft_wrap=True)
    if len(lines) > _SHOWN:
        say.print(f"... and {len(lines) - _SHOWN} more")


def _tell_cost(outcome: Outcome, this: Command, store: Store) -> None:
    """Say what the results hold and what they took, this time and all together."""
    if outcome.held.runs:
        known = Effort.of(campaigns.commands(store, this.study, this.engine))
        say_table(cli_tables.cost(this, Cost(outcome.held, known)))
