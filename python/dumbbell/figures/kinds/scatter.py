"""Figures of kind `scatter`: means as marks in groups, with their runs as dots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

import polars as pl
from pydantic import Field

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, marks, means, stated
from dumbbell.figures.figure import Figure
from dumbbell.figures.gathering import Facet, labelled, names_of
from dumbbell.figures.groups import GroupDrawing, GroupedFigure, GroupPane
from dumbbell.figures.source import Source
from dumbbell.quantities.names import OptionalAxis

_SHAPES: Final = ("cross", "circle", "square", "triangle-up", "diamond", "triangle-down")


class ScatterFigure(GroupedFigure):
    """A quantity as marks in groups: the mean of each grid point, its interval and its runs."""

    kind: Literal["scatter"]

    shapes: OptionalAxis = Field(None, examples=["second"])
    """Axis of the test whose values get shapes."""

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        return _Drawing(self, source).figure()


class _Drawing(GroupDrawing):
    def __init__(self, spec: ScatterFigure, source: Source) -> None:
        self.spec = spec
        super().__init__(spec, source)
        averages = means.drawn(self.all)
        ends = [averages["low"], averages["high"]]
        values = [self.all["mean"], *(self._runs(pane)["value"] for pane in self.panes)]
        numbers = stated.values(pane.stated for pane in self.panes)
        self.extent = axes.extent(self.y, [*values, *numbers], ends, spec.reference)

    def titles(self) -> Mapping[str, str]:
        return {self.y.field: str(self.y.title)}

    @property
    def _shapes(self) -> list[str]:
        axis = self.spec.shapes
        if axis is None:
            return [""]
        test = self.source.test(self.spec.test)
        return [*names_of(test, axis, self.spec).values()]

    @property
    def part_title(self) -> str:
        return self.spec.shapes or ""

    def stated_part(self) -> pl.Expr:
        if self.spec.shapes is None:
            return pl.lit("")
        return labelled(self.source.test(self.spec.test), self.spec.shapes, self.spec)

    def means(self, facet: Facet) -> pl.DataFrame:
        return self.averaged(facet, self.y.field, self.stated_part())

    def _runs(self, pane: GroupPane) -> pl.DataFrame:
        return means.single(pane.facet.runs, self.places(self.stated_part()), self.y)

    def notes(self) -> Iterator[str]:
        yield from means.dot_notes(self.all["runs"], always=True)
        if means.cut(means.drawn(self.all), self.extent):
            yield means.CUT

    def _vertical(self, column: str) -> alt.Y:
        return axes.channel(alt.Y, column, self.y, self.extent)

    def layers(self, pane: GroupPane) -> alt.LayerChart | alt.FacetChart:
        title = str(self.y.title)
        placed = means.on_scale(means.drawn(self.worded(pane.means, title)), self.extent)
        base = self.base(placed, self._shapes).encode(
            color=marks.colour(self.looks, self.spec.series)
        )
        names = self._shapes
        shape = alt.Shape(
            "part:N",
            title=self.spec.shapes,
            scale=alt.Scale(domain=names, range=list(_SHAPES[: len(names)])),
            legend=alt.Legend() if len(names) > 1 else None,
        )
        points = base.mark_point(size=95, filled=True).encode(
            y=self._vertical("mean"),
            shape=shape,
            opacity=marks.faded(self.picked),
            **self.tooltip(title),
        )
        if pane is self.panes[0]:
            points = points.add_params(self.picked)
        ends = marks.intervals(base).encode(
            y=self._vertical("low"),
            y2=alt.Y2("high:Q"),
            opacity=marks.faded(self.picked),
        )
        runs = marks.dots(self.base(self._runs(pane), self._shapes)).encode(
            y=self._vertical("value")
        )
        level = self._vertical("y")
        theirs = self.stated(pane.stated, self._vertical, names)
        return alt.layer(*marks.level(self.spec.reference, level), ends, points, runs, *theirs)
