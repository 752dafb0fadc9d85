"""Figures of kind `measured`: a measurement on a real path, next to simulated runs of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import polars as pl
from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.labels import number
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, marks, style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextRow, TextTable, assembled
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.source import Views
from dumbbell.figures.spec import Spec, TestFigure
from dumbbell.figures.style import INK
from dumbbell.quantities import bands, series, taking
from dumbbell.quantities.view import RunView

_WIDTH: Final = 420
_HEIGHT: Final = 150
_SPANS: Final = 300
_MEASURED: Final = "measured"
_SIMULATED: Final = "simulated"
_PANES: Final = {"goodput_mbit_per_s": "goodput (Mbit/s)", "rtt_ms": "RTT (ms)"}

COMPARED: Final = {
    "goodput_mbit_per_s": ("goodput (Mbit/s)", 1.0),
    "rtt_min_ms": ("shortest RTT (ms)", 1.0),
    "rtt_mean_ms": ("mean RTT (ms)", 1.0),
    "retransmitted_share": ("retransmitted (%)", 100.0),
}
"""Quantities of a flow that are shown of both: title, and the factor of its unit."""


class MeasuredLine(Spec):
    """A flow as it was measured."""

    label: str = Field(examples=["stream 1"])
    """Label of the scenario's flow next to which it is drawn."""

    time_s: tuple[float, ...]
    """When each sample was taken, from the start of the run."""

    goodput_mbit_per_s: tuple[float, ...] = ()
    """Goodput at these times; `nan` where it is not known."""

    rtt_ms: tuple[float, ...] = ()
    """Round-trip time at these times; `nan` where it is not known."""

    whole: Mapping[str, float] = Field({}, examples=[{"goodput_mbit_per_s": 93.1}])
    """Known values over the whole time, of `goodput_mbit_per_s`, `rtt_min_ms`, `rtt_mean_ms` and
    `retransmitted_share`."""

    @model_validator(mode="after")
    def _fits(self) -> MeasuredLine:
        for name in _PANES:
            values = getattr(self, name)
            if values and len(values) != len(self.time_s):
                raise InputError(
                    f"{len(values)} values for {len(self.time_s)} times",
                    key=name,
                    valid="one for each of time_s",
                )
        for name in self.whole:
            if name not in COMPARED:
                raise InputError(
                    "is not known of both", key="whole", value=name, valid=", ".join(COMPARED)
                )
        return self


class MeasuredFigure(TestFigure):
    """Flows measured on a real path, next to simulated ones: goodput and RTT over time.

    `dumbbell import` writes figures of this kind.
    """

    kind: Literal["measured"]

    flows: tuple[MeasuredLine, ...] = Field(min_length=1, alias="flow")
    """Measured flows, a table for each."""

    def draw(self, source: Views) -> Figure:
        """Draw the figure with whatever runs there are."""
        views = [view for _, view in source.views(self.test, self.where)]
        frame = pl.concat([_measured(self.flows), *map(_simulated, views[:1])])
        notes = [f"Thin and dark: measured; in colour: simulated{_runs(views)}."]
        notes += [] if views else ["Not run yet."]
        notes += list(engine_notes(source.engine, source.left_out(self.test)))
        rows = [(line, flow_means(line.label, views)) for line in self.flows]
        tables = [_table(line, simulated) for line, simulated in rows]
        known = bands.choices(views[0].run, together=False) if views else {}
        colours = style.flow_colours(known.get(line.label) for line in self.flows)
        chart = _chart(frame, dict(zip((line.label for line in self.flows), colours, strict=True)))
        return assembled(self, chart, notes, tables, frame)


def flow_means(label: str, views: Sequence[RunView]) -> dict[str, float | None]:
    """Return the means of a flow of this label over simulated runs."""
    by_name: dict[str, list[float]] = {name: [] for name in COMPARED}
    for view in views:
        numbers = [flow.number for flow in view.flows if flow.label == label]
        for name in COMPARED if numbers else ():
            reference = f"{name}[{numbers[0]}]@run"
            value = taking.of_run(view.run, [reference])[reference]
            by_name[name] += [] if value is None else [value]
    return {name: sum(values) / len(values) if values else None for name, values in by_name.items()}


_LINES: Final = {
    "pane": pl.String,
    "what": pl.String,
    "flow": pl.String,
    "time_s": pl.Float64,
    "value": pl.Float64,
}


def _measured(flows: Sequence[MeasuredLine]) -> pl.DataFrame:
    parts = [
        pl.DataFrame({"time_s": line.time_s, "value": getattr(line, pane)})
        .select(
            pane=pl.lit(pane),
            what=pl.lit(_MEASURED),
            flow=pl.lit(line.label),
            time_s=pl.col("time_s").cast(pl.Float64),
            value=pl.col("value").cast(pl.Float64).fill_nan(None),
        )
        .drop_nulls()
        for line in flows
        for pane in _PANES
        if getattr(line, pane)
    ]
    return pl.concat([pl.DataFrame(schema=_LINES), *parts])


def _simulated(view: RunView) -> pl.DataFrame:
    parts = [
        series.take(view.run, pane, spans=_SPANS).select(
            pane=pl.lit(pane),
            what=pl.lit(_SIMULATED),
            flow="label",
            time_s="time_s",
            value="value",
        )
        for pane in _PANES
    ]
    return pl.concat(parts)


def _runs(views: Sequence[RunView]) -> str:
    return f", the first of {len(views)} runs" if len(views) > 1 else ""


def _table(line: MeasuredLine, simulated: Mapping[str, float | None]) -> TextTable:
    rows = []
    for name, (title, _) in COMPARED.items():
        pair = (line.whole.get(name), simulated[name])
        shown = (cell(name, value) for value in pair)
        rows.append(TextRow(title, (*shown, _difference(*pair))))
    heads = (_MEASURED, _SIMULATED, "difference")
    return TextTable(line.label, "means of the runs", "", heads, tuple(rows))


def cell(name: str, value: float | None) -> str:
    """Return a quantity of `COMPARED` as readers see it."""
    return number(None if value is None else value * COMPARED[name][1], 4)


def _difference(measured: float | None, simulated: float | None) -> str:
    if not measured or simulated is None:
        return number(None)
    return f"{100 * (simulated / measured - 1):+.1f} %"


def _chart(frame: pl.DataFrame, colours: Mapping[str, str]) -> alt.ConcatChart:
    panes = [pane for pane in _PANES if not frame.filter(pl.col("pane") == pane).is_empty()]
    if not panes:
        return alt.concat(marks.nothing(width=_WIDTH, height=_HEIGHT))
    plots = [
        _plot(
            frame.filter((pl.col("pane") == pane) & (pl.col("flow") == label)), pane, label, colour
        )
        for label, colour in colours.items()
        for pane in panes
    ]
    chart: alt.ConcatChart = alt.concat(*plots, columns=len(panes), spacing=14)
    return chart


def _scale(pane: str, frame: pl.DataFrame) -> alt.Scale:
    """Return the scale of a plot: goodput from 0, RTTs near the values."""
    values = frame["value"] if pane == "rtt_ms" else pl.Series([0.0, *frame["value"]])
    return axes.near([values])


def _plot(
    frame: pl.DataFrame, pane: str, label: str, colour: str
) -> alt.LayerChart | alt.FacetChart:
    colours = {_SIMULATED: colour, _MEASURED: INK}
    encoded: dict[str, Any] = {
        "x": alt.X("time_s:Q", title="time (s)", axis=alt.Axis(tickCount=8)),
        "y": alt.Y(
            "value:Q", title=_PANES[pane], scale=_scale(pane, frame), axis=alt.Axis(tickCount=4)
        ),
        "tooltip": [
            alt.Tooltip("what:N", title="how"),
            alt.Tooltip("time_s:Q", title="time (s)", format=".2f"),
            alt.Tooltip("value:Q", title=_PANES[pane], format=".4~g"),
        ],
    }
    layers = []
    for what, shown in colours.items():
        data = inline(frame.filter(pl.col("what") == what).select("what", "time_s", "value"))
        width = 1.1 if what == _MEASURED else 2.2
        line = plain(data).mark_line(strokeJoin="round", strokeWidth=width, color=shown)
        layers.append(line.encode(**encoded))
    return alt.layer(*layers).properties(
        width=_WIDTH, height=_HEIGHT, title=alt.TitleParams(label, fontSize=13, anchor="start")
    )
