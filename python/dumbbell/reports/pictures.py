"""Figures on pages: pictures that scripts make interactive."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self

from dumbbell.figures import drawing
from dumbbell.figures.figure import Figure, TextTable
from dumbbell.reports.scripts import assignment

_SIZE: Final = re.compile(rb'<svg[^>]*? width="(\d+)[^"]*"[^>]*? height="(\d+)')
_VIEW: Final = re.compile(r'"view_\d+"')
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


def write(
    name: str,
    chart: Mapping[str, Any],
    folder: Path,
    suffixes: Sequence[str] = (".svg", ".png", ".pdf"),
) -> tuple[int, int]:
    """Write a chart into a folder, as pictures and for scripts; return the size of the picture.

    The first suffix is .svg. Pictures of the same chart stay as they are: to draw one takes a
    second.
    """
    text = script(name, _canonical(chart))
    files = [folder / f"{name}{suffix}" for suffix in suffixes]
    file = folder / f"{name}.js"
    if _holds(file, text) and all(
        picture.is_file() and picture.stat().st_size for picture in files
    ):
        return size(files[0].read_bytes())
    # While pictures are drawn there is no script, so that a broken-off command draws them again.
    file.unlink(missing_ok=True)
    svg = drawing.rendered(chart, ".svg")
    for picture in files:
        is_svg = picture.suffix == ".svg"
        picture.write_bytes(svg if is_svg else drawing.converted(svg, picture.suffix))
    file.write_text(text, encoding="utf-8")
    return size(svg)


def _holds(file: Path, text: str) -> bool:
    try:
        return file.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


def _canonical(chart: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the same chart whose views are numbered from 1: Altair numbers those of a process."""
    numbers: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f'"view_{len(numbers) + 1}"')

    canonical: Mapping[str, Any] = json.loads(_VIEW.sub(named, json.dumps(chart)))
    return canonical


def size(svg: bytes) -> tuple[int, int]:
    """Return width and height of a picture."""
    match = _SIZE.match(svg)
    return (int(match[1]), int(match[2])) if match else (1000, 500)


def script(name: str, chart: Mapping[str, Any]) -> str:
    """Return the script that hands a chart to the page that shows it."""
    drawn_by = f"/* vl-convert {version('vl-convert-python')} */\n"
    return drawn_by + assignment(f"dumbbellFigures[{json.dumps(name)}]", chart)
