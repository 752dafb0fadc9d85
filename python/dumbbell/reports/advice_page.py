"""The page of advice: one file, with its style and its figure inside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from markupsafe import Markup

from dumbbell.experiments.advise import Advice, words
from dumbbell.figures import drawing
from dumbbell.reports import advice_chart, pages

_PROLOGUE: Final = re.compile(r"^<\?xml[^>]*>|<!DOCTYPE[^>]*>")


def write(advice: Advice, path: Path, command: str) -> None:
    """Write the page, or the figure alone for any other suffix than .html."""
    chart = advice_chart.draw(advice)
    if path.suffix != ".html":
        drawing.save(chart, path)
        return
    svg = _PROLOGUE.sub("", drawing.rendered(chart.to_dict(), ".svg").decode())
    pages.write_alone(
        "advice.html.j2",
        path,
        command,
        advice=advice,
        words=words,
        columns=(*words.COLUMNS, *words.FURTHER),
        svg=Markup(svg),
    )
