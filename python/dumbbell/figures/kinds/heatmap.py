"""Figures of kind `heatmap`: a quantity over two axes of a grid, and where each series is best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

import polars as pl
from pydantic import Field, model_validator

from dumbbell.algorithms.labels import label_of
from dumbbell.base.errors import InputError
from dumbbell.base.labels import number
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import means
from dumbbell.figures.data import inline
from dumbbell.figures.figure import Figure, TextTable, assembled
from dumbbell.figures.gathering import Facet, facets, run_notes, runs_of, values_of
from dumbbell.figures.source import Source
from dumbbell.figures.spec import TestFigure
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.names import AxisName, ColumnName
from dumbbell.quantities.registry import Best, Quantity

_CELL = 64
_COLUMNS = 3
_OUTLINE = "#d55e00"
_LIGHT_FROM = 0.55
"""Share of its scale from which viridis is too light for white text."""
_DIGIT = 7
"""Width of a character of an axis, in pixels."""


class HeatmapFigure(TestFigure):
    """A quantity over two axes: a cell for each grid point, a plot for each value of the facet."""

    kind: Literal["heatmap"]

    x: AxisName = Field(examples=["rtt"])
    """Axis of the test from left to right."""

    y: AxisName = Field(examples=["rate"])
    """Axis of the test from bottom to top."""

    quantity: ColumnName = Field(examples=["utilisation"])
    """The [quantity](quantities.md) that cells are coloured by. If one end of it is the better one,
    the best plot's cell is outlined at each point, and each that shows the same number."""

    ends: tuple[float, float] | None = Field(None, examples=[[0, 1]])
    """Ends of the colours' scale, in the unit that is shown; by default the smallest and the
    largest mean."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.ends is not None and self.ends[0] >= self.ends[1]:
            raise InputError(
                "ends before it begins", key="ends", value=list(self.ends), valid="[0, 1]"
            )
        return self

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        test = source.test(self.test)
        runs = runs_of(source, self)
        quantity = source.described(self.quantity)
        panes = [(facet, self._means(facet, quantity)) for facet in facets(test, self, runs)]
        best = _best(quantity, [found for _, found in panes])
        values = {axis: list(values_of(test, axis, self)) for axis in (self.x, self.y)}
        title = source.title(self.test, self.quantity)
        if quantity.shown_scale != 1:
            title += f" ({quantity.shown_unit})"
        ends = self.ends or _ends([found["mean"] for _, found in panes])
        plots = [
            _plot(facet.title, _marked(found, best, ends), values, self, ends)
            for facet, found in panes
        ]
        chart = alt.concat(*plots, columns=_COLUMNS, spacing=26).resolve_scale(color="shared")
        counts = [count for _, found in panes for count in found["runs"]]
        notes = list(run_notes(source, self, runs, counts, f"Cells are means of {title}"))
        if best is not None and len(panes) > 1:
            notes.append("Outlined: the best at this point.")
        tables = [self._table(facet.title, found, values, title) for facet, found in panes]
        numbers = means.numbers(
            ((facet.title, found) for facet, found in panes),
            self.facet,
            {"x": self.x, "y": self.y},
        )
        return assembled(self, chart, notes, tables, numbers)

    def _means(self, facet: Facet, quantity: Quantity | Derived) -> pl.DataFrame:
        places = {"x": pl.col(self.x), "y": pl.col(self.y)}
        scaled = facet.runs.with_columns(pl.col(self.quantity) * quantity.shown_scale)
        return means.averaged(scaled, places, self.quantity)

    def _table(
        self, name: str, found: pl.DataFrame, values: Mapping[str, Sequence[str]], title: str
    ) -> TextTable:
        return means.text_table(
            found,
            (name, title),
            ("y", self.y, {value: label_of(value) for value in values[self.y]}),
            ("x", {value: label_of(value) for value in values[self.x]}),
        )


def _best(quantity: Quantity | Derived, panes: Sequence[pl.DataFrame]) -> pl.DataFrame | None:
    """Return the best mean of each point over all plots, if one end is the better one."""
    if quantity.best is None or not panes:
        return None
    mean = pl.col("mean").max() if quantity.best is Best.HIGHEST else pl.col("mean").min()
    return pl.concat(panes).group_by("x", "y").agg(best=mean)


def _ends(means: Sequence[pl.Series]) -> tuple[float, float]:
    """Return the smallest and the largest mean of all plots."""
    known = [mean for column in means for mean in column.drop_nulls()]
    return (min(known), max(known)) if known else (0.0, 1.0)


def _marked(
    found: pl.DataFrame, best: pl.DataFrame | None, ends: tuple[float, float]
) -> pl.DataFrame:
    """Add what cells say, whether that is the best at their point, and whether they are light."""
    low, high = ends
    said = found.with_columns(
        text=_numbers(found["mean"]),
        is_light=pl.col("mean") >= low + _LIGHT_FROM * (high - low),
    )
    if best is None:
        return said.with_columns(is_best=False)
    joined = said.join(best, on=["x", "y"], how="left")
    is_best = pl.col("text") == _numbers(joined["best"])
    return joined.with_columns(is_best=is_best.fill_null(value=False))


def _numbers(values: pl.Series) -> pl.Series:
    return pl.Series([number(value) for value in values], dtype=pl.String)


def _plot(
    name: str,
    found: pl.DataFrame,
    values: Mapping[str, Sequence[str]],
    spec: HeatmapFigure,
    ends: tuple[float, float],
) -> alt.LayerChart | alt.FacetChart:
    xs, ys = (list(values[axis]) for axis in (spec.x, spec.y))
    angle = 0 if max(map(len, xs)) * _DIGIT <= _CELL else -90
    axis = alt.Axis(labelAngle=angle)
    x = alt.X("x:O", title=spec.x, scale=alt.Scale(domain=xs), sort=None, axis=axis)
    y = alt.Y("y:O", title=spec.y, scale=alt.Scale(domain=list(reversed(ys))), sort=None)
    tooltip = ["x:O", "y:O", alt.Tooltip("mean:Q", title=spec.quantity, format=".4~g")]
    shown = found.select("x", "y", "mean", "text", "is_best", "is_light")
    base = alt.Chart(inline(shown)).encode(x=x, y=y)
    colour = alt.Color("mean:Q", title=None, scale=alt.Scale(scheme="viridis", domain=list(ends)))
    outlined = base.transform_filter("datum.is_best").mark_rect(
        filled=False, stroke=_OUTLINE, strokeWidth=3
    )
    ink = alt.condition("datum.is_light", alt.value("black"), alt.value("white"))
    return alt.layer(
        base.mark_rect().encode(color=colour, tooltip=tooltip),
        outlined,
        base.mark_text(fontSize=11).encode(text="text:N", color=ink),
    ).properties(title=name, width=_CELL * len(xs), height=0.6 * _CELL * len(ys))
