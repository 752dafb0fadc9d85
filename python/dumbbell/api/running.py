"""Running one scenario."""

from __future__ import annotations

from dumbbell.api import arguments, spreads
from dumbbell.api.arguments import AnyScenario, Folder
from dumbbell.api.runs import Run
from dumbbell.api.spreads import Spreads
from dumbbell.base.arguments import number
from dumbbell.engines import engines
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution import alone
from dumbbell.plan.tests import check_count


def simulate(
    scenario: AnyScenario,
    *,
    engine: Engine | str = EngineName.SIMULATOR,
    results: Folder | None = None,
    retries: int = RETRIES,
    large: bool = False,
) -> Run:
    """Run one scenario; Ctrl-C stops it.

    Parameters
    ----------
    scenario
        A `Scenario`, the path of its file, or a mapping with the keys of the file.
    engine
        "simulator"; or "testbed": in real time, between hosts of this machine's kernel.
    results
        A results folder that keeps the run. If it already holds the run, nothing is run again.
        None: the run is not kept. (`dumbbell simulate` always keeps it in ``results``.) `open_run`
        reads a kept run.
    retries
        How often an invalid run of the testbed is repeated. If it stays invalid,
        ``run.summary.testbed.invalid`` holds the reasons.
    large
        True to allow a run that is larger than users usually intend.

    Returns
    -------
    Run
        The finished run.

    Raises
    ------
    InputError
        If the scenario or an argument is wrong.
    TooLarge
        If the run is very large, unless `large`.
    TestbedError
        If this machine has no testbed.

    Examples
    --------
    >>> run = dumbbell.simulate(
    ...     {
    ...         "duration": "2s",
    ...         "network": {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"},
    ...         "flow": [{"algorithm": "reno"}],
    ...     }
    ... )
    >>> run.flows["cwnd_segs"].max() > 10
    True
    """
    resolved = arguments.scenario(scenario)
    chosen = engines.runnable(engine)
    resolved = resolved.on(chosen.identity)
    number(retries, "retries", 0)
    store = None if results is None else arguments.store(results)
    if store is not None and store.has(resolved.key):
        return Run.holding(store.get(resolved.key))
    output = alone.output(resolved, chosen, retries, large=large)
    if store is not None:
        store.create()
        store.put(resolved, output)
    return Run.of(resolved, output)


def open_run(key: str, results: Folder = "results") -> Run:
    """Return a run of a results folder by its key.

    Parameters
    ----------
    key
        The key: `Run.key`, or one of ``dumbbell list runs``.
    results
        The results folder.

    Raises
    ------
    MissingResult
        If there is no such run.
    DamagedResult
        If its files are not those that were written.

    Examples
    --------
    >>> kept = dumbbell.simulate("short.toml", results="results")
    >>> dumbbell.open_run(kept.key).key == kept.key
    True
    """
    return Run.holding(arguments.store(results).get(key))


def perturb(
    scenario: AnyScenario,
    runs: int = 10,
    *,
    engine: Engine | str = EngineName.SIMULATOR,
    retries: int = RETRIES,
    jobs: int | None = None,
    large: bool = False,
) -> Spreads:
    """Run one scenario as it is and with other phases of packets; compare each flow's goodputs.

    In these runs RTTs are slightly longer, and the clocks of hosts are slightly wrong. If a result
    changes by much more, it depends on the phase of packets.

    Parameters
    ----------
    scenario
        As for `simulate`.
    runs
        Number of perturbed runs.
    engine, retries, large
        As for `simulate`.
    jobs
        Number of runs at the same time; None: as many as the machine has cores.

    Returns
    -------
    Spreads
        A table, and a sequence with one `Spread` for each flow.

    Raises
    ------
    InputError
        If the scenario or an argument is wrong.
    DumbbellError
        If no perturbed run is valid.

    Examples
    --------
    >>> dumbbell.perturb("short.toml", runs=2).to_frame().columns[:2]
    ['label', 'goodput_mbit_per_s']
    """
    resolved = arguments.scenario(scenario)
    chosen = engines.runnable(engine)
    resolved = resolved.on(chosen.identity)
    check_count(number(runs, "runs", 1))
    run = simulate(resolved, engine=chosen, retries=retries, large=large)
    return spreads.perturbed(
        resolved, run, runs, engine=chosen, retries=retries, jobs=jobs, large=large
    )
