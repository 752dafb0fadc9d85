"""``dumbbell advise``: which algorithm to use on a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.output import print_json, print_table, say, writing
from dumbbell.cli.parameters import DEFAULT_RESULTS, AsJson, Dask, Jobs, ResultsDir
from dumbbell.cli.tables import plain, table

if TYPE_CHECKING:
    from dumbbell.advise import Advice


def advise(
    *,
    rate: Annotated[str, typer.Option(help="Rate of the bottleneck, such as 10gbit.")],
    rtt: Annotated[str, typer.Option(help="Two-way propagation time, such as 12ms.")],
    buffer: Annotated[str, typer.Option(help="Queue of the bottleneck.")] = "1bdp",
    loss: Annotated[str, typer.Option(help="Probability of random loss.")] = "0",
    beside: Annotated[
        str, typer.Option(metavar="ALGORITHM", help="What others on the path use.")
    ] = "cubic",
    among: Annotated[
        str, typer.Option(metavar="ALGORITHM,...", help="What can be chosen; by default all.")
    ] = "",
    duration: Annotated[str, typer.Option(help="Length of a run.")] = "60s",
    stack: Annotated[str, typer.Option(help="TCP stack of the hosts.")] = "linux-6",
    runs: Annotated[int, typer.Option(min=1, help="Repetitions on each path.")] = 3,
    figure: Annotated[
        Path, typer.Option(help="Where the figure goes: .html, .svg, .png or .json (Vega-Lite).")
    ] = Path("advice.html"),
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    dask: Dask = None,
    as_json: AsJson = False,
) -> None:
    """Say which algorithm to use on a path, and why.

    Each runs alone, with datagrams in the middle third, and beside a legacy flow, on the path and
    on a shorter and a longer one.
    """
    from dumbbell.advise import advise as ask
    from dumbbell.cli import progress
    from dumbbell.cli.workers import workers
    from dumbbell.compare import Setting
    from dumbbell.figures import drawing
    from dumbbell.report import advice_chart

    drawing.check_suffix(figure)
    names = [name.strip() for name in among.split(",") if name.strip()]
    with workers(jobs, dask) as working, progress.steps("running", say) as step:
        advice = ask(
            Setting(rate, rtt, buffer, loss, duration, stack),
            beside=beside,
            among=names,
            runs=runs,
            results=results,
            jobs=working,
            on_progress=lambda what, state: step(f"{what}: {state.finished} of {state.total} runs"),
        )
    with writing(figure):
        drawing.save(advice_chart.draw(advice), figure)
    if as_json:
        print_json(advice.as_dict())
    else:
        _show(advice)
    say.print(f"Figure: {figure}", soft_wrap=True)


def _show(advice: Advice) -> None:
    from dumbbell.labels import with_interval

    titles = ("goodput (Mbit/s)", "RTT (ms)", "recovery", f"{advice.beside} keeps")
    result = table("", *titles, right=titles)
    for each in advice.candidates:
        name = f"[bold]{plain(each.name)}[/]" if each is advice.advised else plain(each.name)
        parts = (each.goodput, each.rtt, each.recovery, each.kept)
        result.add_row(name, *(with_interval(part.value, part.low, part.high) for part in parts))
    print_table(result)
    if advice.left_out:
        print(f"Left out, as they need congestion marks: {', '.join(advice.left_out)}.")
    print(f"Use {advice.advised.name}: {advice.reason}.")
    if advice.warning:
        print(advice.warning)
    if not advice.matters:
        print("The choice hardly matters here: all are as good.")
