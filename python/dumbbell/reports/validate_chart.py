"""The overlay of a validation: both engines over time, runs as bands around their mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.experiments.validate.validating import Side, Validation
from dumbbell.figures import style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Chart
from dumbbell.quantities import series

QUANTITIES: Final = ("goodput_mbit_per_s", "rtt_ms", "one_way_delay_ms", "queue_packets")
"""Series that are shown, as far as there are any."""

_SPANS: Final = 120
WIDTH: Final = 760
WIDTH_OF_PHONES: Final = 280
_HEIGHT: Final = 150
_COLOURS: Final = {"kernel": style.CHOSEN, "simulator": style.OTHERS}
_DASHES: Final = {"kernel": [1, 0], "simulator": [5, 3]}
_SCHEMA: Final = {
    "engine": pl.String,
    "time_s": pl.Float64,
    "mean": pl.Float64,
    "least": pl.Float64,
    "most": pl.Float64,
}


def frames(validation: Validation) -> dict[str, pl.DataFrame]:
    """Return the data of each series: a row for each engine and span of time.

    The columns are ``engine``, ``time_s`` (the middle of the span), and over the runs of the engine
    ``mean``, ``least`` and ``most``. Flows are together: their sum as a rate, else their mean.
    """
    shown = {
        name: pl.concat(
            [
                _of_side(engine, side, name)
                for engine, side in zip(_COLOURS, validation.sides, strict=True)
            ]
        )
        for name in QUANTITIES
    }
    return {name: frame for name, frame in shown.items() if frame.height}


def draw(validation: Validation, width: int = WIDTH) -> Chart | None:
    """Draw a plot for each series; None if nothing was sampled."""
    length_s = _length_s(validation)
    plots = [
        _plot(name, frame, length_s).properties(width=width)
        for name, frame in frames(validation).items()
    ]
    if not plots:
        return None
    chart: alt.VConcatChart = alt.vconcat(*plots, spacing=16)
    chart.config = alt.Config(**style.config())
    return chart


def description(validation: Validation) -> str:
    """Describe the overlay for screen readers."""
    parts = []
    for name, frame in frames(validation).items():
        means = frame.group_by("engine", maintain_order=True).agg(pl.col("mean").mean())
        values = ", ".join(f"{engine} {mean:.4g}" for engine, mean in means.iter_rows())
        parts.append(f"Mean {series.named(name).axis} over time: {values}.")
    return " ".join(parts)


def _length_s(validation: Validation) -> float:
    runs = (run for side in validation.sides for run in side.runs.values())
    return max((run.summary.duration_ns for run in runs), default=1) / NS_PER_S


def _of_side(engine: str, side: Side, name: str) -> pl.DataFrame:
    """Return the spans of a series on an engine."""
    runs = [frame for run in side.runs.values() if (frame := _of_run(run, name)).height]
    if not runs:
        return pl.DataFrame(schema=_SCHEMA)
    value = pl.col("value")
    spans = (
        pl.concat(runs)
        .group_by("span")
        .agg(mean=value.mean(), least=value.min(), most=value.max())
        .sort("span")
    )
    width_s = next(iter(side.runs.values())).summary.duration_ns / NS_PER_S / _SPANS
    return spans.select(
        pl.lit(engine).alias("engine"),
        ((pl.col("span") + 0.5) * width_s).alias("time_s"),
        "mean",
        "least",
        "most",
    )


def _of_run(run: Run, name: str) -> pl.DataFrame:
    """Return ``span`` and ``value`` of a run: the mean of each span of time."""
    kind = series.named(name)
    width_s = run.summary.duration_ns / NS_PER_S / _SPANS
    lines = series.lines(run, name, spans=_SPANS)
    # The time of a rate is the end of its span, that of a sample lies anywhere in it.
    place = pl.col("time_s") / width_s - (0.5 if kind.per_count is not None else 0.0)
    spanned = lines.with_columns(span=place.floor().clip(0, _SPANS - 1))
    of_each = spanned.group_by("label", "span").agg(pl.col("value").mean())
    together = pl.col("value").sum() if kind.per_count is not None else pl.col("value").mean()
    return of_each.group_by("span").agg(together)


def _plot(name: str, frame: pl.DataFrame, length_s: float) -> alt.LayerChart | alt.FacetChart:
    axis = series.named(name).axis
    engines = [*_COLOURS]
    colour = alt.Color(
        "engine:N",
        title=None,
        scale=alt.Scale(domain=engines, range=[*_COLOURS.values()]),
        legend=alt.Legend(
            orient="top",
            symbolType="stroke",
            symbolSize=400,
            symbolStrokeWidth=2.5,
            symbolOpacity=1,
        ),
    )
    dash = alt.StrokeDash(
        "engine:N",
        title=None,
        scale=alt.Scale(domain=engines, range=[*_DASHES.values()]),
        legend=None,
    )
    time = alt.X("time_s:Q", title="time (s)", scale=alt.Scale(domain=[0, length_s], nice=False))
    base = plain(inline(frame)).encode(x=time, color=colour)
    band = base.mark_area(opacity=0.18, aria=False).encode(
        y=alt.Y("least:Q", title=axis), y2=alt.Y2("most:Q")
    )
    line = base.mark_line(strokeWidth=1.8).encode(
        y=alt.Y("mean:Q", title=axis),
        strokeDash=dash,
        tooltip=list(_tooltips(axis)),
    )
    return alt.layer(band, line).properties(height=_HEIGHT)


def _tooltips(axis: str) -> Iterator[alt.Tooltip]:
    yield alt.Tooltip("engine:N")
    yield alt.Tooltip("time_s:Q", title="time (s)", format=".2f")
    yield alt.Tooltip("mean:Q", title=f"{axis}, mean of the runs", format=".4~g")
    yield alt.Tooltip("least:Q", title="least", format=".4~g")
    yield alt.Tooltip("most:Q", title="most", format=".4~g")
