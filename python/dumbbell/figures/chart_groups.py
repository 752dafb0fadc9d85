"""Charts of a metric in groups: bars, stacked or not, or marks beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt
import polars as pl

from dumbbell.figures import chart_axes
from dumbbell.figures.chart_axes import Extent
from dumbbell.figures.chart_data import inline
from dumbbell.figures.chart_style import FAINT, INK, Look
from dumbbell.study.figure_spec import BarsFigure, Coordinate, ScatterFigure

_HEIGHT: Final = 300
_WIDTH_OF_ALL: Final = 760
_WIDTH_MIN: Final = 300
_LETTER_WIDTH: Final = 6.5
_SHADES: Final = (1.0, 0.45, 0.7, 0.25)
_SHAPES: Final = ("cross", "circle", "square", "triangle-up")

Grouped = BarsFigure | ScatterFigure


@dataclass(frozen=True)
class GroupPane:
    """One plot of a figure in groups.

    Parameters
    ----------
    title
        What sets this plot apart from the figure's others.
    means
        One row per grid point and part: ``group``, ``series``, ``part`` and ``shape`` (labels,
        empty if there is just one), ``mean`` (null if no run has a value), ``se``, ``n``, ``runs``.
    marks
        The same of the second metric of bars; no rows if there is none.
    dots
        The runs: ``group``, ``series``, ``shape``, ``value``.
    """

    title: str
    means: pl.DataFrame
    marks: pl.DataFrame
    dots: pl.DataFrame


def draw(
    spec: Grouped, panes: Sequence[GroupPane], groups: Sequence[str], looks: Mapping[str, Look]
) -> alt.HConcatChart:
    """Draw the panes side by side with common axes, colours and one legend."""
    return _Drawing(spec, panes, groups, looks).chart()


def empty(spec: Grouped, groups: Sequence[str]) -> alt.Chart:
    """Draw only the axes."""
    data = inline(pl.DataFrame(schema={"group": pl.String, "mean": pl.Float64}))
    span = chart_axes.extent(spec.y, [pl.Series([], dtype=pl.Float64)])
    chart: alt.Chart = (
        alt.Chart(data)
        .mark_point()
        .encode(x=_x(spec, groups, _WIDTH_OF_ALL), y=_vertical("mean:Q", spec.y, span))
        .properties(width=_WIDTH_OF_ALL, height=_HEIGHT)
    )
    return chart


def _x(spec: Grouped, groups: Sequence[str], width: int) -> alt.X:
    """Name the groups, each word on a line of its own where they would not fit side by side."""
    scale = alt.Scale(type="band", domain=list(groups), paddingInner=0.18, paddingOuter=0.1)
    tight = max(map(len, groups)) * _LETTER_WIDTH > width / len(groups)
    words = "split(datum.label, ' ')" if tight else alt.Undefined
    axis = alt.Axis(labelAngle=0, labelLimit=220, labelExpr=words)
    return alt.X("group:N", title=spec.groups_title, sort=None, scale=scale, axis=axis)


def _vertical(shorthand: str, coordinate: Coordinate, span: Extent, right: bool = False) -> alt.Y:
    others = {"orient": "right", "grid": False} if right else {}
    axis = chart_axes.ticks(coordinate, span, **others)
    return alt.Y(shorthand, title=coordinate.title, scale=span.scale, axis=axis)


class _Drawing:
    """What the panes of one figure have in common."""

    def __init__(
        self,
        spec: Grouped,
        panes: Sequence[GroupPane],
        groups: Sequence[str],
        looks: Mapping[str, Look],
    ) -> None:
        self.spec = spec
        self.panes = panes
        self.groups = groups
        self.looks = looks
        self.picked = alt.selection_point(name="picked", fields=["label"], bind="legend")
        self.stacks = [_stacked(pane.means) for pane in panes]
        ends = ("bottom", "top", "low", "high") if isinstance(spec, BarsFigure) else ("mean",)
        reach = [frame[name] for frame in self.stacks for name in ends]
        dots = [pane.dots["value"] for pane in panes]
        self.extent = chart_axes.extent(spec.y, [*reach, *dots], spec.reference)
        self.parts = list(dict.fromkeys(part for pane in panes for part in pane.means["part"]))
        self.shapes = list(dict.fromkeys(shape for pane in panes for shape in pane.means["shape"]))
        self.width = max(_WIDTH_MIN, _WIDTH_OF_ALL // len(panes))

    def chart(self) -> alt.HConcatChart:
        plots = []
        for place, (pane, stack) in enumerate(zip(self.panes, self.stacks, strict=True)):
            if isinstance(self.spec, BarsFigure):
                first, *others = self._bars(self.spec, stack)
            else:
                first, *others = self._scattered(pane, stack)
            if place == 0:
                first = first.add_params(self.picked)
            inner = [*self._reference(), first, *others]
            plot = self._with_marks(pane, inner)
            plots.append(plot.properties(title=pane.title, width=self.width, height=_HEIGHT))
        return alt.hconcat(*plots)

    def _with_marks(
        self, pane: GroupPane, inner: Sequence[alt.Chart]
    ) -> alt.LayerChart | alt.FacetChart:
        """Lay the layers on each other, and on them the second metric with an axis of its own."""
        together = alt.layer(*inner)
        coordinate = self.spec.marks if isinstance(self.spec, BarsFigure) else None
        if coordinate is None:
            return together
        span = chart_axes.extent(coordinate, [each.marks["mean"] for each in self.panes])
        points = (
            self._base(pane.marks)
            .mark_point(filled=True, size=70, opacity=1, color=INK, stroke="white", strokeWidth=1.2)
            .encode(
                y=_vertical("mean:Q", coordinate, span, right=True),
                tooltip=self._tooltip(coordinate),
            )
        )
        both: alt.LayerChart = alt.layer(together, points).resolve_scale(y="independent")
        return both

    def _base(self, data: pl.DataFrame) -> alt.Chart:
        labels = {series: look.label for series, look in self.looks.items()}
        named = data.with_columns(
            label=pl.col("series").replace_strict(labels, return_dtype=pl.String)
        ).drop("series")
        beside = alt.Scale(type="band", domain=list(labels.values()), paddingInner=0.08)
        offset = alt.XOffset("label:N", sort=None, scale=beside)
        chart: alt.Chart = alt.Chart(inline(named)).encode(
            x=_x(self.spec, self.groups, self.width), xOffset=offset
        )
        return chart

    def _colour(self) -> alt.Color:
        scale = alt.Scale(
            domain=[look.label for look in self.looks.values()],
            range=[look.colour for look in self.looks.values()],
        )
        return alt.Color("label:N", scale=scale, title=None)

    def _faded(self) -> Any:
        return alt.condition(self.picked, alt.value(1), alt.value(0.12))

    def _bars(self, spec: BarsFigure, stack: pl.DataFrame) -> list[alt.Chart]:
        bars = (
            self._base(stack)
            .mark_bar()
            .encode(
                y=_vertical("top:Q", spec.y, self.extent),
                y2="bottom:Q",
                color=self._colour(),
                opacity=self._faded(),
                tooltip=self._tooltip(spec.y),
            )
        )
        if len(self.parts) > 1:
            shades = alt.Scale(domain=self.parts, range=list(_SHADES[: len(self.parts)]))
            bars = bars.encode(fillOpacity=alt.FillOpacity("part:N", scale=shades, legend=None))
        errors = (
            self._base(stack)
            .mark_rule(strokeWidth=1.2, color=INK)
            .encode(y=_vertical("low:Q", spec.y, self.extent), y2="high:Q", opacity=self._faded())
        )
        return [bars, errors]

    def _scattered(self, pane: GroupPane, stack: pl.DataFrame) -> list[alt.Chart]:
        shape = alt.Shape(
            "shape:N",
            title=None,
            scale=alt.Scale(domain=self.shapes, range=list(_SHAPES[: len(self.shapes)])),
            legend=alt.Legend() if len(self.shapes) > 1 else None,
        )
        means = (
            self._base(stack)
            .mark_point(size=95, filled=True)
            .encode(
                y=_vertical("mean:Q", self.spec.y, self.extent),
                color=self._colour(),
                shape=shape,
                opacity=self._faded(),
                tooltip=self._tooltip(self.spec.y),
            )
        )
        runs = (
            self._base(pane.dots)
            .mark_circle(size=14, opacity=0.4)
            .encode(y=_vertical("value:Q", self.spec.y, self.extent), color=self._colour())
        )
        return [means, runs]

    def _tooltip(self, coordinate: Coordinate) -> list[alt.Tooltip]:
        named = [alt.Tooltip("part:N", title="part")] if len(self.parts) > 1 else []
        shaped = [alt.Tooltip("shape:N", title="beside")] if len(self.shapes) > 1 else []
        return [
            alt.Tooltip("label:N", title="series"),
            alt.Tooltip("group:N", title=self.spec.groups_title),
            *named,
            *shaped,
            alt.Tooltip("mean:Q", title=coordinate.title, format=".4~g"),
            alt.Tooltip("se:Q", title="standard error", format=".2~g"),
            alt.Tooltip("runs:Q", title="runs"),
        ]

    def _reference(self) -> list[alt.Chart]:
        if self.spec.reference is None:
            return []
        data = inline(pl.DataFrame({"y": [self.spec.reference]}))
        y = _vertical("y:Q", self.spec.y, self.extent)
        return [alt.Chart(data).mark_rule(stroke=FAINT, strokeWidth=1).encode(y=y)]


def _stacked(means: pl.DataFrame) -> pl.DataFrame:
    """Place each part on the one before: ``bottom``, ``top``, and ``low``, ``high`` for errors."""
    top = pl.col("mean").cum_sum().over("group", "series", "shape")
    spread = pl.col("se").fill_null(0.0)
    return means.with_columns(bottom=top - pl.col("mean"), top=top).with_columns(
        low=pl.col("top") - spread, high=pl.col("top") + spread
    )
