"""Figures of kind `histories`: quantities of single runs over time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError, unknown
from dumbbell.base.keys import numbered
from dumbbell.base.labels import number
from dumbbell.base.units import NS_PER_S
from dumbbell.figures import alternative, timelines
from dumbbell.figures.figure import Figure, assembled
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.source import Source
from dumbbell.figures.spec import BaseFigure, Behind, Spec
from dumbbell.figures.stated import Stated
from dumbbell.figures.timelines import Level, Row
from dumbbell.plan import grid
from dumbbell.quantities import bands, series
from dumbbell.quantities.names import Chosen, OptionalQuantity, SeriesName, TestName
from dumbbell.scenario.tables import Abbreviable


class Shown(Abbreviable):
    """A quantity of a panel over time. Its name alone is also accepted."""

    quantity: SeriesName = Field(examples=["cwnd_segs", "state:alpha"])
    """One of the [series over time](quantities.md#series-over-time)."""

    title: str | None = Field(None, examples=["α (segments per RTT)"])
    """Title of its axis; by default that of the quantity."""

    @model_validator(mode="before")
    @classmethod
    def _read_name(cls, value: Any) -> Any:
        return {"quantity": value} if isinstance(value, str) else value

    @property
    def axis(self) -> str:
        """Title of its axis."""
        return self.title or series.named(self.quantity).axis


class Panel(Spec):
    """One run of a test, drawn over time."""

    title: str
    """Axis values that select this panel."""

    test: TestName
    """Name of the test."""

    where: Chosen = Field({})
    """The grid point: a value of each axis that has more than one."""

    repetition: int | None = Field(None, ge=1)
    """Number of the run, counted from 1; by default the first run."""

    most: OptionalQuantity = Field(None, examples=["starved_longest_s@run"])
    """A quantity that selects the run: the run with its largest value."""

    start_s: float | None = Field(None, ge=0)
    """Beginning of the time axis, in seconds; by default that of the run."""

    end_s: float | None = Field(None, ge=0)
    """End of the time axis, in seconds; by default that of the run."""

    @model_validator(mode="after")
    def _picked_in_one_way(self) -> Self:
        if self.repetition is not None and self.most is not None:
            raise InputError(
                "picks the run, too", key="most", value=self.most, valid="it or `repetition`"
            )
        return self

    def picked(self, source: Source) -> Picked:
        """Find the run that it shows, with what it has of the quantity that picks it."""
        if self.most is None:
            return Picked(self.repetition or 1)
        runs = grid.select(source.table(self.test, [self.most]), self.where)
        best = runs.drop_nulls(self.most).sort(self.most, "repetition", descending=[True, False])
        if best.is_empty():
            return Picked(1)
        repetition, amount = best.select("repetition", self.most).row(0)
        return Picked(repetition, amount, runs.height)


@dataclass(frozen=True)
class Picked:
    """A run of a grid point: its number, what it has most of, and of how many runs."""

    repetition: int
    amount: float | None = None
    of: int = 0


def _seen(rows: list[Row]) -> Iterator[str]:
    """Say what each plot shows; only the first row of a panel has its title."""
    panel = ""
    for row in rows:
        panel = row.title or panel
        if row.lines is not None:
            yield from alternative.of_lines([(f"{panel}, {row.axis}", row.lines)])


def _meets(panel: Panel, stated: Stated) -> bool:
    """Return True if a number is of a panel's run."""
    chosen = {axis: grid.wanted_values(panel.where, axis)[0] for axis in panel.where}
    return grid.matches(chosen, stated.where)


class HistoriesFigure(BaseFigure):
    """Quantities of single runs over time: a plot per panel and quantity, a line per flow."""

    kind: Literal["histories"]

    quantities: tuple[Shown, ...] = Field((Shown(quantity="cwnd_segs"),), min_length=1)
    """Quantities of each panel, one below the other."""

    marks: Literal["retransmissions"] | None = None
    """Marks in all plots: with `retransmissions`, a red line at each retransmission of a flow."""

    panels: tuple[Panel, ...] = Field(alias="panel", min_length=1)
    """The runs, from top to bottom."""

    authors: tuple[Stated, ...] = ()
    """Numbers that the authors state in their text, drawn as levels. `where` selects the panels,
    and `field` the quantity; by default it is the first one."""

    @model_validator(mode="after")
    def _panel_titles_differ(self) -> Self:
        titles = [panel.title for panel in self.panels]
        if len(set(titles)) != len(titles):
            raise ValueError(f"panels need titles that differ, not {titles}")
        return self

    @model_validator(mode="after")
    def _stated_of_what_is_shown(self) -> Self:
        names = [shown.quantity for shown in self.quantities]
        for key, stated in numbered("authors", self.authors):
            if stated.field is not None and stated.field not in names:
                raise unknown("quantity of the figure", stated.field, names).at(key=f"{key}.field")
            if not any(_meets(panel, stated) for panel in self.panels):
                raise InputError(
                    "chooses no panel of the figure",
                    key=f"{key}.where",
                    value=dict(stated.where),
                    valid="; ".join(str(dict(panel.where)) for panel in self.panels),
                )
        return self

    def _levels(self, panel: Panel, quantity: str) -> tuple[Level, ...]:
        """Return what the authors state of a quantity of a panel's run."""
        first = self.quantities[0].quantity
        return tuple(
            Level(end, stated.citation)
            for stated in self.authors
            if (stated.field or first) == quantity and _meets(panel, stated)
            for end in dict.fromkeys(stated.ends)
            if end is not None
        )

    def behind(self) -> Iterator[Behind]:
        """Yield the runs that it shows."""
        for panel in self.panels:
            # Which one has most of something is known only once there are runs.
            repetition = None if panel.most is not None else panel.repetition or 1
            yield Behind(panel.title, panel.test, panel.where, repetition)

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        rows = [row for panel in self.panels for row in self._rows(source, panel)]
        return assembled(self, timelines.draw(rows), self._notes(source, rows), seen=_seen(rows))

    def _rows(self, source: Source, panel: Panel) -> Iterator[Row]:
        run = source.stored_run(panel.test, panel.where, panel.picked(source).repetition)
        end_s = None if run is None else run.summary.duration_ns / NS_PER_S
        resent = None
        if run is not None and self.marks is not None:
            resent = series.resent(run, panel.start_s, panel.end_s)
        for place, shown in enumerate(self.quantities):
            kind = series.named(shown.quantity)
            lines = None
            if run is not None:
                lines = series.drawn(run, shown.quantity, panel.start_s, panel.end_s)
            yield Row(
                title=panel.title if place == 0 else "",
                axis=shown.axis,
                lines=lines,
                algorithms={} if run is None else bands.choices(run, together=False),
                start_s=panel.start_s or 0.0,
                end_s=panel.end_s or end_s or 1.0,
                from_zero=kind.from_zero,
                joined=kind.joined,
                resent=resent,
                levels=self._levels(panel, shown.quantity),
            )

    def _notes(self, source: Source, rows: list[Row]) -> Iterator[str]:
        tests = list(dict.fromkeys(panel.test for panel in self.panels))
        if any(row.lines is not None for row in rows) and all(map(source.quick, tests)):
            yield "Quick runs." if len(self.panels) > 1 else "A quick run."
        if self.marks is not None:
            yield "Red lines: something was sent again."
        for stated in self.authors:
            yield f"Dashed: {stated.citation}."
        for panel in self.panels:
            picked = panel.picked(source)
            if panel.most is not None and picked.amount is not None:
                yield (
                    f"{panel.title}: of {picked.of} runs the one whose "
                    f"{source.title(panel.test, panel.most)} is highest, {number(picked.amount)}."
                )
        yield from engine_notes(source.engine, sum(map(source.left_out, tests)))
        empty = [row.axis for row in rows if row.lines is not None and row.lines.is_empty()]
        if empty:
            yield f"Not recorded, or not exported: {'; '.join(dict.fromkeys(empty))}."
        missing = [row.title for row in rows if row.lines is None and row.title]
        if missing:
            yield f"Not run yet: {'; '.join(missing)}."
