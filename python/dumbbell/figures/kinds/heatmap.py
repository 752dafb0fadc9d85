"""Figures of kind `heatmap`: a quantity over two axes of a grid, and where each series is best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, Self

import polars as pl
from pydantic import Field, model_validator

from dumbbell.algorithms.labels import labels_of
from dumbbell.base.errors import InputError
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, cells, marks, means
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextTable, assembled
from dumbbell.figures.gathering import (
    Facet,
    facets,
    pooled_axes,
    pooled_notes,
    run_notes,
    runs_of,
    runs_per_point,
    values_of,
)
from dumbbell.figures.source import Source
from dumbbell.figures.spec import TestFigure
from dumbbell.quantities import tables
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.names import AxisName, ColumnName
from dumbbell.quantities.registry import Best, Quantity

_OUTLINE: Final = "#d55e00"
_LIGHT_FROM: Final = 0.55
"""Share of its scale from which viridis is too light for white text."""


class HeatmapFigure(TestFigure):
    """A quantity over two axes: a cell for each grid point, a plot for each value of the facet.

    If the test has further axes with several values, a cell is an average over these values. Its
    interval then shows chance between repetitions, not the differences between the values.
    """

    kind: Literal["heatmap"]

    x: AxisName = Field(examples=["rtt"])
    """Axis of the test from left to right."""

    y: AxisName = Field(examples=["rate"])
    """Axis of the test from bottom to top."""

    quantity: ColumnName = Field(examples=["utilisation"])
    """The [quantity](quantities.md) that determines the colours of cells. If the quantity has a
    better end, the best plot's cell is outlined at each point where its interval overlaps with that
    of no other plot."""

    ends: tuple[float, float] | None = Field(None, examples=[[0, 1]])
    """Ends of the scale of colours, in the unit that is shown. The default is the smallest and the
    largest mean; if these are nearly equal, the ends are further apart."""

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
        pooled = pooled_axes(test, self, (self.x, self.y, self.facet))
        panes = [(facet, self._means(facet, pooled)) for facet in facets(test, self, runs)]
        panes = _with_best(quantity, panes)
        values = {axis: list(values_of(test, axis, self)) for axis in (self.x, self.y)}
        table_title = title = source.title(self.test, self.quantity)
        if quantity.shown_scale != 1:
            title += f" ({quantity.shown_unit})"
        shown = [(facet.title, _in_shown_unit(averages, quantity)) for facet, averages in panes]
        ends = self.ends or _ends([averages["mean"] for _, averages in shown], quantity)
        plots = [_plot(name, averages, values, self, ends) for name, averages in shown]
        chart = alt.concat(*plots, columns=cells.COLUMNS, spacing=26).resolve_scale(color="shared")
        counts = runs_per_point(test, runs)
        notes = list(run_notes(source, self, runs, counts, f"Cells are means of {title}"))
        notes += pooled_notes(pooled)
        if any(averages["is_best"].any() for _, averages in panes):
            notes.append("Outlined: the best at this point; its interval overlaps with no other's.")
        elif quantity.best is not None and len(panes) > 1 and not runs.is_empty():
            notes.append("None is the best anywhere: intervals overlap, or nothing competes.")
        tables = [
            self._table(facet.title, averages, values, table_title) for facet, averages in panes
        ]
        numbers = means.numbers(
            ((facet.title, averages) for facet, averages in panes),
            self.facet,
            {"x": self.x, "y": self.y},
        )
        return assembled(self, chart, notes, tables, numbers)

    def _means(self, facet: Facet, pooled: Mapping[str, Sequence[str]]) -> pl.DataFrame:
        places = {"x": pl.col(self.x), "y": pl.col(self.y)}
        return means.averaged(facet.runs, places, self.quantity, pooled)

    def _table(
        self, name: str, averages: pl.DataFrame, values: Mapping[str, Sequence[str]], title: str
    ) -> TextTable:
        return means.text_table(
            averages,
            (name, title),
            ("y", self.y, labels_of(values[self.y])),
            ("x", labels_of(values[self.x])),
        )


def _with_best(
    quantity: Quantity | Derived, panes: Sequence[tuple[Facet, pl.DataFrame]]
) -> list[tuple[Facet, pl.DataFrame]]:
    """Add ``is_best``: whether a cell is the best of those at its point in all plots."""
    if quantity.best is None or not panes:
        return [
            (facet, averages.with_columns(is_best=pl.lit(value=False))) for facet, averages in panes
        ]
    together = pl.concat([averages for _, averages in panes])
    is_best = tables.decided_best(together, ["x", "y"], highest=quantity.best is Best.HIGHEST)
    marked, start = together.with_columns(is_best=is_best), 0
    parts = []
    for facet, averages in panes:
        parts.append((facet, marked.slice(start, averages.height)))
        start += averages.height
    return parts


def _in_shown_unit(averages: pl.DataFrame, quantity: Quantity | Derived) -> pl.DataFrame:
    """Return means in the unit that people see; intervals are cut in the quantity's unit."""
    return averages.with_columns(pl.col("mean", "low", "high") * quantity.shown_scale)


def _ends(means: Sequence[pl.Series], quantity: Quantity | Derived) -> tuple[float, float]:
    """Return the smallest and the largest mean of all plots, or ends around nearly equal ones."""
    known = [mean for column in means for mean in column.drop_nulls()]
    if not known:
        return 0.0, 1.0
    share = isinstance(quantity, Quantity) and quantity.is_share
    return axes.widened(min(known), max(known), share=share, scale=quantity.shown_scale)


def _plot(
    name: str,
    averages: pl.DataFrame,
    values: Mapping[str, Sequence[str]],
    spec: HeatmapFigure,
    ends: tuple[float, float],
) -> alt.LayerChart | alt.FacetChart:
    xs, ys = (list(values[axis]) for axis in (spec.x, spec.y))
    low, high = ends
    tooltip = [*cells.tooltip(values), alt.Tooltip("mean:Q", title=spec.quantity, format=".4~g")]
    shown = averages.select(
        "x",
        "y",
        "mean",
        "is_best",
        text=pl.Series([cells.text(mean) for mean in averages["mean"]], dtype=pl.String),
        is_light=pl.col("mean") >= low + _LIGHT_FROM * (high - low),
    )
    base = plain(inline(shown)).encode(**cells.places(xs, ys, (spec.x, spec.y)))
    colour = alt.Color("mean:Q", title=None, scale=alt.Scale(scheme="viridis", domain=list(ends)))
    outlined = base.transform_filter("datum.is_best").mark_rect(
        filled=False, stroke=_OUTLINE, strokeWidth=3
    )
    ink = marks.ink("datum.is_light", "black", "white")
    return alt.layer(
        base.mark_rect().encode(color=colour, tooltip=tooltip),
        outlined,
        base.mark_text(fontSize=11).encode(text=alt.Text("text:N"), color=ink),
    ).properties(title=name, **cells.size(xs, ys))
