"""Figures in groups: values of one axis along the horizontal one, series side by side in each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import polars as pl
from pydantic import Field

from dumbbell.base.labels import listing
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import marks, means, stated, style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextTable, assembled
from dumbbell.figures.gathering import (
    Facet,
    facets,
    labelled,
    names_of,
    run_notes,
    runs_of,
    values_of,
)
from dumbbell.figures.source import Source
from dumbbell.figures.spec import Coordinate
from dumbbell.figures.stated import StatedFigure
from dumbbell.quantities.names import AxisName

_HEIGHT: Final = 300
_WIDTH_OF_ALL: Final = 760
_WIDTH_MIN: Final = 300
_LETTER_WIDTH: Final = 6.5
_NAMED: Final = 6
"""Up to so many points without a value are named; of more their number is shown."""


class GroupedFigure(StatedFigure):
    """Keys that all figures in groups share."""

    groups: AxisName = Field(examples=["rtt"])
    """Axis of the test along the horizontal axis, with a group for each value."""

    groups_title: str | None = Field(None, examples=["round-trip time"])
    """Title of the horizontal axis; by default the name of the axis."""

    series: AxisName = "algorithm"
    """Axis of the test whose values share a group, each with its colour."""

    y: Coordinate
    """The vertical axis."""

    missing: str | None = Field(None, examples=["did not converge"])
    """Meaning of a run without a value of the quantity."""

    reference: float | None = None
    """A level that is drawn as a thin line."""

    @property
    def _stated_fields(self) -> list[str]:
        return [self.y.field]


@dataclass(frozen=True)
class GroupPane:
    """One plot of a figure in groups.

    Attributes
    ----------
    facet
        The value that distinguishes it, and its runs.
    means
        One row per mark: ``group`` and ``part`` (as readers see them; a part is empty if there is
        just one), ``series``, ``quantity``, and the columns of `means.averaged`.
    stated
        The authors' numbers: ``group``, ``part``, ``series``, ``field`` (the quantity), ``low``,
        ``high`` and ``said``.
    """

    facet: Facet
    means: pl.DataFrame
    stated: pl.DataFrame


class GroupDrawing(ABC):
    """A figure in groups: the common part of its plots; a kind draws a single one.

    Attributes
    ----------
    runs
        The table of the runs that are shown.
    y
        The vertical axis, with its title.
    title, groups
        Title of the horizontal axis, and the names of its groups.
    looks
        Looks of the series.
    panes
        The plots.
    picked
        The series that was picked in the legend.
    """

    def __init__(self, spec: GroupedFigure, source: Source) -> None:
        test = source.test(spec.test)
        self._spec = spec
        self.source = source
        self.runs = runs_of(source, spec)
        self.y = spec.y.titled(source, spec.test)
        self.title = spec.groups_title or spec.groups
        self.groups = [*names_of(test, spec.groups, spec).values()]
        self.looks = style.looks(values_of(test, spec.series, spec))
        self.panes = [
            GroupPane(facet, self.means(facet), self._stated_in(facet))
            for facet in facets(test, spec, self.runs)
        ]
        self.picked = marks.picking()

    @abstractmethod
    def means(self, facet: Facet) -> pl.DataFrame:
        """Return the means of a plot."""

    @abstractmethod
    def layers(self, pane: GroupPane) -> alt.LayerChart | alt.FacetChart:
        """Draw a plot."""

    @abstractmethod
    def notes(self) -> Iterator[str]:
        """Say what marks mean."""

    @abstractmethod
    def titles(self) -> Mapping[str, str]:
        """Return the title of each quantity that is shown: its column -> title."""

    @property
    def part_title(self) -> str:
        """Title of the parts in the table of numbers; empty if that of the quantity suffices."""
        return ""

    def stated_part(self) -> pl.Expr:
        """Return the part that a number of the authors belongs to."""
        return pl.lit("")

    def _stated_in(self, facet: Facet) -> pl.DataFrame:
        test = self.source.test(self._spec.test)
        numbers = self._spec.stated_at(test, facet.value)
        return numbers.select(
            group=labelled(test, self._spec.groups, self._spec),
            part=self.stated_part(),
            series=pl.col(self._spec.series),
            field="field",
            low="low",
            high="high",
            said="said",
        ).unique(maintain_order=True)

    def stated(
        self, numbers: pl.DataFrame, y: Callable[[str], alt.Y], within: Sequence[str]
    ) -> list[alt.Chart]:
        """Draw what the authors state; `within` is as of `base`."""

        def chart(frame: pl.DataFrame) -> alt.Chart:
            drawn: alt.Chart = self.base(frame, within).encode(
                color=marks.colour(self.looks, self._spec.series), opacity=marks.faded(self.picked)
            )
            return drawn

        return stated.drawn(numbers.drop("field"), chart, y, over=True)

    def averaged(self, facet: Facet, field: str, part: pl.Expr) -> pl.DataFrame:
        """Return the means of a quantity; `part` is what they are called."""
        return means.averaged(facet.runs, self.places(part), field)

    def places(self, part: pl.Expr) -> dict[str, pl.Expr]:
        """Return the places of runs."""
        test = self.source.test(self._spec.test)
        return {
            "group": labelled(test, self._spec.groups, self._spec),
            "series": pl.col(self._spec.series),
            "part": part,
        }

    def figure(self) -> Figure:
        """Draw the figure."""
        plots = [
            self.layers(pane).properties(title=pane.facet.title, width=self._width, height=_HEIGHT)
            for pane in self.panes
        ]
        measured = (table for pane in self.panes for table in self._tables(pane))
        tables = [*measured, *self._spec.stated_table()]
        chart = alt.hconcat(*plots)
        return assembled(self._spec, chart, self._notes(), tables, self._numbers())

    @cached_property
    def all(self) -> pl.DataFrame:
        """The means of all plots."""
        return pl.concat([pane.means for pane in self.panes])

    @property
    def _width(self) -> int:
        return max(_WIDTH_MIN, _WIDTH_OF_ALL // len(self.panes))

    def base(self, frame: pl.DataFrame, within: Sequence[str] = ("",)) -> alt.Chart:
        """Return a chart of marks, each at its place in its group.

        ``within`` are the places side by side within a series; the column ``part`` names the place,
        unless there is just one.
        """
        labels = [look.label for look in self.looks.values()]
        slots = [f"{label}|{name}" for label in labels for name in within]
        name = pl.col("part") if len(within) > 1 else pl.lit(within[0])
        placed = marks.labelled(frame, self.looks).with_columns(
            slot=pl.format("{}|{}", "label", name)
        )
        beside = alt.Scale(type="band", domain=slots, paddingInner=0.08)
        chart: alt.Chart = plain(inline(placed.drop("series", "quantity", strict=False))).encode(
            x=self._x(), xOffset=alt.XOffset("slot:N", sort=None, scale=beside)
        )
        return chart

    def _x(self) -> alt.X:
        """Name the groups: each word on a separate line where they would not fit, or aslant."""
        scale = alt.Scale(type="band", domain=self.groups, paddingInner=0.18, paddingOuter=0.1)
        room = self._width / len(self.groups) / _LETTER_WIDTH
        if any(len(word) > room for group in self.groups for word in group.split()):
            axis = alt.Axis(labelAngle=-40, labelLimit=220)
        else:
            tight = any(len(group) > room for group in self.groups)
            words = "split(datum.label, ' ')" if tight else alt.Undefined
            axis = alt.Axis(labelAngle=0, labelLimit=220, labelExpr=words)
        return alt.X("group:N", title=self.title, sort=None, scale=scale, axis=axis)

    def worded(self, frame: pl.DataFrame, title: str) -> pl.DataFrame:
        """Add the description of each mean."""
        labelled_too = marks.labelled(frame, self.looks)
        places = {"label": "", "group": self.title, "part": ""}
        return means.worded(labelled_too, title, places).drop("label")

    def tooltip(self, title: str) -> dict[str, Any]:
        """Return the tooltip of a mark."""
        parts = [("part:N", "part")] if len(set(self.all["part"])) > 1 else []
        return marks.tooltip(title, ("label:N", "series"), ("group:N", self.title), *parts)

    def _notes(self) -> Iterator[str]:
        averages = self.all
        what = means.what(averages["runs"])
        yield from run_notes(self.source, self._spec, self.runs, averages["runs"], what)
        yield from self.notes()
        yield from self._spec.stated_notes()
        zeros = averages.filter(pl.col("mean") <= 0)["group"].unique(maintain_order=True).to_list()
        if self.y.scale == "log" and zeros:
            yield f"Nothing is drawn where the mean is 0: {listing(zeros)}."
        if self._spec.missing is not None:
            yield from self._without(self._spec.missing)

    def _without(self, why: str) -> Iterator[str]:
        """Say where runs have no value, of each part."""
        for (_, part), some in self.all.group_by(["quantity", "part"], maintain_order=True):
            lacking = some.filter(pl.col("n") < pl.col("runs"))
            if lacking.is_empty():
                continue
            named = lacking.select("series", "group").unique(maintain_order=True).rows()
            points = listing([f"{self.looks[series].label} ({group})" for series, group in named])
            if len(named) > _NAMED:
                points = f"{lacking.height} of {some.height} points"
            sentence = f"of {points}, not all runs have a value: {why}."
            if not some["n"].sum():
                sentence = f"no run has a value: {why}."
            yield f"{part}: {sentence}" if part else f"{sentence[0].upper()}{sentence[1:]}"

    def _tables(self, pane: GroupPane) -> Iterator[TextTable]:
        """Yield a table per quantity and part: a row per group, a column per series."""
        headings = {series: look.label for series, look in self.looks.items()}
        names = {group: group for group in self.groups}
        titles = self.titles()
        keys = ["quantity", "part"]
        for (quantity, part), some in pane.means.group_by(keys, maintain_order=True):
            named = ", ".join(filter(None, (pane.facet.title, str(part))))
            yield means.text_table(
                some,
                (named, titles[str(quantity)]),
                ("group", self.title, names),
                ("series", headings),
            )

    def _numbers(self) -> pl.DataFrame:
        columns = {"group": self._spec.groups, "series": self._spec.series}
        if self.part_title:
            columns["part"] = self.part_title
        panes = ((pane.facet.title, pane.means) for pane in self.panes)
        return means.numbers(panes, self._spec.facet, columns)
