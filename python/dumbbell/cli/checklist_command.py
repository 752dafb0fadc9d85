"""``dumbbell checklist``: an algorithm by the clauses of RFC 9743."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.base.errors import InputError, refusing
from dumbbell.base.shell import joined
from dumbbell.cli.output import print_json, print_table, print_words, say
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsJson,
    Dask,
    Jobs,
    Large,
    ResultsDir,
    Retries,
    Seed,
)
from dumbbell.cli.tables import plain, table
from dumbbell.engines.choices import RETRIES, EngineName

if TYPE_CHECKING:
    from dumbbell.execution.executor import Outcome
    from dumbbell.experiments.checklist import Checklist
    from dumbbell.results.campaign import Campaign


class Engines(StrEnum):
    """Engines that judge: either, or both."""

    SIMULATOR = "simulator"
    TESTBED = "testbed"
    BOTH = "both"


class Suites(StrEnum):
    """What algorithms are judged by."""

    RFC9743 = "rfc9743"
    BBR_DRAFT = "bbr-draft"


_AGAINST = "reno,cubic"


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
            help="Repetitions of a grid point at most; more than planned run only where they "
            "decide a clause. By default 20, with --quick 8.",
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
    """Judge algorithms by the clauses of RFC 9743, which new congestion control must answer.

    The RFC states no bounds, so they are Dumbbell's. The exit code is 1 if a clause with a MUST
    fails. An undecided clause does not fail. Several algorithms make a table of what each fails.
    Of the cases of a draft each must pass, or is not judged.
    """
    if suite is not Suites.RFC9743:
        from dumbbell.cli import cases_command

        files = {"--baseline": baseline, "--save-baseline": save_baseline}
        _check(algorithms, page, [EngineName.SIMULATOR], files)
        cases_command.check(
            suite.value,
            {
                "--against": against != _AGAINST,
                "--quick": quick,
                "--engine": engine is not Engines.SIMULATOR,
                "--at-most": at_most is not None,
            },
        )
        cases_command.judge(
            suite.value,
            algorithms,
            page=page,
            markdown=markdown,
            as_json=as_json,
            seed=seed,
            results=results,
            jobs=jobs,
            dask=dask,
            retries=retries,
            large=large,
            baseline=baseline,
            save_baseline=save_baseline,
        )
        return
    chosen = list(EngineName) if engine is Engines.BOTH else [EngineName(engine.value)]
    _check(algorithms, page, chosen, {"--baseline": baseline, "--save-baseline": save_baseline})
    from dumbbell.judging import baseline as baselines

    before = {} if baseline is None else baselines.read(baseline)
    names = [name.strip() for name in against.split(",") if name.strip()]
    of_engines = [
        _checked(
            algorithms,
            names,
            each,
            quick=quick,
            at_most=at_most,
            seed=seed,
            results=results,
            jobs=jobs,
            dask=dask,
            retries=retries,
            large=large,
        )
        for each in chosen
    ]
    found = [each for of_engine in of_engines for each in of_engine]
    if as_json:
        whole = [each.as_dict() for each in found]
        print_json(whole[0] if len(whole) == 1 else {"checklists": whole})
    elif len(algorithms) > 1:
        for of_engine in of_engines:
            _show_overview(of_engine)
    else:
        for each in found:
            _show(each)
    if len(algorithms) == 1:
        _write_page(found, page or Path("checklist.html"))
    if markdown is not None:
        _write_markdown(found, markdown)
    verdicts = baselines.of_claims([clause.result for clause in found[0].clauses])
    if save_baseline is not None:
        with refusing("write it", save_baseline):
            baselines.write(verdicts, save_baseline)
    worse = baselines.regressions(verdicts, before)
    for regression in worse:
        say.print(f"worse: {regression}", markup=False, soft_wrap=True)
    fails = bool(worse) if baseline is not None else not all(each.passes for each in found)
    if fails or any(each.results.invalid for each in found):
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


def _checked(
    algorithms: Sequence[str],
    against: Sequence[str],
    engine: EngineName,
    *,
    quick: bool,
    at_most: int | None,
    seed: int,
    results: Path,
    jobs: int | None,
    dask: str | None,
    retries: int,
    large: bool,
) -> list[Checklist]:
    """Run the tests on an engine, and judge."""
    from dumbbell.cli import campaign, progress
    from dumbbell.cli.workers import workers
    from dumbbell.engines import engines
    from dumbbell.experiments.checklist import checking
    from dumbbell.store.store import Store

    asked = checking.campaign(
        algorithms,
        against,
        quick=quick,
        seed=seed,
        store=Store(results),
        engine=engines.named(engine),
    )
    with workers(jobs, dask) as working:

        def stage(part: Campaign) -> Outcome:
            if part is not asked:
                more = len(part.ordered) - len(part.stored)
                if more:
                    say.print(f"{more} more runs to decide clauses")
            return campaign.run(part, jobs=working, retries=retries, large=large, brief=True)

        last, outcome = asked.run_until_decided(
            stage, checking.most(quick=quick, at_most=at_most), alone=True
        )
    if outcome.failed:
        raise typer.Exit(1)
    with progress.steps("judging clauses", say):
        return checking.judged(last)


def _write_page(found: Sequence[Checklist], page: Path) -> None:
    from dumbbell.reports import checklist_page

    with refusing("write it", page):
        checklist_page.write(found, page, joined(["dumbbell", *sys.argv[1:]]))
    say.print(f"Page: {page}", soft_wrap=True)


def _write_markdown(found: Sequence[Checklist], file: Path) -> None:
    from dumbbell.reports import checklist_markdown

    with refusing("write it", file):
        text = checklist_markdown.page(found, joined(["dumbbell", *sys.argv[1:]]))
        file.write_text(text, encoding="utf-8")


def _show_overview(found: Sequence[Checklist]) -> None:
    """Print which clauses each of several algorithms fails."""
    from dumbbell.experiments.checklist import words

    result = table(*words.OVERVIEW, whole=words.OVERVIEW[:1])
    for each in found:
        result.add_row(*map(plain, words.overview(each)))
    print_table(result, folded=True)
    print_words(words.BOUNDS.partition(" (*")[0] + ".")


def _show(found: Checklist) -> None:
    """Print the table of a checklist, the checks that fail, and the conclusion."""
    from dumbbell.experiments.checklist import words
    from dumbbell.experiments.checklist.outcome import FAILS, PASSES, UNDECIDED

    quick = "; quick runs: fewer paths and repetitions" if found.is_quick else ""
    print_words(f"{found.results.study.header.title} ({found.engine.identity}{quick}).")
    print()
    heads = words.heads(found)
    result = table(*heads, right=heads[2:], whole=heads)
    colours = {PASSES: "green", FAILS: "red", UNDECIDED: "yellow"}
    ranked = sorted(found.clauses, key=lambda each: [*words.LEVELS].index(each.clause.level))
    for level, clauses in groupby(ranked, lambda each: each.clause.level):
        result.add_row(f"[bold]{words.LEVELS[level]}[/]")
        for each in clauses:
            title, *cells = map(plain, words.cells(found, each))
            mark = f"[{colours[each.outcome]}]{words.MARKS[each.outcome]}[/]"
            result.add_row(f"{mark} {title}", *cells)
    print_table(result, folded=True)
    print()
    for judged, fault in words.faults(found):
        print_words(f"{words.MARKS[judged.outcome]} {judged.clause.title}: {fault}")
    print()
    print_words(words.BOUNDS)
    print_words(words.unjudged(found))
    print()
    for line in words.conclusion(found):
        print_words(line)
