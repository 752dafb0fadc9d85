"""A drawn figure: its chart, its notes, and its numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import alternative, style

if TYPE_CHECKING:
    from dumbbell.figures.spec import BaseFigure

_TITLE_CHARACTERS: Final = 110
_NOTE_CHARACTERS: Final = 150

Chart: TypeAlias = "alt.ConcatChart | alt.HConcatChart | alt.VConcatChart"
"""A figure: panels in a grid, side by side or stacked."""


@dataclass(frozen=True)
class TextRow:
    """A row of a table: its subject and its cells."""

    x: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class TextTable:
    """The numbers of one plot, for readers.

    Attributes
    ----------
    title
        The value that distinguishes the plot; empty where there is only one.
    caption
        Description of the cells.
    corner
        Description of the rows.
    series
        Headings of the columns.
    rows
        One for each place in the plot.
    """

    title: str
    caption: str
    corner: str
    series: tuple[str, ...]
    rows: tuple[TextRow, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Figure:
    """A drawn figure.

    Attributes
    ----------
    spec
        Its specification.
    chart
        The Altair chart, with title and notes.
    notes
        Notes on the runs that are shown, and on those that are missing.
    tables
        The numbers of any figure that has some, a table per plot.
    frame
        The same for machines; None if it has none.
    seen
        Sentences about the values of a figure without tables.
    """

    spec: BaseFigure
    chart: Chart
    notes: tuple[str, ...]
    tables: tuple[TextTable, ...] = ()
    frame: pl.DataFrame | None = None
    seen: tuple[str, ...] = ()

    @property
    def alternative_text(self) -> str:
        """All of it in words, for those who do not see it: title, what is seen, notes."""
        title = self.spec.title.rstrip(".")
        seen = [*alternative.of_tables(self.tables), *self.seen]
        return " ".join([f"{title}.", *seen, *self.notes])

    @property
    def vega_lite(self) -> dict[str, Any]:
        """The chart as Vega-Lite; not validated, which takes as long as to draw the picture."""
        drawn: dict[str, Any] = self.chart.to_dict(validate=False)
        return drawn

    def __repr__(self) -> str:
        return f"<Figure {self.spec.name}: {self.spec.title}>"

    def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, Any]:
        from dumbbell.figures import drawing  # noqa: PLC0415 - most figures are not shown in one

        return {**drawing.offline(self.chart.to_dict()), "text/plain": self.spec.title}


def assembled(
    spec: BaseFigure,
    chart: Chart,
    notes: Iterable[str],
    tables: Iterable[TextTable] = (),
    frame: pl.DataFrame | None = None,
    *,
    seen: Iterable[str] = (),
) -> Figure:
    """Give a new chart its title, and notes below that; without numbers there are no tables.

    What is `seen` of a figure without tables is in sentences.
    """
    words = tuple(notes)
    subtitle = [line for note in words for line in textwrap.wrap(note, _NOTE_CHARACTERS)]
    # Set, as `properties` and `configure` copy the chart with all its parts, once each.
    chart.title = alt.TitleParams(textwrap.wrap(spec.title, _TITLE_CHARACTERS), subtitle=subtitle)
    chart.config = alt.Config(**style.config())
    if frame is None or frame.is_empty():
        return Figure(spec, chart, words, seen=tuple(seen))
    return Figure(spec, chart, words, tuple(tables), frame, tuple(seen))
