"""The page of a validation: one file, with the overlay."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from markupsafe import Markup

from dumbbell.experiments.validate import words
from dumbbell.experiments.validate.comparing import Compared
from dumbbell.experiments.validate.validating import Validation
from dumbbell.figures import drawing
from dumbbell.inference.equivalence import Verdict
from dumbbell.reports import glyphs, pages, validate_chart

_SLUGS: Final = {
    Verdict.AGREES: "expectation-met",
    Verdict.DIFFERS: "expectation-failed",
    Verdict.UNDECIDABLE: "undecided",
}
"""Classes of the style for verdicts."""

_COLOUR: Final = "#004488"


def write(found: Validation, path: Path, command: str) -> None:
    """Write the page of a validation; `command` makes it again."""
    pages.write_alone(
        "validation.html.j2",
        path,
        command,
        found=found,
        table=words.table(found),
        slugs=[_SLUGS[each.verdict] for each in found.compared],
        words=words,
        glyphs=[glyph(each) for each in found.compared],
        pictures={
            "wide": _picture(found, validate_chart.WIDTH),
            "narrow": _picture(found, validate_chart.WIDTH_OF_PHONES),
        },
        said=validate_chart.said(found),
    )


def _picture(found: Validation, width: int) -> Markup | None:
    """Draw the overlay; None if nothing was sampled."""
    chart = validate_chart.draw(found, width)
    return None if chart is None else Markup(drawing.rendered(chart.to_dict(), ".svg").decode())


def glyph(each: Compared) -> Markup:
    """Draw the interval of a difference in its band."""
    difference = each.difference
    line = glyphs.Line(difference.value, difference.low, difference.high, _COLOUR)
    return glyphs.draw(
        [line],
        each.low,
        each.high,
        f"{each.measure.title}: {words.OUTCOMES[each.verdict]}",
    )
