"""The page of a checklist: one file, to attach to a proposal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from markupsafe import Markup

from dumbbell.experiments.checklist import Checklist, words
from dumbbell.experiments.checklist.outcome import FAILS, PASSES, UNDECIDED, Answer, Measured
from dumbbell.figures import style
from dumbbell.reports import pages
from dumbbell.reports.pages import Place

_WIDTH: Final = 180
_ROW: Final = 11
_ROOM: Final = 1.08
_SLUGS: Final = {PASSES: "expectation-met", FAILS: "expectation-failed", UNDECIDED: "undecided"}
"""Classes of the style for verdicts."""


def write(found: Sequence[Checklist], path: Path, command: str) -> None:
    """Write the page of a checklist on one engine, or on several."""
    first = found[0]
    text = pages.render(
        pages.environment(),
        "checklist.html.j2",
        Place.at("checklist", path.name),
        "",
        first=first,
        found=found,
        rows=list(zip(*(each.clauses for each in found), strict=True)),
        words=words,
        slugs=_SLUGS,
        glyph=glyph,
        tallies=[{outcome: len(each.having(outcome)) for outcome in _SLUGS} for each in found],
        sources={
            algorithm.name: algorithm.source_hash
            for algorithm in first.results.algorithms
            if algorithm.is_own
        },
        version=version("dumbbell"),
        command=command,
        css=Markup(pages.asset("report.css")),
        script=Markup(pages.asset("tables.js")),
    )
    path.write_text(text, encoding="utf-8")


def glyph(answer: Answer) -> Markup:
    """Draw intervals against the bound: a row for each algorithm, with its worst run as a line."""
    of = answer.of or {}
    if not of or answer.limit is None:
        return Markup("")
    ends = [answer.limit, 0.0]
    for each in of.values():
        ends += [end for end in (each.mean.value, *each.mean.interval) if math.isfinite(end)]
        ends.append(each.worst)
    low, high = min(ends), max(ends)
    span = (high - low or 1.0) * _ROOM

    def x(value: float) -> float:
        return round(2 + (_WIDTH - 4) * (value - low) / span, 1)

    names = list(of)
    looks = style.looks(names)
    height = _ROW * len(names) + 2
    edge = x(answer.limit)
    begin, end = (edge, _WIDTH) if answer.check.is_most else (0, edge)
    shapes = [
        f'<rect class="beyond" x="{begin}" y="0" width="{max(0, end - begin):.1f}" '
        f'height="{height}"/>',
        f'<line class="bound" x1="{edge}" x2="{edge}" y1="0" y2="{height}"/>',
    ]
    for row, name in enumerate(names):
        y = _ROW * row + _ROW / 2 + 1
        shapes += _row(of[name], x, y, looks[name].colour)
    label = f"{answer.named.title} against the bound: " + ", ".join(
        f"{name} {answer.named.value(each.mean.value)}" for name, each in of.items()
    )
    return Markup(
        '<svg class="glyph" role="img" aria-label="{}" width="{}" height="{}" '
        'viewBox="0 0 {} {}">{}</svg>'
    ).format(label, _WIDTH, height, _WIDTH, height, Markup("".join(shapes)))


def _row(measured: Measured, x: object, y: float, colour: str) -> list[str]:
    assert callable(x)
    mean = measured.mean
    low, high = (end if math.isfinite(end) else mean.value for end in (mean.low, mean.high))
    style_of = f'style="stroke:{colour};fill:{colour}"'
    left, right = (max(0.0, min(float(_WIDTH), x(end))) for end in (low, high))
    return [
        f'<line class="interval" {style_of} x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>',
        f'<line class="worst" {style_of} x1="{x(measured.worst)}" x2="{x(measured.worst)}" '
        f'y1="{y - 4}" y2="{y + 4}"/>',
        f'<circle {style_of} cx="{x(mean.value)}" cy="{y}" r="3.4"/>',
    ]
