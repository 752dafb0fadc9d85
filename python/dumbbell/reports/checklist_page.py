"""The page of a checklist: one file, to attach to a proposal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from markupsafe import Markup

from dumbbell.experiments.checklist import Checklist, words
from dumbbell.experiments.checklist.outcome import FAILS, PASSES, UNDECIDED, Answer
from dumbbell.figures import style
from dumbbell.reports import glyphs, pages
from dumbbell.reports.pages import Place

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
    """Draw intervals against the bound: a row for each algorithm, its worst run as a stroke."""
    of = answer.of or {}
    if not of or answer.limit is None:
        return Markup("")
    looks = style.looks(of)
    lines = [
        glyphs.Line(each.mean.value, *each.mean.interval, looks[name].colour, each.worst)
        for name, each in of.items()
    ]
    values = ", ".join(f"{name} {answer.named.value(each.mean.value)}" for name, each in of.items())
    bounds = (-math.inf, answer.limit) if answer.check.is_most else (answer.limit, math.inf)
    return glyphs.draw(lines, *bounds, f"{answer.named.title} against the bound: {values}")
