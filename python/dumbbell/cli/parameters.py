"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from dumbbell.engines.choices import EngineName

DEFAULT_RESULTS: Final = Path("results")

StudyName = Annotated[
    str,
    typer.Argument(
        help="Name of the study, or its folder or file. Figures and claims behind a colon are a "
        "part of it: li2007:fig4,E10."
    ),
]
ResultsDir = Annotated[Path, typer.Option("--results", help="Results folder.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        help="Runs at the same time; by default one per processor, on the testbed one alone.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Run on the workers of a Dask cluster: tcp://HOST:PORT of its scheduler, or local:N "
        "for N processes of this machine.",
    ),
]
ChosenEngine = Annotated[
    EngineName,
    typer.Option("--engine", help="The simulator, or the testbed, which is the kernel's TCP."),
]
Retries = Annotated[
    int, typer.Option(min=0, help="Repetitions of a run that the testbed marks invalid.")
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]
AsCsv = Annotated[
    bool,
    typer.Option(
        "--csv", help="The table on standard output, comma-separated, with unrounded numbers."
    ),
]
Large = Annotated[
    bool,
    typer.Option(
        "--large",
        help="Run it, however large it is. Without this option the command asks before it runs, "
        "or refuses to run, more than 10 G packets or 4 GB of memory in a run, or more than 48 "
        "hours.",
    ),
]
ReportDir = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="DIR", help="Write its pages into this folder and print where they are."
    ),
]
ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario file, or the name of one that ships: `dumbbell list scenarios`.",
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Another value for a key of the file, such as network.rtt=80ms, algorithm=bbr3 "
        "or, of the first flow, flow.1.algorithm=./my_cc.c, a file of the current folder; may be "
        "repeated.",
    ),
]
FileDuration = Annotated[
    str | None, typer.Option(help="Length of the run, instead of the file's: 60s.")
]
FileSeed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=2**64 - 1,
        help="Source of all randomness, instead of the file's seed.",
    ),
]

_RATE: Final = typer.Option(help="Rate of the bottleneck, such as 250mbit.")
_RTT: Final = typer.Option(
    help="Two-way propagation time, such as 162ms. Several values, here or of the other keys of "
    "the path, make a sweep: 10ms,80ms or 10ms..160ms*2 or 10ms..50ms+10ms."
)
Rate = Annotated[str, _RATE]
Rtt = Annotated[str, _RTT]
PathRate = Annotated[str | None, _RATE]
PathRtt = Annotated[str | None, _RTT]
Buffer = Annotated[str, typer.Option(help="Queue of the bottleneck: 175p, 256kb, 10ms or 0.2bdp.")]
Loss = Annotated[str, typer.Option(help="Probability of random loss.")]
Duration = Annotated[str, typer.Option(help="Length of a run.")]
Runs = Annotated[int, typer.Option(help="Repetitions with different seeds.")]
Seed = Annotated[int, typer.Option(min=0, help="Source of all seeds.")]
StackName = Annotated[str, typer.Option(help="TCP stack of the hosts.")]


def parts(text: str) -> tuple[str, ...]:
    """Return the values of an option that takes several, with commas between."""
    return tuple(filter(None, map(str.strip, text.split(","))))
