"""Figures of kind `overlay`: runs over time in the same plots, with what happened to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import polars as pl
from pydantic import Field

from dumbbell.base.lazy import altair as alt
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.result import Run
from dumbbell.figures import alternative, marks
from dumbbell.figures.colouring import Colouring
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, assembled
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.kinds.histories import Shown
from dumbbell.figures.source import Views
from dumbbell.figures.spec import TestFigure
from dumbbell.figures.style import GRID
from dumbbell.quantities import bands, occasions, series
from dumbbell.quantities.bands import Bundle
from dumbbell.quantities.names import OptionalAxis
from dumbbell.quantities.series import Joined
from dumbbell.scenario import facts

_WIDTH: Final = 860
_HEIGHTS: Final = {1: 260, 2: 190, 3: 150}
_LOW_HEIGHT: Final = 125
_STRIP: Final = 14
_ROWS_MAX: Final = 16
_LINES_MAX: Final = 24
"""Lines of a plot: the flows of the first runs, as many as have room."""

_SPANS_OF_ALL: Final = 1200
_FIRST: Final = 1.0
_OTHERS: Final = 0.2
_ALL_FLOWS: Final = "all flows"
_GOODPUT: Final = "goodput_mbit_per_s"
_CARRIED: Final = "carried_mbit_per_s"


class OverlayFigure(TestFigure):
    """Quantities over time, one plot each: all runs of a test over each other.

    The lines of first runs are strong. Marks below show when these runs had losses, congestion
    marks or timeouts.
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
        spans = max(40, _SPANS_OF_ALL // max(1, sum(len(drawn.bundles) for drawn in runs)))
        plots = list(_plots(runs, self.quantities, spans))
        happened = _happened([drawn for drawn in runs if drawn.repetition == 0])
        notes = _notes(there, runs, plots)
        notes += list(engine_notes(source.engine, source.left_out(self.test)))
        end_s = max((drawn.run.summary.duration_ns for drawn in runs), default=1) / NS_PER_S
        chart = _chart(plots, happened, colouring, end_s)
        tables = [plot.lines.with_columns(quantity=pl.lit(plot.axis)) for plot in plots]
        seen = alternative.of_lines(
            (plot.axis, plot.lines.with_columns(label=colouring.labels(plot.lines["of"])))
            for plot in plots
        )
        return assembled(self, chart, notes, (), pl.concat(tables) if tables else None, seen=seen)


@dataclass(frozen=True)
class _Drawn:
    """A run whose flows are drawn.

    Attributes
    ----------
    run, repetition
        The run, and its number among those of its grid point, from 0.
    value
        Its value of the axis with the colours; None: flows or algorithms have the colours.
    bundles
        The flows, and bands of equal flows.
    colours
        Owner of the colour of each label: a flow, a band, or an algorithm.
    """

    run: Run
    value: str | None
    repetition: int
    bundles: tuple[Bundle, ...]
    colours: Mapping[str, str]

    def of(self, label: pl.Expr) -> pl.Expr:
        """Return what has the colour of lines with these labels."""
        return label.replace(self.colours) if self.value is None else pl.lit(self.value)


def _chosen(source: Views, spec: OverlayFigure) -> tuple[int, list[_Drawn]]:
    """Return the number of runs, and those that are drawn: the first of each grid point.

    There are as many as lines have room. If a run has many flows, some of them are drawn, at
    regular intervals among all.
    """
    counted: dict[tuple[str, ...], int] = {}
    runs: list[_Drawn] = []
    for axes, view in source.views(spec.test, spec.where):
        point = tuple(axes.values())
        repetition = counted[point] = counted.get(point, -1) + 1
        value = None if spec.series is None else axes[spec.series]
        bundles = tuple(bands.bundles(view.run))
        colours = bands.names(view.run)
        if spec.colours == "algorithms":
            colours = {flow.label: facts.choice(flow.first) for flow in view.flows}
            colours |= {bundle.name: facts.choice(bundle.flows[0].first) for bundle in bundles}
        runs.append(_Drawn(view.run, value, repetition, bundles, colours))
    if not runs:
        return 0, []
    points = len(counted)
    room = max(1, _LINES_MAX // points)
    chosen = []
    for run in runs:
        bundles = _spread(run.bundles, room)
        if (run.repetition + 1) * max(1, len(bundles)) <= room or run.repetition == 0:
            chosen.append(replace(run, bundles=bundles))
    return len(runs), chosen


def _spread(flows: tuple[Any, ...], most: int) -> tuple[Any, ...]:
    """Return some of many, at regular intervals, with the first and the last."""
    if len(flows) <= most:
        return flows
    if most == 1:
        return flows[:1]
    last = len(flows) - 1
    return tuple(flows[round(place * last / (most - 1))] for place in range(most))


@dataclass(frozen=True)
class _Plot:
    """A quantity over time.

    Attributes
    ----------
    axis
        The title of its axis.
    lines
        ``of``, ``flow``, ``run``, ``time_s`` and ``value``, and of bands ``low`` and ``high``.
    joined
        How values are joined.
    dots
        True if samples are so far apart that they are drawn as dots.
    capacity
        ``time_s`` and ``value`` of the bottleneck's rate where it changes.
    """

    axis: str
    lines: pl.DataFrame
    joined: Joined
    dots: bool
    capacity: pl.DataFrame | None


def _plots(runs: Sequence[_Drawn], quantities: Sequence[Shown], spans: int) -> Iterator[_Plot]:
    """Yield the plots that have lines; one of what a changing bottleneck carried comes first."""
    capacity = _capacity(runs, spans)
    behind = _GOODPUT if all(len(_connections(drawn)) == 1 for drawn in runs) else _CARRIED
    if capacity is not None and behind == _CARRIED:
        quantities = (Shown(quantity=_CARRIED), *quantities)
    for shown in quantities:
        kind = series.named(shown.quantity)
        lines = _lines(runs, shown.quantity, spans)
        if not lines.is_empty():
            dots = kind.per_count is None and any(bands.is_coarse(drawn.run) for drawn in runs)
            back = capacity if shown.quantity == behind else None
            yield _Plot(shown.axis, lines, kind.joined, dots, back)


def _connections(drawn: _Drawn) -> list[int]:
    return [number for bundle in drawn.bundles for number in bundle.connections]


def _capacity(runs: Sequence[_Drawn], spans: int) -> pl.DataFrame | None:
    """Return the rate of the bottleneck of all runs; None where it is constant or differs."""
    rates = [list(bands.capacity(drawn.run, spans)) for drawn in runs]
    if not rates or not rates[0] or any(rates_of_run != rates[0] for rates_of_run in rates):
        return None
    return pl.DataFrame(rates[0], schema=("time_s", "value"), orient="row")


def _lines(runs: Sequence[_Drawn], quantity: str, spans: int) -> pl.DataFrame:
    """Return the lines of a plot, as `_Plot` has them."""
    parts = []
    of_flows = series.named(quantity).of_flows
    for drawn in runs:
        alone = [bundle for bundle in drawn.bundles if not bundle.is_band]
        numbers = [number for bundle in alone for number in bundle.connections]
        taken = series.drawn(drawn.run, quantity, flows=numbers, spans=spans)
        frames = [taken.select(pl.all(), low=pl.lit(None), high=pl.lit(None))]
        frames += [
            bands.take(drawn.run, quantity, bundle.connections, spans).select(
                "time_s", "low", "high", label=pl.lit(bundle.name), value="mean"
            )
            for bundle in drawn.bundles
            if bundle.is_band and of_flows
        ]
        parts += [
            part.select(
                of=drawn.of(_whose(of_flows)),
                flow="label",
                run=pl.lit(drawn.repetition + 1),
                time_s="time_s",
                value="value",
                low=pl.col("low").cast(pl.Float64),
                high=pl.col("high").cast(pl.Float64),
            )
            for part in frames
        ]
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
        "low": pl.Float64,
        "high": pl.Float64,
    }
)


def _happened(runs: Sequence[_Drawn]) -> pl.DataFrame:
    """Return what happened in first runs, and when: ``of``, ``what``, ``time_s`` and ``times``."""
    empty = {"of": pl.String, "what": pl.String, "time_s": pl.Float64, "times": pl.Float64}
    parts = [
        occasions.take(drawn.run, _WIDTH // 2).select(
            of=drawn.of(pl.col("label")),
            what="what",
            time_s="time_s",
            times="times",
        )
        for drawn in runs
    ]
    return pl.concat([pl.DataFrame(schema=empty), *parts])


def _notes(there: int, runs: Sequence[_Drawn], plots: Sequence[_Plot]) -> list[str]:
    if not runs:
        return ["Not run yet."]
    notes = []
    repetitions = max(drawn.repetition for drawn in runs) + 1
    if repetitions > 1:
        others = "repetition 2" if repetitions == 2 else f"repetitions 2 to {repetitions}"
        notes.append(f"Strong: first runs; pale: {others}.")
    if len(runs) < there:
        notes.append(f"{len(runs)} of {there} runs are drawn.")
    lines, flows = len(runs[0].bundles), len(bands.bundles(runs[0].run))
    if lines < flows:
        notes.append(f"{lines} of {flows} flows are drawn.")
    if any(bundle.is_band for drawn in runs for bundle in drawn.bundles):
        notes.append("Bands: from the least to the most of equal flows; lines are their means.")
    notes += ["Grey: what the bottleneck can carry." for plot in plots if plot.capacity is not None]
    if any(plot.dots for plot in plots):
        apart = max(bands.round_trips_apart(drawn.run) for drawn in runs)
        notes.append(f"Dots: samples are up to {apart:.0f} round trips apart.")
    return notes


def _chart(
    plots: Sequence[_Plot],
    happened: pl.DataFrame,
    colouring: Colouring,
    end_s: float,
) -> alt.VConcatChart:
    if not plots:
        return alt.vconcat(marks.nothing(width=_WIDTH, height=_LOW_HEIGHT))
    names = list(dict.fromkeys(name for plot in plots for name in plot.lines["of"].unique()))
    names = list(dict.fromkeys([*names, *happened["of"].unique(maintain_order=True)]))
    scale = colouring.scale(names)
    legend = alt.Legend(
        orient="top",
        symbolType="stroke",
        symbolSize=400,
        symbolStrokeWidth=2.5,
        symbolOpacity=1,
        columns=6,
    )
    zoom = alt.selection_interval(
        name="zoom", bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]"
    )
    height = _HEIGHTS.get(len(plots), _LOW_HEIGHT)
    # One legend of all plots: they share the scale.
    colour = alt.Color("label:N", scale=scale, title=None, legend=legend)
    charts: list[alt.Chart | alt.LayerChart | alt.FacetChart] = []
    for place, plot in enumerate(plots):
        is_last = happened.is_empty() and place == len(plots) - 1
        drawn = _plot(plot, colouring, colour, _time(end_s, labelled=is_last))
        charts.append(drawn.properties(width=_WIDTH, height=height))
    if not happened.is_empty():
        charts.append(_strip(happened, colouring, colour, _time(end_s, labelled=True)))
    # One selection for all plots, so that they show the same time.
    charts[0] = charts[0].add_params(zoom)
    stacked: alt.VConcatChart = alt.vconcat(*charts, spacing=8)
    return stacked


def _plot(
    plot: _Plot, colouring: Colouring, colour: alt.Color, time: alt.X
) -> alt.LayerChart | alt.FacetChart:
    lines = plot.lines
    back = [] if plot.capacity is None else plot.capacity["value"].to_list()
    high = max([*lines["value"], *lines["high"].drop_nulls(), *back], default=0.0)
    data = lines.select(
        label=colouring.labels(lines["of"]),
        line=pl.col("of") + " " + pl.col("flow") + " " + pl.col("run").cast(pl.String),
        flow="flow",
        run="run",
        first=pl.col("run") == 1,
        time_s="time_s",
        value="value",
        low="low",
        high="high",
    )
    drawn = _Axes(
        time,
        alt.Y(
            "value:Q",
            title=plot.axis,
            scale=alt.Scale(domain=[0, 1.06 * high if high > 0 else 1.0], nice=False),
            axis=alt.Axis(tickCount=4, minExtent=48, maxExtent=48),
        ),
        colour,
    )
    layers: list[alt.Chart] = [] if plot.capacity is None else [drawn.capacity(plot.capacity)]
    together = data.filter(pl.col("low").is_not_null() & pl.col("first"))
    if not together.is_empty():
        layers.append(drawn.band(plot, together))
    layers.append(drawn.lines(plot, data.drop("low", "high")))
    return alt.layer(*layers)


@dataclass(frozen=True)
class _Axes:
    """The axes and colours that the layers of a plot share."""

    x: alt.X
    y: alt.Y
    colour: alt.Color

    def capacity(self, rates: pl.DataFrame) -> alt.Chart:
        """Draw what the bottleneck can carry as a grey area."""
        chart: alt.Chart = (
            plain(inline(rates))
            .mark_area(interpolate="step-after", color=GRID, clip=True)
            .encode(x=self.x, y=self.y)
        )
        return chart

    def band(self, plot: _Plot, together: pl.DataFrame) -> alt.Chart:
        """Draw the least to the most of equal flows."""
        low = self.y.copy()
        low.shorthand = "low:Q"
        chart: alt.Chart = (
            plain(inline(together))
            .mark_area(opacity=0.22, clip=True, interpolate=plot.joined)
            .encode(
                x=self.x, y=low, y2=alt.Y2("high:Q"), color=self.colour, detail=alt.Detail("line:N")
            )
        )
        return chart

    def lines(self, plot: _Plot, data: pl.DataFrame) -> alt.Chart:
        """Draw lines or steps, or dots where samples are far apart."""
        chart = plain(inline(data))
        if plot.dots:
            marked = chart.mark_circle(size=9, clip=True)
        else:
            marked = chart.mark_line(
                strokeJoin="round", strokeWidth=1.4, clip=True, interpolate=plot.joined
            )
        encoded: alt.Chart = marked.encode(
            x=self.x,
            y=self.y,
            color=self.colour,
            detail=alt.Detail("line:N"),
            opacity=alt.condition("datum.first", alt.value(_FIRST), alt.value(_OTHERS)),
            tooltip=[
                alt.Tooltip("label:N", title="of"),
                alt.Tooltip("flow:N"),
                alt.Tooltip("run:Q"),
                alt.Tooltip("time_s:Q", title="time (s)", format=".2f"),
                alt.Tooltip("value:Q", title=plot.axis, format=".4~g"),
            ],
        )
        return encoded


def _strip(
    happened: pl.DataFrame, colouring: Colouring, colour: alt.Color, time: alt.X
) -> alt.Chart:
    """Draw a tick for what happened: a row for each kind of it, and for each line that has it."""
    label = colouring.labels(happened["of"])
    there_are = set(label.unique())
    order_of_legend = [known for known, _ in colouring.known.values()]
    names = [name for name in order_of_legend if name in there_are]
    names += sorted(there_are - set(names))
    is_one = len(names) == 1
    kind = happened["what"]
    labelled = happened.with_columns(label=label, what=kind if is_one else label + ": " + kind)
    order = [kind if is_one else f"{name}: {kind}" for name in names for kind in occasions.KINDS]
    there = set(labelled["what"])
    kinds = [row for row in order if row in there][:_ROWS_MAX]
    data = labelled.filter(pl.col("what").is_in(kinds)).drop("of")
    chart: alt.Chart = (
        plain(inline(data))
        .mark_tick(thickness=1, size=_STRIP - 4, opacity=1, clip=True)
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


def _time(end_s: float, *, labelled: bool) -> alt.X:
    """Return the axis of time; only the lowest plot has its title."""
    return alt.X(
        "time_s:Q",
        title="time (s)" if labelled else None,
        scale=alt.Scale(domain=[0.0, end_s], nice=False),
        axis=alt.Axis(tickCount=10, labels=labelled, ticks=labelled),
    )
