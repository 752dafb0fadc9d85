"""``dumbbell report``: a study, or all studies, as a site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import InputError
from dumbbell.cli.output import say
from dumbbell.cli.parameters import DEFAULT_RESULTS, ChosenEngine, ResultsDir
from dumbbell.engines.choices import EngineName


def report(
    study: Annotated[
        str | None,
        typer.Argument(
            help="Name of the study, or its folder or file, or a part of it: li2007:fig4."
        ),
    ] = None,
    *,
    every: Annotated[
        bool,
        typer.Option("--all", help="One site about all studies: those of `dumbbell list studies`."),
    ] = False,
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    output: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
    single: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write one file to mail instead of a folder: the page of a study or experiment as "
            ".html; with --figure that figure.",
        ),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The figure for --single, as `dumbbell list figures` names it: .html, .svg, .png, "
            ".pdf or .json.",
        ),
    ] = None,
) -> None:
    """Write the report of a study, or of all studies.

    It has all figures, claims and runs, and works offline. The command prints where it is. Pages
    that have not changed since the last time stay as they are. In a report of all studies, studies
    without runs are only named, with the commands that run them.
    """
    if every == (study is not None):
        raise InputError(
            "say which study the report is about, or that it is about all",
            source="report",
            value=study,
            valid="dumbbell report STUDY, or dumbbell report --all",
        )
    _check_single(single, figure, every=every)
    from dumbbell.algorithms import own_algorithms
    from dumbbell.cli import campaign, progress, reading
    from dumbbell.reports import single as single_file
    from dumbbell.reports import site

    with progress.steps("reading results", say) as step, own_algorithms.nothing_runs():
        if study is not None:
            reported = [reading.runs_of(study, results, engine)]
            if single is not None:
                page = single_file.write(reported[0], single, figure, on_step=step)
            else:
                page = site.write(reported[0], output, on_step=step)
        else:
            held = reading.all_results(results, engine)
            reported = held.results
            page = site.write_all(reported, output, step, held.strangers, held.not_run)
    for results_of_study in reported:
        campaign.tell_invalid(list(results_of_study.invalid.values()))
        campaign.tell_doubtful(results_of_study.doubtful)
        campaign.tell([*results_of_study.damaged.values(), *results_of_study.failures.values()])
    print(page)


def _check_single(single: Path | None, figure: str | None, *, every: bool) -> None:
    """Refuse what does not go together, before anything is read."""
    if single is None:
        if figure is not None:
            raise InputError("is of --single", source="--figure", valid="with --single FILE.svg")
        return
    if every:
        raise InputError("is of one study", source="--single", valid="STUDY instead of --all")
    if figure is None and single.suffix != ".html":
        valid = "FILE.html; a figure by --figure NAME has other kinds, too"
        raise InputError(
            "a page is no such file", source="--single", value=str(single), valid=valid
        )
