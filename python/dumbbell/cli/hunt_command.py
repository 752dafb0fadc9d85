"""``dumbbell hunt``: the scenario in which an algorithm does worst, found by search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.base.errors import InputError, refusing
from dumbbell.base.shell import joined, quoted
from dumbbell.cli.output import print_json, print_table, print_words, say
from dumbbell.cli.parameters import (
    DEFAULT_RESULTS,
    AsJson,
    Dask,
    Duration,
    Jobs,
    Large,
    ResultsDir,
    StackName,
    parts,
)
from dumbbell.cli.tables import filled
from dumbbell.engines.choices import EngineName

if TYPE_CHECKING:
    from dumbbell.experiments.hunt.hunting import Hunted


def hunt(
    algorithm: Annotated[
        str | None, typer.Argument(help="The algorithm to hunt: bbr, ./my_cc.c.")
    ] = None,
    *,
    against: Annotated[
        str, typer.Option(help="References, the best of which counts; by default cubic,reno.")
    ] = "",
    distinguish: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B", help="Instead: find the scenario in which two algorithms differ most."
        ),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(
            help="goodput, recovery, delay, resent, fairness, share, harm, attack, or a quantity; "
            "by default goodput."
        ),
    ] = "",
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Dimensions to search; by default all: see --where."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW..HIGH",
            help="Another range, or one value, of rate, rtt, queue, discipline, loss, jitter, "
            "cross, pulse, duty, rate_change, rtt_change, outage or order.",
        ),
    ] = None,
    points: Annotated[
        int, typer.Option(min=2, help="Scenarios to try, each with one run of each algorithm.")
    ] = 200,
    within: Annotated[
        str, typer.Option(metavar="TIME", help="Try no further scenario after this time: 5min.")
    ] = "",
    duration: Duration = "30s",
    stack: StackName = "linux-6",
    runs: Annotated[int, typer.Option(min=2, help="Runs of each that confirm the finding.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Source of the proposals.")] = 0,
    confirm: Annotated[
        EngineName | None, typer.Option(help="Replay the finding on the testbed, too.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder of the page and the scenario file.")] = Path(
        "hunted"
    ),
    results: ResultsDir = DEFAULT_RESULTS,
    jobs: Jobs = None,
    large: Large = False,
    dask: Dask = None,
    as_json: AsJson = False,
) -> None:
    """Search the scenario in which an algorithm does worst compared with others.

    The scenario is made as simple as possible, written to a file with its claim, and confirmed with
    seeds that the search has not used. Finished runs are kept: the same command resumes.
    """
    from dumbbell.cli import searching
    from dumbbell.experiments.hunt import words
    from dumbbell.experiments.hunt.hunting import Request
    from dumbbell.experiments.hunt.hunting import hunt as search
    from dumbbell.reports import hunt_page as page

    who, others = _sides(algorithm, against, distinguish)
    request = Request(
        algorithm=who,
        against=others,
        goal=goal,
        either=distinguish is not None,
        over=tuple(over or ()),
        where=_where(where or []),
        duration=duration,
        stack=stack,
        points=points,
        within=within,
        runs=runs,
        seed=seed,
        confirm=confirm or "",
    )
    with _naming(distinguish):
        hunted = searching.searched(
            lambda working, meant, progress: search(
                request,
                results=results,
                jobs=working,
                large=meant,
                on_step=progress.on_step,
                on_progress=progress.on_progress,
            ),
            algorithms=(who, *others),
            jobs=jobs,
            dask=dask,
            large=large,
        )
    if hunted.interrupted:
        for line in words.conclusion(hunted):
            say.print(line, soft_wrap=True)
        say.print("The same command resumes it, and writes the page.")
        raise typer.Exit(130)
    with refusing("write it", output):
        written = page.write(hunted, output, joined(["dumbbell", *request.command]))
    _show(hunted, as_json=as_json)
    if hunted.minimal is not None:
        file = output / f"{hunted.name}.toml"
        say.print(f"Scenario: {quoted(str(file))}", soft_wrap=True)
    for confirmation in hunted.confirmations:
        say.print(f"Judge again: {joined(['dumbbell', *confirmation.command])}", soft_wrap=True)
    say.print(f"Page: {written}", soft_wrap=True)


def _sides(
    algorithm: str | None, against: str, distinguish: tuple[str, str] | None
) -> tuple[str, tuple[str, ...]]:
    """Return the algorithm, and the references."""
    others = parts(against)
    if distinguish is not None:
        if algorithm is not None or others:
            raise InputError(
                "names both algorithms itself",
                source="--distinguish",
                value=" ".join(distinguish),
                valid="no other algorithm, and no --against",
            )
        if distinguish[0] == distinguish[1]:
            raise InputError(
                "the same algorithm twice",
                source="--distinguish",
                value=" ".join(distinguish),
                valid="two algorithms",
            )
        return distinguish[0], (distinguish[1],)
    if algorithm is None:
        raise InputError(
            "nobody to hunt", source="ALGORITHM", valid="bbr, ./my_cc.c or --distinguish A B"
        )
    return algorithm, others


@contextmanager
def _naming(distinguish: tuple[str, str] | None) -> Iterator[None]:
    """Name ``--distinguish`` where an error is about an algorithm that it names."""
    try:
        yield
    except InputError as error:
        if distinguish is None or error.key not in ("algorithm", "against"):
            raise
        raise replace(error, key="distinguish") from None


def _where(conditions: list[str]) -> dict[str, str]:
    """Read other ranges of dimensions."""
    ranges: dict[str, str] = {}
    for condition in conditions:
        name, equals, values = condition.partition("=")
        if not equals or not values or name in ranges:
            problem = "the same twice" if name in ranges else "not a range"
            raise InputError(
                problem, source="--where", value=condition, valid="rate=10mbit..1gbit, each once"
            )
        ranges[name] = values
    return ranges


def _show(hunted: Hunted, *, as_json: bool) -> None:
    from dumbbell.experiments.hunt import words

    if as_json:
        print_json(hunted.as_dict())
        return
    for line in words.conclusion(hunted):
        print_words(line)
    for confirmation in filter(words.rows, hunted.confirmations):
        headings = words.columns(confirmation)
        print()
        print_table(filled(headings, words.rows(confirmation), right=headings[1:]))
