"""``python -m fidelity``, in ``tools``: `make validate` and `make agreement` run it."""

from __future__ import annotations

import typer

from dumbbell.cli import commands
from fidelity.command import validate

app = typer.Typer(
    name="fidelity",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(validate)

if __name__ == "__main__":
    commands.main(app)
