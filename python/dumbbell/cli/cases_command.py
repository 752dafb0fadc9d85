"""The part of ``dumbbell checklist`` for the cases of a draft (``--suite bbr-draft``)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dumbbell.base.errors import InputError, refusing
from dumbbell.base.shell import joined
from dumbbell.cli.output import print_json, print_table, print_words, say
from dumbbell.cli.tables import plain, table

if TYPE_CHECKING:
    from dumbbell.execution.executor import Outcome
    from dumbbell.experiments.cases import Cases
    from dumbbell.results.campaign import Campaign


def check(suite: str, others: Mapping[str, bool]) -> None:
    """Refuse options of the other suite; each with whether it was given."""
    for option, is_given in others.items():
        if is_given:
            raise InputError(
                "is of the clauses of RFC 9743", key=option, valid=f"without --suite {suite}"
            )


def judge(
    suite: str,
    algorithms: Sequence[str],
    *,
    page: Path | None,
    markdown: Path | None,
    as_json: bool,
    seed: int,
    results: Path,
    jobs: int | None,
    dask: str | None,
    retries: int,
    large: bool,
    baseline: Path | None,
    save_baseline: Path | None,
) -> None:
    """Run the cases, show the verdicts, and leave with code 1 if a case fails.

    With a baseline, code 1 means that a verdict is worse than in it.
    """
    from dumbbell.judging import baseline as baselines

    before = {} if baseline is None else baselines.read(baseline)
    found = _judged(
        suite,
        algorithms,
        seed=seed,
        results=results,
        jobs=jobs,
        dask=dask,
        retries=retries,
        large=large,
    )
    if as_json:
        whole: list[dict[str, Any]] = [each.as_dict() for each in found]
        print_json(whole[0] if len(whole) == 1 else {"checklists": whole})
    elif len(found) > 1:
        _show_beside(found)
    else:
        _show(found[0])
    command = joined(["dumbbell", *sys.argv[1:]])
    if len(found) == 1:
        from dumbbell.reports import cases_page

        file = page or Path(f"{suite}.html")
        with refusing("write it", file):
            cases_page.write(found[0], file, command)
        say.print(f"Page: {file}", soft_wrap=True)
    if markdown is not None:
        from dumbbell.reports import cases_markdown

        with refusing("write it", markdown):
            markdown.write_text(cases_markdown.page(found, command), encoding="utf-8")
    if save_baseline is not None:
        with refusing("write it", save_baseline):
            baselines.write(found[0].verdicts, save_baseline)
    worse = baselines.regressions(found[0].verdicts, before)
    for regression in worse:
        say.print(f"worse: {regression}", markup=False, soft_wrap=True)
    if worse if baseline is not None else not all(each.passes for each in found):
        raise typer.Exit(1)


def _judged(
    suite: str,
    algorithms: Sequence[str],
    *,
    seed: int,
    results: Path,
    jobs: int | None,
    dask: str | None,
    retries: int,
    large: bool,
) -> list[Cases]:
    from dumbbell.cli import campaign
    from dumbbell.cli.workers import workers
    from dumbbell.experiments.cases import running
    from dumbbell.experiments.cases import suite as suites
    from dumbbell.store.store import Store

    passes = running.asked(algorithms, suites.load(suite), Store(results), seed)
    with workers(jobs, dask) as working:

        def run(stage: Campaign) -> Outcome:
            outcome = campaign.run(stage, jobs=working, retries=retries, large=large, brief=True)
            if outcome.failed:
                raise typer.Exit(1)
            return outcome

        return passes.judged(run)


def _show(found: Cases) -> None:
    """Print a row for each case, the reasons of those that do not pass, and the conclusion."""
    from dumbbell.experiments.cases import words

    engine = found.results.engine.identity
    print_words(f"{found.results.study.header.title}, {found.suite.revised} ({engine}).")
    print()
    result = table(*words.HEADS, right=words.HEADS[2:3], whole=words.HEADS)
    for judged in found.cases:
        title, *cells = map(plain, words.cells(judged))
        result.add_row(f"{_mark(judged.outcome)} {title}", *cells)
    print_table(result, folded=True)
    print()
    for judged, reason in words.reasons(found):
        print_words(f"{words.MARKS[judged.outcome]} {judged.case.source}: {reason}")
    print()
    print_words(words.BOUNDS)
    print_words("What cases ask for that Dumbbell does not see or do:")
    for line in words.unseen(found):
        print_words(line)
    print()
    for line in words.conclusion(found):
        print_words(line)


def _show_beside(found: Sequence[Cases]) -> None:
    """Print which cases each of several algorithms passes."""
    from dumbbell.experiments.cases import words

    result = table("case", *(each.algorithm for each in found), whole=("case",))
    for row in zip(*(each.cases for each in found), strict=True):
        result.add_row(plain(words.title(row[0])), *(_mark(judged.outcome) for judged in row))
    print_table(result, folded=True)
    for each in found:
        print_words(" ".join(words.conclusion(each)))


def _mark(outcome: str) -> str:
    from dumbbell.experiments.cases import words
    from dumbbell.experiments.cases.outcome import FAILS, PASSES

    colour = {PASSES: "green", FAILS: "red"}.get(outcome, "yellow")
    return f"[{colour}]{words.MARKS[outcome]}[/]"
