"""Charts of a metric against an axis: means, standard errors, curves from theory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import altair as alt
import polars as pl

from dumbbell.figures import chart_axes
from dumbbell.figures.chart_axes import Extent
from dumbbell.figures.chart_data import inline
from dumbbell.figures.chart_style import FAINT, INK, THEORY_DASHES, Look
from dumbbell.study.figure_spec import Coordinate, PointsFigure

_Channel = TypeVar("_Channel", alt.X, alt.Y)

_SIZE_ALONE = {"width": 560, "height": 330}
_SIZE_OF_SEVERAL = {"width": 350, "height": 290}
_SIDESTEP = 0.006
NO_CURVES = pl.DataFrame(
    schema={"series": pl.String, "label": pl.String, "x": pl.Float64, "y": pl.Float64}
)


@dataclass(frozen=True)
class Pane:
    """One plot of a figure.

    Parameters
    ----------
    title
        What sets this plot apart from the figure's others.
    marks
        One row per grid point: ``series``, ``x``, ``mean`` (null if no run has a value),
        ``se`` (standard error; null with fewer than two values), ``n`` (values) and ``runs``.
    curves
        Theory: rows of ``series`` (null: none of them), ``label``, ``x``, ``y``.
    """

    title: str
    marks: pl.DataFrame
    curves: pl.DataFrame = field(default_factory=NO_CURVES.clone)


def draw(spec: PointsFigure, panes: Sequence[Pane], looks: Mapping[str, Look]) -> alt.HConcatChart:
    """Draw the panes side by side with common axes, colours and one legend."""
    return _Drawing(spec, panes, looks).chart()


def empty(spec: PointsFigure) -> alt.Chart:
    """Draw only the axes."""
    data = inline(pl.DataFrame(schema={"x": pl.Float64, "y": pl.Float64}))
    none = [pl.Series([], dtype=pl.Float64)]
    chart: alt.Chart = (
        alt.Chart(data)
        .mark_point()
        .encode(
            x=_channel(alt.X, "x:Q", spec.x, chart_axes.extent(spec.x, none)),
            y=_channel(alt.Y, "y:Q", spec.y, chart_axes.extent(spec.y, none)),
        )
        .properties(**_SIZE_ALONE)
    )
    return chart


def _channel(
    kind: type[_Channel], shorthand: str, coordinate: Coordinate, span: Extent
) -> _Channel:
    axis = chart_axes.ticks(coordinate, span)
    return kind(shorthand, title=coordinate.title, scale=span.scale, axis=axis)


class _Drawing:
    """What the panes of one figure have in common."""

    def __init__(
        self, spec: PointsFigure, panes: Sequence[Pane], looks: Mapping[str, Look]
    ) -> None:
        self.spec = spec
        self.panes = panes
        self.looks = looks
        self.picked = alt.selection_point(name="picked", fields=["label"], bind="legend")
        marks = [_with_bounds(pane.marks) for pane in panes]
        values = [frame[name] for frame in marks for name in ("mean", "low", "high")]
        curves = [pane.curves["y"] for pane in panes]
        self.x_extent = chart_axes.extent(spec.x, [frame["x"] for frame in marks])
        self.y_extent = chart_axes.extent(spec.y, [*values, *curves], spec.reference)
        self.theories = list(dict.fromkeys(name for p in panes for name in p.curves["label"]))

    def chart(self) -> alt.HConcatChart:
        size = _SIZE_ALONE if len(self.panes) == 1 else _SIZE_OF_SEVERAL
        plots = []
        for place, pane in enumerate(self.panes):
            lines, *marks = self._measured(pane)
            if place == 0:
                # A legend can be clicked only through a layer that it belongs to.
                lines = lines.add_params(self.picked)
            layers = alt.layer(*self._reference(), *self._theory(pane), lines, *marks)
            plots.append(layers.properties(title=pane.title, **size))
        return alt.hconcat(*plots)

    def _x(self) -> alt.X:
        return _channel(alt.X, "x:Q", self.spec.x, self.x_extent)

    def _y(self) -> alt.Y:
        return _channel(alt.Y, "y:Q", self.spec.y, self.y_extent)

    def _colour(self) -> alt.Color:
        scale = alt.Scale(
            domain=[look.label for look in self.looks.values()],
            range=[look.colour for look in self.looks.values()],
        )
        return alt.Color("label:N", scale=scale, title=None)

    def _shape(self) -> alt.Shape:
        scale = alt.Scale(
            domain=[look.label for look in self.looks.values()],
            range=[look.shape for look in self.looks.values()],
        )
        return alt.Shape("label:N", scale=scale, title=None)

    def _measured(self, pane: Pane) -> list[alt.Chart]:
        """Lines between neighbouring points, error bars, full and hollow marks."""
        bounded = _with_bounds(pane.marks)
        placed = _placed(bounded, self.spec.x, self.looks, self.x_extent, self.y_extent)
        faded = alt.condition(self.picked, alt.value(1), alt.value(0.1))
        base = alt.Chart(inline(placed)).encode(
            x=self._x(), y=self._y(), color=self._colour(), opacity=faded
        )
        marks = base.transform_filter("isValid(datum.y)").encode(
            shape=self._shape(), tooltip=self._tooltip()
        )
        return [
            base.mark_line(strokeWidth=1.3),
            base.mark_rule(strokeWidth=1.3).encode(y=alt.Y("low:Q"), y2="high:Q"),
            marks.transform_filter("!datum.hollow").mark_point(filled=True, size=75),
            marks.transform_filter("datum.hollow").mark_point(fill="white", size=75),
        ]

    def _tooltip(self) -> list[alt.Tooltip]:
        return [
            alt.Tooltip("label:N", title="series"),
            alt.Tooltip("true_x:Q", title=self.spec.x.title),
            alt.Tooltip("mean:Q", title=self.spec.y.title, format=".4~g"),
            alt.Tooltip("se:Q", title="standard error", format=".2~g"),
            alt.Tooltip("runs:N", title="runs"),
        ]

    def _theory(self, pane: Pane) -> list[alt.Chart]:
        if not self.theories:
            return []
        colours = {series: look.colour for series, look in self.looks.items()}
        moved = _sidestepped(
            pane.curves.with_columns(x=chart_axes.placed(self.spec.x, pl.col("x"))),
            "x",
            self.looks,
            self.x_extent,
        )
        data = moved.rename({"label": "theory"}).with_columns(
            colour=pl.col("series").replace_strict(colours, default=INK, return_dtype=pl.String),
            curve=pl.col("theory") + pl.col("series").fill_null(""),
        )
        dashes = alt.StrokeDash(
            "theory:N",
            scale=alt.Scale(domain=self.theories, range=[list(dash) for dash in THEORY_DASHES]),
            legend=alt.Legend(
                title=None, symbolType="stroke", symbolSize=600, symbolStrokeWidth=3.5
            ),
        )
        # Broad and pale, so that it shows where a measured line runs along it.
        curves = alt.Chart(inline(data)).mark_line(strokeWidth=3.5, strokeOpacity=0.5, clip=True)
        return [
            curves.encode(
                x=self._x(),
                y=self._y(),
                detail="curve:N",
                stroke=alt.Stroke("colour:N", scale=None),
                strokeDash=dashes,
            )
        ]

    def _reference(self) -> list[alt.Chart]:
        if self.spec.reference is None:
            return []
        data = inline(pl.DataFrame({"y": [self.spec.reference]}))
        return [alt.Chart(data).mark_rule(stroke=FAINT, strokeWidth=1).encode(y=self._y())]


def _with_bounds(marks: pl.DataFrame) -> pl.DataFrame:
    spread = pl.col("se").fill_null(0.0)
    return marks.with_columns(low=pl.col("mean") - spread, high=pl.col("mean") + spread)


def _placed(
    marks: pl.DataFrame,
    axis: Coordinate,
    looks: Mapping[str, Look],
    across: Extent,
    up: Extent,
) -> pl.DataFrame:
    """Add what is drawn: labels, places on the axes, and which marks are hollow.

    Series stand slightly beside each other, so that marks and error bars on the same spot can be
    told apart; theory moves with its series. A mean of zero cannot be on a log axis: it is drawn
    hollow on its lower edge. A mean over only some of the runs, because the others have no value,
    is hollow too.
    """
    labels = {series: look.label for series, look in looks.items()}
    off_scale = (pl.col("mean") <= 0) & (up.kind == "log")
    lowest = pl.lit(up.low)
    low = pl.col("low").clip(lower_bound=lowest) if up.kind == "log" else pl.col("low")
    some = pl.col("n") < pl.col("runs")
    placed = marks.select(
        "series",
        "mean",
        "se",
        true_x="x",
        label=pl.col("series").replace_strict(labels, return_dtype=pl.String),
        y=pl.when(off_scale).then(lowest).otherwise("mean"),
        low=pl.when(off_scale).then(None).otherwise(low),
        high=pl.when(off_scale).then(None).otherwise("high"),
        hollow=off_scale | some,
        runs=pl.when(some).then(pl.format("{} of {}", "n", "runs")).otherwise(pl.format("{}", "n")),
    )
    placed = placed.with_columns(place=chart_axes.placed(axis, pl.col("true_x")))
    return (
        _sidestepped(placed, "place", looks, across).drop("series", "place").sort("label", "true_x")
    )


def _sidestepped(
    rows: pl.DataFrame, column: str, looks: Mapping[str, Look], across: Extent
) -> pl.DataFrame:
    """Add `x`: on a linear axis, the column moved a little to its series' own side."""
    middle = (len(looks) - 1) / 2
    step = _SIDESTEP * (across.high - across.low) if across.kind == "linear" else 0.0
    steps = {series: step * (place - middle) for place, series in enumerate(looks)}
    own = pl.col("series").replace_strict(steps, default=0.0, return_dtype=pl.Float64)
    return rows.with_columns(x=pl.col(column) + own)
