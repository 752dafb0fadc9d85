"""``dumbbell trace``: write a trace of a path that is drawn from a published model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import placed, refusing
from dumbbell.base.units import parse_time
from dumbbell.cli.output import say


class Kind(StrEnum):
    """Kinds of traces."""

    LEO = "leo"
    LTE = "lte"
    WIFI = "wifi"


def trace(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="leo: satellites with a handover each 15 s, as Huston measured (APNIC 2024)."
            " lte: a fading cell, the model of Sprout (NSDI 2013)."
            " wifi: jitter of a crowded channel (draft-huitema-ccwg-c4-test-02).",
        ),
    ],
    *,
    seed: Annotated[int, typer.Option(min=0, help="Seed; another one draws another trace.")] = 1,
    duration: Annotated[str, typer.Option(help="Length, after which it begins again.")] = "60s",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write, instead of standard output."
        ),
    ] = None,
) -> None:
    """Write a trace of a path, to name in a scenario.

    The same seed gives the same trace on any machine. leo and wifi are CSV files as TheaterQ reads
    them: rate, delay, loss, limit and route by time. lte is in the format of mahimahi.
    """
    from dumbbell.experiments.generated.kinds import KINDS, generated

    with placed(key="duration"):
        duration_ns = parse_time(duration)
    text = generated(kind.value, seed, duration_ns)
    if output is None:
        print(text, end="")
        return
    with refusing("write it", output):
        output.write_text(text)
    say.print(f"In a scenario below [network], next to {output.name}:", soft_wrap=True)
    for line in KINDS[kind.value].use:
        say.print("  " + line.format(output.name), soft_wrap=True, markup=False)
