"""The tables that the command line prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from rich import box
from rich.markup import escape
from rich.table import Table

from dumbbell.catalogue import Algorithm
from dumbbell.claims.verdicts import ClaimResult, Verdict
from dumbbell.compare import MEASURES, Comparison
from dumbbell.figures.labels import with_spread
from dumbbell.head_comments import Form, Paragraph
from dumbbell.report import cost_table, run_totals
from dumbbell.running.campaigns import Command, Cost
from dumbbell.running.machine import Machine
from dumbbell.running.result import Run
from dumbbell.units import format_time
from dumbbell.validate.agreement import page
from dumbbell.validate.agreement.judging import Agreement
from dumbbell.validate.agreement.parity import Parity
from dumbbell.validate.agreement.statistics import Verdict as Shown
from dumbbell.validate.running import Judged
from dumbbell.validate.running import Verdict as Closeness
from dumbbell.validate.table import COLUMNS, cells

_PROSE_WIDTH: Final = 90

_VERDICTS = {
    Verdict.REPRODUCED: "[green]✓ reproduced[/]",
    Verdict.NOT_REPRODUCED: "[red]✗ not reproduced[/]",
    Verdict.NOT_DECIDABLE: "[yellow]? not decidable[/]",
}


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table; the columns in `right` hold numbers."""
    empty = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in columns:
        empty.add_column(column, justify="right" if column in right else "left")
    return empty


def cost(this: Command, campaign: Cost) -> Table:
    """Return what a command took, what all commands of its campaign took, and what they left."""
    shown = table(*cost_table.COLUMNS, right=cost_table.COUNTS)
    for row in cost_table.rows(campaign, this):
        shown.add_row(*row)
    return shown


def of_run(run: Run) -> Iterator[Table]:
    """Yield what a run comes to: flows, requests and queues, as far as there are any."""
    for totals in run_totals.of_run(run):
        result = table(*totals.heads, right=totals.heads[totals.named :])
        for row in totals.rows:
            result.add_row(*map(escape, row))
        yield result


def machine(found: Machine) -> Table:
    """Return what a machine can do."""
    result = table("", "fact", "found", "needed for", "what to do")
    for fact in found.facts:
        mark = "[green]✓[/]" if fact.ok else "[red]✗[/]" if fact.required else "[yellow]![/]"
        told = (fact.name, fact.found, fact.needed_for, fact.remedy or "")
        result.add_row(mark, *map(escape, told))
    return result


def size(run: Run) -> str:
    """Say how much was run."""
    return f"{run.summary['packets']:,} packets in {format_time(run.summary['duration_ns'])}"


def claims(results: Sequence[ClaimResult]) -> Table:
    """Return the verdicts on a study's claims."""
    result = table("claim", "where", "verdict", "measured", "what the authors state")
    for judged in results:
        claim = judged.claim
        result.add_row(
            claim.id, claim.source, _VERDICTS[judged.verdict], judged.measured, claim.text
        )
    return result


_CLOSENESS = {
    Closeness.WITHIN: "[green]✓ within[/]",
    Closeness.OUTSIDE: "[red]✗ outside[/]",
    Closeness.NOT_OFFERED: "[yellow]– not offered[/]",
}


def validation(judged: Sequence[Judged]) -> Table:
    """Return what fidelity checks expect and measure."""
    result = table(*COLUMNS, right=("expected", "measured", "tolerance"))
    for each in judged:
        *others, _ = map(escape, cells(each))
        result.add_row(*others, _CLOSENESS[each.verdict])
    return result


_AGREEMENT = {
    Shown.AGREES: "green",
    Shown.DIFFERS: "red",
    Shown.UNDECIDABLE: "yellow",
    Shown.NOT_MEASURED: "red",
}


def agreement(found: Agreement) -> Table:
    """Return what was measured on one engine, and by how much the other one is off."""
    one, other = found.names
    result = table(*page.COLUMNS, right=page.COLUMNS[1:-1])
    result.title = f"{one} (difference of {other})"
    for judged in found.judged:
        *others, verdict = map(escape, page.cells(judged))
        result.add_row(*others, f"[{_AGREEMENT[judged.verdict]}]{verdict}[/]")
    return result


def parity(found: Sequence[Parity]) -> Table:
    """Return what became of the callbacks that were replayed."""
    result = table(*page.PARITY_COLUMNS, right=page.PARITY_COLUMNS[1:-1])
    for each in found:
        *others, verdict = map(escape, page.parity_cells(each))
        result.add_row(*others, f"[{'green' if each.passed else 'red'}]{verdict}[/]")
    return result


def comparison(compared: Comparison) -> Table:
    """Return means with the half width of their 95 % intervals."""
    shown = [m for m in MEASURES if m.name in compared.means["measure"].unique()]
    titles = [f"{m.title} ({m.unit})" if m.unit else m.title for m in shown]
    result = table("flows", *titles, right=titles)
    cells = {(row["line"], row["measure"]): row for row in compared.means.iter_rows(named=True)}
    for line in compared.means["line"].unique(maintain_order=True):
        rows = [(cells.get((line, m.name)), m.scale) for m in shown]
        result.add_row(line, *(_interval(row, scale) for row, scale in rows))
    return result


def _interval(row: dict[str, float | None] | None, scale: float) -> str:
    if row is None or row["mean"] is None:
        return ""
    mean, high = row["mean"], row["high"]
    return with_spread(mean * scale, None if high is None else (high - mean) * scale)


def paragraph(shown: Paragraph) -> str:
    """Return a paragraph of a head comment as lines, with its label."""
    lines = [f"{shown.kind}:"] if shown.kind else []
    for block in shown.blocks:
        match block.form:
            case Form.EQUATION:
                lines += [f"    {line}" for line in block.lines]
            case Form.ITEMS:
                lines += [f"- {line}" for line in block.lines]
            case Form.PROSE:
                lines += textwrap.wrap(block.lines[0], _PROSE_WIDTH, break_on_hyphens=False)
    return "\n".join(lines)


def parameters(algorithm: Algorithm, preset: str | None) -> Table:
    """Return an algorithm's parameters with the values of a preset."""
    values = algorithm.preset(preset).values if preset else {}
    result = table("parameter", "value", "unit", "valid", "what", "source", right=("value",))
    for parameter in algorithm.parameters:
        changed = parameter.name in values
        value = str(values.get(parameter.name, parameter.initial))
        result.add_row(
            parameter.name,
            f"[bold]{value}[/]" if changed else value,
            parameter.unit,
            f"{parameter.low} to {parameter.high}",
            parameter.what,
            parameter.source,
        )
    return result
