"""``dumbbell compare`` over several paths: a sweep, run as a study and shown on pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from dumbbell.cli import campaign, pages
from dumbbell.cli.output import Form, print_csv
from dumbbell.cli.totals import print_totals
from dumbbell.engines import engines
from dumbbell.experiments import sweep_table, sweeps
from dumbbell.experiments.setting import of_setting
from dumbbell.experiments.sweeps import Axis
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.store.store import Store

if TYPE_CHECKING:
    from dumbbell.cli.compare_command import How


def sweep(
    algorithms: Sequence[str],
    axes: Sequence[Axis],
    how: How,
    *,
    duration: str,
    stack: str,
    runs: int,
    seed: int,
) -> None:
    """Run a sweep and show its means; the exit code is 1 if a run failed or is invalid."""
    content = sweeps.sweep(algorithms, axes, duration=duration, stack=stack, runs=runs)
    store = Store(how.results)
    store.create()
    engine = engines.named(how.engine)
    with of_setting():
        campaign_of_sweep = Campaign.of_experiment(
            content, store, engine, Plan.requested(seed=seed)
        )
    outcome = campaign.run(campaign_of_sweep, jobs=how.jobs, retries=how.retries, large=how.large)
    _show(campaign_of_sweep.results(), how.form)
    pages.tell(campaign_of_sweep, how.report)
    if outcome.failed or outcome.invalid:
        raise typer.Exit(1)


def _show(results: Results, wanted: Form) -> None:
    """Print the means of each algorithm at each point, and which of them is the best."""
    totals = sweep_table.swept(results)
    if wanted is Form.CSV:
        print_csv(*totals.flat())
    else:
        print_totals(totals, folded=True)
