"""Parts that charts of several kinds are made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.figures.data import inline, plain
from dumbbell.figures.looks import Look
from dumbbell.figures.style import FAINT

_INTERVAL_WIDTH: Final = 1.2
_DOT: Final = 16


def labelled(frame: pl.DataFrame, looks: Mapping[str, Look]) -> pl.DataFrame:
    """Add ``label``: what the legend calls the series."""
    labels = {series: look.label for series, look in looks.items()}
    return frame.with_columns(
        label=pl.col("series").replace_strict(labels, default=None, return_dtype=pl.String)
    )


def colours(looks: Mapping[str, Look]) -> alt.Scale:
    """Return the colours of the series as a scale."""
    return alt.Scale(
        domain=[look.label for look in looks.values()],
        range=[look.colour for look in looks.values()],
    )


def colour(looks: Mapping[str, Look], axis: str = "algorithm", **others: Any) -> alt.Color:
    """Return the colours of the series, values of an axis; `others` is what else shall be."""
    return alt.Color("label:N", scale=colours(looks), title=_legend_title(axis), **others)


def stroke(looks: Mapping[str, Look]) -> alt.Stroke:
    """Return the colours of the series as those of edges, without a legend."""
    return alt.Stroke("label:N", scale=colours(looks), legend=None)


def shape(looks: Mapping[str, Look], axis: str) -> alt.Shape:
    """Return the shapes of the series, values of an axis."""
    scale = alt.Scale(
        domain=[look.label for look in looks.values()],
        range=[look.shape for look in looks.values()],
    )
    return alt.Shape("label:N", scale=scale, title=_legend_title(axis))


def _legend_title(axis: str) -> str | None:
    """Name the axis; names of algorithms need none."""
    return None if axis == "algorithm" else axis


def picking() -> alt.Parameter:
    """Return the selection of series by a click on the legend."""
    return alt.selection_point(name="picked", fields=["label"], bind="legend")


def faded(picked: alt.Parameter) -> alt.OpacityValue:
    """Return an opacity that leaves the picked series alone."""
    faint: alt.OpacityValue = _conditional("OpacityValue", "param", picked.name, 1, 0.1)
    return faint


def ink(condition: str, holds: str, other: str) -> alt.ColorValue:
    """Return a colour that depends on a condition."""
    colour: alt.ColorValue = _conditional("ColorValue", "test", condition, holds, other)
    return colour


@cache
def _conditional(
    channel: str, kind: str, condition: str, holds: float | str, other: float | str
) -> Any:
    """Return a channel with a condition, made once: Altair takes 5 ms to find its classes."""
    table = {"condition": {kind: condition, "value": holds}, "value": other}
    return getattr(alt, channel).from_dict(table, validate=False)


def tooltip(title: str, *places: tuple[str, str]) -> dict[str, Any]:
    """Return the tooltip of a mark of a mean, and its description for those who cannot see it.

    `places` are the columns of its place, with their titles.
    """
    return {
        "tooltip": [
            *(alt.Tooltip(column, title=words) for column, words in places),
            alt.Tooltip("shown:N", title=title),
            alt.Tooltip("interval:N", title="95 % interval"),
            alt.Tooltip("counted:N", title="runs"),
        ],
        "description": alt.Description("said:N"),
    }


def level(value: float | None, y: alt.Y) -> list[alt.Chart]:
    """Draw the line to compare with, if there is one; `y` is of the column ``y``."""
    if value is None:
        return []
    data = inline(pl.DataFrame({"y": [float(value)]}))
    return [
        plain(data).mark_rule(stroke=FAINT, strokeWidth=1, description=f"{value:g}").encode(y=y)
    ]


def dots(chart: alt.Chart, **others: Any) -> alt.Chart:
    """Draw single runs, small, next to their mean: of a chart without colours in grey.

    `others` is how else the dots shall look.
    """
    look = {"size": _DOT, "color": FAINT, "clip": True, "aria": False, **others}
    drawn: alt.Chart = chart.mark_circle(**look)
    return drawn


def intervals(chart: alt.Chart, **others: Any) -> alt.Chart:
    """Draw 95 % intervals as thin lines, cut at the frame; the tooltips of the means name them.

    `others` is how else the lines shall look.
    """
    look = {"strokeWidth": _INTERVAL_WIDTH, "clip": True, "aria": False, **others}
    drawn: alt.Chart = chart.mark_rule(**look)
    return drawn


def nothing(**size: int) -> alt.Chart:
    """Draw an empty plot with a note that it is empty."""
    data = inline(pl.DataFrame({"note": ["nothing was recorded"]}))
    chart: alt.Chart = (
        plain(data).mark_text(fontSize=14, color=FAINT).encode(text=alt.Text("note:N"))
    )
    return chart.properties(**size)
