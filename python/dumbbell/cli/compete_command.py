"""``dumbbell compete``: two algorithms on one path at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.output import Form, form, print_data, print_words
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsCsv,
    AsJson,
    Buffer,
    ChosenEngine,
    Dask,
    Duration,
    Jobs,
    Large,
    Loss,
    Rate,
    ReportDir,
    ResultsDir,
    Retries,
    Rtt,
    Runs,
    Seed,
    StackName,
)
from dumbbell.engines.choices import RETRIES, EngineName

if TYPE_CHECKING:
    from dumbbell.experiments.compete import Contest


def compete(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ALGORITHM[:FLOWS] ALGORITHM[:FLOWS]", help="Both sides: bbr3:4 cubic:4."
        ),
    ] = None,
    *,
    rate: Rate,
    rtt: Rtt,
    buffer: Buffer = "1bdp",
    loss: Loss = "0",
    duration: Duration = "60s",
    runs: Runs = 5,
    seed: Seed = 0,
    stack: StackName = "linux-6",
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    dask: Dask = None,
    retries: Retries = RETRIES,
    large: Large = False,
    report: ReportDir = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Let two algorithms share a path, and show which harms the other.

    Each starts first once. The result of a side is compared with that of the same flows next to
    flows of their own algorithm. Several rates, round-trip times, buffers or losses make a map.
    """
    chosen = form(as_json=as_json, as_csv=as_csv)
    from dumbbell.cli import campaign, pages
    from dumbbell.cli.workers import workers
    from dumbbell.engines import engines
    from dumbbell.experiments.compete import competing
    from dumbbell.store.store import Store

    paths = competing.Paths(rate, rtt, buffer, loss, duration, stack)
    with workers(jobs, dask) as working:
        campaign_of_runs = competing.campaign(
            algorithms or [],
            paths,
            runs=runs,
            seed=seed,
            store=Store(results),
            engine=engines.named(engine),
        )
        outcome = campaign.run(
            campaign_of_runs, jobs=working, retries=retries, large=large, brief=True, whole=True
        )
    if outcome.failed:
        raise typer.Exit(1)
    _show(competing.contest(campaign_of_runs), chosen)
    pages.tell(campaign_of_runs, report)
    if outcome.invalid:
        raise typer.Exit(1)


def _show(contest: Contest, chosen: Form) -> None:
    from dumbbell.cli.totals import print_totals
    from dumbbell.experiments.compete import words

    if print_data(chosen, contest.as_dict, contest.frame):
        return
    print_words(f"{contest.path}.")
    print()
    print_totals(words.table(contest))
    print()
    for line in words.conclusion(contest):
        print_words(line)
