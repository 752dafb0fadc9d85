"""Run a campaign on the terminal, and report about it at its end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rich.table import Table

from dumbbell.base.errors import printable
from dumbbell.cli import consent, progress, unfit
from dumbbell.cli.outcomes import tell_counts
from dumbbell.cli.output import say, say_table
from dumbbell.cli.progress import Tracker
from dumbbell.cli.tables import table
from dumbbell.engines import engines
from dumbbell.engines.doubts import DECIDED_BY, OF_THE_ENGINE
from dumbbell.engines.validity import described, doubtful
from dumbbell.execution import parallelism
from dumbbell.execution.executor import Interrupted, Outcome
from dumbbell.execution.pools import Pool
from dumbbell.plan.expanding import scenarios
from dumbbell.plan.places import Places
from dumbbell.reports import cost_table
from dumbbell.results import plans
from dumbbell.results.campaign import Campaign
from dumbbell.results.results import Results
from dumbbell.store import campaigns, failures
from dumbbell.store.campaigns import Command, Cost, Effort
from dumbbell.store.store import Store

_SHOWN: Final = 10

PERTURB: Final = (
    "`dumbbell simulate FILE --perturb 10` shows how much of a run depends on phase; edge_rate, "
    "edge_queue, edge_jitter and clock_ppm describe its hosts."
)


def run(
    campaign: Campaign,
    *,
    jobs: int | Pool | None,
    retries: int,
    large: bool,
    brief: bool = False,
    whole: bool = False,
) -> Outcome:
    """Run what is planned of a study, and report the outcome; `brief`: not the time and the size.

    Unless what is `large` is meant, it is asked about, or refused. `whole` is for an answer that
    needs every run; see `executor.execute`.
    """
    store, engine = campaign.store, campaign.engine
    engines.runnable(engine)
    consent.asking(lambda meant: None if meant else campaign.check_size(jobs), large=large)
    at_once = parallelism.at_once(engine, jobs)
    runs = scenarios(campaign.planned)
    if engine.real_time:
        missing = [run for run in runs if run.key not in campaign.stored]
        say.print(progress.announcement(missing, at_once))
    unfit.warn({name: code for run in runs for name, code in run.scenario.sources.items()})
    displaced = plans.displaced_path(store, campaign.study.name, campaign.study.path)
    if displaced is not None:
        name, path = campaign.study.name, campaign.study.path
        say.print(
            f"The name {name} leads to {path} from now on, no longer to {displaced}. Runs of both "
            "are in this folder; give one another name.",
            soft_wrap=True,
            markup=False,
        )
    began_s = time.monotonic()
    tracker = Tracker(
        campaign.ordered,
        began_s,
        at_once,
        campaign.places,
        campaign.stored,
        real_time=engine.real_time,
    )
    try:
        with progress.shown(tracker, len(campaign.ordered), say) as display:
            outcome, book = campaign.run(
                large=True,
                jobs=jobs,
                retries=retries,
                on_progress=display.on_progress,
                on_wait=display.on_wait,
                whole=whole,
            )
    except Interrupted as stopped:
        _tell_failed(stopped.outcome, campaign.places, store)
        raise
    _tell(outcome, campaign.places, store, time.monotonic() - began_s)
    if not brief:
        _tell_cost(outcome, book.command, store)
    return outcome


def _tell(outcome: Outcome, placed: Places, store: Store, elapsed_s: float) -> None:
    tell_counts(
        done=len(outcome.done),
        reused=len(outcome.reused),
        invalid=len(outcome.invalid),
        failed=len(outcome.failed),
        elapsed_s=elapsed_s,
    )
    _tell_failed(outcome, placed, store)
    tell_invalid([described(*invalid) for invalid in outcome.invalid])
    tell_doubtful(doubtful(outcome.doubts))


def _tell_failed(outcome: Outcome, placed: Places, store: Store) -> None:
    """Name the runs that failed, with their reasons."""
    tell([f"failed: {failure}" for failure in outcome.failures(placed)])
    if outcome.left:
        say.print(f"Not run: {outcome.left} more, because the answer needs the failed one, too.")
    if outcome.failed:
        where = store.root / failures.FOLDER
        say.print(
            f"Failed runs are recorded in {where}; the same command tries them again.",
            soft_wrap=True,
        )


def tell_invalid(runs: Sequence[str]) -> None:
    """Name the invalid runs, which count nowhere."""
    tell(runs)
    if runs:
        say.print("Invalid runs are left out of everything; the same command tries them again.")


def tell_damaged(results: Results) -> None:
    """Name the results that are left out as they are not what was written."""
    tell(list(results.damaged.values()))
    if results.damaged:
        say.print("Damaged results are left out; the same command runs them again.")


def tell_doubtful(lines: Sequence[str]) -> None:
    """Name the runs that may show something else than their algorithms."""
    tell(lines)
    if lines:
        say.print("Doubtful runs count, as the doubts follow from their scenario.")
    if any(
        f"may be decided by {DECIDED_BY[cause]};" in line
        for line in lines
        for cause in OF_THE_ENGINE
    ):
        say.print(PERTURB, soft_wrap=True)


def tell(lines: Sequence[str]) -> None:
    """Say some lines; of many the first, and how many more there are."""
    for line in lines[:_SHOWN]:
        say.print(printable(line), soft_wrap=True)
    if len(lines) > _SHOWN:
        say.print(f"... and {len(lines) - _SHOWN} more")


def _tell_cost(outcome: Outcome, this: Command, store: Store) -> None:
    """Say what the results hold and what they took, this time and all together."""
    if outcome.held.runs:
        known = Effort.of(campaigns.commands(store, this.study, this.engine))
        say_table(_costs(this, Cost(outcome.held, known)))


def _costs(this: Command, campaign: Cost) -> Table:
    """Return what a command took, what all commands of its campaign took, and what they left."""
    shown = table(*cost_table.COLUMNS, right=cost_table.COUNTS)
    for row in cost_table.rows(campaign, this):
        shown.add_row(*row)
    return shown
