"""Figures on pages: pictures that scripts make interactive."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from dumbbell.figures import drawing
from dumbbell.figures.figure import Figure, TextTable
from dumbbell.reports.scripts import assignment

_SIZE: Final = re.compile(rb'<svg[^>]*? width="(\d+)[^"]*"[^>]*? height="(\d+)')
_NUMBER: Final = re.compile(r"Fig\. \d+(?:[A-Za-z]\b)?")


@dataclass(frozen=True)
class Picture:
    """A figure with the size of its picture, and the ways to the runs behind it."""

    figure: Figure
    number: str
    width: int
    height: int
    tables: list[TextTable]
    runs: list[tuple[str, str]]

    @classmethod
    def of(cls, figure: Figure, drawn: tuple[int, int], runs: list[tuple[str, str]]) -> Self:
        """Describe a figure that is drawn in some size."""
        number = _NUMBER.match(figure.spec.title)
        name = number[0] if number else figure.spec.name
        return cls(figure, name, *drawn, list(figure.tables), runs)


def size(svg: bytes) -> tuple[int, int]:
    """Return width and height of a picture."""
    match = _SIZE.match(svg)
    return (int(match[1]), int(match[2])) if match else (1000, 500)


def script(name: str, chart: Mapping[str, Any]) -> str:
    """Return the script that hands a chart to the page that shows it."""
    return assignment(f"dumbbellFigures[{json.dumps(name)}]", chart)


def write(name: str, chart: Mapping[str, Any], folder: Path) -> tuple[int, int]:
    """Write a chart into a folder, as pictures and for scripts; return the size of the picture."""
    svg = drawing.rendered(chart, ".svg")
    (folder / f"{name}.svg").write_bytes(svg)
    for suffix in (".png", ".pdf"):
        (folder / f"{name}{suffix}").write_bytes(drawing.converted(svg, suffix))
    (folder / f"{name}.js").write_text(script(name, chart), encoding="utf-8")
    return size(svg)
