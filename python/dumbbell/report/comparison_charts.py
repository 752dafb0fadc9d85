"""Charts of comparisons: a small plot for each quantity, means with 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import polars as pl

from dumbbell.figures import style
from dumbbell.figures.data import inline
from dumbbell.figures.looks import Look
from dumbbell.figures.style import FAINT, GRID
from dumbbell.labels import label_of
from dumbbell.quantities.registry import Best, Quantity
from dumbbell.report.comparison import Column, Comparison

_WIDTH: Final = 200
_STEP: Final = 22
_COLUMNS: Final = 3
_OTHERS: Final = "#9a9a9a"

_BETTER: Final = {Best.HIGHEST: "higher is better", Best.LOWEST: "lower is better"}
_OF_ONE_RATE: Final = ("goodput_mbit_per_s",)
"""What says nothing over tests whose links differ."""

_SCHEMA: Final = {
    "row": pl.String,
    "label": pl.String,
    "colour": pl.String,
    "shape": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "faint": pl.Boolean,
}


def of_test(compared: Comparison) -> alt.ConcatChart | None:
    """Draw the algorithms of one test, a row for each; None if there is nothing to draw."""
    looks = style.looks(compared.algorithms)
    rows = [look.label for look in looks.values()]
    plots = [
        (column.quantity, _frame(column, "", looks, compared.algorithms))
        for column in compared.columns
        if column.shared
    ]
    return _laid_out(plots, rows)


def of_algorithm(name: str, places: Mapping[str, Comparison]) -> alt.ConcatChart | None:
    """Draw one algorithm over several tests, a row for each; other algorithms are grey dots."""
    found: dict[str, tuple[Quantity, list[pl.DataFrame]]] = {}
    for place, compared in places.items():
        looks = style.looks(compared.algorithms)
        own = [choice for choice in compared.algorithms if choice.partition("@")[0] == name]
        for column in compared.columns:
            if own and column.shared and column.quantity.name not in _OF_ONE_RATE:
                _, frames = found.setdefault(column.quantity.name, (column.quantity, []))
                others = [choice for choice in compared.algorithms if choice not in own]
                grey = {other: Look(label_of(other), _OTHERS, "circle") for other in others}
                frames.append(_frame(column, place, grey, others, faint=True))
                frames.append(_frame(column, place, looks, own))
    plots = [(quantity, pl.concat(frames)) for quantity, frames in found.values()]
    return _laid_out(plots, list(places))


def _frame(
    column: Column,
    row: str,
    looks: Mapping[str, Look],
    choices: Sequence[str],
    *,
    faint: bool = False,
) -> pl.DataFrame:
    """Return a line for each choice that has a value; without a `row` each is one by itself."""
    lines = []
    for choice in choices:
        mean = column.cells[choice].mean
        if mean is not None:
            look = looks[choice]
            ends = (mean.low, mean.high) if mean.has_interval else (None, None)
            shown = [None if end is None else column.shown(end) for end in (mean.value, *ends)]
            lines.append((row or look.label, look.label, look.colour, look.shape, *shown, faint))
    return pl.DataFrame(lines, schema=_SCHEMA, orient="row")


def _laid_out(
    plots: Sequence[tuple[Quantity, pl.DataFrame]], rows: list[str]
) -> alt.ConcatChart | None:
    drawn = [
        _plot(frame, quantity, rows, first=place % _COLUMNS == 0)
        for place, (quantity, frame) in enumerate(plots)
        if not frame.is_empty()
    ]
    if not drawn:
        return None
    together = alt.concat(*drawn, columns=_COLUMNS, spacing=18)
    chart: alt.ConcatChart = together.configure(**style.config())
    return chart


def _plot(
    frame: pl.DataFrame, quantity: Quantity, rows: list[str], *, first: bool
) -> alt.LayerChart | alt.FacetChart:
    unit = f" ({quantity.shown_unit})" if quantity.shown_unit else ""
    title = alt.TitleParams(
        f"{quantity.title}{unit}",
        subtitle=_BETTER[quantity.best] if quantity.best else "",
        fontSize=12.5,
    )
    y = alt.Y(
        "row:N",
        sort=rows,
        title=None,
        scale=alt.Scale(domain=rows),
        axis=alt.Axis(labels=first, ticks=first, labelLimit=240, grid=True, gridColor=GRID),
    )
    scale = alt.Scale(zero=False, padding=8)
    told = [
        alt.Tooltip("label:N", title="algorithm"),
        alt.Tooltip("row:N", title="row"),
        *(alt.Tooltip(f"{end}:Q", format=".4~g") for end in ("mean", "low", "high")),
    ]
    colour = alt.Color("colour:N", scale=None)
    x = alt.X("mean:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4))
    own, others = frame.filter(~pl.col("faint")), frame.filter("faint")
    base = alt.Chart(inline(own)).encode(y=y, color=colour, tooltip=told)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None), x2="high:Q"),
        base.mark_point(filled=True, size=75, opacity=1).encode(
            x=x, shape=alt.Shape("shape:N", scale=None)
        ),
    ]
    if not others.is_empty():
        grey = alt.Chart(inline(others)).encode(y=y, x=x, tooltip=told)
        layers.insert(0, grey.mark_circle(size=28, opacity=0.6, color=FAINT))
    return alt.layer(*layers).properties(title=title, width=_WIDTH, height=alt.Step(_STEP))
