"""``dumbbell claims``: what authors state, judged by runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from dumbbell.base.errors import InputError, refusing, unknown
from dumbbell.base.shell import quoted
from dumbbell.cli.output import (
    Form,
    fits,
    form,
    print_csv,
    print_json,
    print_lines,
    print_table,
    print_words,
    say,
)
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsCsv,
    AsJson,
    ChosenEngine,
    ResultsDir,
    StudyName,
)
from dumbbell.cli.tables import plain, table
from dumbbell.engines.choices import EngineName

if TYPE_CHECKING:
    from dumbbell.judging.judging import ClaimResult
    from dumbbell.results.results import Results

_STATED: Final = "what the authors state"
_COLUMNS: Final = ("claim", "where", "verdict", "measured", _STATED)


def claims(
    study: StudyName,
    only: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLAIM]...", help="Claims to show whole, with all checks and the reason."
        ),
    ] = None,
    *,
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.md",
            help="Write the study's page to this file, and its checks, figure and data next to it.",
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS",
            help="Judge them at every value of an axis, such as the readings of an open point in "
            "a paper, and show how many hold at each.",
        ),
    ] = None,
    both_engines: Annotated[
        bool,
        typer.Option(
            "--both-engines",
            help="Judge them by the runs of the simulator and by those of the testbed, and show "
            "the verdicts next to each other.",
        ),
    ] = False,
    control: Annotated[
        bool,
        typer.Option(
            "--control",
            help="Judge them again with the names of the algorithms exchanged at random, and show "
            "how many hold then.",
        ),
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Number of exchanges of --control; 20 by default."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Source of the exchanges of --control; 0 by default.")
    ] = None,
    brief: Annotated[
        bool,
        typer.Option(
            "--brief", help="Only a line for each claim, even if there is room for all details."
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit code 1 unless every claim holds."),
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
    """Judge the claims of a study by its runs.

    If the table is wider than the terminal, each claim has one line. Claims that you name are shown
    whole.
    """
    chosen_form = form(as_json=as_json, as_csv=as_csv)
    mode = "--over" if over is not None else "--control" if control else ""
    mode = mode or ("--both-engines" if both_engines else "")
    if mode:
        _alone(
            mode,
            brief=brief,
            both_engines=mode != "--both-engines" and both_engines,
            control=mode != "--control" and control,
            markdown=mode == "--control" and markdown,
            engine=mode == "--both-engines" and engine is not EngineName.SIMULATOR,
            strict=strict,
            baseline=baseline,
            save_baseline=save_baseline,
        )
    for option, value in (("--draws", draws), ("--seed", seed)):
        if value is not None and not control:
            raise InputError("it belongs to --control", key=option, valid="with --control")
    if chosen_form is not Form.TABLE:
        _alone("--json" if as_json else "--csv", brief=brief)
    _check_named(only, mode or "--brief" * brief)
    from dumbbell.algorithms import own_algorithms
    from dumbbell.cli import claims_beside, claims_control, progress, reading
    from dumbbell.judging import baseline as baselines
    from dumbbell.reports import study_markdown
    from dumbbell.results import account

    if over is not None:
        claims_beside.at_each_value(
            study, results, engine, over, markdown=markdown, wanted=chosen_form
        )
        return
    if control:
        claims_control.exchanged(
            study, results, engine, draws=draws or 20, seed=seed or 0, wanted=chosen_form
        )
        return
    if both_engines:
        claims_beside.on_both_engines(study, results, markdown=markdown, wanted=chosen_form)
        return
    before = {} if baseline is None else baselines.read(baseline)
    with progress.steps("reading results", say), own_algorithms.nothing_runs():
        study_results = reading.results_of(study, results, engine)
        judged = study_results.claims()
    shown = _chosen(judged, only or [])
    if save_baseline is not None:
        with refusing("write it", save_baseline):
            baselines.write(baselines.of_claims(judged), save_baseline)
    if markdown is not None:
        with refusing("write it", markdown):
            study_markdown.write(study_results, account.of(study_results, judged), markdown)
    _show(study_results, shown, chosen_form, brief=brief, whole=bool(only))
    worse = baselines.regressions(baselines.of_claims(judged), before)
    for regression in worse:
        say.print(f"worse: {regression}", markup=False, soft_wrap=True)
    if worse or (strict and baselines.unmet(judged)):
        raise typer.Exit(1)


def _check_named(only: Sequence[str] | None, other: str) -> None:
    """Refuse named claims next to another way of showing claims."""
    if only and other:
        raise InputError("named claims are shown whole", key=other, valid="one of both")


def _show(
    results: Results, judged: Sequence[ClaimResult], wanted: Form, *, brief: bool, whole: bool
) -> None:
    """Print the verdicts and, next to a table or of claims as a `whole`, their evidence."""
    from dumbbell.base import tree
    from dumbbell.cli import campaign
    from dumbbell.judging.judging import by_verdict, headline, tally

    if wanted is Form.JSON:
        print_json(
            {
                "engine": results.engine.identity,
                "tree": tree.identity(),
                "quick": any(claim.is_quick for claim in judged),
                "verdicts": by_verdict(judged),
                "statements": tally(judged),
                "claims": [claim.as_dict() for claim in judged],
                "invalid": list(results.invalid.values()),
                "damaged": list(results.damaged.values()),
                "doubtful": list(results.doubtful),
            }
        )
        return
    campaign.tell_damaged(results)
    campaign.tell_invalid(list(results.invalid.values()))
    campaign.tell_doubtful(results.doubtful)
    if wanted is Form.CSV:
        print_csv(_COLUMNS, map(_cells, judged))
    else:
        _print(results, judged, brief=brief, whole=whole)
    # Beside a table for scripts nothing else stands on standard output.
    tell = say.print if wanted is Form.CSV else print_words
    quick = sum(claim.is_quick for claim in judged)
    if quick:
        tell(f"{quick} of {len(judged)} depend on quick runs: fewer and shorter ones")
    tell(headline(judged))


def _alone(mode: str, **others: object) -> None:
    """Refuse what does not go with a mode, most of which is about the claims' own verdicts."""
    for name, value in others.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"it does not go with {mode}", key=option, valid="one of both")


def _chosen(judged: Sequence[ClaimResult], only: Sequence[str]) -> Sequence[ClaimResult]:
    """Return the claims that were named, or all; an unknown one is an InputError."""
    known = {claim.claim.id: claim for claim in judged}
    for name in only:
        if name not in known:
            raise unknown("claim of the study", name, known)
    return [known[name] for name in dict.fromkeys(only)] or judged


def _print(results: Results, judged: Sequence[ClaimResult], *, brief: bool, whole: bool) -> None:
    if whole:
        _show_whole(judged)
        return
    from dumbbell.cli import outcomes
    from dumbbell.engines import engines

    table_of_all = _table(judged)
    if not brief and fits(table_of_all):
        print_table(table_of_all)
        return
    print_lines(_brief(judged), (_STATED,))
    options = engines.option(results.engine) + outcomes.of_folder(results.store.root)
    print(f"Evidence of one: dumbbell claims {quoted(results.study.called)} CLAIM{options}")


def _show_whole(judged: Sequence[ClaimResult]) -> None:
    """Print all that is known of some claims."""
    for place, claim in enumerate(judged):
        print("\n" if place else "", end="")
        print_words(f"{claim.claim.id}, {claim.claim.source}: {claim.claim.text}")
        print_words(f"{claim.verdict.mark} {claim.outcome}")
        for check in claim.checks:
            print_words(f"- {check.sentence} ({check.verdict.value})")
        if claim.reason:
            print_words(f"Why: {claim.reason}")


def _table(judged: Sequence[ClaimResult]) -> Table:
    """Return the verdicts on a study's claims."""
    from dumbbell.cli.verdicts import marked

    result = table(*_COLUMNS)
    for claim in judged:
        name, where, outcome, *further = map(plain, _cells(claim))
        result.add_row(name, where, marked(claim.verdict, outcome), *further)
    return result


def _brief(judged: Sequence[ClaimResult]) -> Table:
    """Return a line for each claim: its verdict, and what it states."""
    from dumbbell.cli.verdicts import marked

    result = table("claim", "verdict", _STATED)
    result.show_header = False
    for claim in judged:
        result.add_row(plain(claim.claim.id), marked(claim.verdict), plain(claim.claim.text))
    return result


def _cells(judged: ClaimResult) -> tuple[str, ...]:
    claim = judged.claim
    return (claim.id, claim.source, judged.outcome, judged.measured, claim.text)
