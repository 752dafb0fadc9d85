"""Figures of kind `tradeoff`: one quantity against another, a mark for each value of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final, Literal

import numpy as np
import polars as pl

from dumbbell.base.errors import InputError
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, marks, style, units
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextRow, TextTable, assembled
from dumbbell.figures.gathering import run_notes, runs_of, values_of
from dumbbell.figures.looks import Look
from dumbbell.figures.means import INTERVAL_RUNS, dot_notes, interval_of
from dumbbell.figures.source import Source
from dumbbell.figures.spec import Coordinate, TestFigure
from dumbbell.quantities import tables
from dumbbell.quantities.names import AxisName
from dumbbell.quantities.registry import Best
from dumbbell.quantities.taking import described

_SIZE: Final = {"width": 620, "height": 380}
_CORNERS: Final = 60
_ENDS: Final = ("mean", "low", "high")


class TradeoffFigure(TestFigure):
    """One quantity against another: a mark for the mean of each value of an axis.

    Dots show the runs. From four runs on, a cross shows the 95 % intervals, and an ellipse shows
    one standard deviation.
    """

    kind: Literal["tradeoff"]

    x: Coordinate
    """The horizontal axis."""

    y: Coordinate
    """The vertical axis."""

    series: AxisName = "algorithm"
    """Axis of the test whose values get marks."""

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        x, y = (axis.titled(source, self.test) for axis in (self.x, self.y))
        titled = self.model_copy(update={"x": x, "y": y})
        runs = runs_of(source, self)
        looks = style.looks(values_of(source.test(self.test), self.series, self))
        single = runs.select(
            series=pl.col(self.series), x=pl.col(x.field), y=pl.col(y.field)
        ).drop_nulls()
        means = _means(single)
        notes = [
            *run_notes(source, self, runs, means["n"], _what(means)),
            *dot_notes(means["n"], always=True),
            *_better(x.field, y.field),
        ]
        chart = _chart(single, means, looks, titled)
        table = _table(means, looks, titled)
        return assembled(self, chart, notes, [table], means)


def _what(means: pl.DataFrame) -> str:
    """Say what is drawn of the runs of each mark."""
    ellipse = ", 95 % intervals and one standard deviation"
    return f"Mean{ellipse if (means['n'] >= INTERVAL_RUNS).any() else ''}"


def _better(x: str, y: str) -> Iterator[str]:
    """Say where the best would be, if that is one corner."""
    best = []
    for name in (x, y):
        with suppress(InputError):
            best.append(described(name).best)
    if len(best) == len((x, y)) and all(best):
        across = "right" if best[0] is Best.HIGHEST else "left"
        yield f"Better is {'up' if best[1] is Best.HIGHEST else 'down'} and to the {across}."


def _means(single: pl.DataFrame) -> pl.DataFrame:
    """Average both quantities: ``x``, ``x_low``, ``x_high``, the same of y, and ``n``."""
    across = tables.aggregate(single, ["series"], "x").select(
        "series", "n", **{_named("x", end): pl.col(end) for end in _ENDS}
    )
    up = tables.aggregate(single, ["series"], "y").select(
        "series", **{_named("y", end): pl.col(end) for end in _ENDS}
    )
    return across.join(up, on="series", how="left", maintain_order="left")


def _named(axis: str, end: str) -> str:
    return axis if end == "mean" else f"{axis}_{end}"


def _ellipses(single: pl.DataFrame) -> pl.DataFrame:
    """Return corners of the ellipses that are one standard deviation of the runs away."""
    drawn = []
    for (series,), part in single.group_by("series", maintain_order=True):
        if part.height < INTERVAL_RUNS:
            continue
        points = part.select("x", "y").to_numpy()
        sizes, directions = np.linalg.eigh(np.cov(points, rowvar=False))
        turns = np.linspace(0, 2 * math.pi, _CORNERS + 1)
        circle = np.stack([np.cos(turns), np.sin(turns)])
        corners = (directions * np.sqrt(np.clip(sizes, 0, None))) @ circle
        x, y = corners + points.mean(axis=0)[:, np.newaxis]
        drawn.append(
            pl.DataFrame({"x": x, "y": y})
            .with_row_index("corner")
            .with_columns(series=pl.lit(series))
        )
    empty = {"corner": pl.UInt32, "x": pl.Float64, "y": pl.Float64, "series": pl.String}
    return pl.concat([pl.DataFrame(schema=empty), *drawn])


def _chart(
    single: pl.DataFrame, means: pl.DataFrame, looks: Mapping[str, Look], spec: TradeoffFigure
) -> alt.HConcatChart:
    x, y = spec.x, spec.y
    spans = {
        axis: axes.extent(_near(coordinate, single[axis]), [single[axis]])
        for axis, coordinate in (("x", x), ("y", y))
    }

    def across(column: str) -> alt.X:
        return axes.channel(alt.X, column, x, spans["x"])

    def up(column: str) -> alt.Y:
        return axes.channel(alt.Y, column, y, spans["y"])

    def of(frame: pl.DataFrame) -> alt.Chart:
        labelled: alt.Chart = plain(inline(marks.labelled(frame, looks))).encode(
            color=marks.colour(looks, spec.series, legend=alt.Legend(symbolOpacity=1))
        )
        return labelled

    tooltip = [
        alt.Tooltip("label:N", title="series"),
        alt.Tooltip("x:Q", title=str(x.title), format=_format(x)),
        alt.Tooltip("y:Q", title=str(y.title), format=_format(y)),
    ]
    ellipses = of(_ellipses(single)).mark_line(
        strokeWidth=1, strokeDash=[3, 2], clip=True, aria=False
    )
    dots = of(single).mark_circle(size=16, opacity=1, clip=True, aria=False)
    crosses, certain = of(means), of(means.filter(pl.col("n") >= INTERVAL_RUNS))
    layers = alt.layer(
        ellipses.encode(
            x=across("x"), y=up("y"), order=alt.Order("corner:Q"), detail=alt.Detail("label:N")
        ),
        dots.encode(x=across("x"), y=up("y")),
        certain.mark_rule(strokeWidth=1.8, clip=True, aria=False).encode(
            x=across("x_low"), x2=alt.X2("x_high:Q"), y=up("y")
        ),
        certain.mark_rule(strokeWidth=1.8, clip=True, aria=False).encode(
            x=across("x"), y=up("y_low"), y2=alt.Y2("y_high:Q")
        ),
        crosses.mark_point(
            filled=True, size=110, opacity=1, stroke="white", strokeWidth=0.8
        ).encode(x=across("x"), y=up("y"), shape=marks.shape(looks, spec.series), tooltip=tooltip),
    )
    return alt.hconcat(layers.properties(**_SIZE))


def _format(axis: Coordinate) -> str:
    return ".4~%" if units.is_percent(axis.field) else ".4~g"


def _near(axis: Coordinate, values: pl.Series) -> Coordinate:
    """Return an axis that begins and ends near the values, as it has no bars."""
    low, high = values.min(), values.max()
    if axis.low is not None or not isinstance(low, float) or not isinstance(high, float):
        return axis
    room = 0.5 * (high - low)
    first = max(0.0, low - room) if low >= 0 else low - room
    ends = axes.widened(first, high + room, share=units.is_share(axis.field))
    return axis.model_copy(update=dict(zip(("low", "high"), ends, strict=True)))


def _table(means: pl.DataFrame, looks: Mapping[str, Look], spec: TradeoffFigure) -> TextTable:
    rows = tuple(
        TextRow(
            looks[row["series"]].label,
            tuple(
                interval_of(shown.field, *(row[_named(axis, end)] for end in _ENDS))
                for axis, shown in (("x", spec.x), ("y", spec.y))
            ),
        )
        for row in means.iter_rows(named=True)
    )
    return TextTable("", "mean and 95 % interval", "", (str(spec.x.title), str(spec.y.title)), rows)
