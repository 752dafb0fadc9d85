"""``dumbbell algorithms show``: what an algorithm is."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from dumbbell.cli.output import print_json, print_table
from dumbbell.cli.parameters import AsJson
from dumbbell.cli.tables import plain, table

if TYPE_CHECKING:
    from dumbbell.algorithms.catalogue import Algorithm
    from dumbbell.algorithms.head_comments import Paragraph

_PROSE_WIDTH: Final = 90


def show_algorithm(
    name: Annotated[str, typer.Argument(metavar="NAME[@PRESET] | FILE.c")], as_json: AsJson = False
) -> None:
    """Describe an algorithm and its parameters."""
    from dumbbell.algorithms import catalogue

    algorithm, preset = catalogue.split_preset(name)
    if not as_json:
        _show(algorithm, preset)
        return
    values = {parameter.name: parameter.initial for parameter in algorithm.parameters}
    values |= algorithm.preset(preset).values if preset else {}
    described = algorithm.model_dump(exclude={"code", "path"})
    described["engines"] = algorithm.engines
    described["notes"] = [
        {"kind": note.kind, "text": note.text} for note in algorithm.comment.notes
    ]
    print_json({**described, "preset": preset, "values": values})


def _show(algorithm: Algorithm, preset: str | None) -> None:
    print(f"{algorithm.name}: {algorithm.title} ({algorithm.family}, {algorithm.year})")
    print(algorithm.summary)
    print(f"Source: {algorithm.source}")
    print(f"Runs in: {', '.join(algorithm.engines)}")
    for paragraph in algorithm.comment.paragraphs:
        print(f"\n{_paragraph(paragraph)}")
    print()
    if algorithm.parameters:
        print_table(_parameters(algorithm, preset))
    for known in algorithm.presets:
        print(f"Preset {algorithm.name}@{known.name}: {known.source}")
    if algorithm.info:
        print(f"Reports: {', '.join(algorithm.info)}")
    if algorithm.modes:
        print(f"Modes: {', '.join(algorithm.modes)}")


def _paragraph(shown: Paragraph) -> str:
    """Return a paragraph of a head comment as lines, with its label."""
    from dumbbell.algorithms.head_comments import Form

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


def _parameters(algorithm: Algorithm, preset: str | None) -> Table:
    """Return an algorithm's parameters with the values of a preset."""
    values = algorithm.preset(preset).values if preset else {}
    columns = ("parameter", "value", "unit", "valid", "what", "source")
    result = table(*columns, right=("value",), whole=("parameter", "value"))
    for parameter in algorithm.parameters:
        changed = parameter.name in values
        value = str(values.get(parameter.name, parameter.initial))
        result.add_row(
            parameter.name,
            f"[bold]{value}[/]" if changed else value,
            plain(parameter.unit),
            f"{parameter.low} to {parameter.high}",
            plain(parameter.what),
            plain(parameter.source),
        )
    return result
