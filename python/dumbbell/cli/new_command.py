"""``dumbbell new``: write files to start a user-defined algorithm from."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.base.shell import quoted
from dumbbell.cli.output import say
from dumbbell.conformance import starting
from dumbbell.conformance.expected.script import SUFFIX


def new(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of the algorithm; the files are NAME.c and NAME.expect. A path is one, too."
        ),
    ],
    template: Annotated[
        str, typer.Option("--from", help=f"Algorithm to copy: {', '.join(starting.templates())}.")
    ] = starting.DEFAULT,
) -> None:
    """Write a commented file to start your algorithm from, and a script of what it must do.

    The file contains a small algorithm that works, and `dumbbell check` runs the script. Existing
    files are never overwritten.
    """
    path = starting.write(name, template)
    print(path)
    print(path.with_suffix(SUFFIX))
    shown = path if path.is_absolute() else f"./{path}"
    say.print(f"Next: dumbbell check {quoted(shown)}", soft_wrap=True)
