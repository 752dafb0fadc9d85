"""Figures of kind `rows`: the value for each answer to a question, next to the stated one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl
from pydantic import Field

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, marks, means
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextTable, assembled
from dumbbell.figures.gathering import Facet, facets, labelled, names_of, run_notes, runs_of
from dumbbell.figures.source import Source
from dumbbell.figures.spec import Coordinate
from dumbbell.figures.stated import Stated, StatedFigure
from dumbbell.figures.style import CHOSEN, FAINT, INK
from dumbbell.plan.tests import Test
from dumbbell.quantities.names import AxisName

_WIDTH: Final = 250
_STEP: Final = 20
_COLUMNS: Final = 3
_STATED: Final = CHOSEN


class RowsFigure(StatedFigure):
    """A quantity in rows: the mean of each grid point with its runs.

    The authors' number is a line over all rows, and a range is a band.
    """

    kind: Literal["rows"]

    rows: AxisName = Field(examples=["cause"])
    """Axis of the test whose values get a row each."""

    x: Coordinate
    """The horizontal axis."""

    @property
    def _stated_fields(self) -> list[str]:
        return [self.x.field]

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        test = source.test(self.test)
        runs = runs_of(source, self)
        rows = [*names_of(test, self.rows, self).values()]
        x = self.x.titled(source, self.test)
        panes = [_pane(facet, self, test) for facet in facets(test, self, runs)]
        drawing = _Drawing(self, x, rows, panes)
        notes, tables = drawing.notes(source, runs), map(drawing.table, panes)
        frames = ((pane.title, pane.means) for pane in panes)
        numbers = means.numbers(frames, self.facet, {"row": self.rows})
        return assembled(self, drawing.chart(), notes, tables, numbers)


@dataclass(frozen=True)
class _Pane:
    """One plot: its means and its runs by ``row``, and what the publication states of it."""

    title: str
    means: pl.DataFrame
    runs: pl.DataFrame
    stated: tuple[Stated, ...]


def _pane(facet: Facet, spec: RowsFigure, test: Test) -> _Pane:
    places = {"row": labelled(test, spec.rows, spec)}
    averages = means.averaged(facet.runs, places, spec.x.field)
    runs = means.single(facet.runs, places, spec.x)
    point = {} if spec.facet is None or facet.value is None else {spec.facet: facet.value}
    return _Pane(facet.title, averages, runs, tuple(spec.stated_of(point)))


@dataclass(frozen=True)
class _Drawing:
    """A figure with all that its plots have in common."""

    spec: RowsFigure
    x: Coordinate
    rows: Sequence[str]
    panes: Sequence[_Pane]

    def chart(self) -> alt.ConcatChart:
        """Draw the plots in a grid; each has a separate horizontal axis."""
        plots = [
            self._plot(pane, first=place % _COLUMNS == 0) for place, pane in enumerate(self.panes)
        ]
        return alt.concat(*plots, columns=_COLUMNS, spacing=22)

    def notes(self, source: Source, runs: pl.DataFrame) -> Iterator[str]:
        """Say what is shown, and what is missing."""
        counts = [count for pane in self.panes for count in pane.means["runs"]]
        yield from run_notes(source, self.spec, runs, counts, means.what(counts))
        yield from means.dot_notes(counts, always=True)
        if any(means.cut(means.drawn(pane.means), self._span(pane)) for pane in self.panes):
            yield means.CUT

    def table(self, pane: _Pane) -> TextTable:
        """Return a line per row, with what was stated in the caption."""
        numbers = "; ".join(stated.citation for stated in pane.stated)
        title = f"{self.x.title}" + (f" ({numbers})" if numbers else "")
        return means.text_table(
            pane.means,
            (pane.title, title),
            ("row", self.spec.rows, {row: row for row in self.rows}),
            ("quantity", {self.x.field: str(self.x.title)}),
        )

    def _span(self, pane: _Pane) -> axes.Extent:
        ends = [end for stated in pane.stated for end in stated.ends if end is not None]
        averages = means.drawn(pane.means)
        values = [averages["mean"], pane.runs["value"], pl.Series(ends, dtype=pl.Float64)]
        return axes.extent(self.x, values, [averages["low"], averages["high"]])

    def _plot(self, pane: _Pane, *, first: bool) -> alt.LayerChart | alt.FacetChart:
        span = self._span(pane)

        def x(column: str) -> alt.X:
            return axes.channel(alt.X, column, self.x, span, tickCount=4)

        y = alt.Y(
            "row:N",
            title=None,
            sort=None,
            scale=alt.Scale(domain=list(self.rows)),
            axis=alt.Axis(labels=first, ticks=first, labelLimit=280, grid=True),
        )
        worded = means.worded(pane.means, str(self.x.title), {"row": ""})
        table = means.drawn(worded).drop("quantity")
        base = plain(inline(means.on_scale(table, span))).encode(y=y)
        layers = alt.layer(
            *(_stated(stated, x) for stated in pane.stated),
            marks.intervals(base, color=INK).encode(x=x("low"), x2=alt.X2("high:Q")),
            marks.dots(plain(inline(pane.runs))).encode(x=x("value"), y=y),
            base.mark_point(filled=True, size=70, color=INK, opacity=1).encode(
                x=x("mean"), **marks.tooltip(str(self.x.title), ("row:N", self.spec.rows))
            ),
        )
        title = alt.TitleParams(
            pane.title,
            subtitle=[stated.citation for stated in pane.stated],
            subtitleColor=_STATED if pane.stated else FAINT,
            fontSize=12.5,
        )
        return layers.properties(title=title, width=_WIDTH, height=alt.Step(_STEP))


def _stated(stated: Stated, x: Callable[[str], alt.X]) -> alt.Chart:
    """Draw a number, or the end of an open range, as a line over all rows, a range as a band."""
    low, high = stated.ends
    if low is not None and high is not None and low != high:
        data = inline(pl.DataFrame({"from": [low], "to": [high]}))
        band: alt.Chart = (
            plain(data)
            .mark_rect(color=_STATED, opacity=0.25, stroke=_STATED, description=stated.citation)
            .encode(x=x("from"), x2=alt.X2("to:Q"))
        )
        return band
    data = inline(pl.DataFrame({"from": [low if low is not None else high]}))
    line: alt.Chart = (
        plain(data)
        .mark_rule(color=_STATED, strokeWidth=2, description=stated.citation)
        .encode(x=x("from"))
    )
    return line
