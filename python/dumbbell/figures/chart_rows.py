"""Charts in rows: a plot per question, a row per answer, and what was stated as line or band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import altair as alt
import polars as pl

from dumbbell.figures import chart_axes
from dumbbell.figures.chart_data import inline
from dumbbell.figures.chart_style import FAINT, INK
from dumbbell.study.figure_spec import RowsFigure, Stated

_WIDTH: Final = 250
_STEP: Final = 20
_COLUMNS: Final = 3
_MARK: Final = "#0072b2"
_STATED: Final = "#d55e00"


@dataclass(frozen=True)
class RowPane:
    """One plot.

    Parameters
    ----------
    title
        What sets this plot apart from the figure's others.
    means
        Rows of ``row`` (label), ``mean`` (null if no run has a value), ``se``, ``n``, ``runs``.
    dots
        The runs: ``row``, ``value``.
    stated
        What the publication states of it.
    """

    title: str
    means: pl.DataFrame
    dots: pl.DataFrame
    stated: tuple[Stated, ...]


def draw(spec: RowsFigure, panes: Sequence[RowPane], rows: Sequence[str]) -> alt.ConcatChart:
    """Draw the panes in a grid; each has a horizontal axis of its own."""
    plots = [
        _plot(spec, pane, rows, first=place % _COLUMNS == 0) for place, pane in enumerate(panes)
    ]
    return alt.concat(*plots, columns=_COLUMNS, spacing=22)


def empty(spec: RowsFigure, rows: Sequence[str]) -> alt.Chart:
    """Draw only the axes."""
    data = inline(pl.DataFrame(schema={"row": pl.String, "mean": pl.Float64}))
    x = alt.X("mean:Q", title=spec.x.title, scale=alt.Scale(domain=[0, 1]))
    chart: alt.Chart = (
        alt.Chart(data)
        .mark_point()
        .encode(x=x, y=_y(rows, first=True))
        .properties(width=_WIDTH, height=alt.Step(_STEP))
    )
    return chart


def _y(rows: Sequence[str], first: bool) -> alt.Y:
    scale = alt.Scale(domain=list(rows))
    axis = alt.Axis(labels=first, ticks=first, labelLimit=280, grid=True)
    return alt.Y("row:N", title=None, sort=None, scale=scale, axis=axis)


def _plot(
    spec: RowsFigure, pane: RowPane, rows: Sequence[str], first: bool
) -> alt.LayerChart | alt.FacetChart:
    told = [bound for each in pane.stated for bound in (each.low, each.high) if bound is not None]
    values = [pane.means["mean"], pane.dots["value"], pl.Series(told, dtype=pl.Float64)]
    span = chart_axes.extent(spec.x, values)

    def x(shorthand: str) -> alt.X:
        axis = chart_axes.ticks(spec.x, span, tickCount=4)
        return alt.X(shorthand, title=spec.x.title, scale=span.scale, axis=axis)

    base = alt.Chart(inline(pane.means)).encode(
        y=_y(rows, first),
        tooltip=[
            alt.Tooltip("row:N", title=spec.rows),
            alt.Tooltip("mean:Q", title=spec.x.title, format=".4~g"),
            alt.Tooltip("se:Q", title="standard error", format=".2~g"),
            alt.Tooltip("runs:Q", title="runs"),
        ],
    )
    dots = alt.Chart(inline(pane.dots)).mark_circle(size=16, opacity=0.4, color=INK)
    layers = alt.layer(
        *(_stated(each, x) for each in pane.stated),
        dots.encode(x=x("value:Q"), y=_y(rows, first)),
        base.mark_point(filled=True, size=70, color=_MARK, opacity=1).encode(x=x("mean:Q")),
    )
    title = alt.TitleParams(
        pane.title,
        subtitle=[each.label for each in pane.stated],
        subtitleColor=_STATED if pane.stated else FAINT,
        fontSize=12.5,
    )
    return layers.properties(title=title, width=_WIDTH, height=alt.Step(_STEP))


def _stated(stated: Stated, x: Callable[[str], alt.X]) -> alt.Chart:
    """Draw a number as a line over all rows, a range as a band."""
    high = stated.low if stated.high is None else stated.high
    data = inline(pl.DataFrame({"from": [float(stated.low)], "to": [float(high)]}))
    chart = alt.Chart(data)
    if stated.high is None:
        line: alt.Chart = chart.mark_rule(color=_STATED, strokeWidth=2).encode(x=x("from:Q"))
        return line
    band: alt.Chart = chart.mark_rect(color=_STATED, opacity=0.25, stroke=_STATED).encode(
        x=x("from:Q"), x2="to:Q"
    )
    return band
