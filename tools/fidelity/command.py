"""The command: compare the engine with theory, and with the real kernel."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import InputError
from dumbbell.cli.output import print_json
from dumbbell.cli.parameters import DEFAULT_RESULTS, AsJson
from dumbbell.figures import drawing
from fidelity import steps
from fidelity.agreement import scenarios
from fidelity.running import Verdict
from fidelity.steps import Part


def validate(
    *,
    engine: Annotated[
        Part | None,
        typer.Option(
            help="Only the simulator against theory, or only the testbed against the simulator; "
            "by default both, as far as this machine can."
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Only checks with this text in their name or oracle, and scenarios with it in "
            "their name.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="On the testbed only a few scenarios, in 3 minutes.")
    ] = False,
    drawn: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="On the testbed N scenarios drawn at random instead of the usual ones; "
            "60 take 50 minutes.",
        ),
    ] = 0,
    draw_seed: Annotated[
        int | None,
        typer.Option(
            metavar="SEED", help="Seed that draws them; by default another one each time."
        ),
    ] = None,
    further: Annotated[
        float,
        typer.Option(
            metavar="MINUTES",
            min=0,
            help="On the testbed the longest time of more runs for undecided scenarios.",
        ),
    ] = scenarios.REAL_TIME_UNDECIDED_S / 60,
    results: Annotated[
        Path, typer.Option("--results", help="Results folder of the testbed's scenarios.")
    ] = DEFAULT_RESULTS,
    jobs: Annotated[int | None, typer.Option(min=1, help="Simulations at the same time.")] = None,
    as_json: AsJson = False,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the tables as Markdown too.")
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw how simulator and kernel agree: .html, .svg, .png or .json (Vega-Lite).",
        ),
    ] = None,
) -> None:
    """Compare the simulator with theory, and simulator and kernel with each other.

    Runs the fidelity checks and prints what each expects and measures. Then, where the testbed is
    ready, it runs the same scenarios on both engines and replays the algorithms' callbacks in the
    kernel. Finished runs are kept, so the same command resumes. The exit code is 1 if anything is
    outside its tolerance without an explanation.
    """
    if figure is not None:
        drawing.check_suffix(figure)
    if draw_seed is not None and not drawn:
        raise InputError("draws nothing", source="--draw-seed", valid="with --drawn N")
    if drawn and engine is Part.SIMULATOR:
        raise InputError("runs on the testbed only", source="--drawn", valid="--engine testbed")
    seed = int(time.time()) if draw_seed is None else draw_seed
    at_random = steps.drawn(drawn, seed, only)
    checks, cases = steps.selected(engine, only, quick, at_random)
    ready = steps.ready(at_random.cases if at_random else cases, engine)
    judged = steps.against_theory(checks, jobs) if checks else []
    validation = (
        steps.agreement(cases, results, jobs, quick=quick, drawn=at_random, further_s=60 * further)
        if ready
        else None
    )
    steps.write(judged, validation, markdown, figure)
    if as_json:
        print_json(
            {
                "engine": engine.value if engine else "all",
                "checks": [check.as_dict() for check in judged],
                "testbed": validation.as_dict() if validation else None,
            }
        )
    else:
        steps.show(judged, validation)
    outside = any(check.verdict is Verdict.OUTSIDE for check in judged)
    if outside or (validation is not None and not validation.passed):
        raise typer.Exit(1)
