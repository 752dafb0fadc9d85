"""The bars of the front page: where each study's statements stand, as an SVG of its own.

It is drawn narrow, so that its texts stay legible on a phone, and has colours for dark screens. It
brings its own paper, as a page may be light where the screen's other pages are dark.
Numbers stand in the bars and patterns differ, so that nothing depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from dumbbell.judging.standing import Standing

_WIDTH: Final = 460
_ROW: Final = 52
_BAR: Final = 22
_LEGEND: Final = 22
_EDGE: Final = 10
_DIGIT: Final = 8.5
"""Width of a digit in a bar."""

_SHADES: Final[Mapping[Standing, str]] = {
    Standing.HOLDS: "holds",
    Standing.READING: "reading",
    Standing.TIE: "tie",
    Standing.CONTRADICTED: "contradicted",
    Standing.OPEN: "open",
}
_STYLE: Final = """\
.paper { fill: #fff; }
text { font: 14px "Source Sans 3", "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: #1a1a1a; }
.soft { fill: #595959; }
.in { font-weight: 600; text-anchor: middle; }
.holds, .reading { fill: #17663c; }
.tie { fill: #8d8d8d; }
.contradicted { fill: #a3320b; }
.open { fill: #e3d9a6; }
.in.on-holds, .in.on-contradicted, .in.on-reading { fill: #fff; }
.stripe { stroke: #fff; stroke-width: 2; opacity: 0.45; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #181818; }
  text { fill: #e8e6e3; }
  .soft { fill: #a8a5a0; }
  .holds, .reading { fill: #6cc08b; }
  .contradicted { fill: #f0906a; }
  .open { fill: #5c5430; }
  .in.on-holds, .in.on-contradicted, .in.on-reading, .in.on-tie { fill: #111; }
  .stripe { stroke: #181818; }
}
"""


@dataclass(frozen=True)
class Bar:
    """A bar: its title, and the number of statements by where they stand."""

    title: str
    counts: Mapping[Standing, int]


def svg(bars: Sequence[Bar]) -> str:
    """Return the bars, each as long as the share of its statements, with a legend."""
    width, height = _WIDTH + 2 * _EDGE, len(bars) * _ROW + 2 * _LEGEND + 2 * _EDGE
    parts = [part for place, bar in enumerate(bars) for part in _bar(bar, place * _ROW)]
    legend = _legend(len(bars) * _ROW + 18)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_EDGE} {-_EDGE} {width} {height}" '
            f'width="{width}" height="{height}" role="img">',
            f"<style>\n{_STYLE}</style>",
            f'<rect class="paper" x="{-_EDGE}" y="{-_EDGE}" width="{width}" height="{height}"/>',
            '<defs><pattern id="stripes" width="7" height="7" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><line class="stripe" x1="0" y1="0" x2="0" y2="7"/>'
            "</pattern></defs>",
            *parts,
            *legend,
            "</svg>\n",
        )
    )


def _bar(bar: Bar, top: int) -> Iterator[str]:
    total = sum(bar.counts.values())
    yield f'<text x="0" y="{top + 16}">{escape(bar.title)}</text>'
    yield f'<text class="soft" x="{_WIDTH}" y="{top + 16}" text-anchor="end">{total}</text>'
    left = 0.0
    for standing, count in bar.counts.items():
        width = _WIDTH * count / total if total else 0.0
        if count:
            yield from _segment(standing, left, top + 22, max(width - 1.5, 1.0))
            if width > _DIGIT * len(str(count)) + 4:
                yield (
                    f'<text class="in on-{_SHADES[standing]}" x="{left + width / 2:.1f}" '
                    f'y="{top + 38}">{count}</text>'
                )
        left += width


def _segment(standing: Standing, left: float, top: float, width: float) -> Iterator[str]:
    place = f'x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_BAR}" rx="2"'
    yield f'<rect class="{_SHADES[standing]}" {place}/>'
    if standing is Standing.READING:
        yield f'<rect fill="url(#stripes)" {place}/>'


def _legend(top: int) -> Iterator[str]:
    """Yield what the shades mean, in two lines."""
    places = ((0, 0), (70, 0), (312, 0), (0, _LEGEND), (120, _LEGEND))
    for standing, (left, down) in zip(_SHADES, places, strict=True):
        y = top + down
        place = f'x="{left}" y="{y - 11}" width="13" height="13" rx="2"'
        yield f'<rect class="{_SHADES[standing]}" {place}/>'
        if standing is Standing.READING:
            yield f'<rect fill="url(#stripes)" {place}/>'
        yield f'<text class="soft" x="{left + 19}" y="{y}">{standing.value}</text>'
