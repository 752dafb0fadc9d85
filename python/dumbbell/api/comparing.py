"""Comparing algorithms on one path or on a sweep of paths."""

from __future__ import annotations

from collections.abc import Callable

from dumbbell.api import arguments
from dumbbell.api.arguments import Folder
from dumbbell.api.comparison import Comparison
from dumbbell.api.sweeps import Sweep
from dumbbell.base.arguments import Names, Values, names, number, values
from dumbbell.engines import engines
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments import compare as comparing
from dumbbell.experiments import sweeps as sweeping
from dumbbell.experiments.setting import of_setting
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan


def compare(
    algorithms: Names,
    *,
    rate: str,
    rtt: str,
    buffer: str = "1bdp",
    loss: str | float = "0",
    flows: int | str = 2,
    duration: str = "60s",
    runs: int = 5,
    seed: int = 0,
    stack: str = "linux-6",
    slow_start: str = "own",
    engine: Engine | str = EngineName.SIMULATOR,
    results: Folder = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Run algorithms in turn on one path, each against itself.

    Parameters
    ----------
    algorithms
        One algorithm or several: a name, with a preset such as ``htcp@li2007``, or a C file.
    rate
        Rate of the bottleneck: ``"100mbit"``.
    rtt
        Two-way propagation time: ``"40ms"``.
    buffer
        Queue of the bottleneck: ``"175p"``, ``"256kb"``, ``"10ms"`` or ``"0.2bdp"``.
    loss
        Probability of random loss.
    flows
        Flows of each algorithm; or a mix such as ``"cubic:1,bic:2"``, which then runs as well. With
        a mix, each algorithm alone has as many flows as the mix.
    duration
        Length of a run.
    runs
        Repetitions with different seeds.
    seed
        Source of all seeds.
    stack
        TCP stack of the hosts.
    slow_start
        Slow start of all flows: ``"own"`` (the algorithm's), ``"standard"``, ``"limited"``,
        ``"hystart"``, ``"hystart++"`` or ``"search"``.
    engine, retries, large
        As for `simulate`.
    results
        The results folder that keeps the runs; runs that it holds are not run again.
    jobs, on_progress
        As for `run_study`.

    Returns
    -------
    Comparison
        A table with a line for each algorithm.

    Raises
    ------
    InputError
        If an argument is wrong.
    DumbbellError
        If a run fails, or none is valid.

    Examples
    --------
    >>> compared = dumbbell.compare(
    ...     ["reno", "cubic"], rate="10mbit", rtt="20ms", duration="2s", runs=1
    ... )
    >>> compared.summary()["algorithm"].to_list()
    ['reno', 'cubic']
    """
    return Comparison.holding(
        comparing.compare(
            names(algorithms, "algorithms", "cubic"),
            rate=rate,
            rtt=rtt,
            buffer=buffer,
            loss=loss,
            flows=flows,
            duration=duration,
            runs=number(runs, "runs", 1),
            seed=number(seed, "seed", 0),
            stack=stack,
            slow_start=slow_start,
            engine=engine,
            results=arguments.store(results),
            jobs=jobs,
            retries=retries,
            large=large,
            on_progress=on_progress,
        )
    )


def sweep(
    algorithms: Names,
    *,
    rate: Values,
    rtt: Values,
    buffer: Values = "1bdp",
    loss: Values = "0",
    flows: Values = "2",
    slow_start: Names = "own",
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
) -> Sweep:
    """Run algorithms in turn on all combinations of several values of a path.

    Parameters
    ----------
    algorithms, duration, runs, seed, stack
        As for `compare`.
    rate, rtt, buffer, loss, flows, slow_start
        As for `compare`, but each may have several values: a list such as ``["10ms", "80ms"]``, or
        a range such as ``"10ms..160ms*2"`` (each twice the one before) or ``"10ms..50ms+10ms"``.
    engine, results, jobs, retries, large, on_progress
        As for `run_study`.

    Returns
    -------
    Sweep
        A table with a row for each algorithm, combination and quantity.

    Raises
    ------
    InputError
        If an argument is wrong.
    DumbbellError
        If a run fails.

    Examples
    --------
    >>> swept = dumbbell.sweep(
    ...     "reno", rate="10mbit", rtt=["10ms", "20ms"], duration="2s", runs=1
    ... )
    >>> swept.summary()["rtt"].to_list()
    ['10ms', '20ms']
    """
    given: dict[str, Values] = {
        "rate": rate,
        "rtt": rtt,
        "buffer": buffer,
        "loss": loss,
        "flows": flows,
    }
    if slow_start != "own":
        given["slow_start"] = slow_start
    axes = [
        sweeping.axis(
            key, ",".join(values(choices, key, sweeping.RANGES[key].split()[0].split(",")[0]))
        )
        for key, choices in given.items()
    ]
    content = sweeping.sweep(
        names(algorithms, "algorithms", "cubic"),
        axes,
        duration=duration,
        stack=stack,
        runs=number(runs, "runs", 1),
    )
    store = arguments.store(results)
    store.create()
    plan = Plan.requested(seed=number(seed, "seed", 0))
    with of_setting():
        campaign = Campaign.of_experiment(content, store, engines.named(engine), plan)
    campaign.complete(large=large, jobs=jobs, retries=retries, on_progress=on_progress)
    return Sweep(campaign.results())
