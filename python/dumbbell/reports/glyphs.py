"""Small pictures of intervals against bounds, for the lines of tables and texts.

A picture is a strip: the white part is where a value agrees, the tinted part is beyond a bound. A
line is an interval and a circle its value; a line that reaches an edge continues beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from dumbbell.base.labels import DIGITS, number
from dumbbell.figures import axes
from dumbbell.judging.evidence import CheckResult, Finding
from dumbbell.judging.judging import ClaimResult

_WIDTH: Final = 132
_ROW: Final = 14
_ROOM: Final = 0.08
_REACH: Final = 1.5
"""Room for intervals beyond values and bounds, in spans of these."""


@dataclass(frozen=True)
class Line:
    """A value with its interval; an end that is not finite is none.

    Attributes
    ----------
    value, low, high
        The value and the ends of its interval.
    colour
        Its colour; None: that of the text.
    worst
        The value of the worst run, marked by a stroke; None: not marked.
    """

    value: float
    low: float
    high: float
    colour: str | None = None
    worst: float | None = None


def of_claim(result: ClaimResult) -> Markup:
    """Draw the finding that decides a claim against its bounds; empty if there is none."""
    return of_check(result.decisive)


def of_check(check: CheckResult) -> Markup:
    """Draw the finding that decides a check against its bounds; empty if there is none."""
    finding = check.decisive
    if finding is None or not math.isfinite(finding.estimate.value):
        return Markup("")
    if math.isinf(finding.low) and math.isinf(finding.high):
        return Markup("")
    line = Line(finding.estimate.value, *finding.interval)
    return draw([line], finding.low, finding.high, _in_words(finding))


def _in_words(finding: Finding) -> str:
    """Describe the picture by numbers without units."""
    low, high = finding.interval
    value = number(finding.estimate.value, DIGITS)
    interval = f" ({number(low, DIGITS)} to {number(high, DIGITS)})" if low < high else ""
    ends = [number(end, DIGITS) for end in (finding.low, finding.high) if math.isfinite(end)]
    bounds = " to ".join(ends)
    if len(ends) == 1:
        bounds = f"{'at most' if math.isinf(finding.low) else 'at least'} {bounds}"
    return f"{value}{interval} against {bounds}"


def draw(lines: Sequence[Line], low: float, high: float, label: str) -> Markup:
    """Draw a row for each value, against bounds of which one may be infinite.

    `label` is the description for screen readers.
    """
    first, last = _domain(lines, [bound for bound in (low, high) if math.isfinite(bound)])

    def x(value: float) -> float:
        share = (value - first) / (last - first)
        return round(_WIDTH * min(max(share, 0.0), 1.0), 1)

    height = _ROW * len(lines) + 2
    shapes: list[str] = []
    for bound, begin, end in ((low, 0.0, x(low)), (high, x(high), float(_WIDTH))):
        if math.isfinite(bound):
            edge = x(bound)
            shapes += [
                f'<rect class="beyond" x="{begin}" y="0" width="{end - begin:.1f}" '
                f'height="{height}"/>',
                f'<line class="bound" x1="{edge}" x2="{edge}" y1="0" y2="{height}"/>',
            ]
    for place, line in enumerate(lines):
        y = _ROW * place + _ROW / 2 + 1
        suffix = "" if line.colour is None else " own"
        look = "" if line.colour is None else f' style="--look:{line.colour}"'
        ends = [end if math.isfinite(end) else line.value for end in (line.low, line.high)]
        left, right = map(x, ends)
        shapes.append(
            f'<line class="interval{suffix}"{look} x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>'
        )
        if line.worst is not None:
            at = x(line.worst)
            shapes.append(
                f'<line class="worst{suffix}"{look} x1="{at}" x2="{at}" y1="{y - 4}" y2="{y + 4}"/>'
            )
        shapes.append(
            f'<circle class="value{suffix}"{look} cx="{x(line.value)}" cy="{y}" r="3.4"/>'
        )
    return Markup(
        '<svg class="glyph" role="img" aria-label="{}" width="{}" height="{}" '
        'viewBox="0 0 {} {}">{}</svg>'
    ).format(label, _WIDTH, height, _WIDTH, height, Markup("".join(shapes)))


def _domain(lines: Sequence[Line], bounds: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a picture: values, bounds, and intervals as far as there is room."""
    inner = [*bounds, *(line.value for line in lines)]
    inner += [line.worst for line in lines if line.worst is not None]
    low, high = axes.widened(min(inner), max(inner))
    reach = _REACH * (high - low)
    ends = [end for line in lines for end in (line.low, line.high) if math.isfinite(end)]
    first = max(min([low, *ends]), low - reach)
    last = min(max([high, *ends]), high + reach)
    room = _ROOM * (last - first)
    return first - room, last + room
