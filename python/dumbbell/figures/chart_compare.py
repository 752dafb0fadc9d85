"""The chart of a comparison: a plot per measure, a line per algorithm, means with intervals."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from dumbbell.compare import MEASURES, Comparison, Measured
from dumbbell.figures import chart_style, labels
from dumbbell.figures.chart_data import inline
from dumbbell.figures.chart_style import FAINT
from dumbbell.units import parse_probability

_WIDTH: Final = 250
_STEP: Final = 30
_COLUMNS: Final = 3


def draw(comparison: Comparison) -> alt.ConcatChart:
    """Draw every measure that has values."""
    lines = comparison.runs["line"].unique(maintain_order=True).to_list()
    known = [algorithm for algorithm in comparison.runs["algorithm"].unique() if algorithm]
    colours = {
        algorithm: look.colour for algorithm, look in chart_style.looks(sorted(known)).items()
    }
    shown = [
        measure for measure in MEASURES if comparison.runs[measure.name].drop_nulls().len() > 0
    ]
    plots = [
        _plot(comparison, measure, lines, colours, first=place % _COLUMNS == 0)
        for place, measure in enumerate(shown)
    ]
    setting = comparison.setting
    loss = f", random loss {setting.loss}" if parse_probability(setting.loss) else ""
    repetitions = comparison.runs["repetition"].n_unique()
    notes = [
        f"Means of {repetitions} runs of {setting.duration} with 95 % intervals; "
        "small dots are single runs.",
        *labels.engine_notes(comparison.engine, len(comparison.invalid)),
    ]
    title = alt.TitleParams(
        f"{setting.rate}, RTT {setting.rtt}, buffer {setting.buffer}{loss}",
        subtitle=notes,
    )
    together = alt.concat(*plots, columns=_COLUMNS, title=title, spacing=18)
    chart: alt.ConcatChart = together.configure(**chart_style.config())
    return chart


def _plot(
    comparison: Comparison,
    measure: Measured,
    lines: list[str],
    colours: dict[str, str],
    first: bool,
) -> alt.LayerChart | alt.FacetChart:
    colour = pl.col("algorithm").replace_strict(colours, default=FAINT, return_dtype=pl.String)
    runs = comparison.runs.select(
        "line", colour.alias("colour"), value=pl.col(measure.name) * measure.scale
    ).drop_nulls("value")
    means = comparison.means.filter(pl.col("measure") == measure.name).select(
        "line",
        colour.alias("colour"),
        *(pl.col(name) * measure.scale for name in ("mean", "low", "high")),
    )
    unit = f" ({measure.unit})" if measure.unit else ""
    x = alt.X(
        "value:Q",
        title=measure.title + unit,
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
    at_mean = alt.X("mean:Q", title=measure.title + unit)
    tooltip = [
        alt.Tooltip("line:N", title="flows"),
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("mean", "low", "high")),
    ]
    intervals = alt.Chart(inline(means)).encode(y=y, color=stroke, tooltip=tooltip)
    layers = alt.layer(
        alt.Chart(inline(runs)).mark_circle(size=18, opacity=0.45).encode(x=x, y=y, color=stroke),
        intervals.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q"),
        intervals.mark_point(filled=True, size=80, opacity=1).encode(x=at_mean),
    )
    return layers.properties(width=_WIDTH, height=alt.Step(_STEP))
