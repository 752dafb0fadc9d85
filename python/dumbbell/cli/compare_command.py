"""``dumbbell compare``: algorithms on one path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dumbbell.base.errors import InputError, placed, refusing
from dumbbell.cli.output import Form, form, print_csv, print_json, print_words, say
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsCsv,
    AsJson,
    Buffer,
    ChosenEngine,
    Dask,
    Jobs,
    Large,
    Loss,
    PathRate,
    PathRtt,
    ReportDir,
    ResultsDir,
    Retries,
    Runs,
    Seed,
    StackName,
)
from dumbbell.engines.choices import RETRIES, EngineName

if TYPE_CHECKING:
    from dumbbell.cli.answered import Request
    from dumbbell.execution.executor import Outcome
    from dumbbell.execution.pools import Pool
    from dumbbell.experiments.setting import Setting
    from dumbbell.quantities.cells import Totals
    from dumbbell.results.campaign import Campaign


def compare(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ALGORITHM...", help="Algorithms, such as reno htcp@li2007 ./my_cc.c."
        ),
    ] = None,
    *,
    on: Annotated[
        Path | None,
        typer.Option(
            metavar="SCENARIO",
            help="A scenario file, or the name of one that ships, instead of --rate and --rtt. "
            "Its flows without an algorithm use the compared ones.",
        ),
    ] = None,
    rate: PathRate = None,
    rtt: PathRtt = None,
    buffer: Buffer = "1bdp",
    loss: Loss = "0",
    flows: Annotated[
        str,
        typer.Option(
            metavar="N | MIX",
            help="Flows of each algorithm; or a mix such as cubic:1,bic:2, which runs as well.",
        ),
    ] = "2",
    duration: Annotated[
        str | None,
        typer.Option(help="Length of a run; by default 60s, or that of the scenario of --on."),
    ] = None,
    runs: Runs = 5,
    seed: Seed = 0,
    stack: StackName = "linux-6",
    slow_start: Annotated[
        str,
        typer.Option(
            help="Slow start of all flows: own (the algorithm's), standard, limited, hystart, "
            "hystart++ or search."
        ),
    ] = "own",
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    dask: Dask = None,
    retries: Retries = RETRIES,
    large: Large = False,
    report: ReportDir = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Also draw the table: .html, .svg, .png, .pdf or .json (Vega-Lite); of one path."
        ),
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Compare algorithms on one path, on a sweep of paths or in a scenario: each in turn.

    Prints a table with 95 % intervals, or for several paths the best algorithm of each. The results
    folder keeps all runs, and the same command does not run them again; `dumbbell open` shows them.
    """
    chosen_form = form(as_json=as_json, as_csv=as_csv)
    if on is None and (rate is None or rtt is None):
        missing = "--rate" if rate is None else "--rtt"
        valid = "--rate 100mbit --rtt 40ms, or --on SCENARIO"
        raise InputError("is missing", source=missing, valid=valid)
    from dumbbell.cli.answered import Request

    names = _each_once(algorithms or [])
    if on is not None:
        given = {"rate": rate, "rtt": rtt, "buffer": buffer, "loss": loss, "flows": flows}
        _check_scenario_alone({**given, "stack": stack, "slow_start": slow_start, "figure": figure})
        from dumbbell.cli.workers import workers

        with workers(jobs, dask) as working:
            how = How(engine, results, working, retries, report, chosen_form, large, None)
            _compare_on(names, on, how, duration=duration, runs=runs, seed=seed)
        return
    assert rate is not None
    assert rtt is not None
    duration = "60s" if duration is None else duration
    options = {"rate": rate, "rtt": rtt, "buffer": buffer, "loss": loss, "flows": flows}
    if slow_start != "own":
        options["slow_start"] = slow_start
    fixed = {"duration": duration, "stack": stack, "runs": runs, "seed": seed}
    command = {"compare": names, **options, **fixed}
    plain = (engine, jobs, dask, report, figure) == (EngineName.SIMULATOR, *[None] * 4)
    request = Request(results, command) if plain else None
    if request is not None and request.answer(chosen_form):
        return
    from dumbbell.cli.workers import workers
    from dumbbell.experiments.sweeps import is_sweep

    swept = any(
        is_sweep(text) for name, text in options.items() if name != "flows" or ":" not in text
    )
    if swept and (figure is not None or as_json):
        option = "--json" if as_json else "--figure"
        raise InputError("is of one path, not of a sweep", source=option, valid="--report DIR")
    if figure is not None:
        from dumbbell.figures import drawing

        with placed(source="--figure"):
            drawing.check_place(figure)
    with workers(jobs, dask) as working:
        how = How(engine, results, working, retries, report, chosen_form, large, request)
        if swept:
            from dumbbell.cli import sweeping
            from dumbbell.experiments.sweeps import axis

            _check_no_mix(names, flows)
            axes = [axis(name, text) for name, text in options.items()]
            sweeping.sweep(names, axes, how, duration=duration, stack=stack, runs=runs, seed=seed)
            return
        from dumbbell.experiments.setting import Setting

        setting = Setting(rate, rtt, buffer, loss, duration, stack, slow_start)
        campaign = _campaign(names, setting, how, flows=flows, runs=runs, seed=seed)
        _compare(campaign, how, figure)


_OF_PATHS: Final = {"buffer": "1bdp", "loss": "0", "flows": "2", "stack": "linux-6"}


def _check_scenario_alone(given: Mapping[str, object]) -> None:
    """Refuse what describes a path next to a scenario, which has its own."""
    for key, value in given.items():
        if value not in (None, _OF_PATHS.get(key), "own" if key == "slow_start" else None):
            option = f"--{key.replace('_', '-')}"
            problem = "is of a path, and --on has its own"
            raise InputError(problem, source=option, value=str(value), valid="one of both")


def _each_once(algorithms: Sequence[str]) -> list[str]:
    """Return the algorithms without those that are named again, and say so of them."""
    once = list(dict.fromkeys(algorithms))
    for name in once:
        if algorithms.count(name) > 1:
            say.print(f"{name} is named {algorithms.count(name)} times and runs once.")
    return once


def _check_no_mix(algorithms: Sequence[str], flows: str) -> None:
    """Refuse a number of flows for each algorithm: a mix names them, a sweep has each for all."""
    counts = [part.strip() for part in flows.split(",")]
    if len(algorithms) > 1 and len(counts) == len(algorithms) and len(set(counts)) < len(counts):
        mix = ",".join(f"{name}:{count}" for name, count in zip(algorithms, counts, strict=True))
        raise InputError(
            "the same number twice", source="--flows", value=flows, valid=f"for a mix: {mix}"
        )


@dataclass(frozen=True)
class How:
    """The engine, the results folder, and the form of the output."""

    engine: EngineName
    results: Path
    jobs: int | Pool | None
    retries: int
    report: Path | None
    form: Form
    large: bool
    request: Request | None
    """The request by which the answer is kept, if it may be."""


def _campaign(
    algorithms: Sequence[str], setting: Setting, how: How, *, flows: str, runs: int, seed: int
) -> Campaign:
    from dumbbell.engines import engines
    from dumbbell.experiments.compare import campaign
    from dumbbell.store.store import Store

    store, engine = Store(how.results), engines.named(how.engine)
    return campaign(algorithms, setting, flows, runs=runs, seed=seed, store=store, engine=engine)


def _compare_on(
    algorithms: Sequence[str],
    scenario: Path,
    how: How,
    *,
    duration: str | None,
    runs: int,
    seed: int,
) -> None:
    """Compare algorithms in a scenario; the exit code is 1 if a run failed or is invalid."""
    from dumbbell.cli import pages
    from dumbbell.cli.totals import print_totals
    from dumbbell.engines import engines
    from dumbbell.experiments import on_scenario, outcomes
    from dumbbell.store.store import Store

    campaign_of_runs = on_scenario.campaign(
        algorithms,
        scenario,
        duration=duration,
        runs=runs,
        seed=seed,
        store=Store(how.results),
        engine=engines.named(how.engine),
    )
    outcome = _run(campaign_of_runs, how)
    results = campaign_of_runs.results()
    judged = on_scenario.judged(campaign_of_runs, scenario)
    if how.form is Form.JSON:
        verdicts = outcomes.rows(campaign_of_runs.own_results())
        data = [_as_data(table) for table in on_scenario.compared(results)]
        print_json([*data, *([{"rows": verdicts, "note": ""}] if verdicts else [])])
    elif how.form is Form.CSV:
        if (flows := on_scenario.flows(results)) is not None:
            print_csv(*flows.flat())
    else:
        for place, table in enumerate(on_scenario.compared(results)):
            print("\n" if place else "", end="")
            print_totals(table)
        for line in outcomes.lines(campaign_of_runs.own_results(), judged.left_out):
            print()
            print_words(line)
    pages.tell(campaign_of_runs, how.report)
    if outcome.invalid:
        raise typer.Exit(1)


def _run(campaign_of_runs: Campaign, how: How) -> Outcome:
    """Run all; the exit code is 1 if a run failed."""
    from dumbbell.cli import campaign

    outcome = campaign.run(
        campaign_of_runs,
        jobs=how.jobs,
        retries=how.retries,
        large=how.large,
        brief=True,
        whole=True,
    )
    if outcome.failed:
        raise typer.Exit(1)
    return outcome


def _as_data(table: Totals) -> dict[str, object]:
    """Return a table as data: each row by the heads of its columns."""
    heads, rows = table.flat()
    return {"rows": [dict(zip(heads, row, strict=True)) for row in rows], "note": table.note}


def _compare(campaign_of_runs: Campaign, how: How, figure: Path | None) -> None:
    """Compare algorithms on one path; the exit code is 1 if a run failed or is invalid."""
    from dumbbell.cli import pages
    from dumbbell.cli.totals import print_as
    from dumbbell.experiments.compare import compared as measured
    from dumbbell.figures import drawing
    from dumbbell.reports import compare_chart, own_tables

    outcome = _run(campaign_of_runs, how)
    compared = measured(campaign_of_runs)
    totals = own_tables.compared(compared)
    print_as(how.form, totals, compared.as_dict())
    if figure is not None:
        with refusing("write it", figure):
            drawing.save(compare_chart.draw(compared), figure)
        say.print(f"Figure: {figure}", soft_wrap=True)
    pages.tell(campaign_of_runs, how.report)
    if how.request is not None and outcome.is_plain:
        how.request.keep(campaign_of_runs, totals, compared.as_dict())
    if outcome.invalid:
        raise typer.Exit(1)
