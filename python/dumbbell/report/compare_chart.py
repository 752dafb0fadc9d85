"""The chart of a comparison: a plot per quantity, a line per algorithm, means with intervals."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from dumbbell.compare import Comparison
from dumbbell.figures import style
from dumbbell.figures.data import inline
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.style import FAINT

_WIDTH: Final = 250
_STEP: Final = 30
_COLUMNS: Final = 3


def draw(comparison: Comparison) -> alt.ConcatChart:
    """Draw every quantity that has values."""
    lines = comparison.runs["line"].unique(maintain_order=True).to_list()
    known = [algorithm for algorithm in comparison.runs["algorithm"].unique() if algorithm]
    colours = {algorithm: look.colour for algorithm, look in style.looks(sorted(known)).items()}
    plots = [
        _plot(comparison, name, lines, colours, first=place % _COLUMNS == 0)
        for place, name in enumerate(comparison.shown)
    ]
    repetitions = comparison.runs["repetition"].n_unique()
    notes = [
        f"Means of {repetitions} runs with 95 % intervals; small dots are single runs.",
        *engine_notes(comparison.engine, len(comparison.invalid)),
    ]
    title = alt.TitleParams(comparison.path, subtitle=notes)
    together = alt.concat(*plots, columns=_COLUMNS, title=title, spacing=18)
    chart: alt.ConcatChart = together.configure(**style.config())
    return chart


def _plot(
    comparison: Comparison,
    name: str,
    lines: list[str],
    colours: dict[str, str],
    first: bool,
) -> alt.LayerChart | alt.FacetChart:
    quantity = comparison.shown[name]
    colour = pl.col("algorithm").replace_strict(colours, default=FAINT, return_dtype=pl.String)
    runs = comparison.runs.select(
        "line", colour.alias("colour"), value=pl.col(name) * quantity.shown_scale
    ).drop_nulls("value")
    means = comparison.means.filter(pl.col("quantity") == name).select(
        "line",
        colour.alias("colour"),
        *(pl.col(end) * quantity.shown_scale for end in ("mean", "low", "high")),
    )
    unit = f" ({quantity.shown_unit})" if quantity.shown_unit else ""
    x = alt.X(
        "value:Q",
        title=quantity.title + unit,
        scale=alt.Scale(zero=False, padding=8),
        axis=alt.Axis(tickCount=4),
    )
    y = alt.Y(
        "line:N",
        sort=lines,
        scale=alt.Scale(domain=lines),
        title=None,
        axis=alt.Axis(labelLimit=300, grid=True, labels=first, ticks=first),
    )
    stroke = alt.Color("colour:N", scale=None)
    at_mean = alt.X("mean:Q", title=quantity.title + unit)
    tooltip = [
        alt.Tooltip("line:N", title="flows"),
        *(alt.Tooltip(f"{end}:Q", format=".4~g") for end in ("mean", "low", "high")),
    ]
    intervals = alt.Chart(inline(means)).encode(y=y, color=stroke, tooltip=tooltip)
    layers = alt.layer(
        alt.Chart(inline(runs)).mark_circle(size=18, opacity=0.45).encode(x=x, y=y, color=stroke),
        intervals.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q"),
        intervals.mark_point(filled=True, size=80, opacity=1).encode(x=at_mean),
    )
    return layers.properties(width=_WIDTH, height=alt.Step(_STEP))
