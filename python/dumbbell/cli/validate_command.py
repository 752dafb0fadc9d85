"""``dumbbell validate``: the engine held to theory, and to the real kernel."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli import cli_tables, progress
from dumbbell.cli.output import print_json, print_table, say, writing
from dumbbell.errors import InputError, TestbedError
from dumbbell.figures import drawing
from dumbbell.quantities import duration
from dumbbell.running import engines, machine
from dumbbell.running.engine import SimulatorEngine
from dumbbell.running.executor import Progress
from dumbbell.running.store import Store
from dumbbell.validate import running as theory
from dumbbell.validate import table as theory_table
from dumbbell.validate.agreement import figure as agreement_figure
from dumbbell.validate.agreement import page, running, scenarios, testbed
from dumbbell.validate.agreement.collecting import Side
from dumbbell.validate.agreement.judging import Agreement
from dumbbell.validate.agreement.running import Found
from dumbbell.validate.agreement.scenarios import Case
from dumbbell.validate.check import Check
from dumbbell.validate.checks import all_checks


class Part(StrEnum):
    """What can be validated."""

    SIMULATOR = "simulator"
    TESTBED = "testbed"


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
    results: Annotated[
        Path, typer.Option("--results", help="Where runs of the testbed's scenarios are kept.")
    ] = Path("results"),
    jobs: Annotated[int | None, typer.Option(min=1, help="Simulations at the same time.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on standard output.")] = False,
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
    """Hold the simulator to theory, and simulator and kernel to each other.

    Runs the fidelity checks and prints what each expects and measures. Then, where the testbed
    is ready, it runs the same scenarios on both engines and replays the algorithms' callbacks in
    the kernel; finished runs are kept, so the same command goes on. The exit code is 1 if anything
    is outside its tolerance without an explanation.
    """
    if figure is not None:
        drawing.check_suffix(figure)
    checks, cases = _selected(engine, only, quick)
    cases = cases if _ready(cases, engine) else []
    judged = _theory(checks, jobs) if checks else []
    found = _agreement(cases, results, jobs, quick) if cases else None
    _write(judged, found, markdown, figure)
    if as_json:
        print_json(
            {
                "engine": engine.value if engine else "all",
                "checks": [each.as_dict() for each in judged],
                "testbed": found.as_dict() if found else None,
            }
        )
    else:
        _print(judged, found)
    outside = any(each.verdict is theory.Verdict.OUTSIDE for each in judged)
    if outside or (found is not None and not found.passed):
        raise typer.Exit(1)


def _selected(engine: Part | None, only: str | None, quick: bool) -> tuple[list[Check], list[Case]]:
    checks = [] if engine is Part.TESTBED else theory.selected(all_checks(), only)
    known = () if engine is Part.SIMULATOR else scenarios.all_cases()
    cases = scenarios.selected(known, only, quick)
    if not checks and not cases:
        raise InputError(
            "selects no check and no scenario",
            source="--only",
            value=only,
            valid="a part of a name, such as sawtooth, cubic or queue",
        )
    return checks, cases


def _ready(cases: Sequence[Case], engine: Part | None) -> bool:
    """Tell whether scenarios can run on the testbed, or say what is missing."""
    if not cases:
        return False
    found = machine.look()
    if not found.ready and engine is Part.TESTBED:
        raise TestbedError(f"{machine.verdict(found)}; `dumbbell doctor` says more")
    if not found.ready:
        lines = f"simulator and kernel are not compared: {machine.verdict(found)}"
        say.print(lines, markup=False, soft_wrap=True)
    return found.ready


def _theory(checks: Sequence[Check], jobs: int | None) -> list[theory.Judged]:
    with progress.steps("simulating", say) as step:
        return theory.validate(
            checks,
            SimulatorEngine(),
            engines.jobs(SimulatorEngine(), jobs),
            lambda state: step(f"simulator: {state.finished} of {state.total} runs"),
        )


def _agreement(cases: Sequence[Case], results: Path, jobs: int | None, quick: bool) -> Found:
    bed = testbed.real()
    whole_s = running.real_time_s(cases, bed, modules=not quick)
    say.print(f"{len(cases)} scenarios on the kernel, in real time: up to {duration(whole_s)}")
    with progress.steps("running", say) as step:

        def follow(side: Side, state: Progress) -> None:
            step(f"{side.name}: {state.finished} of {state.total} runs")
            if state.warning is not None:
                say.print(f"warning: {state.warning}", markup=False, soft_wrap=True)

        return running.validate(
            cases,
            bed,
            Store(results),
            engines.jobs(SimulatorEngine(), jobs),
            follow,
            modules=not quick,
            on_algorithm=lambda name: step(f"parity: {name}"),
        )


def _write(
    judged: Sequence[theory.Judged], found: Found | None, markdown: Path | None, figure: Path | None
) -> None:
    if markdown is not None:
        parts = [theory_table.page(judged)] if judged else []
        parts += [page.page(found)] if found else []
        with writing(markdown):
            markdown.write_text("\n".join(parts))
    if figure is not None and found is not None:
        with writing(figure):
            drawing.save(agreement_figure.draw(found.agreement), figure)


def _print(judged: Sequence[theory.Judged], found: Found | None) -> None:
    if judged:
        print_table(cli_tables.validation(judged))
        print(theory_table.counted(judged))
    if found is None:
        return
    for agreement in filter(None, (found.agreement, found.modules)):
        print()
        _print_agreement(agreement)
    print()
    print_table(cli_tables.parity(found.parity))


def _print_agreement(agreement: Agreement) -> None:
    print_table(cli_tables.agreement(agreement))
    for remark in page.remarks(agreement):
        print(remark)
    print(page.headline(agreement))
