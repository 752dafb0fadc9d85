"""Figures of kind `bars`: means as bars in groups, stacked or side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, Self

import polars as pl
from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, marks, means, stated
from dumbbell.figures.figure import Figure
from dumbbell.figures.gathering import Facet
from dumbbell.figures.groups import GroupDrawing, GroupedFigure, GroupPane
from dumbbell.figures.source import Source
from dumbbell.figures.spec import Coordinate, Spec
from dumbbell.figures.style import INK
from dumbbell.quantities.names import ColumnName
from dumbbell.quantities.reference import parse

_PARTS_MAX: Final = 4
_PALEST: Final = 0.35
"""Opacity of the last part; those before it are between it and the first, which is opaque."""
_SECOND: Final = "second"


class Part(Spec):
    """A part of a bar."""

    field: ColumnName = Field(examples=["goodput_mbit_per_s[1]"])
    """The quantity."""

    label: str = Field(examples=["flow 1"])
    """Name in the legend."""


class BarsFigure(GroupedFigure):
    """A quantity as bars in groups: the mean of each grid point with its 95 % interval."""

    kind: Literal["bars"]

    parts: tuple[Part, ...] = Field((), alias="part", max_length=_PARTS_MAX)
    """Quantities that replace the one of `y`, each as a part of the bar, from the bottom."""

    beside: bool = False
    """True if parts are next to each other rather than stacked."""

    marks: Coordinate | None = None
    """A second quantity, drawn as points over the bars, with a separate axis on the right."""

    @property
    def _stated_fields(self) -> list[str]:
        beside = [part.field for part in self.parts if self.beside]
        second = [] if self.marks is None else [self.marks.field]
        return [*(beside or [self.y.field]), *second]

    @model_validator(mode="after")
    def _can_be_drawn(self) -> Self:
        if self.beside and not self.parts:
            raise InputError("there are no parts", key="beside", value=True, valid="false")
        if self.parts and not self.beside and self.y.scale == "log":
            raise InputError(
                "parts cannot be stacked on a log scale",
                key="y.scale",
                value="log",
                valid='"linear", or `beside = true`',
            )
        if self.marks is not None and self.marks.field in list(self.fields().values())[:-1]:
            raise InputError(
                "the bars show it", key="marks.field", value=self.marks.field, valid="another one"
            )
        labels = [part.label for part in self.parts]
        if len(set(labels)) < len(labels):
            raise InputError("parts need labels that differ", key="part", value=labels)
        return self

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        return _Drawing(self, source).figure()

    def common(self, source: Source) -> Coordinate:
        """Return the vertical axis: of several parts it has the common title."""
        names = {parse(part.field).name for part in self.parts}
        if self.y.title is not None or len(names) != 1:
            return self.y
        return self.y.model_copy(update={"title": source.title(self.test, names.pop())})


class _Drawing(GroupDrawing):
    def __init__(self, spec: BarsFigure, source: Source) -> None:
        self.spec = spec
        self.second = spec.marks.titled(source, spec.test) if spec.marks is not None else None
        super().__init__(spec.model_copy(update={"y": spec.common(source)}), source)
        stacks = self._all_stacked()
        numbers = stated.values(self._stated_first(pane) for pane in self.panes)
        runs = [self._few(pane)["value"] for pane in self.panes]
        self.extent = axes.extent(
            self.y,
            [stacks["top"], *numbers],
            [stacks["low"], stacks["high"], *runs],
            spec.reference,
        )

    @property
    def _names(self) -> list[str]:
        return [part.label for part in self.spec.parts] or [""]

    @property
    def _beside(self) -> list[str]:
        """Names of the marks with a separate interval at one place of a series."""
        return self._names if self.second is None else [*self._names, _SECOND]

    def stated_part(self) -> pl.Expr:
        parts = {part.field: part.label for part in self.spec.parts if self.spec.beside}
        return pl.col("field").replace_strict(parts, default="", return_dtype=pl.String)

    def _stated_first(self, pane: GroupPane) -> pl.DataFrame:
        """Return what the authors state of the bars."""
        second = None if self.second is None else self.second.field
        return pane.stated.filter(pl.col("field").ne_missing(second))

    @property
    def _parts(self) -> list[tuple[str, str]]:
        """Column and label of each part; of bars without parts the label is empty."""
        return [(part.field, part.label) for part in self.spec.parts] or [(self.y.field, "")]

    def means(self, facet: Facet) -> pl.DataFrame:
        frames = [self.averaged(facet, field, pl.lit(label)) for field, label in self._parts]
        if self.second is not None:
            frames.append(self.averaged(facet, self.second.field, pl.lit("")))
        return pl.concat(frames)

    def titles(self) -> Mapping[str, str]:
        fields = [part.field for part in self.spec.parts] or [self.y.field]
        second = {} if self.second is None else {self.second.field: str(self.second.title)}
        return {**dict.fromkeys(fields, str(self.y.title)), **second}

    def notes(self) -> Iterator[str]:
        if self.spec.parts:
            where = "left" if self.spec.beside else "bottom"
            yield f"Bars, from the {where}: {'; '.join(self._names)}."
        if self.second is not None:
            yield f"Bars: {self.y.title}; points: {self.second.title}."
        yield from means.dot_notes(self.all["runs"])
        if means.cut(self._all_stacked(), self.extent):
            yield means.CUT

    def _all_stacked(self) -> pl.DataFrame:
        return pl.concat([self._stacked(pane.means, 0.0) for pane in self.panes])

    def _few(self, pane: GroupPane) -> pl.DataFrame:
        """Return the single runs of bars that have few, at their heights."""
        runs = pane.facet.runs
        single_runs = pl.concat(
            [
                means.few(runs, self.places(pl.lit(label)), self.y, field)
                for field, label in self._parts
            ]
        )
        bars = self._stacked(pane.means, 0.0).select("group", "series", "part", "bottom")
        placed = single_runs.join(
            bars, on=["group", "series", "part"], how="left", maintain_order="left"
        )
        return placed.with_columns(pl.col("value") + pl.col("bottom")).drop("bottom")

    def layers(self, pane: GroupPane) -> alt.LayerChart | alt.FacetChart:
        worded = self.worded(pane.means, str(self.y.title))
        stacked = self._stacked(means.on_scale(worded, self.extent), self.extent.foot)
        bars = (
            self.base(stacked, self._names if self.spec.beside else ("",))
            .mark_bar(clip=True)
            .encode(
                y=axes.channel(alt.Y, "top", self.y, self.extent),
                y2=alt.Y2("bottom:Q"),
                color=marks.colour(
                    self.looks,
                    self.spec.series,
                    **({"legend": None} if len(self.looks) == 1 else {}),
                ),
                opacity=marks.faded(self.picked),
                **self.tooltip(str(self.y.title)),
            )
        )
        if len(self._names) > 1:
            # A pale part is seen by its edge, which has the whole colour.
            edge = marks.stroke(self.looks)
            bars = bars.encode(
                fillOpacity=self._shades(), stroke=edge, strokeWidth=alt.StrokeWidthValue(1)
            )
        if pane is self.panes[0]:
            bars = bars.add_params(self.picked)
        level = axes.channel(alt.Y, "y", self.y, self.extent)
        drawn = alt.layer(
            *marks.level(self.spec.reference, level),
            bars,
            *self._intervals(stacked),
            *self._dots(pane),
            *self.stated(
                self._stated_first(pane),
                lambda column: axes.channel(alt.Y, column, self.y, self.extent),
                self._names if self.spec.beside else ("",),
            ),
        ).resolve_scale(xOffset="independent")
        return self._with_second(pane, drawn)

    def _shades(self) -> alt.FillOpacity:
        step = (1 - _PALEST) / (len(self._names) - 1)
        shades = [1 - step * place for place in range(len(self._names))]
        scale = alt.Scale(type="ordinal", domain=self._names, range=shades)
        return alt.FillOpacity("part:N", scale=scale, legend=None)

    def _intervals(self, table: pl.DataFrame) -> Iterator[alt.Chart]:
        """Draw intervals with a white edge, those of one bar side by side."""
        for look in ({"color": "white", "strokeWidth": 3}, {"color": INK}):
            yield marks.intervals(self.base(table, self._beside), **look).encode(
                y=axes.channel(alt.Y, "low", self.y, self.extent),
                y2=alt.Y2("high:Q"),
                opacity=marks.faded(self.picked),
            )

    def _dots(self, pane: GroupPane) -> Iterator[alt.Chart]:
        """Draw single runs with a white edge, those of one bar side by side."""
        runs = self._few(pane)
        if not runs.is_empty():
            yield marks.dots(self.base(runs, self._beside), stroke="white", color=INK).encode(
                y=axes.channel(alt.Y, "value", self.y, self.extent),
                opacity=marks.faded(self.picked),
            )

    def _with_second(
        self, pane: GroupPane, bars: alt.LayerChart | alt.FacetChart
    ) -> alt.LayerChart | alt.FacetChart:
        """Lay the second quantity over the bars, with a separate axis."""
        if self.second is None:
            return bars
        second = self.second
        averages = means.drawn(self.all.filter(pl.col("quantity") == second.field))
        of_second = pl.col("field") == second.field
        stated_too = stated.values(plot.stated.filter(of_second) for plot in self.panes)
        ends = [averages["low"], averages["high"]]
        span = axes.extent(second, [averages["mean"], *stated_too], ends)
        shown = pane.means.filter(pl.col("quantity") == self.second.field)
        worded = means.drawn(self.worded(shown, str(self.second.title))).with_columns(
            part=pl.lit(_SECOND)
        )
        placed = means.on_scale(worded, span)
        base = self.base(placed, self._beside)
        right = {"orient": "right", "grid": False}
        points = base.mark_point(
            filled=True, size=70, opacity=1, color=INK, stroke="white", strokeWidth=1.2
        ).encode(
            y=axes.channel(alt.Y, "mean", self.second, span, **right),
            **self.tooltip(str(self.second.title)),
        )
        lines = marks.intervals(base, color=INK, strokeDash=[2, 2]).encode(
            y=axes.channel(alt.Y, "low", second, span, **right), y2=alt.Y2("high:Q")
        )
        theirs = self.stated(
            pane.stated.filter(of_second).with_columns(part=pl.lit(_SECOND)),
            lambda column: axes.channel(alt.Y, column, second, span, **right),
            self._beside,
        )
        laid = alt.layer(lines, *theirs, points)
        both: alt.LayerChart = alt.layer(bars, laid).resolve_scale(
            y="independent", xOffset="independent"
        )
        return both

    def _stacked(self, frame: pl.DataFrame, foot: float) -> pl.DataFrame:
        """Place parts on each other, or all on the foot: ``bottom``, ``top``, ``low``, ``high``."""
        frame = means.drawn(frame)
        if self.second is not None:
            frame = frame.filter(pl.col("quantity") != self.second.field)
        if self.spec.beside or len(self.spec.parts) < 2:
            return frame.with_columns(bottom=pl.lit(foot), top=pl.col("mean"))
        top = pl.col("mean").cum_sum().over("group", "series")
        placed = frame.with_columns(bottom=top - pl.col("mean"), top=top)
        return placed.with_columns(pl.col("low", "high") + pl.col("bottom"))
