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


def write(validation: Validation, path: Path, command: str) -> None:
    """Write the page of a validation; `command` makes it again."""
    pages.write_alone(
        "validation.html.j2",
        path,
        command,
        validation=validation,
        table=words.table(validation),
        slugs=[_SLUGS[compared.verdict] for compared in validation.compared],
        words=words,
        glyphs=[glyph(compared) for compared in validation.compared],
        pictures={
            "wide": _picture(validation, validate_chart.WIDTH),
            "narrow": _picture(validation, validate_chart.WIDTH_OF_PHONES),
        },
        description=validate_chart.description(validation),
    )


def _picture(validation: Validation, width: int) -> Markup | None:
    """Draw the overlay; None if nothing was sampled."""
    chart = validate_chart.draw(validation, width)
    return None if chart is None else Markup(drawing.rendered(chart.to_dict(), ".svg").decode())


def glyph(compared: Compared) -> Markup:
    """Draw the interval of a difference in its band."""
    difference = compared.difference
    line = glyphs.Line(difference.value, difference.low, difference.high, _COLOUR)
    return glyphs.draw(
        [line],
        compared.low,
        compared.high,
        f"{compared.measure.title}: {words.OUTCOMES[compared.verdict]}",
    )
