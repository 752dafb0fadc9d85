"""``dumbbell claims``: what authors state, judged by runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from dumbbell.cli.output import Form, form, print_csv, print_json, print_table, say, writing
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsCsv,
    AsJson,
    ChosenEngine,
    ResultsDir,
    StudyName,
)
from dumbbell.cli.tables import plain, table
from dumbbell.errors import InputError
from dumbbell.running.choices import EngineName

if TYPE_CHECKING:
    from dumbbell.claims.judging import ClaimResult
    from dumbbell.results import Results

_COLUMNS: Final = ("claim", "where", "verdict", "measured", "what the authors state")


def claims(
    study: StudyName,
    *,
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.md", help="Write the verdicts and what they rest on to this file."
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS",
            help="Judge them at every value of an axis, such as the readings of what a paper "
            "leaves open, and say how many hold at each.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit code 1 unless every claim is reproduced."),
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Exit code 1 if a verdict is worse than in this file of --save-baseline.",
        ),
    ] = None,
    save_baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the verdicts to this file."),
    ] = None,
) -> None:
    """Judge the claims of a study by its runs."""
    wanted = form(as_json=as_json, as_csv=as_csv)
    if over is not None:
        _alone(strict=strict, baseline=baseline, save_baseline=save_baseline)
    from dumbbell import own_algorithms
    from dumbbell.claims import baseline as baselines
    from dumbbell.cli import progress, reading
    from dumbbell.report import claims_markdown

    before = {} if baseline is None else baselines.read(baseline)
    with progress.steps("reading results", say), own_algorithms.nothing_runs():
        found = reading.results_of(study, results, engine)
        judged = [] if over is not None else found.claims()
    if over is not None:
        _at_each(found, over, markdown, wanted)
        return
    if save_baseline is not None:
        with writing(save_baseline):
            baselines.write(judged, save_baseline)
    if markdown is not None:
        with writing(markdown):
            markdown.write_text(claims_markdown.page(found, judged))
    _show(found, judged, wanted)
    worse = baselines.regressions(judged, before)
    for regression in worse:
        say.print(f"worse: {regression}", markup=False, soft_wrap=True)
    if worse or (strict and baselines.unmet(judged)):
        raise typer.Exit(1)


def _show(found: Results, judged: Sequence[ClaimResult], wanted: Form) -> None:
    """Print the verdicts and, beside a table, what they rest on."""
    from dumbbell.claims.judging import by_verdict, headline, tally
    from dumbbell.cli import campaign

    if wanted is Form.JSON:
        print_json(
            {
                "engine": found.engine.identity,
                "quick": any(each.is_quick for each in judged),
                "verdicts": by_verdict(judged),
                "statements": tally(judged),
                "claims": [each.as_dict() for each in judged],
                "invalid": list(found.invalid.values()),
                "doubtful": list(found.doubtful),
            }
        )
        return
    campaign.tell_invalid(list(found.invalid.values()))
    campaign.tell_doubtful(found.doubtful)
    if wanted is Form.CSV:
        print_csv(_COLUMNS, map(_cells, judged))
    else:
        print_table(_table(judged))
    # Beside a table for scripts nothing else stands on standard output.
    place = sys.stderr if wanted is Form.CSV else sys.stdout
    quick = sum(each.is_quick for each in judged)
    if quick:
        print(f"{quick} of {len(judged)} rest on quick runs: fewer and shorter ones", file=place)
    print(headline(judged), file=place)


def _alone(**others: object) -> None:
    """Refuse what says something of the claims' own verdicts."""
    for name, value in others.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError("it does not go with --over", key=option, valid="one of both")


def _at_each(found: Results, axis: str, markdown: Path | None, wanted: Form) -> None:
    """Show how many claims hold at each value of an axis."""
    from dumbbell import own_algorithms
    from dumbbell.claims import readings
    from dumbbell.cli import progress
    from dumbbell.report import readings_markdown

    with progress.steps("judging claims", say), own_algorithms.nothing_runs():
        judged = found.readings(axis)
    if markdown is not None:
        with writing(markdown):
            markdown.write_text(readings_markdown.page(found, axis, judged))
    if wanted is Form.JSON:
        print_json(
            {
                "engine": found.engine.identity,
                "axis": axis,
                "never": readings_markdown.never(judged),
                "readings": [
                    {
                        "value": each.value,
                        "main": each.is_main,
                        "verdicts": {claim.claim.id: claim.verdict.value for claim in each.claims},
                    }
                    for each in judged
                ],
            }
        )
        return
    ranked = readings.ranked(judged)
    if wanted is Form.CSV:
        rows = ((each.value, *readings_markdown.row(each, judged)) for each in ranked)
        print_csv((axis, *readings_markdown.COLUMNS), rows)
        return
    result = table(axis, *readings_markdown.COLUMNS)
    for each in ranked:
        said = map(plain, readings_markdown.row(each, judged))
        result.add_row(
            f"[bold]{plain(each.value)}[/]" if each.is_main else plain(each.value), *said
        )
    print_table(result)
    never = readings_markdown.never(judged)
    print(f"in no reading: {', '.join(never)}" if never else "each claim holds in some reading")


def _table(judged: Sequence[ClaimResult]) -> Table:
    """Return the verdicts on a study's claims."""
    result = table(*_COLUMNS)
    for each in judged:
        name, where, _, *said = map(plain, _cells(each))
        result.add_row(name, where, _marked(each), *said)
    return result


def _cells(judged: ClaimResult) -> tuple[str, ...]:
    claim = judged.claim
    return (claim.id, claim.source, judged.outcome, judged.measured, claim.text)


def _marked(judged: ClaimResult) -> str:
    """Return the verdict in its colour, with its mark."""
    verdict = judged.verdict
    colour, mark = (
        ("green", "✓") if verdict.is_good else ("red", "✗") if verdict.is_bad else ("yellow", "?")
    )
    return f"[{colour}]{mark} {judged.outcome}[/]"
