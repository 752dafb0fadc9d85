"""Pages of the verdicts by a suite: one file to attach to a proposal, or Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dumbbell.experiments.cases import Cases
from dumbbell.experiments.cases import words as case_words
from dumbbell.experiments.checklist import Checklist, words
from dumbbell.experiments.checklist.outcome import Answer
from dumbbell.experiments.suites.verdicts import Judgement
from dumbbell.figures import style
from dumbbell.reports import cases_markdown, checklist_markdown, glyphs, pages


def write(judgements: Sequence[Judgement[Any, Any]], path: Path, command: str) -> None:
    """Write the page of an algorithm by a suite, on one engine or on several."""
    first = judgements[0]
    shared = {
        "first": first,
        "judgements": judgements,
        "sources": {
            algorithm.name: algorithm.source_hash
            for algorithm in first.results.algorithms
            if algorithm.is_own
        },
    }
    if isinstance(first, Cases):
        pages.write_alone("cases.html.j2", path, command, words=case_words, **shared)
        return
    rows = [*zip(*(judgement.judged for judgement in judgements), strict=True)]
    pages.write_alone(
        "checklist.html.j2", path, command, words=words, rows=rows, glyph=glyph, **shared
    )


def write_markdown(judgements: Sequence[Judgement[Any, Any]], path: Path, command: str) -> None:
    """Write a page of Markdown, of one algorithm or of several."""
    cases = [judgement for judgement in judgements if isinstance(judgement, Cases)]
    clauses = [judgement for judgement in judgements if isinstance(judgement, Checklist)]
    path.write_text(
        cases_markdown.page(cases, command) if cases else checklist_markdown.page(clauses, command),
        encoding="utf-8",
    )


def glyph(answer: Answer) -> Markup:
    """Draw intervals against the bound: a row for each algorithm, its worst run as a stroke."""
    of = answer.of or {}
    if not of or answer.limit is None:
        return Markup("")
    looks = style.looks(of)
    lines = [
        glyphs.Line(
            measured.mean.value, *measured.mean.interval, looks[name].colour, measured.worst
        )
        for name, measured in of.items()
    ]
    values = ", ".join(
        f"{name} {answer.named.value(measured.mean.value)}" for name, measured in of.items()
    )
    bounds = (-math.inf, answer.limit) if answer.check.is_most else (answer.limit, math.inf)
    return glyphs.draw(lines, *bounds, f"{answer.named.title} against the bound: {values}")
