"""Charts of distributions: a box per series, with whiskers to the ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import altair as alt
import polars as pl

from dumbbell.figures import chart_axes
from dumbbell.figures.chart_axes import Extent
from dumbbell.figures.chart_data import inline
from dumbbell.figures.chart_style import INK, Look
from dumbbell.study.figure_spec import BoxesFigure

_HEIGHT: Final = 300
_STEP: Final = 92
_BOX: Final = 38


@dataclass(frozen=True)
class BoxPane:
    """One plot: rows of ``series``, the quantiles ``min``, ``q25``, ``q50``, ``q75``, ``max``.

    ``samples`` and ``runs`` say how many there are.
    """

    title: str
    boxes: pl.DataFrame


def draw(
    spec: BoxesFigure, panes: Sequence[BoxPane], looks: Mapping[str, Look]
) -> alt.HConcatChart:
    """Draw the panes side by side with a common axis."""
    ends = [pane.boxes[name] for pane in panes for name in ("min", "max")]
    span = chart_axes.extent(spec.y, ends)
    return alt.hconcat(*(_plot(spec, pane, looks, span) for pane in panes))


def empty(spec: BoxesFigure, looks: Mapping[str, Look]) -> alt.Chart:
    """Draw only the axes."""
    data = inline(pl.DataFrame(schema={"label": pl.String, "q50": pl.Float64}))
    span = chart_axes.extent(spec.y, [pl.Series([], dtype=pl.Float64)])
    chart: alt.Chart = (
        alt.Chart(data)
        .mark_point()
        .encode(x=_x(looks), y=_y("q50:Q", spec, span))
        .properties(width=_STEP * len(looks), height=_HEIGHT)
    )
    return chart


def _x(looks: Mapping[str, Look]) -> alt.X:
    scale = alt.Scale(type="band", domain=[look.label for look in looks.values()])
    return alt.X("label:N", title=None, sort=None, scale=scale, axis=alt.Axis(labelAngle=0))


def _y(shorthand: str, spec: BoxesFigure, span: Extent) -> alt.Y:
    axis = chart_axes.ticks(spec.y, span)
    return alt.Y(shorthand, title=spec.y.title, scale=span.scale, axis=axis)


def _plot(
    spec: BoxesFigure, pane: BoxPane, looks: Mapping[str, Look], span: Extent
) -> alt.LayerChart | alt.FacetChart:
    labels = {series: look.label for series, look in looks.items()}
    named = pane.boxes.with_columns(
        label=pl.col("series").replace_strict(labels, return_dtype=pl.String)
    ).drop("series")
    colours = alt.Scale(
        domain=list(labels.values()), range=[look.colour for look in looks.values()]
    )
    base = alt.Chart(inline(named)).encode(
        x=_x(looks),
        color=alt.Color("label:N", scale=colours, legend=None),
        tooltip=[
            alt.Tooltip("label:N", title="series"),
            *(
                alt.Tooltip(f"{name}:Q", format=".4~g")
                for name in ("min", "q25", "q50", "q75", "max")
            ),
            alt.Tooltip("samples:Q"),
            alt.Tooltip("runs:Q"),
        ],
    )
    layers = alt.layer(
        base.mark_rule(strokeWidth=1.4).encode(y=_y("min:Q", spec, span), y2="max:Q"),
        _ends(base, "min", spec, span),
        _ends(base, "max", spec, span),
        # White below, so that the whisker does not shine through.
        base.mark_bar(size=_BOX, color="white").encode(
            y=_y("q25:Q", spec, span), y2="q75:Q", color=alt.value("white")
        ),
        base.mark_bar(size=_BOX, fillOpacity=0.45, strokeWidth=1.4).encode(
            y=_y("q25:Q", spec, span),
            y2="q75:Q",
            stroke=alt.Stroke("label:N", scale=colours, legend=None),
        ),
        base.mark_tick(orient="horizontal", size=_BOX, thickness=2.4).encode(
            y=_y("q50:Q", spec, span), color=alt.value(INK)
        ),
    )
    return layers.properties(title=pane.title, width=_STEP * len(looks), height=_HEIGHT)


def _ends(base: alt.Chart, name: str, spec: BoxesFigure, span: Extent) -> alt.Chart:
    chart: alt.Chart = base.mark_tick(orient="horizontal", size=_BOX / 2, thickness=1.4).encode(
        y=_y(f"{name}:Q", spec, span)
    )
    return chart
