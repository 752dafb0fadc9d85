"""Plots of means with 95 % intervals: one for each quantity, with a row for each entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from dumbbell.base.labels import DIGITS, number
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.style import GRID
from dumbbell.quantities.registry import Best, Quantity

MEANS: Final = {
    "row": pl.String,
    "label": pl.String,
    "colour": pl.String,
    "shape": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}
DOTS: Final = {
    "row": pl.String,
    "label": pl.String,
    "colour": pl.String,
    "value": pl.Float64,
}
"""Columns of the frames of a plot; an algorithm goes by its label."""

_WIDTH: Final = 200
_STEP: Final = 24
_COLUMNS: Final = 3
_NAMED: Final = 5
_BETTER: Final = {Best.HIGHEST: "higher is better", Best.LOWEST: "lower is better"}


@dataclass(frozen=True)
class Plot:
    """A quantity in the unit in which it is shown.

    Attributes
    ----------
    quantity
        The quantity.
    means
        Means and the ends of their intervals, which may be null: `MEANS`.
    dots
        Small dots behind them: `DOTS`.
    """

    quantity: Quantity
    means: pl.DataFrame
    dots: pl.DataFrame


def draw(
    plots: Sequence[Plot], rows: Sequence[str], title: alt.TitleParams | None = None
) -> alt.ConcatChart:
    """Draw plots, one at least, with the rows in this order."""
    drawn = [_drawn(plot, rows, first=place % _COLUMNS == 0) for place, plot in enumerate(plots)]
    together = alt.concat(*drawn, columns=_COLUMNS, spacing=18, title=title or alt.Undefined)
    chart: alt.ConcatChart = together.configure(**style.config())
    return chart


def description(plots: Sequence[Plot]) -> str:
    """Describe plots: the smallest and the largest mean of each."""
    return " ".join(f"{_title(plot.quantity)}: {_seen(plot.means)}." for plot in plots)


def _seen(means: pl.DataFrame) -> str:
    """Name all of few means, else the smallest and the largest."""
    ordered = means.sort("mean")
    rows = ordered if ordered.height <= _NAMED else pl.concat([ordered.head(1), ordered.tail(1)])
    words = "" if rows.height == ordered.height else "from "
    joined = ", " if not words else " to "
    named = (f"{row['row']} {number(row['mean'], DIGITS)}" for row in rows.iter_rows(named=True))
    return f"{words}{joined.join(named)}"


def _title(quantity: Quantity) -> str:
    unit = f" ({quantity.shown_unit})" if quantity.shown_unit else ""
    return f"{quantity.title}{unit}"


def _drawn(plot: Plot, rows: Sequence[str], *, first: bool) -> alt.LayerChart | alt.FacetChart:
    quantity = plot.quantity
    title = alt.TitleParams(
        _title(quantity),
        subtitle=_BETTER[quantity.best] if quantity.best else "",
        fontSize=12.5,
    )
    y = alt.Y(
        "row:N",
        sort=rows,
        title=None,
        scale=alt.Scale(domain=rows),
        axis=alt.Axis(labels=first, ticks=first, labelLimit=300, grid=True, gridColor=GRID),
    )
    colour = alt.Color("colour:N", scale=None)
    scale, axis = _scale(plot), alt.Axis(tickCount=4)
    means = plain(inline(plot.means)).encode(
        y=y, color=colour, tooltip=_tooltip("mean", "low", "high")
    )
    layers = [
        means.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None), x2=alt.X2("high:Q")),
        means.mark_point(filled=True, size=75, opacity=1).encode(
            x=alt.X("mean:Q", title=None, scale=scale, axis=axis),
            shape=alt.Shape("shape:N", scale=None),
        ),
    ]
    if not plot.dots.is_empty():
        dots = plain(inline(plot.dots)).mark_circle(size=24, opacity=0.5)
        x = alt.X("value:Q", title=None, scale=scale, axis=axis)
        layers.insert(0, dots.encode(x=x, y=y, color=colour, tooltip=_tooltip("value")))
    return alt.layer(*layers).properties(title=title, width=_WIDTH, height=alt.Step(_STEP))


def _scale(plot: Plot) -> alt.Scale:
    """Return a scale near the values, on which a small difference stays small."""
    shown = [plot.dots["value"], *(plot.means[end] for end in ("mean", "low", "high"))]
    quantity = plot.quantity
    return axes.near(shown, share=quantity.is_share, scale=quantity.shown_scale, padding=8)


def _tooltip(*numbers: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("label:N", title="algorithm"),
        alt.Tooltip("row:N", title="row"),
        *(alt.Tooltip(f"{number}:Q", format=".4~g") for number in numbers),
    ]
