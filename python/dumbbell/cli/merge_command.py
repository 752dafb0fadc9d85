"""``dumbbell merge``: results folders joined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import InputError
from dumbbell.cli.output import say
from dumbbell.cli.parameters import DEFAULT_RESULTS, ResultsDir


def merge(
    folders: Annotated[
        list[Path], typer.Argument(metavar="RESULTS...", help="Results folders, left as they are.")
    ],
    *,
    results: ResultsDir = DEFAULT_RESULTS,
) -> None:
    """Copy the results of several folders into one.

    The exit code is 1 if a result is damaged, or if two folders hold different results of a run.
    """
    from dumbbell.base import documents
    from dumbbell.cli import progress
    from dumbbell.cli.campaign import tell
    from dumbbell.results import experiments, plans
    from dumbbell.store import merging
    from dumbbell.store.store import FORMAT_FILE, Store

    for folder in folders:
        if not (folder / FORMAT_FILE).is_file():
            raise InputError("not a results folder", source="RESULTS", value=str(folder))
        if documents.exists(results) and folder.samefile(results):
            raise InputError("is the folder to merge into", source="RESULTS", value=str(folder))
    target, sources = Store(results), [Store(folder) for folder in folders]
    with progress.steps("merging", say) as step:
        merged = merging.merge(
            sources, target, lambda so_far: step(f"{so_far.added + so_far.there} results")
        )
    left = [f"{name}: not part of a result" for name in merged.strangers]
    for source in sources:
        left += plans.merge(source, target)
        left += experiments.merge(source.root, target.root)
    say.print(f"{merged.added} results added to {results}, {merged.there} were there")
    tell([f"damaged, left out: {damaged}" for damaged in merged.damaged])
    tell([f"left out: {stranger}" for stranger in left])
    for key in merged.conflicts:
        say.print(f"two different results of {key}; that of {results} stays", soft_wrap=True)
    if not merged.is_clean:
        raise typer.Exit(1)
