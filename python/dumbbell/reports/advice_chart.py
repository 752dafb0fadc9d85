"""The chart of advice: a plot for each column of its table, a row for each algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.base.units import parse_probability
from dumbbell.experiments.advise import Advice, words
from dumbbell.experiments.advise.words import Column
from dumbbell.figures import style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.style import FAINT, GRID

_WIDTH: Final = 160
_STEP: Final = 22
_UNFIT: Final = "#fbebe4"
_SCHEMA: Final = {
    "row": pl.String,
    "colour": pl.String,
    "filled": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def draw(advice: Advice) -> alt.HConcatChart:
    """Draw all plots. Every axis begins at 0, and the part beyond a bound is shaded."""
    plots = [_plot(advice, column, first=not place) for place, column in enumerate(words.COLUMNS)]
    title = alt.TitleParams(
        " ".join(words.conclusion(advice)[:1]),
        subtitle=[
            f"{words.path(advice.setting)}; share and harm next to {advice.legacy}, in the worse "
            "order of start.",
            "Filled: fit. Hollow: unfit. Shaded: beyond a bound. Lines are 95 % intervals.",
        ],
    )
    chart: alt.HConcatChart = (
        alt.hconcat(*plots, spacing=14).properties(title=title).configure(**style.config())
    )
    return chart


def _plot(advice: Advice, column: Column, *, first: bool) -> alt.LayerChart | alt.FacetChart:
    data = pl.DataFrame(_rows(advice, column), schema=_SCHEMA, orient="row")
    rows = [candidate.name for candidate in advice.candidates]
    y = alt.Y(
        "row:N",
        sort=rows,
        title=None,
        scale=alt.Scale(domain=rows),
        axis=_names(advice, first=first),
    )
    bound = _bound(advice, column)
    low, high = _domain(data, bound, may_be_negative=column.limits[0] < 0)
    scale = alt.Scale(domain=[low, high], nice=False)
    x = alt.X("value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4))
    base = plain(inline(data)).encode(y=y, color=alt.Color("colour:N", scale=None))
    tooltip = [
        alt.Tooltip("row:N", title="algorithm"),
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("value", "low", "high")),
    ]
    layers: list[alt.Chart] = [
        base.mark_rule(strokeWidth=2, clip=True).encode(
            x=alt.X("low:Q", title=None, scale=scale), x2=alt.X2("high:Q")
        ),
        base.mark_point(size=65, opacity=1, strokeWidth=2).encode(
            x=x, fill=alt.Fill("filled:N", scale=None), tooltip=tooltip
        ),
    ]
    if bound is not None:
        ends = (low, bound) if column.least is not None else (bound, high)
        layers = [*_shaded(ends, bound, scale), *layers]
    heading = alt.TitleParams(column.heading, fontSize=12.5)
    return alt.layer(*layers).properties(title=heading, width=_WIDTH, height=alt.Step(_STEP))


def _rows(advice: Advice, column: Column) -> list[tuple[str, str, str, float, float, float]]:
    names = sorted(candidate.name for candidate in advice.candidates)
    looks = style.looks(names)
    rows = []
    for candidate in advice.candidates:
        part, colour = column.taken(candidate), looks[candidate.name].colour
        if part is None or not math.isfinite(part.value):
            continue
        is_fit = not advice.faults[candidate.name]
        ends = (part.low, part.high) if math.isfinite(part.high - part.low) else (part.value,) * 2
        value, low, high = (column.scale * end for end in (part.value, *ends))
        rows.append((candidate.name, colour, colour if is_fit else "white", value, low, high))
    return rows


def _names(advice: Advice, *, first: bool) -> alt.Axis:
    """Return the axis of names, left of the first plot; that of the one to use is bold."""
    advised = "" if advice.advised is None else advice.advised.name
    bold = alt.condition(alt.datum.value == advised, alt.value("bold"), alt.value("normal"))
    return alt.Axis(
        labels=first,
        ticks=first,
        labelLimit=300,
        labelFontWeight=bold if first else alt.Undefined,
        grid=True,
        gridColor=GRID,
    )


def _domain(
    data: pl.DataFrame, bound: float | None, *, may_be_negative: bool
) -> tuple[float, float]:
    """Return an axis from 0, or below, to a little beyond the bound and the largest value."""
    ends = [0.0, bound or 0.0, *data["low"], *data["high"]]
    low = min(ends) if may_be_negative else 0.0
    room = 0.06 * (max(ends) - low or 1.0)
    return low - (room if low < 0 else 0.0), max(ends) + room


def _bound(advice: Advice, column: Column) -> float | None:
    if column.least is not None:
        return column.scale * column.least
    if column.most is None:
        return None
    at_random = parse_probability(advice.setting.loss) if column.counts_losses else 0.0
    return column.scale * (column.most + at_random)


def _shaded(ends: Sequence[float], bound: float, scale: alt.Scale) -> list[alt.Chart]:
    area = pl.DataFrame({"from": [ends[0]], "to": [ends[1]], "bound": [bound]})
    base = plain(inline(area))
    return [
        base.mark_rect(color=_UNFIT).encode(
            x=alt.X("from:Q", title=None, scale=scale), x2=alt.X2("to:Q")
        ),
        base.mark_rule(color=FAINT, strokeDash=[4, 3]).encode(
            x=alt.X("bound:Q", title=None, scale=scale)
        ),
    ]
