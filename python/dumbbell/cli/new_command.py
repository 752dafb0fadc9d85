"""``dumbbell new``: write a file to start a user-defined algorithm from."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.cli.output import say
from dumbbell.conformance import starting


def new(
    name: Annotated[str, typer.Argument(help="Name of the algorithm; the file is NAME.c.")],
    template: Annotated[
        str, typer.Option("--from", help=f"Algorithm to copy: {', '.join(starting.templates())}.")
    ] = starting.DEFAULT,
) -> None:
    """Write a commented file to start your algorithm from.

    It is a small algorithm that works. A file that exists is never overwritten.
    """
    path = starting.write(name, template)
    print(path)
    say.print(f"Next: dumbbell check ./{path}", soft_wrap=True)
