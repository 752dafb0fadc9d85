"""The steps of the command: select, run, write and show."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from rich.table import Table

from dumbbell.base.errors import InputError, TestbedError, refusing
from dumbbell.base.labels import duration
from dumbbell.cli import progress
from dumbbell.cli.output import print_table, say
from dumbbell.cli.tables import plain, table
from dumbbell.engines import machine
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution import parallelism
from dumbbell.execution.executor import Progress
from dumbbell.figures import drawing
from dumbbell.inference.equivalence import Verdict
from dumbbell.store.store import Store
from fidelity import running as theory
from fidelity import table as theory_table
from fidelity.agreement import figure as agreement_figure
from fidelity.agreement import page, running, scenarios, testbed
from fidelity.agreement.case import Case
from fidelity.agreement.collecting import Side
from fidelity.agreement.drawn import Draw, draw
from fidelity.agreement.judging import Agreement
from fidelity.agreement.parity import Parity
from fidelity.agreement.running import Validation
from fidelity.check import Check
from fidelity.checks import all_checks


class Part(StrEnum):
    """Parts of the validation."""

    SIMULATOR = "simulator"
    TESTBED = "testbed"


_CLOSENESS: Final = {
    theory.Verdict.WITHIN: "[green]✓ within[/]",
    theory.Verdict.OUTSIDE: "[red]✗ outside[/]",
    theory.Verdict.NOT_OFFERED: "[yellow]– not offered[/]",
}
_AGREEMENT: Final = {
    Verdict.AGREES: "green",
    Verdict.DIFFERS: "red",
    Verdict.UNDECIDABLE: "yellow",
    Verdict.NOT_MEASURED: "red",
}


def selected(
    engine: Part | None, only: str | None, quick: bool, drawn: Draw | None = None
) -> tuple[list[Check], list[Case]]:
    """Return the checks against theory and the chosen scenarios on both engines.

    Those that are `drawn` take the place of the latter. InputError if there is nothing at all.
    """
    checks = [] if engine is Part.TESTBED else theory.selected(all_checks(), only)
    known = () if engine is Part.SIMULATOR or drawn else scenarios.all_cases()
    cases = scenarios.named(scenarios.quick(known) if quick else known, only)
    if not checks and not cases and not (drawn and drawn.cases):
        raise InputError(
            "selects no check and no scenario",
            source="--only",
            value=only,
            valid="a part of a name, such as sawtooth, cubic or queue",
        )
    return checks, cases


def drawn(count: int, seed: int, only: str | None) -> Draw | None:
    """Return scenarios drawn at random, if any, and say how to draw the same again."""
    if not count:
        return None
    say.print(f"drawn by --drawn {count} --draw-seed {seed}")
    return Draw(seed, tuple(scenarios.named(draw(count, seed), only)))


def ready(cases: Sequence[Case], engine: Part | None) -> bool:
    """Return True if scenarios can run on the testbed; else report what is missing."""
    if not cases:
        return False
    host = machine.look()
    if not host.ready and engine is Part.TESTBED:
        raise TestbedError(f"{machine.verdict(host)}; `dumbbell doctor` shows more")
    if not host.ready:
        lines = f"simulator and kernel are not compared: {machine.verdict(host)}"
        say.print(lines, soft_wrap=True)
    return host.ready


def against_theory(checks: Sequence[Check], jobs: int | None) -> list[theory.Judged]:
    """Compare the simulator with theory."""
    with progress.steps("simulating", say) as step:
        return theory.validate(
            checks,
            SimulatorEngine(),
            parallelism.jobs(SimulatorEngine(), jobs),
            lambda state: step(f"simulator: {state.finished} of {state.total} runs"),
        )


def agreement(
    cases: Sequence[Case],
    results: Path,
    jobs: int | None,
    *,
    quick: bool,
    drawn: Draw | None,
    further_s: float,
) -> Validation:
    """Compare simulator and kernel, undecided scenarios for `further_s` seconds more at most."""
    bed = testbed.real()
    at_random = drawn.cases if drawn else ()
    modules = not quick and not drawn
    whole_s = running.real_time_s(cases, bed, modules=modules, drawn=at_random, further_s=further_s)
    say.print(
        f"{len(cases) + len(at_random)} scenarios on the kernel, "
        f"in real time: up to {duration(whole_s)}"
    )
    with progress.steps("running", say) as step:

        def follow(side: Side, state: Progress) -> None:
            step(f"{side.name}: {state.finished} of {state.total} runs")
            if state.warning is not None:
                say.print(f"warning: {state.warning}", soft_wrap=True)

        return running.validate(
            cases,
            bed,
            Store(results),
            parallelism.jobs(SimulatorEngine(), jobs),
            follow,
            modules=modules,
            drawn=drawn,
            on_algorithm=lambda name: step(f"parity: {name}"),
            further_s=further_s,
        )


def write(
    judged: Sequence[theory.Judged],
    validation: Validation | None,
    markdown: Path | None,
    figure: Path | None,
) -> None:
    """Write the findings to the requested files."""
    if markdown is not None:
        parts = [theory_table.page(judged)] if judged else []
        parts += [page.page(validation)] if validation else []
        with refusing("write it", markdown):
            markdown.write_text("\n".join(parts))
    if figure is not None and validation is not None:
        with refusing("write it", figure):
            drawing.save(agreement_figure.draw(validation.first), figure)


def show(judged: Sequence[theory.Judged], validation: Validation | None) -> None:
    """Print what was found."""
    if judged:
        print_table(_theory_table(judged))
        print(theory_table.counted(judged))
    if validation is None:
        return
    for agreement in filter(None, (validation.agreement, validation.drawn, validation.modules)):
        if agreement.judged:
            print()
            _show_agreement(agreement)
    if validation.parity:
        print()
        print_table(_parity_table(validation.parity))


def _show_agreement(agreement: Agreement) -> None:
    print_table(_agreement_table(agreement))
    for remark in page.remarks(agreement):
        print(remark.text, *remark.places, sep="\n  ")
    print(page.headline(agreement))


def _theory_table(judged: Sequence[theory.Judged]) -> Table:
    """Return what fidelity checks expect and measure."""
    result = table(*theory_table.COLUMNS, right=("expected", "measured", "tolerance"))
    for check in judged:
        *others, _ = map(plain, theory_table.cells(check))
        result.add_row(*others, _CLOSENESS[check.verdict])
    return result


def _agreement_table(agreement: Agreement) -> Table:
    """Return what was measured on one engine, and by how much the other one is off."""
    one, other = agreement.names
    result = table(*page.COLUMNS, right=page.COLUMNS[1:-1])
    result.title = f"{one} (difference of {other})"
    for judged in agreement.judged:
        *others, verdict = map(plain, page.cells(judged))
        result.add_row(*others, f"[{_AGREEMENT[judged.verdict]}]{verdict}[/]")
    return result


def _parity_table(parities: Sequence[Parity]) -> Table:
    """Return what became of the callbacks that were replayed."""
    result = table(*page.PARITY_COLUMNS, right=page.PARITY_COLUMNS[1:-1])
    for parity in parities:
        *others, verdict = map(plain, page.parity_cells(parity))
        result.add_row(*others, f"[{'green' if parity.passed else 'red'}]{verdict}[/]")
    return result
