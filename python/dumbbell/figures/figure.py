"""A drawn figure: its chart, what is said about it, and its numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import altair as alt
import polars as pl

from dumbbell.figures import chart_style
from dumbbell.figures.chart_points import Pane
from dumbbell.study.figure_spec import FigureSpec

_TITLE_CHARACTERS: Final = 110
_NOTE_CHARACTERS: Final = 150

Chart = alt.ConcatChart | alt.HConcatChart | alt.VConcatChart
"""A figure: panels in a grid, side by side or stacked."""


@dataclass(frozen=True)
class TextRow:
    """A row of a table: what it is about, and its cells."""

    x: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class TextTable:
    """The numbers of one plot, for readers.

    Attributes
    ----------
    title
        What sets the plot apart; empty where there is only one.
    caption
        What the cells hold.
    corner
        What the rows are about.
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


@dataclass(frozen=True)
class Figure:
    """A drawn figure.

    Attributes
    ----------
    spec
        What it is.
    chart
        The Altair chart, with title and notes.
    notes
        What is shown, and what is missing.
    panes
        The numbers behind the plots of a points figure.
    tables
        The numbers of any figure that has some, a table per plot.
    frame
        The same for machines; None if it has none.
    """

    spec: FigureSpec
    chart: Chart
    notes: tuple[str, ...]
    panes: tuple[Pane, ...] = ()
    tables: tuple[TextTable, ...] = ()
    frame: pl.DataFrame | None = None


def titled(chart: Chart, title: str, notes: Sequence[str]) -> Chart:
    """Give a chart its title, and notes below that."""
    subtitle = [line for note in notes for line in textwrap.wrap(note, _NOTE_CHARACTERS)]
    with_title: Chart = chart.properties(
        title=alt.TitleParams(textwrap.wrap(title, _TITLE_CHARACTERS), subtitle=subtitle)
    ).configure(**chart_style.config())
    return with_title


def not_run(spec: FigureSpec, test: str, axes: alt.Chart) -> Figure:
    """Return a figure of which nothing has been run: its empty axes."""
    note = f"Not run yet: the test {test}."
    return Figure(spec, titled(alt.hconcat(axes), spec.title, [note]), (note,))
