"""``dumbbell open``: the page of a run, an experiment or a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli.parameters import DEFAULT_RESULTS, ChosenEngine, ResultsDir
from dumbbell.engines.choices import EngineName


def open_page(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|STUDY",
            help="The beginning of a run's key or the name of a study or experiment, as `dumbbell "
            "list runs` shows them, or a part of a study: li2007:fig4; by default what was run "
            "last.",
        ),
    ] = None,
    *,
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    output: Annotated[
        Path, typer.Option(help="Folder of the site; pages that are there are not drawn again.")
    ] = Path("report"),
    only_print: Annotated[
        bool, typer.Option("--print", help="Only print the address, and start no browser.")
    ] = False,
) -> None:
    """Open the page of a run, an experiment or a study in the browser.

    Prints its address. Without a desktop it does no more.
    """
    from dumbbell.algorithms import own_algorithms
    from dumbbell.cli import desktop, pages, stored

    with own_algorithms.nothing_runs():
        place = stored.find(what, results, engine)
        page = pages.written(place.results, output / "studies" / pages.folder(place.results.study))
    address = page.resolve().as_uri()
    if place.run is not None:
        address = f"{page.resolve().parent.as_uri()}/{place.run}"
    print(address)
    if not only_print:
        desktop.show(address)
