"""The page of the cases of an algorithm: one file, to attach to a proposal."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Final

from markupsafe import Markup

from dumbbell.experiments.cases import Cases, words
from dumbbell.experiments.cases.outcome import FAILS, PASSES, UNJUDGED
from dumbbell.reports import pages
from dumbbell.reports.pages import Place

_SLUGS: Final = {PASSES: "expectation-met", FAILS: "expectation-failed", UNJUDGED: "undecided"}
"""Classes of the style for verdicts."""


def write(cases: Cases, path: Path, command: str) -> None:
    """Write the page."""
    text = pages.render(
        pages.environment(),
        "cases.html.j2",
        Place.at("cases", path.name),
        "",
        found=cases,
        words=words,
        slugs=_SLUGS,
        sources={
            algorithm.name: algorithm.source_hash
            for algorithm in cases.results.algorithms
            if algorithm.is_own
        },
        version=version("dumbbell"),
        command=command,
        css=Markup(pages.asset("report.css")),
        script=Markup(pages.asset("tables.js")),
    )
    path.write_text(text, encoding="utf-8")
