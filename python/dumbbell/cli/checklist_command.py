"""``dumbbell checklist``: an algorithm by the clauses of RFC 9743, or by the cases of a draft."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dumbbell.base.errors import InputError, refusing
from dumbbell.cli.output import print_json, say, typed
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsJson,
    Dask,
    Jobs,
    Large,
    ResultsDir,
    Retries,
    Seed,
    parts,
)
from dumbbell.engines.choices import RETRIES, EngineName

if TYPE_CHECKING:
    from dumbbell.execution.executor import Outcome
    from dumbbell.experiments.cases import Cases
    from dumbbell.experiments.checklist import Checklist
    from dumbbell.experiments.suites.verdicts import Judgement, VerdictTable
    from dumbbell.results.campaign import Campaign
    from dumbbell.store.store import Store


class Engines(StrEnum):
    """Engines that judge: either, or both."""

    SIMULATOR = "simulator"
    TESTBED = "testbed"
    BOTH = "both"


class Suites(StrEnum):
    """What algorithms are judged by."""

    RFC9743 = "rfc9743"
    BBR_DRAFT = "bbr-draft"


_AGAINST: Final = "reno,cubic"
_PAGES: Final = {
    Suites.RFC9743: Path("checklist.html"),
    Suites.BBR_DRAFT: Path("bbr-draft.html"),
}


def checklist(
    algorithms: Annotated[
        list[str],
        typer.Argument(metavar="FILE.c | NAME ...", help="C files, or algorithms by their names."),
    ],
    *,
    suite: Annotated[
        Suites,
        typer.Option(
            "--suite",
            help="rfc9743: its clauses. bbr-draft: the cases of draft-ietf-ccwg-bbr, for "
            "algorithms that report the states of BBR.",
        ),
    ] = Suites.RFC9743,
    against: Annotated[
        str,
        typer.Option(
            metavar="ALGORITHM,...",
            help="References. A value that is not much worse than theirs passes.",
        ),
    ] = _AGAINST,
    clauses: Annotated[
        str | None,
        typer.Option(
            metavar="CLAUSE,...",
            help="Only these clauses, by name or section: harm,6.1. By default all.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A part of each test, in a few minutes.")
    ] = False,
    engine: Annotated[
        Engines,
        typer.Option(
            "--engine",
            help="The simulator, the testbed (the kernel's TCP), or one after the other.",
        ),
    ] = Engines.SIMULATOR,
    at_most: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Most repetitions of a grid point; more than planned run only where they decide "
            "a clause. By default 20, with --quick 8.",
        ),
    ] = None,
    seed: Seed = 0,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="File of the page of one algorithm; by default checklist.html, or bbr-draft.html.",
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Write which clauses fail, and why, to this file."),
    ] = None,
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    dask: Dask = None,
    retries: Retries = RETRIES,
    large: Large = False,
    as_json: AsJson = False,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Exit code 1 only if a verdict is worse than in this file of --save-baseline.",
        ),
    ] = None,
    save_baseline: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the verdicts to this file.")
    ] = None,
) -> None:
    """Judge algorithms by the clauses of RFC 9743, which new congestion control must satisfy.

    The RFC states no bounds, so they are Dumbbell's. The exit code is 1 if a clause with a MUST
    fails. An undecided clause does not fail. For several algorithms, a table shows what each one
    fails. With the cases of a draft, the exit code is 1 if a case fails.
    """
    chosen = list(EngineName) if engine is Engines.BOTH else [EngineName(engine.value)]
    _check(algorithms, page, chosen, {"--baseline": baseline, "--save-baseline": save_baseline})
    if suite is Suites.BBR_DRAFT:
        of_clauses = {
            "--against": against != _AGAINST,
            "--clauses": clauses is not None,
            "--quick": quick,
            "--engine": engine is not Engines.SIMULATOR,
            "--at-most": at_most is not None,
        }
        _check_absent(suite, of_clauses)
    from dumbbell.cli import campaign
    from dumbbell.cli.verdicts import print_verdicts
    from dumbbell.cli.workers import workers
    from dumbbell.judging import baseline as baselines
    from dumbbell.store.store import Store

    before = {} if baseline is None else baselines.read(baseline)
    with workers(jobs, dask) as working:

        def run(stage: Campaign) -> Outcome:
            outcome = campaign.run(
                stage, jobs=working, retries=retries, large=large, brief=True, whole=True
            )
            if outcome.failed:
                raise typer.Exit(1)
            return outcome

        request = _Request(algorithms, Store(results), seed, run)
        judgements: Sequence[Judgement[Any, Any]]
        if suite is Suites.BBR_DRAFT:
            judgements, tables = _by_cases(request)
        else:
            judgements, tables = _by_clauses(
                request,
                parts(against),
                _clauses(clauses),
                chosen,
                quick=quick,
                at_most=at_most,
            )
    if as_json:
        whole = [judgement.as_dict() for judgement in judgements]
        print_json(whole[0] if len(whole) == 1 else {"checklists": whole})
    else:
        for verdict_table in tables:
            print_verdicts(verdict_table)
    _write(judgements, page or (_PAGES[suite] if len(algorithms) == 1 else None), markdown)
    verdicts = judgements[0].verdicts
    if save_baseline is not None:
        with refusing("write it", save_baseline):
            baselines.write(verdicts, save_baseline)
    if clauses is not None:
        before = {claim: verdict for claim, verdict in before.items() if claim in verdicts}
    worse = baselines.regressions(verdicts, before)
    titles = {judged.id: judged.title for judged in judgements[0].judged}
    for regression in worse:
        named = replace(regression, claim=titles.get(regression.claim, regression.claim))
        say.print(f"worse: {named}", markup=False, soft_wrap=True)
    passes = all(judgement.passes for judgement in judgements)
    fails = bool(worse) if baseline is not None else not passes
    if fails or any(judgement.results.invalid for judgement in judgements):
        raise typer.Exit(1)


def _check(
    algorithms: Sequence[str],
    page: Path | None,
    chosen: Sequence[EngineName],
    baselines: Mapping[str, Path | None],
) -> None:
    """Refuse options that do not go together."""
    if page is not None and page.suffix != ".html":
        raise InputError("not a page", key="--page", value=str(page), valid="checklist.html")
    if page is not None and len(algorithms) > 1:
        raise InputError("is of one algorithm", key="--page", valid="--markdown FILE.md")
    for name, file in baselines.items():
        if file is not None and (len(chosen) > 1 or len(algorithms) > 1):
            raise InputError("is of one algorithm on one engine", key=name, valid="without others")


def _clauses(text: str | None) -> tuple[str, ...]:
    """Return the names of `--clauses`; none: all clauses."""
    names = () if text is None else parts(text)
    if text is not None and not names:
        raise InputError("names no clause", key="--clauses", value=text, valid="harm,6.1")
    return names


def _check_absent(suite: Suites, options: Mapping[str, bool]) -> None:
    """Refuse options of the other suite; each with whether it was given."""
    for option, is_given in options.items():
        if is_given:
            raise InputError(
                "is of the clauses of RFC 9743", key=option, valid=f"without --suite {suite}"
            )


@dataclass(frozen=True)
class _Request:
    """What both suites need: the algorithms, and how a campaign of theirs is run."""

    algorithms: Sequence[str]
    store: Store
    seed: int
    run: Callable[[Campaign], Outcome]


def _by_cases(request: _Request) -> tuple[list[Cases], list[VerdictTable]]:
    from dumbbell.experiments.cases import running, suite, words

    passes = running.passes_of(request.algorithms, suite.load(), request.store, request.seed)
    cases = passes.judged(request.run)
    return cases, [words.table(cases)]


def _by_clauses(
    request: _Request,
    against: Sequence[str],
    clauses: Sequence[str],
    engines: Sequence[EngineName],
    *,
    quick: bool,
    at_most: int | None,
) -> tuple[list[Checklist], list[VerdictTable]]:
    """Judge on one engine after the other; there is a table for each."""
    from dumbbell.experiments.checklist import words

    of_engines = [
        _on_engine(request, against, clauses, engine, quick=quick, at_most=at_most)
        for engine in engines
    ]
    checklists = [checklist for of_engine in of_engines for checklist in of_engine]
    return checklists, [*map(words.table, of_engines)]


def _on_engine(
    request: _Request,
    against: Sequence[str],
    clauses: Sequence[str],
    engine: EngineName,
    *,
    quick: bool,
    at_most: int | None,
) -> list[Checklist]:
    from dumbbell.cli import progress
    from dumbbell.engines import engines
    from dumbbell.experiments.checklist import checking

    first = checking.campaign(
        request.algorithms,
        against,
        clauses,
        quick=quick,
        seed=request.seed,
        store=request.store,
        engine=engines.named(engine),
    )

    def stage(part: Campaign) -> Outcome:
        more = len(part.ordered) - len(part.stored)
        if part is not first and more:
            say.print(f"{more} more runs to decide clauses")
        return request.run(part)

    most = checking.most(quick=quick, at_most=at_most)
    last, _ = first.run_until_decided(stage, most, alone=True)
    with progress.steps("judging clauses", say):
        return checking.judged(last)


def _write(
    judgements: Sequence[Judgement[Any, Any]], page: Path | None, markdown: Path | None
) -> None:
    """Write the files."""
    if page is not None:
        from dumbbell.reports import suite_pages

        with refusing("write it", page):
            suite_pages.write(judgements, page, typed())
        say.print(f"Page: {page}", soft_wrap=True)
    if markdown is not None:
        from dumbbell.reports import suite_pages

        with refusing("write it", markdown):
            suite_pages.write_markdown(judgements, markdown, typed())
