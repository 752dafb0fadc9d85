"""Figures of kind `overlay`: runs over time in the same plots, with what happened to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import polars as pl
from pydantic import Field

from dumbbell.base.lazy import altair as alt
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.figures import marks
from dumbbell.figures.colouring import Colouring
from dumbbell.figures.data import inline
from dumbbell.figures.figure import Figure, assembled
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.kinds.histories import Shown
from dumbbell.figures.source import Views
from dumbbell.figures.spec import TestFigure
from dumbbell.quantities import occasions, series
from dumbbell.quantities.names import OptionalAxis
from dumbbell.scenario import facts

_WIDTH: Final = 860
_HEIGHTS: Final = {1: 260, 2: 190, 3: 150}
_LOW_HEIGHT: Final = 125
_STRIP: Final = 14
_ROWS_MAX: Final = 16
_LINES_MAX: Final = 24
"""Lines of a plot: the flows of the first runs, as many as have room."""

_SPANS_OF_ALL: Final = 1200
_FIRST: Final = 0.95
_OTHERS: Final = 0.2
_ALL_FLOWS: Final = "all flows"


class OverlayFigure(TestFigure):
    """Quantities over time, one plot each: all runs of a test over each other.

    The lines of first runs are strong, and below is when something was lost, marked or timed out in
    these.
    """

    kind: Literal["overlay"]

    quantities: tuple[Shown, ...] = Field(min_length=1, examples=[["cwnd_segs", "rtt_ms"]])
    """Quantities, one below the other."""

    series: OptionalAxis = None
    """Axis of the test whose values get colours; by default `colours` decides."""

    colours: Literal["flows", "algorithms"] = "flows"
    """Without a `series`: whether each flow or each algorithm has a colour."""

    def draw(self, source: Views) -> Figure:
        """Draw the figure with whatever runs there are."""
        by_algorithm = self.series is None and self.colours == "algorithms"
        colouring = Colouring.of(source, self, self.series, by_algorithm=by_algorithm)
        there, runs = _chosen(source, self)
        spans = max(40, _SPANS_OF_ALL // max(1, sum(len(each.flows) for each in runs)))
        plots = [(shown.axis, _lines(runs, shown.quantity, spans)) for shown in self.quantities]
        plots = [(axis, lines) for axis, lines in plots if not lines.is_empty()]
        happened = _happened([each for each in runs if each.repetition == 0])
        notes = _notes(there, runs, colouring)
        notes += list(engine_notes(source.engine, source.left_out(self.test)))
        end_s = max((each.run.summary.duration_ns for each in runs), default=1) / NS_PER_S
        chart = _chart(plots, happened, colouring, end_s)
        told = [lines.with_columns(quantity=pl.lit(axis)) for axis, lines in plots]
        return assembled(self, chart, notes, (), pl.concat(told) if told else None)


@dataclass(frozen=True)
class _Drawn:
    """A run whose flows are drawn.

    Attributes
    ----------
    run, repetition
        The run, and its number among those of its grid point, from 0.
    value
        Its value of the axis with the colours; None: flows or algorithms have the colours.
    flows
        Labels and connections of the flows.
    colours
        What has the colour of each label, if algorithms have the colours.
    """

    run: Run
    value: str | None
    repetition: int
    flows: tuple[tuple[str, tuple[int, ...]], ...]
    colours: Mapping[str, str]

    def of(self, label: pl.Expr) -> pl.Expr:
        """Return what has the colour of lines with these labels."""
        return label.replace(self.colours) if self.value is None else pl.lit(self.value)


def _chosen(source: Views, spec: OverlayFigure) -> tuple[int, list[_Drawn]]:
    """Return how many runs there are, and the first of each grid point as far as lines have room.

    Of many flows in a run, some are drawn that are spread evenly over the others.
    """
    counted: dict[tuple[str, ...], int] = {}
    found: list[_Drawn] = []
    for axes, view in source.views(spec.test, spec.where):
        point = tuple(axes.values())
        repetition = counted[point] = counted.get(point, -1) + 1
        sampled = [flow for flow in view.flows if flow.first.sampled]
        value = None if spec.series is None else axes[spec.series]
        flows = tuple((flow.label, flow.connections) for flow in sampled)
        by_algorithm = spec.colours == "algorithms"
        colours = {flow.label: facts.choice(flow.first) for flow in sampled if by_algorithm}
        found.append(_Drawn(view.run, value, repetition, flows, colours))
    if not found:
        return 0, []
    points = len(counted)
    room = max(1, _LINES_MAX // points)
    chosen = []
    for each in found:
        flows = _spread(each.flows, room)
        if (each.repetition + 1) * max(1, len(flows)) <= room or each.repetition == 0:
            chosen.append(replace(each, flows=flows))
    return len(found), chosen


def _spread(flows: tuple[Any, ...], most: int) -> tuple[Any, ...]:
    """Return some of many that are spread evenly over all, with the first and the last."""
    if len(flows) <= most:
        return flows
    if most == 1:
        return flows[:1]
    last = len(flows) - 1
    return tuple(flows[round(place * last / (most - 1))] for place in range(most))


def _lines(runs: Sequence[_Drawn], quantity: str, spans: int) -> pl.DataFrame:
    """Return the lines of a plot: ``of``, ``flow``, ``run``, ``time_s`` and ``value``."""
    parts = []
    of_flows = series.named(quantity).of_flows
    for each in runs:
        numbers = [number for _, flow in each.flows for number in flow]
        taken = series.take(each.run, quantity, flows=numbers, spans=spans)
        parts.append(
            taken.select(
                of=each.of(_whose(of_flows)),
                flow="label",
                run=pl.lit(each.repetition + 1),
                time_s="time_s",
                value="value",
            )
        )
    return pl.concat([_NO_LINES, *parts])


def _whose(of_flows: bool) -> pl.Expr:
    return pl.col("label") if of_flows else pl.lit(_ALL_FLOWS)


_NO_LINES: Final = pl.DataFrame(
    schema={
        "of": pl.String,
        "flow": pl.String,
        "run": pl.Int32,
        "time_s": pl.Float64,
        "value": pl.Float64,
    }
)


def _happened(runs: Sequence[_Drawn]) -> pl.DataFrame:
    """Return what happened in first runs, and when: ``of``, ``what``, ``time_s`` and ``times``."""
    empty = {"of": pl.String, "what": pl.String, "time_s": pl.Float64, "times": pl.Float64}
    parts = [
        occasions.take(each.run, _WIDTH // 2).select(
            of=each.of(pl.col("label")),
            what="what",
            time_s="time_s",
            times="times",
        )
        for each in runs
    ]
    return pl.concat([pl.DataFrame(schema=empty), *parts])


def _notes(there: int, runs: Sequence[_Drawn], colouring: Colouring) -> list[str]:
    if not runs:
        return ["Not run yet."]
    notes = []
    repetitions = max(each.repetition for each in runs) + 1
    if repetitions > 1:
        notes.append(f"Strong: first runs; pale: the same again, {repetitions - 1} times.")
    if len(runs) < there:
        notes.append(f"{len(runs)} of {there} runs are drawn.")
    flows = {label for each in runs for label, _ in each.flows}
    if colouring.known and any(each.value is None for each in runs):
        missing = len(colouring.known) - len(flows)
        if missing > 0:
            notes.append(f"{len(flows)} of {len(colouring.known)} flows are drawn.")
    return notes


def _chart(
    plots: Sequence[tuple[str, pl.DataFrame]],
    happened: pl.DataFrame,
    colouring: Colouring,
    end_s: float,
) -> alt.VConcatChart:
    if not plots:
        return alt.vconcat(marks.nothing(width=_WIDTH, height=_LOW_HEIGHT))
    names = list(dict.fromkeys(name for _, lines in plots for name in lines["of"].unique()))
    scale = colouring.scale(names)
    legend = alt.Legend(
        orient="top", symbolType="stroke", symbolSize=400, symbolStrokeWidth=2.5, columns=6
    )
    zoom = alt.selection_interval(
        name="zoom", bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]"
    )
    height = _HEIGHTS.get(len(plots), _LOW_HEIGHT)
    charts = []
    for place, (axis, lines) in enumerate(plots):
        colour = alt.Color(
            "label:N", scale=scale, title=None, legend=legend if place == 0 else None
        )
        is_last = happened.is_empty() and place == len(plots) - 1
        drawn = _plot(axis, lines, colouring, colour, _time(end_s, told=is_last))
        charts.append(drawn.properties(width=_WIDTH, height=height))
    if not happened.is_empty():
        colour = alt.Color("label:N", scale=scale, title=None, legend=None)
        charts.append(_strip(happened, colouring, colour, _time(end_s, told=True)))
    # One selection for all plots, so that they show the same time.
    charts[0] = charts[0].add_params(zoom)
    stacked: alt.VConcatChart = alt.vconcat(*charts, spacing=8)
    return stacked


def _plot(
    axis: str, lines: pl.DataFrame, colouring: Colouring, colour: alt.Color, time: alt.X
) -> alt.Chart:
    high = lines["value"].max()
    top = 1.06 * float(high) if isinstance(high, int | float) and high > 0 else 1.0
    data = lines.select(
        label=colouring.labels(lines["of"]),
        line=pl.col("of") + " " + pl.col("flow") + " " + pl.col("run").cast(pl.String),
        flow="flow",
        run="run",
        first=pl.col("run") == 1,
        time_s="time_s",
        value="value",
    )
    chart: alt.Chart = (
        alt.Chart(inline(data))
        .mark_line(strokeJoin="round", strokeWidth=1.4, clip=True)
        .encode(
            x=time,
            y=alt.Y(
                "value:Q",
                title=axis,
                scale=alt.Scale(domain=[0, top], nice=False),
                axis=alt.Axis(tickCount=4, minExtent=48, maxExtent=48),
            ),
            color=colour,
            detail="line:N",
            opacity=alt.condition("datum.first", alt.value(_FIRST), alt.value(_OTHERS)),
            tooltip=[
                alt.Tooltip("label:N", title="of"),
                alt.Tooltip("flow:N"),
                alt.Tooltip("run:Q"),
                alt.Tooltip("time_s:Q", title="time (s)", format=".2f"),
                alt.Tooltip("value:Q", title=axis, format=".4~g"),
            ],
        )
    )
    return chart


def _strip(
    happened: pl.DataFrame, colouring: Colouring, colour: alt.Color, time: alt.X
) -> alt.Chart:
    """Draw a tick for what happened: a row for each kind of it, and for each line that has it."""
    label = colouring.labels(happened["of"])
    names = label.unique(maintain_order=True).to_list()
    is_one = len(names) == 1
    kind = happened["what"]
    found = happened.with_columns(label=label, what=kind if is_one else label + ": " + kind)
    order = [kind if is_one else f"{name}: {kind}" for name in names for kind in occasions.KINDS]
    there = set(found["what"])
    kinds = [row for row in order if row in there][:_ROWS_MAX]
    data = found.filter(pl.col("what").is_in(kinds)).drop("of")
    chart: alt.Chart = (
        alt.Chart(inline(data))
        .mark_tick(thickness=1, size=_STRIP - 4, opacity=0.7, clip=True)
        .encode(
            x=time,
            y=alt.Y(
                "what:N",
                sort=kinds,
                scale=alt.Scale(domain=kinds),
                title=None,
                axis=alt.Axis(grid=False, labelLimit=160),
            ),
            color=colour,
            tooltip=[
                alt.Tooltip("label:N", title="of"),
                alt.Tooltip("what:N", title="what"),
                alt.Tooltip("time_s:Q", title="time (s)", format=".2f"),
                alt.Tooltip("times:Q", title="how often"),
            ],
        )
        .properties(width=_WIDTH, height=_STRIP * len(kinds))
    )
    return chart


def _time(end_s: float, *, told: bool) -> alt.X:
    """Return the axis of time; only the lowest plot has its title."""
    return alt.X(
        "time_s:Q",
        title="time (s)" if told else None,
        scale=alt.Scale(domain=[0.0, end_s], nice=False),
        axis=alt.Axis(tickCount=10, labels=told, ticks=told),
    )
