"""``dumbbell validate``: one scenario in the simulator and on the kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.base.errors import InputError, refusing
from dumbbell.cli.output import Form, form, print_data, print_words, say, typed
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsCsv,
    AsJson,
    Changes,
    FileDuration,
    FileSeed,
    Jobs,
    Large,
    ResultsDir,
    Retries,
    ScenarioFile,
)
from dumbbell.engines.choices import RETRIES

if TYPE_CHECKING:
    from dumbbell.experiments.validate.validating import Validation


def validate(
    scenario: ScenarioFile,
    *,
    changes: Changes = None,
    duration: FileDuration = None,
    runs: Annotated[
        int, typer.Option(min=2, help="Repetitions on each engine, with the same seeds.")
    ] = 5,
    seed: FileSeed = None,
    page: Annotated[
        Path, typer.Option(metavar="FILE.html", help="File of the page with the overlay.")
    ] = Path("validation.html"),
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    retries: Retries = RETRIES,
    large: Large = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Check whether the simulator is right for a scenario, by runs of it on the kernel.

    Goodput and mean RTT must agree within the bands of docs/agreement.md, and nothing else may
    differ. The exit code is 0 if the engines agree. It is 1 if they differ, if the runs do not
    decide, or if none is valid. It is 2 for bad input or without a testbed. Runs on the kernel are
    in real time.
    """
    chosen = form(as_json=as_json, as_csv=as_csv)
    if page.suffix != ".html":
        raise InputError("not a page", source="--page", value=str(page), valid="validation.html")
    from dumbbell.cli import campaign, progress
    from dumbbell.cli.outcomes import tell_place
    from dumbbell.engines import engines
    from dumbbell.experiments import scenario_files
    from dumbbell.experiments.validate import validating
    from dumbbell.inference.equivalence import Verdict
    from dumbbell.reports import validate_page
    from dumbbell.scenario.changes import parsed
    from dumbbell.store.store import Store

    made = parsed(changes or [])
    read = scenario_files.read(
        scenario, made, duration, seed, command="validate", prefix="validate-"
    )
    campaigns = validating.campaigns(read, runs=runs, store=Store(results))
    for campaign_of_engine in campaigns:
        at_once = None if campaign_of_engine.engine.real_time else jobs
        campaign.run(campaign_of_engine, jobs=at_once, retries=retries, large=large, brief=True)
    validation = validating.Validation.of(campaigns)
    _show(validation, chosen)
    with progress.steps("drawing", say), refusing("write it", page):
        validate_page.write(validation, page, typed())
    say.print(f"Page: {page}", soft_wrap=True)
    for campaign_of_engine in campaigns:
        tell_place(
            campaign_of_engine.study.name, results, engines.option(campaign_of_engine.engine)
        )
    if validation.verdict is not Verdict.AGREES:
        raise typer.Exit(1)


def _show(validation: Validation, chosen: Form) -> None:
    from dumbbell.cli.totals import print_totals
    from dumbbell.experiments.validate import words

    def data() -> dict[str, Any]:
        return {**validation.as_dict(), "sentence": words.verdict(validation)}

    if print_data(chosen, data, validation.frame):
        return
    table = words.table(validation)
    print_words(words.about(validation))
    print()
    if table.rows:
        print_totals(table)
        print()
    print_words(words.verdict(validation))
    for line in words.remarks(validation):
        print_words(line)
