"""The last lines of a command that runs something."""

from __future__ import annotations

from pathlib import Path

from dumbbell.base.labels import duration
from dumbbell.base.shell import quoted
from dumbbell.cli.output import say
from dumbbell.cli.parameters import DEFAULT_RESULTS


def tell_counts(
    *, done: int = 0, reused: int = 0, invalid: int = 0, failed: int = 0, elapsed_s: float
) -> None:
    """Say how many runs there were, and how long they took."""
    without = f"{invalid} invalid, " if invalid else ""
    say.print(f"{done} run, {reused} reused, {without}{failed} failed in {duration(elapsed_s)}")


def tell_place(study: str, results: Path, engine: str = "") -> None:
    """Say how to see the pages of a study; `engine` is the option that names its engine."""
    say.print(f"See it: dumbbell open {study}{engine}{of_folder(results)}", soft_wrap=True)


def of_folder(results: Path) -> str:
    """Return the option that names a results folder, if it is another than by default."""
    return f" --results {quoted(results)}" if results != DEFAULT_RESULTS else ""
