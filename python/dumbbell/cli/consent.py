"""Consent to experiments that are larger than anyone is likely to mean: ask the person."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import typer

from dumbbell.cli.output import say
from dumbbell.execution.bounds import TooLarge

T = TypeVar("T")


def asking(run: Callable[[bool], T], *, large: bool) -> T:
    """Return the result of `run(large)`; after TooLarge and a person's consent, of `run(True)`.

    If there is no terminal, raise the error.
    """
    try:
        return run(large)
    except TooLarge as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        say.print(str(error), soft_wrap=True)
        if not _confirmed():
            raise typer.Exit(2) from None
    return run(True)


def _confirmed() -> bool:
    try:
        return typer.confirm("Run it all the same?", err=True)
    except typer.Abort:  # Ctrl-C
        raise KeyboardInterrupt from None
