"""``dumbbell tune``: an algorithm's parameters chosen for paths by search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import refusing
from dumbbell.cli.output import print_json, print_table, say, typed
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsJson,
    Dask,
    Jobs,
    Large,
    ResultsDir,
    parts,
)
from dumbbell.cli.tables import filled
from dumbbell.engines.choices import EngineName

_Paths = Annotated[str, typer.Option(help="Rates of the bottleneck: 100mbit,1gbit.")]


def tune(
    algorithm: Annotated[str, typer.Argument(help="The algorithm: ccpd, ./my_cc.c.")],
    *,
    rate: _Paths = "",
    rtt: Annotated[str, typer.Option(help="Round-trip times: 20ms,200ms.")] = "",
    buffer: Annotated[str, typer.Option(help="Queues of the bottleneck: 0.25bdp,1bdp.")] = "1bdp",
    loss: Annotated[str, typer.Option(help="Probability of random loss.")] = "0",
    duration: Annotated[str, typer.Option(help="Length of a run.")] = "60s",
    stack: Annotated[str, typer.Option(help="TCP stack of the hosts.")] = "linux-6",
    flows: Annotated[int, typer.Option(help="Flows of the algorithm on each path.")] = 1,
    cross: Annotated[
        str, typer.Option(metavar="udp:RATE", help="Datagrams in the middle third: udp:200mbit.")
    ] = "",
    beside: Annotated[
        str, typer.Option(metavar="ALGORITHM", help="A flow next to those of the algorithm: cubic.")
    ] = "",
    requests: Annotated[
        str, typer.Option(metavar="SIZE", help="Flows send requests of this size: 100kb.")
    ] = "",
    scenarios: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Scenario files as the paths, instead of the above."),
    ] = None,
    held_out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Scenario files on which the winner is tested."),
    ] = None,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            help="goodput, power, fairness, completion, recovery, harm, or a quantity; with a "
            "weight as goodput*2. Several without weights give a front."
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=LOW..HIGH]",
            help="Parameters to search; by default those that the algorithm's presets set.",
        ),
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(min=2, help="Number to try; by default 24 per parameter.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Most runs of a path.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Source of the proposals.")] = 0,
    confirm: Annotated[
        EngineName | None,
        typer.Option(help="Test the winner and the defaults on the testbed, too."),
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder of the page and the preset file.")] = Path(
        "tuned"
    ),
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    large: Large = False,
    dask: Dask = None,
    as_json: AsJson = False,
) -> None:
    """Choose an algorithm's parameters for some paths, and test them on other paths.

    Finished runs are kept: the same command resumes an interrupted search.
    """
    from dumbbell.cli import searching
    from dumbbell.experiments.tune import words
    from dumbbell.experiments.tune.paths import Traffic
    from dumbbell.experiments.tune.tuning import Request
    from dumbbell.experiments.tune.tuning import tune as search
    from dumbbell.reports import tune_page as page

    request = Request(
        algorithm,
        tuple(parameter or ()),
        _list("--rate", rate),
        _list("--rtt", rtt),
        _list("--buffer", buffer),
        loss,
        duration,
        stack,
        scenarios,
        held_out,
        Traffic(flows, _cross(cross), beside, requests),
        tuple(objective or ("goodput",)),
        runs,
        candidates,
        seed,
    )
    tuned = searching.searched(
        lambda working, meant, progress: search(
            request,
            results=results,
            jobs=working,
            confirm=confirm,
            large=meant,
            on_batch=lambda course: progress.on_step(words.tried(course)),
            on_progress=progress.on_progress,
        ),
        algorithms=(algorithm, *parts(beside)),
        jobs=jobs,
        dask=dask,
        large=large,
    )
    if tuned.course.interrupted:
        best = words.conclusion(tuned)
        say.print(f"{best} The same command resumes it, and writes the page.", soft_wrap=True)
        raise typer.Exit(130)
    with refusing("write it", output):
        written = page.write(tuned, output, typed())
    if as_json:
        print_json(tuned.as_dict())
    else:
        for lines in filter(None, (tuned.lines, tuned.confirmed)):
            headings = words.columns(tuned)
            print_table(filled(headings, map(words.cells, lines), right=headings[1:]))
    say.print(words.conclusion(tuned), soft_wrap=True)
    if idle := words.left_out(tuned):
        say.print(idle, soft_wrap=True)
    preset = output / f"{tuned.algorithm.name}.toml"
    say.print(f"Page: {written}. Preset: {tuned.search.choice}@{preset}", soft_wrap=True)


def _list(option: str, text: str) -> tuple[str, ...]:
    from dumbbell.base.errors import InputError
    from dumbbell.plan import grid

    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    if (again := grid.twice(parts)) is not None:
        problem = f"the same value twice: {again}"
        raise InputError(problem, source=option, value=text, valid="each once")
    return parts


def _cross(text: str) -> str:
    from dumbbell.base.errors import InputError

    kind, colon, rate = text.partition(":")
    if text and (kind != "udp" or not colon):
        raise InputError("not cross traffic", source="--cross", value=text, valid="udp:200mbit")
    return rate
