"""``dumbbell advise``: which algorithm to use on a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.base.errors import placed, refusing
from dumbbell.cli.output import print_json, print_table, print_words, say, typed
from dumbbell.cli.parameters import DEFAULT_RESULTS, AsJson, Dask, Jobs, Large, ResultsDir, parts
from dumbbell.cli.tables import plain, table

if TYPE_CHECKING:
    from dumbbell.experiments.advise import Advice


def advise(
    *,
    rate: Annotated[str, typer.Option(help="Rate of the bottleneck, such as 10gbit.")],
    rtt: Annotated[str, typer.Option(help="Two-way propagation time, such as 12ms.")],
    buffer: Annotated[str, typer.Option(help="Queue of the bottleneck.")] = "1bdp",
    loss: Annotated[str, typer.Option(help="Probability of random loss.")] = "0",
    beside: Annotated[
        str, typer.Option(metavar="ALGORITHM", help="Algorithm of the others on the path.")
    ] = "cubic",
    among: Annotated[
        str,
        typer.Option(metavar="ALGORITHM,...", help="Algorithms to choose from; by default all."),
    ] = "",
    duration: Annotated[str, typer.Option(help="Length of a run.")] = "60s",
    stack: Annotated[str, typer.Option(help="TCP stack of the hosts.")] = "linux-6",
    runs: Annotated[int, typer.Option(min=1, help="Repetitions on each path.")] = 3,
    figure: Annotated[
        Path,
        typer.Option(
            help="File of the page (.html), or its figure alone: .svg, .png, .pdf or .json."
        ),
    ] = Path("advice.html"),
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    large: Large = False,
    dask: Dask = None,
    as_json: AsJson = False,
) -> None:
    """Advise which algorithm to use on a path, and which are unfit for it.

    Each algorithm runs alone, with datagrams in the middle third of the run, and next to a legacy
    flow that starts first or last. The paths are the given one, a shorter and a longer one.
    """
    from dumbbell.cli import consent, progress, unfit
    from dumbbell.cli.workers import workers
    from dumbbell.experiments.advise import advise as ask
    from dumbbell.experiments.setting import Setting
    from dumbbell.figures import drawing
    from dumbbell.reports import advice_page

    with placed(source="--figure"):
        drawing.check_place(figure)
    unfit.warn_of((*parts(among), beside))
    with workers(jobs, dask) as working:

        def advised(meant: bool) -> Advice:
            with progress.steps("running", say) as step:
                return ask(
                    Setting(rate, rtt, buffer, loss, duration, stack),
                    beside=beside,
                    among=parts(among),
                    runs=runs,
                    results=results,
                    jobs=working,
                    large=meant,
                    on_progress=lambda what, state: step(
                        f"{what}: {state.finished} of {state.total} runs"
                    ),
                )

        advice = consent.asking(advised, large=large)
    with refusing("write it", figure):
        advice_page.write(advice, figure, typed())
    if as_json:
        print_json(advice.as_dict())
    else:
        _show(advice)
    what = "Page" if figure.suffix == ".html" else "Figure"
    say.print(f"{what}: {figure}", soft_wrap=True)


def _show(advice: Advice) -> None:
    from dumbbell.experiments.advise import words

    headings = [f"{column.title}\n({column.unit})" for column in words.COLUMNS]
    result = table("", *headings, right=headings)
    fit = len(advice.fit)
    for place, candidate in enumerate(advice.candidates):
        name = plain(candidate.name)
        if candidate is advice.advised:
            name = f"[bold]{name}[/]"
        cells = (column.brief(candidate) for column in words.COLUMNS)
        result.add_row(name, *cells, end_section=place == fit - 1)
    print_words(f"{words.path(advice.setting)}; next to {advice.legacy}.")
    print_words(words.rests_on(advice))
    print()
    print_table(result)
    print()
    print_words(words.legend(advice))
    if advice.refused:
        unfit = table(f"unfit here ({len(advice.refused)})", "why")
        for name, reason in advice.refused.items():
            unfit.add_row(plain(name), plain(reason))
        print()
        print_table(unfit)
        print_words(words.rule(advice))
    print()
    for line in words.conclusion(advice):
        print_words(line)
