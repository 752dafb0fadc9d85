"""``dumbbell compare``: algorithms on one path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.base.errors import InputError, refusing
from dumbbell.cli.output import Form, form, print_csv, print_json, say
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
    from dumbbell.cli.answered import Request
    from dumbbell.execution.pools import Pool
    from dumbbell.experiments.setting import Setting
    from dumbbell.results.campaign import Campaign


def compare(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ALGORITHM...", help="Algorithms, such as reno htcp@li2007 ./my_cc.c."
        ),
    ] = None,
    *,
    rate: Rate,
    rtt: Rtt,
    buffer: Buffer = "1bdp",
    loss: Loss = "0",
    flows: Annotated[
        str,
        typer.Option(
            metavar="N | MIX",
            help="Flows of each algorithm; or a mix such as cubic:1,bic:2 that runs too.",
        ),
    ] = "2",
    duration: Duration = "60s",
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
    """Compare algorithms on one path, or on a sweep of paths: each runs alone, in turn.

    Prints a table with 95 % intervals, or which is best where. The results folder keeps all runs,
    and the same command does not run them again; `dumbbell open` shows them.
    """
    chosen_form = form(as_json=as_json, as_csv=as_csv)
    from dumbbell.cli.answered import Request

    names = _each_once(algorithms or [])
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
        campaign = _asked(names, setting, how, flows=flows, runs=runs, seed=seed)
        _compare(campaign, how, figure)


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


def _asked(
    algorithms: Sequence[str], setting: Setting, how: How, *, flows: str, runs: int, seed: int
) -> Campaign:
    from dumbbell.engines import engines
    from dumbbell.experiments.compare import campaign
    from dumbbell.store.store import Store

    store, engine = Store(how.results), engines.named(how.engine)
    return campaign(algorithms, setting, flows, runs=runs, seed=seed, store=store, engine=engine)


def _compare(asked: Campaign, how: How, figure: Path | None) -> None:
    """Compare algorithms on one path; the exit code is 1 if a run failed or is invalid."""
    from dumbbell.cli import campaign, pages
    from dumbbell.cli.totals import print_totals
    from dumbbell.experiments.compare import compared as measured
    from dumbbell.figures import drawing
    from dumbbell.reports import compare_chart, own_tables

    if figure is not None:
        drawing.check_suffix(figure)
    outcome = campaign.run(asked, jobs=how.jobs, retries=how.retries, large=how.large, brief=True)
    if outcome.failed:
        raise typer.Exit(1)
    compared = measured(asked)
    totals = own_tables.compared(compared)
    if how.form is Form.JSON:
        print_json(compared.as_dict())
    elif how.form is Form.CSV:
        print_csv(*totals.flat())
    else:
        print_totals(totals)
    if figure is not None:
        with refusing("write it", figure):
            drawing.save(compare_chart.draw(compared), figure)
        say.print(f"Figure: {figure}", soft_wrap=True)
    pages.tell(asked, how.report)
    if how.request is not None and outcome.is_plain:
        how.request.keep(asked, totals, compared.as_dict())
    if outcome.invalid:
        raise typer.Exit(1)
