"""``dumbbell score``: one number for a C file, for programs that search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dumbbell.cli.output import print_json, print_table, print_words, say
from dumbbell.cli.parameters import AsJson, Jobs
from dumbbell.cli.tables import filled

if TYPE_CHECKING:
    from dumbbell.scoring.scoring import Score

_BYTES_MAX: Final = 1_000_000


def score(
    algorithm: Annotated[
        str, typer.Argument(metavar="FILE.c | NAME", help="A C file, or an algorithm by its name.")
    ],
    *,
    suite: Annotated[str, typer.Option(help="Suite of paths, with its version.")] = "internet-1",
    paths: Annotated[
        str,
        typer.Option(help="Set of paths: train for a search, validation or test to judge it."),
    ] = "train",
    beat: Annotated[
        Path | None,
        typer.Option(
            metavar="SCORE.json", help="Earlier output: drop an algorithm that is clearly worse."
        ),
    ] = None,
    kernel: Annotated[
        bool, typer.Option("--kernel", help="Check it in the kernel, too: verifier and parity.")
    ] = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Score an algorithm: one number with its parts, and errors that a program can act on.

    The exit code is 1 if it has a problem, such as a compiler's error or harm to other flows.
    """
    from dumbbell.base import kinds
    from dumbbell.cli import progress
    from dumbbell.scoring import scoring

    kinds.check(Path(algorithm), "an algorithm")
    earlier = _earlier(beat, suite, paths)
    request = scoring.Request(algorithm, suite, paths, earlier, kernel, jobs)
    with progress.steps("scoring", say) as step:
        scored = scoring.score_of(request, lambda what: step(f"scoring: {what}"))
    if as_json:
        print_json(scored.as_dict())
    else:
        _print(scored)
    if scored.problems and not scored.passed:
        raise typer.Exit(1)


def _earlier(file: Path | None, suite: str, paths: str) -> Mapping[str, float]:
    """Return what the file of an earlier score has by path; its faults name the file."""
    from dataclasses import replace

    from dumbbell.base.errors import InputError
    from dumbbell.scoring import scoring

    if file is None:
        return {}
    content = _read(file)
    try:
        return scoring.to_beat(content, suite, paths)
    except InputError as error:
        _, _, key = (error.key or "").partition(".")
        # A whole file is no value for a line.
        value = error.value if key else None
        raise replace(error, source=str(file), key=key or None, value=value) from None


def _read(file: Path) -> Any:
    import json

    from dumbbell.base import documents
    from dumbbell.base.errors import InputError

    valid = "what `dumbbell score --json` has printed"
    text = documents.read_text(file.absolute(), _BYTES_MAX, named=str(file), valid=valid)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("not JSON", source=str(file), valid=valid) from None


def _print(scored: Score) -> None:
    from dumbbell.scoring import words

    if scored.parts:
        print_table(filled(words.COLUMNS, map(words.cells, scored.parts), right=words.COLUMNS[1:3]))
    print_words(words.conclusion(scored))
    for problem in scored.problems:
        print_words(str(problem))
        if problem.details:
            print(problem.details)
