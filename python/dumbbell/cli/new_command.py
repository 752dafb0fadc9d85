"""``dumbbell new``: a file to start an algorithm of one's own from."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.cli.output import say
from dumbbell.conformance import starting


def new(
    name: Annotated[str, typer.Argument(help="Name of the algorithm; the file is NAME.c.")],
    template: Annotated[
        str, typer.Option("--from", help=f"What it starts from: {', '.join(starting.templates())}.")
    ] = starting.DEFAULT,
) -> None:
    """Write a commented file to start an algorithm of your own from.

    It is a small algorithm that works. A file that exists is never overwritten.
    """
    path = starting.write(name, template)
    print(path)
    say.print(f"Next: dumbbell check ./{path}", soft_wrap=True)
