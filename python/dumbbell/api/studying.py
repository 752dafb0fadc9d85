"""Running studies, and judging and reporting their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dumbbell.algorithms import own_algorithms
from dumbbell.api import arguments
from dumbbell.api.arguments import AnyStudy, Folder
from dumbbell.api.renaming import renamed
from dumbbell.api.results import Results
from dumbbell.api.verdicts import Claims
from dumbbell.base.arguments import number, wrong
from dumbbell.base.errors import InputError
from dumbbell.engines import engines
from dumbbell.engines.choices import AT_MOST, RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.forks import content, forking
from dumbbell.plan.grid import Selection
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan


def run_study(
    study: AnyStudy,
    *,
    quick: bool = False,
    where: Selection | None = None,
    changes: Mapping[str, Any] | None = None,
    name: str | None = None,
    runs: int | None = None,
    seed: int = 0,
    until_decided: bool = False,
    at_most: int = AT_MOST,
    engine: Engine | str = EngineName.SIMULATOR,
    results: Folder = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Run a study, or resume it.

    Parameters
    ----------
    study
        A `Study`, its name, or its folder or file.
    quick
        True to run only the representative part.
    where
        Only these grid points run: axis -> value or values; ``test`` selects by the test's name.
    changes
        Changes that make a fork of the study: an axis, or a dotted key of its scenarios -> its new
        value, such as ``{"rtt": "42ms"}`` or ``{"network.edge_queue": "100p"}``. An axis may have
        several values: ``{"rtt": ["42ms", "82ms"]}``.
    name
        Beginning of the fork's name; None: the study's name and the changes.
    runs
        Repetitions of each grid point; None: the study's own number.
    seed
        Source of the seeds of all runs.
    until_decided
        True to add repetitions where claims are undecided, as many as should decide them.
    at_most
        Most repetitions of a grid point.
    engine
        "simulator" or "testbed".
    results
        The results folder; runs that it holds are not run again.
    jobs
        Number of runs at the same time; None: as many as the machine has cores. Or a pool, such as
        `dumbbell.execution.pools.ExecutorPool` for any executor of `concurrent.futures`.
    retries, large
        As for `simulate`.
    on_progress
        Called with a `Progress` after each run.

    Returns
    -------
    Results
        The study's runs in the results folder, including those of this call; for a fork, the fork's
        runs.

    Raises
    ------
    InputError
        If the study or an argument is wrong.
    DumbbellError
        If a run fails. The others are kept, and the same call tries it again.

    Examples
    --------
    >>> results = dumbbell.run_study("power.toml", runs=1)
    >>> results.table("queues", "goodput_mbit_per_s").columns
    ['algorithm', 'repetition', 'goodput_mbit_per_s']

    >>> fork = dumbbell.run_study("power.toml", runs=1, changes={"duration": "3s"})
    >>> fork.study.header.changes
    ('duration=3s',)
    """
    if runs is not None:
        number(runs, "runs", 1)
    store = arguments.store(results)
    campaign = Campaign(
        arguments.study(study, store),
        store,
        engines.named(engine),
        Plan.requested(quick=quick, runs=runs, seed=number(seed, "seed", 0)),
        arguments.selection(where),
    )
    made = arguments.changes(changes)
    if name is not None and not (made and isinstance(name, str)):
        raise wrong("name", name, "is the name of a fork", "a text, with `changes`")
    if made:
        with arguments.naming_changes():
            campaign = forking.campaign(content.fork(campaign.study, made, name), campaign)

    stage = partial(
        Campaign.complete, large=large, jobs=jobs, retries=retries, on_progress=on_progress
    )
    if until_decided:
        campaign.run_until_decided(stage, number(at_most, "at_most", 1))
    else:
        stage(campaign)
    return Results.holding(campaign.results())


@renamed("folder", "results")
def open_results(
    study: AnyStudy,
    results: Folder = "results",
    *,
    engine: Engine | str = EngineName.SIMULATOR,
) -> Results:
    """Open the runs of a study in a results folder; nothing is run.

    Parameters
    ----------
    study
        A `Study`, its name, or its folder or file; for a comparison, the name that it printed.
    results
        The results folder.
    engine
        Engine of the runs: "simulator" or "testbed".

    Raises
    ------
    InputError
        If there is no such study.

    Examples
    --------
    >>> dumbbell.open_results("power.toml").claims().summary
    {'holds': 1}
    """
    store = arguments.store(results)
    with own_algorithms.nothing_runs():
        return Results(arguments.study(study, store), store, engine=engine)


@renamed("folder", "results")
def claims(
    study: AnyStudy,
    results: Folder = "results",
    *,
    engine: Engine | str = EngineName.SIMULATOR,
) -> Claims:
    """Judge the claims of a study by the runs in a results folder.

    `study`, `results` and `engine` are those of `open_results`. Claims without runs are undecided.

    Examples
    --------
    >>> dumbbell.claims("power.toml").to_frame().select("id", "verdict").rows()
    [('C01', 'holds')]
    """
    return open_results(study, results, engine=engine).claims()


def report(
    *studies: AnyStudy,
    results: Folder = "results",
    output: str | Path = "report",
    engine: Engine | str = EngineName.SIMULATOR,
) -> Path:
    """Write the report of one study, or a site about several.

    Parameters
    ----------
    studies
        Studies, as for `open_results`.
    results
        The results folder.
    output
        The folder of the pages.
    engine
        Engine of the runs: "simulator" or "testbed".

    Returns
    -------
    pathlib.Path
        The first page.

    Raises
    ------
    InputError
        If there is no study, or no such study.

    Examples
    --------
    >>> results = dumbbell.run_study("power.toml")
    >>> dumbbell.report("power.toml").name
    'index.html'
    """
    from dumbbell.reports import site  # noqa: PLC0415 - what draws takes long to import

    if not studies:
        raise InputError("no study", key="studies", valid='for example "li2007"')
    opened = [open_results(study, results, engine=engine) for study in studies]
    if len(opened) == 1:
        return opened[0].report(output)
    return site.write_all(opened, Path(output))
