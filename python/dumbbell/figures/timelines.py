"""Charts of runs over time: one row per panel and quantity, one line per flow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes
from dumbbell.figures.data import inline, plain
from dumbbell.figures.style import FAINT, INK, SPARE_COLOURS, flow_colours
from dumbbell.quantities.series import Joined

_WIDTH: Final = 760
_HEIGHT: Final = 190
_LOW_HEIGHT: Final = 130
SPACING: Final = 18
"""Between the rows, in pixels."""
_MANY_ROWS: Final = 3
_WIDEST: Final = 1.8
_THINNEST: Final = 0.7
_DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
"""Dashes that distinguish lines of one colour: there are more flows than colours."""

_RESENT: Final = "#c01015"
_RESENT_OPACITY: Final = 0.6


def _legend() -> alt.Legend:
    return alt.Legend(orient="right", symbolType="stroke", symbolSize=400, symbolStrokeWidth=2.5)


@dataclass(frozen=True)
class Level:
    """A value that is worth a dashed line, and its description."""

    value: float
    description: str


@dataclass(frozen=True)
class Row:
    """One plot.

    Attributes
    ----------
    title
        Its title; empty in all but the first row of a panel.
    axis
        Title of the vertical axis.
    lines
        ``label``, ``time_s`` and ``value``; None if the run is missing.
    algorithms
        The algorithm of each label that has one.
    start_s, end_s
        The time that is shown.
    from_zero
        True if the vertical axis begins at zero.
    joined
        How the values of a line are joined.
    resent
        When something was sent again: ``label``, ``time_s`` and ``segs``; None: not shown.
    levels
        Values to compare with.
    """

    title: str
    axis: str
    lines: pl.DataFrame | None
    algorithms: Mapping[str, str | None]
    start_s: float
    end_s: float
    from_zero: bool = True
    joined: Joined = "linear"
    resent: pl.DataFrame | None = None
    levels: tuple[Level, ...] = ()


def draw(rows: Sequence[Row]) -> alt.VConcatChart:
    """Stack the rows; see `plots`."""
    stacked: alt.VConcatChart = alt.vconcat(*plots(rows), spacing=SPACING)
    return stacked


def plots(rows: Sequence[Row]) -> list[alt.LayerChart | alt.FacetChart]:
    """Return a plot for each row; flows keep their colours in all of them.

    A flow has the colour of its algorithm if that is the same in all rows.
    """
    shown = [
        row.lines["label"].unique(maintain_order=True) for row in rows if row.lines is not None
    ]
    labels = list(dict.fromkeys(label for row_labels in shown for label in row_labels))
    scale = alt.Scale(domain=labels, range=flow_colours(_algorithms(rows, labels)))
    several = any(len(row_labels) > 1 for row_labels in shown)
    height = _HEIGHT if len(rows) <= _MANY_ROWS else _LOW_HEIGHT
    return [
        _plot(row, scale, position, _legend() if several else None).properties(
            title=alt.TitleParams(row.title, frame="group"), width=_WIDTH, height=height
        )
        for position, row in enumerate(rows)
    ]


def _algorithms(rows: Sequence[Row], labels: Sequence[str]) -> Iterator[str | None]:
    """Yield the algorithm that a label has in all rows; None: it has none, or several."""
    for label in labels:
        algorithms = {row.algorithms.get(label) for row in rows if row.lines is not None}
        yield algorithms.pop() if len(algorithms) == 1 else None


def _plot(
    row: Row, colours: alt.Scale, position: int, legend: alt.Legend | None
) -> alt.LayerChart | alt.FacetChart:
    if row.lines is None:
        return alt.layer(_absent(row))
    lines = _lines(row, row.lines, colours, legend).add_params(
        alt.selection_interval(
            name=f"zoom{position}",
            bind="scales",
            encodings=["x"],
            zoom="wheel![event.shiftKey]",
        )
    )
    below = [] if row.resent is None or row.resent.is_empty() else [_resent(row, row.resent)]
    return alt.layer(*below, lines, *_levels(row, row.lines))


def _lines(
    row: Row, lines: pl.DataFrame, colours: alt.Scale, legend: alt.Legend | None
) -> alt.Chart:
    labels = colours.domain
    # Later lines are thinner, so that what they cover still shows.
    widths = [max(_THINNEST, _WIDEST / (1 + 0.5 * n)) for n in range(len(labels))]
    dash: dict[str, Any] = {}
    if len(labels) > len(SPARE_COLOURS):
        dashes = [_DASHES[n // len(SPARE_COLOURS) % len(_DASHES)] for n in range(len(labels))]
        scale = alt.Scale(domain=labels, range=dashes)
        dash = {"strokeDash": alt.StrokeDash("label:N", scale=scale, title=None, legend=legend)}
    chart: alt.Chart = (
        plain(inline(lines))
        .transform_calculate(said=f"datum.label + {json.dumps(f': {row.axis} over time')}")
        .mark_line(strokeJoin="round", clip=True, interpolate=row.joined)
        .encode(
            x=_time(row),
            y=alt.Y("value:Q", title=row.axis, scale=_heights(row, lines)),
            color=alt.Color("label:N", scale=colours, title=None, legend=legend),
            strokeWidth=alt.StrokeWidth(
                "label:O", scale=alt.Scale(domain=labels, range=widths), title=None, legend=legend
            ),
            tooltip=[
                alt.Tooltip("label:N", title="flow"),
                alt.Tooltip("time_s:Q", title="time (s)", format=".1f"),
                alt.Tooltip("value:Q", title=row.axis, format=".4~g"),
            ],
            description=alt.Description("said:N"),
            **dash,
        )
    )
    return chart


def _levels(row: Row, lines: pl.DataFrame) -> list[alt.Chart]:
    """Draw values to compare with as dashed lines."""
    if not row.levels:
        return []
    data = pl.DataFrame(
        {
            "value": [level.value for level in row.levels],
            "said": [level.description for level in row.levels],
        }
    )
    chart: alt.Chart = (
        plain(inline(data))
        .mark_rule(color=INK, strokeDash=[6, 4], strokeWidth=1.4)
        .encode(
            y=alt.Y("value:Q", title=row.axis, scale=_heights(row, lines)),
            tooltip=[alt.Tooltip("said:N", title=" ")],
            description=alt.Description("said:N"),
        )
    )
    return [chart]


def _resent(row: Row, resent: pl.DataFrame) -> alt.Chart:
    """Draw a red line wherever something was sent again."""
    chart: alt.Chart = (
        plain(inline(resent))
        .mark_rule(color=_RESENT, opacity=_RESENT_OPACITY, strokeWidth=1, clip=True, aria=False)
        .encode(
            x=_time(row),
            tooltip=[
                alt.Tooltip("label:N", title="flow"),
                alt.Tooltip("time_s:Q", title="time (s)", format=".2f"),
                alt.Tooltip("segs:Q", title="segments sent again"),
            ],
        )
    )
    return chart


def _heights(row: Row, lines: pl.DataFrame) -> alt.Scale:
    """Return a scale with some room beyond the values, so that a constant is not the frame."""
    values = [*lines["value"], *(level.value for level in row.levels)] or [0.0, 1.0]
    low, high = (0.0 if row.from_zero else min(values)), max(values)
    if not row.from_zero:
        low, high = axes.widened(low, high)
    room = 0.06 * ((high - low) or 1.0)
    return alt.Scale(domain=[low if row.from_zero else low - room, high + room], nice=False)


def _absent(row: Row) -> alt.Chart:
    middle_s = (row.start_s + row.end_s) / 2
    data = inline(pl.DataFrame({"time_s": [middle_s], "note": ["not run yet"]}))
    chart: alt.Chart = (
        plain(data)
        .mark_text(fontSize=14, color=FAINT)
        .encode(x=_time(row), text=alt.Text("note:N"))
    )
    return chart


def _time(row: Row) -> alt.X:
    return alt.X(
        "time_s:Q",
        title="time (s)",
        scale=alt.Scale(domain=[row.start_s, row.end_s], nice=False),
        axis=alt.Axis(tickCount=10),
    )
