"""Figures of kind `points`: means against an axis, with curves from theory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import polars as pl
from pydantic import Field

from dumbbell.base.labels import number
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, marks, means, stated, style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextTable, assembled
from dumbbell.figures.gathering import Facet, facets, run_notes, runs_of, values_of
from dumbbell.figures.looks import Look
from dumbbell.figures.source import Source
from dumbbell.figures.spec import Coordinate, Spec
from dumbbell.figures.stated import StatedFigure
from dumbbell.figures.style import INK, THEORY_DASHES
from dumbbell.plan import grid
from dumbbell.plan.tests import Test
from dumbbell.quantities.names import AxisName, Chosen, CurveName, Use, What
from dumbbell.theory import curves

_SIZE_ALONE: Final = {"width": 560, "height": 330}
_SIZE_OF_SEVERAL: Final = {"width": 350, "height": 290}
_BESIDE: Final = 1.8
_BESIDE_ALL: Final = 14.0
"""Pixels between the intervals of neighbouring series, and over those of all of them."""

_NO_CURVES: Final = pl.DataFrame(
    schema={"series": pl.String, "theory": pl.String, "x": pl.Float64, "y": pl.Float64}
)

_NONE_STATED: Final = pl.DataFrame(
    schema={
        "series": pl.String,
        "x": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "said": pl.String,
    }
)


class Overlay(Spec):
    """A curve from theory, drawn dashed."""

    theory: CurveName = Field(examples=["shorten_leith_ratio"])
    """One of the [curves](quantities.md#curves)."""

    label: str
    """Text of the legend."""

    where: Chosen = Field({})
    """Grid points of the figure for which the curve is computed."""


class PointsFigure(StatedFigure):
    """A quantity against an axis: the mean of each grid point with its 95 % interval."""

    kind: Literal["points"]

    x: Coordinate
    """The horizontal axis."""

    y: Coordinate
    """The vertical axis."""

    series: AxisName = "algorithm"
    """Axis of the test whose values get colours and shapes."""

    overlays: tuple[Overlay, ...] = Field((), alias="overlay")
    """Curves from theory."""

    missing: str | None = Field(None, examples=["did not converge"])
    """Meaning of a run without a value of the quantity."""

    reference: float | None = None
    """A level that is drawn as a thin line, such as 1 for a fair ratio."""

    @property
    def _stated_fields(self) -> list[str]:
        return [self.y.field]

    def uses(self) -> Iterator[Use]:
        """Yield every name that it refers to, but that of its section."""
        yield from super().uses()
        if self.authors:
            yield Use("x.field", What.NUMBERS, self.x.field, self.test)

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        needed = [
            name for overlay in self.overlays for name in curves.curve(overlay.theory).columns
        ]
        runs = runs_of(source, self, needed)
        test = source.test(self.test)
        return _Drawing(
            self,
            self.x.titled(source, self.test),
            self.y.titled(source, self.test),
            style.looks(values_of(test, self.series, self)),
            [_pane(facet, self, test) for facet in facets(test, self, runs)],
        ).figure(source, runs)


@dataclass(frozen=True)
class _Pane:
    """One plot: what sets it apart, its means at ``series`` and ``x``, theory, and the authors.

    `runs` are single ones, with their ``value``, of places that have few.
    """

    title: str
    means: pl.DataFrame
    runs: pl.DataFrame
    curves: pl.DataFrame
    stated: pl.DataFrame


def _pane(facet: Facet, spec: PointsFigure, test: Test) -> _Pane:
    places = {"series": pl.col(spec.series), "x": pl.col(spec.x.field)}
    averages = means.averaged(facet.runs, places, spec.y.field)
    runs = means.few(facet.runs, places, spec.y)
    return _Pane(facet.title, averages, runs, _curves(facet.runs, spec), _stated(facet, spec, test))


def _stated(facet: Facet, spec: PointsFigure, test: Test) -> pl.DataFrame:
    if not spec.authors:
        return _NONE_STATED
    at = {"series": spec.series, "x": spec.x.field, "low": "low", "high": "high", "said": "said"}
    return spec.stated_at(test, facet.value).select(**at).unique(maintain_order=True)


def _curves(runs: pl.DataFrame, spec: PointsFigure) -> pl.DataFrame:
    drawn = [
        curves.along(
            overlay.theory, grid.select(runs, overlay.where), [spec.series, spec.x.field]
        ).select(series=spec.series, theory=pl.lit(overlay.label), x=spec.x.field, y="theory")
        for overlay in spec.overlays
    ]
    return pl.concat([_NO_CURVES, *drawn]).sort("theory", "series", "x")


@dataclass(frozen=True)
class _Drawing:
    """A figure with all that its plots have in common."""

    spec: PointsFigure
    x: Coordinate
    y: Coordinate
    looks: Mapping[str, Look]
    panes: Sequence[_Pane]

    def figure(self, source: Source, runs: pl.DataFrame) -> Figure:
        columns = {"series": self.spec.series, "x": self.spec.x.field}
        frames = ((pane.title, pane.means) for pane in self.panes)
        numbers = means.numbers(frames, self.spec.facet, columns)
        tables = [*map(self._table, self.panes), *self.spec.stated_table()]
        return assembled(self.spec, self._chart(), self._notes(source, runs), tables, numbers)

    @cached_property
    def _all(self) -> pl.DataFrame:
        return pl.concat([pane.means for pane in self.panes])

    @cached_property
    def _across(self) -> axes.Extent:
        return axes.extent(self.x, [self._all["x"], *(pane.curves["x"] for pane in self.panes)])

    @cached_property
    def _up(self) -> axes.Extent:
        theory = [pane.curves["y"] for pane in self.panes]
        averages = means.drawn(self._all)
        ends = [averages["low"], averages["high"], *(pane.runs["value"] for pane in self.panes)]
        numbers = stated.values(pane.stated for pane in self.panes)
        return axes.extent(self.y, [averages["mean"], *theory, *numbers], ends, self.spec.reference)

    def _notes(self, source: Source, runs: pl.DataFrame) -> Iterator[str]:
        averages = self._all
        yield from run_notes(
            source, self.spec, runs, averages["runs"], means.what(averages["runs"])
        )
        yield from means.dot_notes(averages["runs"])
        if means.cut(means.drawn(averages), self._up):
            yield means.CUT
        yield from self.spec.stated_notes()
        if self.y.scale == "log" and (averages["mean"].fill_null(1) <= 0).any():
            yield "Hollow on the lower edge: 0."
        lacking = self.spec.missing
        if lacking is not None and (averages["n"] < averages["runs"]).any():
            hollow = "Small hollow" if self.spec.authors else "Hollow"
            yield (
                f"{hollow} marks average the runs with a value, as others {lacking}; "
                f"where all of them {lacking}, there is no mark."
            )

    def _chart(self) -> alt.HConcatChart:
        size = _SIZE_ALONE if len(self.panes) == 1 else _SIZE_OF_SEVERAL
        picked = marks.picking()
        plots = []
        for place, pane in enumerate(self.panes):
            lines, *others = self._measured(pane, picked)
            if place == 0:
                # A legend can be clicked only through a layer that it belongs to.
                lines = lines.add_params(picked)
            level = marks.level(self.spec.reference, self._vertical("y"))
            marks_of_authors = self._stated(pane, picked)
            layers = [*level, *self._theory(pane), lines, *others, *marks_of_authors]
            plots.append(alt.layer(*layers, title=pane.title, **size))
        return alt.hconcat(*plots)

    def _horizontal(self) -> alt.X:
        return axes.channel(alt.X, "x", self.x, self._across)

    def _vertical(self, column: str) -> alt.Y:
        return axes.channel(alt.Y, column, self.y, self._up)

    def _measured(self, pane: _Pane, picked: alt.Parameter) -> list[alt.Chart]:
        """Lines between neighbouring points, intervals, full and hollow marks."""
        base = plain(inline(self._placed(pane))).encode(
            x=self._horizontal(),
            color=marks.colour(self.looks, self.spec.series),
            opacity=marks.faded(picked),
        )
        points = base.transform_filter("isValid(datum.y)").encode(
            y=self._vertical("y"),
            shape=marks.shape(self.looks, self.spec.series),
            **marks.tooltip(
                str(self.y.title), ("label:N", "series"), ("measured_x:Q", str(self.x.title))
            ),
        )
        return [
            base.mark_line(strokeWidth=1.3, aria=False).encode(y=self._vertical("line")),
            *self._intervals(base),
            *self._dots(pane, picked),
            points.transform_filter("!datum.hollow").mark_point(
                filled=True, size=75, stroke="white", strokeWidth=0.6
            ),
            points.transform_filter("datum.hollow").mark_point(fill="white", size=75),
        ]

    def _intervals(self, base: alt.Chart) -> Iterator[alt.Chart]:
        """Draw the intervals of the series some pixels next to each other; the marks are not moved.

        Where means lie on the same spot, their intervals would overlap otherwise.
        """
        for series_chart, moved in self._apart(base):
            yield marks.intervals(series_chart, xOffset=moved).encode(
                y=self._vertical("low"), y2=alt.Y2("high:Q")
            )

    def _dots(self, pane: _Pane, picked: alt.Parameter) -> Iterator[alt.Chart]:
        """Draw the single runs of places that have few, where their interval would be."""
        if pane.runs.is_empty():
            return
        placed = marks.labelled(pane.runs, self.looks).select(
            "label", "value", x=axes.placed(self.x, pl.col("x"))
        )
        base = plain(inline(placed)).encode(
            x=self._horizontal(),
            color=marks.colour(self.looks, self.spec.series),
            opacity=marks.faded(picked),
        )
        for series_chart, moved in self._apart(base):
            yield marks.dots(series_chart, xOffset=moved).encode(y=self._vertical("value"))

    def _apart(self, base: alt.Chart) -> Iterator[tuple[alt.Chart, float]]:
        """Yield the part of a chart that each series is, and by how many pixels it is moved."""
        step = min(_BESIDE, _BESIDE_ALL / len(self.looks))
        middle = (len(self.looks) - 1) / 2
        for place, look in enumerate(self.looks.values()):
            yield base.transform_filter(alt.datum.label == look.label), step * (place - middle)

    def _placed(self, pane: _Pane) -> pl.DataFrame:
        """Add what is drawn: labels, words, places on the axes, and which marks are hollow.

        A mean of zero cannot be on a log axis: it is drawn hollow on its lower edge, and no line
        leads there. A mean over only some of the runs, as the others have no value, is hollow too.
        """
        log, edge = self._up.kind == "log", pl.lit(self._up.low)
        off_scale = (pl.col("mean") <= 0) & log
        low = pl.col("low").clip(lower_bound=edge) if log else pl.col("low")
        places = {"label": "", "x": str(self.x.title)}
        labelled = marks.labelled(pane.means, self.looks)
        return (
            means.drawn(means.worded(labelled, str(self.y.title), places))
            .with_columns(
                measured_x="x",
                x=axes.placed(self.x, pl.col("x")),
                y=pl.when(off_scale).then(edge).otherwise("mean"),
                line=pl.when(off_scale).then(None).otherwise("mean"),
                low=pl.when(off_scale).then(None).otherwise(low),
                high=pl.when(off_scale).then(None).otherwise("high"),
                hollow=off_scale | (pl.col("n") < pl.col("runs")),
            )
            .drop("series", "quantity", "n", "runs")
            .sort("label", "measured_x")
        )

    def _stated(self, pane: _Pane, picked: alt.Parameter) -> list[alt.Chart]:
        """Draw what the authors state, as large hollow marks of the series."""

        def chart(frame: pl.DataFrame) -> alt.Chart:
            at = marks.labelled(frame, self.looks).with_columns(x=axes.placed(self.x, pl.col("x")))
            drawn: alt.Chart = stated.placed(at.drop("series")).encode(
                x=self._horizontal(),
                color=marks.colour(self.looks, self.spec.series),
                opacity=marks.faded(picked),
            )
            return drawn

        layers = stated.drawn(pane.stated, chart, self._vertical)
        shape = marks.shape(self.looks, self.spec.series)
        return [
            layer.encode(shape=shape) if layer.mark.type == "point" else layer for layer in layers
        ]

    def _theory(self, pane: _Pane) -> list[alt.Chart]:
        names = list(dict.fromkeys(name for plot in self.panes for name in plot.curves["theory"]))
        if not names:
            return []
        colours = {series: look.colour for series, look in self.looks.items()}
        data = pane.curves.with_columns(
            x=axes.placed(self.x, pl.col("x")),
            colour=pl.col("series").replace_strict(colours, default=INK, return_dtype=pl.String),
            curve=pl.col("theory") + pl.col("series").fill_null(""),
        )
        dashes = alt.StrokeDash(
            "theory:N",
            scale=alt.Scale(domain=names, range=[list(dash) for dash in THEORY_DASHES]),
            legend=alt.Legend(
                title=None, symbolType="stroke", symbolSize=600, symbolStrokeWidth=3.5
            ),
        )
        # Broad and pale, so that it shows where a measured line runs along it.
        drawn = plain(inline(data)).mark_line(strokeWidth=3.5, strokeOpacity=0.5, clip=True)
        return [
            drawn.encode(
                x=self._horizontal(),
                y=self._vertical("y"),
                detail=alt.Detail("curve:N"),
                stroke=alt.Stroke("colour:N", scale=None),
                strokeDash=dashes,
                description=alt.Description("theory:N"),
            )
        ]

    def _table(self, pane: _Pane) -> TextTable:
        """Return a row per place and a column per series."""
        places = {x: number(x, 6) for x in sorted(pane.means["x"].unique())}
        return means.text_table(
            pane.means,
            (pane.title, str(self.y.title)),
            ("x", str(self.x.title), places),
            ("series", {series: look.label for series, look in self.looks.items()}),
        )
