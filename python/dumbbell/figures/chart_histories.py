"""Charts of runs over time: one row per panel and quantity, one line per flow."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import polars as pl

from dumbbell.figures.chart_data import inline
from dumbbell.figures.chart_style import FAINT, flow_colours

_WIDTH = 760
_HEIGHT = 190
_LOW_HEIGHT = 130
_MANY_ROWS = 3
_WIDEST = 1.8


@dataclass(frozen=True)
class Row:
    """One plot: `lines` has ``label``, ``time_s`` and ``value``; None if the run is missing."""

    title: str
    quantity: str
    lines: pl.DataFrame | None
    start_s: float
    end_s: float
    from_zero: bool = True


def draw(rows: Sequence[Row]) -> alt.VConcatChart:
    """Stack the rows; flows keep their colours in all of them."""
    labels = list(
        dict.fromkeys(
            label for row in rows if row.lines is not None for label in row.lines["label"]
        )
    )
    height = _HEIGHT if len(rows) <= _MANY_ROWS else _LOW_HEIGHT
    charts = [
        (_lines(row, labels, position) if row.lines is not None else _absent(row)).properties(
            title=alt.TitleParams(row.title, frame="group"), width=_WIDTH, height=height
        )
        for position, row in enumerate(rows)
    ]
    stacked: alt.VConcatChart = alt.vconcat(*charts, spacing=18)
    return stacked


def _lines(row: Row, labels: list[str], position: int) -> alt.Chart:
    assert row.lines is not None
    zoom = alt.selection_interval(
        name=f"zoom{position}",
        bind="scales",
        encodings=["x"],
        zoom="wheel![event.shiftKey]",
    )
    colours = alt.Scale(domain=labels, range=flow_colours(len(labels)))
    # Later lines are thinner, so that what they cover still shows.
    widths = alt.Scale(domain=labels, range=[_WIDEST / (1 + 0.5 * n) for n in range(len(labels))])
    chart: alt.Chart = (
        alt.Chart(inline(row.lines))
        .mark_line(strokeJoin="round", clip=True)
        .encode(
            x=_time(row),
            y=alt.Y("value:Q", title=row.quantity, scale=_heights(row, row.lines)),
            color=alt.Color("label:N", scale=colours, title=None, legend=_LEGEND),
            strokeWidth=alt.StrokeWidth("label:N", scale=widths, legend=None),
            tooltip=[
                alt.Tooltip("label:N", title="flow"),
                alt.Tooltip("time_s:Q", title="time (s)", format=".1f"),
                alt.Tooltip("value:Q", title=row.quantity, format=".4~g"),
            ],
        )
        .add_params(zoom)
    )
    return chart


def _heights(row: Row, lines: pl.DataFrame) -> alt.Scale:
    """Return a scale with some room beyond the values, so that a constant is not the frame."""
    values = lines["value"].to_list() or [0.0, 1.0]
    low, high = (0.0 if row.from_zero else min(values)), max(values)
    room = 0.06 * ((high - low) or 1.0)
    return alt.Scale(domain=[low if row.from_zero else low - room, high + room], nice=False)


def _absent(row: Row) -> alt.Chart:
    middle_s = (row.start_s + row.end_s) / 2
    data = inline(pl.DataFrame({"time_s": [middle_s], "note": ["not run yet"]}))
    chart: alt.Chart = (
        alt.Chart(data).mark_text(fontSize=14, color=FAINT).encode(x=_time(row), text="note:N")
    )
    return chart


def _time(row: Row) -> alt.X:
    return alt.X(
        "time_s:Q",
        title="time (s)",
        scale=alt.Scale(domain=[row.start_s, row.end_s], nice=False),
        axis=alt.Axis(tickCount=10),
    )


_LEGEND = alt.Legend(orient="right", symbolType="stroke", symbolSize=400, symbolStrokeWidth=2.5)
