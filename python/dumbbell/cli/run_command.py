"""``dumbbell run``: run a study, or resume it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.base.errors import InputError
from dumbbell.base.shell import quoted
from dumbbell.cli.output import say
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    ChosenEngine,
    Dask,
    Jobs,
    Large,
    ResultsDir,
    Retries,
    StudyName,
)
from dumbbell.engines.choices import AT_MOST, RETRIES, EngineName

if TYPE_CHECKING:
    from dumbbell.execution.executor import Outcome
    from dumbbell.judging.judging import ClaimResult
    from dumbbell.results.campaign import Campaign


def run(
    study: StudyName,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only a representative part, in a few minutes.")
    ] = False,
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    dask: Dask = None,
    retries: Retries = RETRIES,
    large: Large = False,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only these grid points, such as algorithm=htcp, rtt=42ms,82ms or test=fairness; "
            "may be repeated.",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Run a fork, with other values of an axis (rtt=42ms or rtt=42ms,82ms) or of a key "
            "of the scenarios (network.edge_queue=100p, flow.1.start=0s); may be repeated.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Beginning of the fork's name; by default the values that are set."
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Repetitions, instead of the study's own number.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Source of the seeds of all runs.")] = 0,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Then add repetitions where claims are undecided, as many as should decide them.",
        ),
    ] = False,
    at_most: Annotated[
        int | None,
        typer.Option(min=2, help="Most repetitions of a grid point; by default 40."),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Only the K-th of N parts of about equal size; `dumbbell merge` joins results.",
        ),
    ] = None,
    slurm: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Run nothing; print a script that runs N parts on SLURM."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the number and size of the runs.")
    ] = False,
) -> None:
    """Run a study, or resume it.

    Finished runs are kept and never run again: the same command resumes. With --set it is a fork: a
    separate study, drawn next to the original.
    """
    from dumbbell.cli import campaign as shown
    from dumbbell.cli import consent, outcomes, slurm_script
    from dumbbell.cli.workers import workers
    from dumbbell.engines import engines
    from dumbbell.execution.shards import Shard
    from dumbbell.results.campaign import Campaign, beyond
    from dumbbell.results.plans import Plan
    from dumbbell.store.store import Store
    from dumbbell.study.model import Study

    if at_most is not None and not until_decided:
        raise InputError(
            "is the limit of --until-decided", source="--at-most", valid="with --until-decided"
        )
    chosen = engines.named(engine)
    plan = Plan.requested(quick=quick, runs=runs, seed=seed)
    part = None if shard is None else Shard.parse(shard)
    if part is not None and until_decided:
        raise InputError("a part alone decides nothing", source="--shard", valid="one of the two")
    campaign = Campaign(
        Study.load(study, results),
        Store(results),
        chosen,
        plan,
        _selection(where or []),
        part,
    )
    if changes:
        campaign = _forked(campaign, changes, name, is_kept=not dry_run)
        study = campaign.study.called
    elif name is not None:
        raise InputError("is of a fork", source="--name", value=name, valid="with --set KEY=VALUE")
    if slurm is not None:
        meant = consent.asking(partial(_sized, campaign, slurm), large=large)
        arguments = [*sys.argv[1:], *(["--large"] if meant and not large else [])]
        print(slurm_script.script(slurm, results, campaign, arguments), end="")
        return
    if dry_run:
        _say_extent(campaign)
        return
    with workers(jobs, dask) as working:

        def stage(campaign_of_stage: Campaign) -> Outcome:
            if campaign_of_stage is not campaign:
                more = len(campaign_of_stage.ordered) - len(campaign_of_stage.stored)
                say.print(f"{more} more runs to decide claims")
            return shown.run(campaign_of_stage, jobs=working, retries=retries, large=large)

        if until_decided:
            last, outcome = campaign.run_until_decided(stage, at_most or AT_MOST)
        else:
            last, outcome = campaign, stage(campaign)
    if until_decided:
        left = [claim for claim in last.undecided() if beyond(claim, at_most or AT_MOST)]
        _say_undecided(left, at_most or AT_MOST)
    if outcome.failed or outcome.invalid:
        raise typer.Exit(1)
    where_from = engines.option(chosen) + outcomes.of_folder(results)
    say.print(
        f"Results are in {results}. Next: dumbbell report {quoted(study)}{where_from}",
        soft_wrap=True,
    )


def _forked(
    original: Campaign, changes: Sequence[str], name: str | None, *, is_kept: bool
) -> Campaign:
    """Return the campaign of a fork, and say what of the study the fork has not."""
    from dumbbell.experiments.forks import content, forking
    from dumbbell.scenario.changes import parsed

    forked = content.fork(original.study, parsed(changes), name)
    campaign = forking.campaign(forked, original, is_kept=is_kept)
    say.print(f"The fork is {campaign.study.name}", soft_wrap=True)
    for line in forked.left_out:
        say.print(f"  {line}", soft_wrap=True)
    return campaign


def _sized(campaign: Campaign, parts: int, meant: bool) -> bool:
    """Return whether what is large is meant; TooLarge if it is not and so many parts are large."""
    if not meant:
        campaign.check_size(parts)
    return meant


def _say_extent(campaign: Campaign) -> None:
    """Say what a campaign takes, as far as it is not there yet."""
    from dumbbell.base.labels import amount, duration, hours
    from dumbbell.base.units import NS_PER_S
    from dumbbell.engines.sizes import expected_packets

    left = [run for run in campaign.ordered if run.key not in campaign.stored]
    simulated_s = sum(run.scenario.duration_ns for run in left) / NS_PER_S
    print(f"{len(campaign.ordered)} runs, {len(campaign.stored)} of them are there")
    if left and campaign.engine.real_time:
        print(f"{duration(simulated_s)} of real time")
    elif left:
        packets = sum(expected_packets(run.scenario) for run in left)
        print(f"{hours(simulated_s)} simulated, about {amount(packets)} packets")


def _say_undecided(claims: Sequence[ClaimResult], at_most: int) -> None:
    """Name the claims that get no repetitions, with what they would take."""
    from dumbbell.judging.deciding import RUNS_MOST

    if claims:
        names = (
            f"{claim.claim.id} ({max(need.runs for need in claim.needs)})"
            if claim.needs
            else f"{claim.claim.id} (over {RUNS_MOST})"
            for claim in claims
        )
        say.print(f"Not within {at_most} repetitions: {', '.join(names)}", soft_wrap=True)


def _selection(conditions: Sequence[str]) -> dict[str, str | list[str]]:
    """Read ``axis=value,value``; conditions on the same axis add up."""
    selected: dict[str, list[str]] = {}
    for condition in conditions:
        axis, equals, values = condition.partition("=")
        if not equals or not axis.strip() or not values.strip():
            raise InputError(
                "not a condition", source="--where", value=condition, valid="algorithm=htcp"
            )
        chosen = [value.strip() for value in values.split(",")]
        selected.setdefault(axis.strip(), []).extend(chosen)
    return dict(selected)
