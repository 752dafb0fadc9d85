"""What notebooks and scripts use: all that the command does, as functions.

Rates are in Mbit/s and times in seconds, where a name does not say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.algorithms import own_algorithms
from dumbbell.base.errors import DumbbellError, InputError
from dumbbell.base.validation import validate
from dumbbell.engines import engines, validity
from dumbbell.engines.cancelling import CancelToken, crew
from dumbbell.engines.choices import AT_MOST, RETRIES, EngineName
from dumbbell.engines.engine import Engine, Output
from dumbbell.engines.result import Run
from dumbbell.execution import bounds
from dumbbell.execution.executor import Progress, in_order_of_completion
from dumbbell.execution.pools import Pool
from dumbbell.experiments import phases
from dumbbell.experiments.compare import compare
from dumbbell.experiments.phases import Spread
from dumbbell.judging.judging import ClaimResult
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import check_count
from dumbbell.plan.windows import NamedWindow, Window
from dumbbell.quantities import series as histories
from dumbbell.quantities.latencies import latencies
from dumbbell.quantities.registry import quantities as registered
from dumbbell.quantities.taken import Taken
from dumbbell.quantities.view import RunView
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.store import Store
from dumbbell.study.model import Study

__all__ = [
    "claims",
    "compare",
    "latencies",
    "list_quantities",
    "open_results",
    "perturb",
    "report",
    "run",
    "series",
    "simulate",
    "take",
]

Folder = Store | str | Path

_SPANS: Final = 1_000_000
"""More than any run has samples."""


def simulate(
    scenario: Scenario | ResolvedScenario | str | Path,
    *,
    engine: Engine | str = EngineName.SIMULATOR,
    retries: int = RETRIES,
    large: bool = False,
) -> Run:
    """Run one scenario and return its result; Ctrl-C stops it.

    Parameters
    ----------
    scenario
        What to run; or its file.
    engine
        "simulator", or "testbed": in real time, between hosts of this machine's kernel.
    retries
        How often a run is repeated that the testbed marks invalid. One that stays invalid says why
        in ``run.summary.testbed.invalid``.
    large
        Whether it is meant if it is larger than anybody is likely to mean (`dumbbell.bounds`);
        otherwise that is a TooLarge error.
    """
    chosen = engines.runnable(engine)
    if isinstance(scenario, str | Path):
        scenario = Scenario.load(scenario)
    resolved = scenario.resolve() if isinstance(scenario, Scenario) else scenario
    resolved = resolved.on(chosen.identity)
    if not large:
        bounds.check([resolved], chosen, jobs=1)
    cancel = CancelToken()

    def last() -> Output:
        *_, output = validity.attempts(chosen, resolved, cancel, retries)
        return output

    with crew("run", 1) as pool, cancel.on_error():
        (output,) = in_order_of_completion([pool.submit(last)])
    return Run.of(resolved, output)


def perturb(
    scenario: Scenario | ResolvedScenario | str | Path,
    runs: int = 10,
    *,
    engine: Engine | str = EngineName.SIMULATOR,
    retries: int = RETRIES,
    jobs: int | None = None,
    large: bool = False,
) -> list[Spread]:
    """Run one scenario as it is and with other phases, and return each flow's goodputs.

    RTTs are a little longer and clocks of hosts a little off; what that changes rests on the phase
    of packets.

    Parameters
    ----------
    scenario
        What to run; or its file.
    runs
        How many perturbed runs.
    engine
        As for `simulate`.
    retries
        As for `simulate`.
    jobs
        As for `run`.
    large
        As for `simulate`.
    """
    chosen = engines.runnable(engine)
    if isinstance(scenario, str | Path):
        scenario = Scenario.load(scenario)
    resolved = scenario.resolve() if isinstance(scenario, Scenario) else scenario
    resolved = resolved.on(chosen.identity)
    check_count(runs)
    run = simulate(resolved, engine=chosen, retries=retries, large=large)
    return phases.perturb(
        resolved, run, runs, engine=chosen, retries=retries, jobs=jobs, large=large
    )


def run(
    study: Study | str | Path,
    *,
    quick: bool = False,
    where: Selection | None = None,
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
    """Run a study, or resume it, and return what the results folder then holds of it.

    Raises DumbbellError if a run fails; the others are kept, and the same call tries it again.

    Parameters
    ----------
    study
        The study, its name, or its folder or file.
    quick
        Only the representative part.
    where
        Only these grid points: axis -> value or values; ``test`` selects by the test's name.
    runs
        Repetitions, instead of the study's own number.
    seed
        Where the seeds of all runs come from.
    until_decided
        Then add repetitions where claims are undecided, as many as should decide them.
    at_most
        Repetitions of a grid point at most.
    engine
        "simulator" or "testbed".
    results
        The results folder; what is there is not run again.
    jobs
        How many runs go on at the same time (see `parallelism.jobs`), or a pool that takes them,
        such as `ExecutorPool(executor, 64)` of `dumbbell.execution.pools` for any executor of
        `concurrent.futures`.
    retries
        As for `simulate`.
    large
        As for `simulate`, of all that is to be run.
    on_progress
        Is called with what has been done, whenever a run has ended.
    """
    campaign: Campaign | None = Campaign(
        _study(study),
        _store(results),
        engines.named(engine),
        Plan.asked(quick=quick, runs=runs, seed=seed),
        where or {},
    )
    while campaign is not None:
        done = campaign
        outcome, _ = campaign.run(large=large, jobs=jobs, retries=retries, on_progress=on_progress)
        if outcome.failed:
            failed, error = outcome.failed[0]
            raise DumbbellError(
                f"{len(outcome.failed)} runs failed; the first is {failed}: {error}"
            )
        campaign = campaign.deciding(at_most) if until_decided else None
    return done.results()


def open_results(
    study: Study | str | Path,
    folder: Folder = "results",
    *,
    engine: Engine | str = EngineName.SIMULATOR,
) -> Results:
    """Return what a results folder holds of a study.

    ``open_results(...).table(test, ["goodput_mbit_per_s[1]@late", ...])`` is a Polars frame with
    a row for each finished run.
    """
    return _results(study, folder, engine)


def claims(
    study: Study | str | Path,
    folder: Folder = "results",
    *,
    engine: Engine | str = EngineName.SIMULATOR,
) -> list[ClaimResult]:
    """Judge the claims of a study by the runs in a results folder."""
    return open_results(study, folder, engine=engine).claims()


def report(
    *studies: Study | str | Path,
    results: Folder = "results",
    output: str | Path = "report",
    engine: Engine | str = EngineName.SIMULATOR,
) -> Path:
    """Write the report of one study, or a site about several, and return its first page."""
    from dumbbell.reports import site  # noqa: PLC0415 - what draws takes long to import

    if not studies:
        raise InputError("no study", key="studies", valid='for example "li2007"')
    found = [_results(study, results, engine) for study in studies]
    if len(found) == 1:
        return site.write(found[0], Path(output))
    return site.write_all(found, Path(output))


def take(
    run: Run, *quantities: str, windows: Mapping[str, Mapping[str, Any]] | None = None
) -> Taken:
    """Take quantities of a run, each in its own unit; None where one has no value.

    What is returned is a dictionary whose ``windows`` say over which part of the run each is
    taken, and whose ``reasons`` say why one has no value; printed, it shows both.

    >>> take(run, "goodput_mbit_per_s[1]@late", "rtt_p95_ms")  # doctest: +SKIP

    Parameters
    ----------
    run
        The run.
    quantities
        References: ``NAME[SUBJECT]@WINDOW``; `list_quantities` lists the names.
    windows
        Windows by name, with the keys that they have in a study: ``from``, ``to``, ``settle`` ...;
        ``main`` is what is meant without a name.
    """
    named: dict[str, Window] = {"main": Window()}
    for name, keys in (windows or {}).items():
        is_main = name == "main"
        kind = Window if is_main else NamedWindow
        named[name] = validate(kind, dict(keys) if is_main else {"name": name, **keys})
    return Taken(RunView(run, named, {}), quantities)


def series(run: Run, name: str, spans: int = _SPANS) -> pl.DataFrame:
    """Return something of a run over time: ``label``, ``time_s`` and ``value``.

    The names are those of histories: ``cwnd_segs``, ``goodput_mbit_per_s``, ``rtt_ms`` ... Rates
    are means over `spans` parts of the run; of anything else the first, lowest and highest sample
    of each part is kept.
    """
    return histories.take(run, name, spans=spans)


def list_quantities() -> pl.DataFrame:
    """Return the quantities that there are: ``name``, ``unit``, ``per``, ``best`` and ``what``."""
    return pl.DataFrame(
        {
            "name": found.name,
            "unit": found.unit,
            "per": ", ".join(found.per),
            "best": found.best,
            "what": found.what,
        }
        for found in registered().values()
    )


def _results(study: Study | str | Path, folder: Folder, engine: Engine | str) -> Results:
    with own_algorithms.nothing_runs():
        return Results(_study(study), _store(folder), engine=engine)


def _study(study: Study | str | Path) -> Study:
    return study if isinstance(study, Study) else Study.load(study)


def _store(folder: Folder) -> Store:
    return folder if isinstance(folder, Store) else Store(folder)
