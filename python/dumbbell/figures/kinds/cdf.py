"""Figures of kind `cdf`: how delays and completion times are distributed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, marks
from dumbbell.figures.colouring import Colouring
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextRow, TextTable, assembled
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.source import Views
from dumbbell.figures.spec import TestFigure
from dumbbell.quantities import bands, histograms, latencies, latency, shown
from dumbbell.quantities.cells import Shown
from dumbbell.quantities.counters import needed
from dumbbell.quantities.names import OptionalAxis
from dumbbell.quantities.spans import Span
from dumbbell.quantities.subjects import Flow
from dumbbell.quantities.view import FlowsView, RunView
from dumbbell.scenario import facts

_SIZE: Final = {"width": 350, "height": 260}
_RANKS: Final = np.concatenate([np.linspace(0, 0.99, 199), np.linspace(0.9905, 1, 20)])
_SHOWN_SHARE: Final = 0.995
"""The values beyond are few and far away."""

_TABLE_PER_MILLE: Final = (500, 900, 950, 990)
_PANES: Final = {
    "rtt": "round-trip time (ms)",
    "queueing": "queueing delay (ms)",
    "one-way": "one-way delay of datagrams (ms)",
    "completion": "completion time (ms)",
}
_US_PER_MS: Final = 1000
_ALL: Final = "all flows"

_Delays = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Delays in ms, and how much each counts."""


class CdfFigure(TestFigure):
    """Distribution functions of delays and of completion times, one plot each.

    Round-trip times are the latest ones at each sample of a flow that is on. If the scenario
    records `delays`, queueing delays at the bottleneck are those of all packets. Otherwise they are
    the backlog at each sample of the queue, divided by the queue's mean rate. One-way delays of
    datagrams cover the whole run unless `delays` are recorded. Completion times are those of
    requests and transfers. All repetitions count together.
    """

    kind: Literal["cdf"]

    series: OptionalAxis = None
    """Axis of the test whose values get colours; by default flows do."""

    def draw(self, source: Views) -> Figure:
        """Draw the figure with whatever runs there are."""
        colouring = Colouring.of(source, self, self.series)
        by_line: dict[tuple[str, str], list[_Delays]] = {}
        for point, view in source.views(self.test, self.where):
            for pane, line, delays in _of_run(
                view, None if self.series is None else point[self.series]
            ):
                if delays[0].size:
                    by_line.setdefault((pane, line), []).append(delays)
        curves = [_Curve.of(pane, line, parts) for (pane, line), parts in by_line.items()]
        curves.sort(key=lambda curve: list(_PANES).index(curve.pane))
        frame = pl.concat([_NOTHING, *(curve.frame() for curve in curves)])
        tables = [_table(pane, curves, colouring) for pane in _PANES if _of(pane, curves)]
        notes = (
            ["Share of the samples, packets or transfers with at most this time."] if curves else []
        )
        notes += ["Not run yet, or nothing was sampled."] if not curves else []
        notes += list(engine_notes(source.engine, source.left_out(self.test)))
        return assembled(self, _chart(frame, colouring), notes, tables, frame)


_NOTHING: Final = pl.DataFrame(
    schema={"delay": pl.String, "of": pl.String, "ms": pl.Float64, "share": pl.Float64}
)


@dataclass(frozen=True)
class _Curve:
    pane: str
    line: str
    ms: npt.NDArray[np.float64]
    values: int
    """The number of samples, packets or transfers."""

    @classmethod
    def of(cls, pane: str, line: str, parts: list[_Delays]) -> _Curve:
        values = np.concatenate([values for values, _ in parts])
        weights = np.concatenate([weights for _, weights in parts])
        order = np.argsort(values, kind="stable")
        risen = np.cumsum(weights[order])
        at = np.searchsorted(risen, _RANKS * risen[-1]).clip(0, len(order) - 1)
        return cls(pane, line, values[order][at], round(risen[-1]))

    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "delay": [self.pane] * len(_RANKS),
                "of": [self.line] * len(_RANKS),
                "ms": self.ms,
                "share": _RANKS,
            }
        )

    def percentile(self, per_mille: int) -> Shown:
        """Return a percentile as tables show it, or how many values it needs."""
        if self.values < needed(per_mille):
            return shown.percentile(None, per_mille, self.values)
        place = np.searchsorted(_RANKS, per_mille / 1000)
        return shown.percentile(float(self.ms[place]), per_mille, self.values)


def _of(pane: str, curves: list[_Curve]) -> list[_Curve]:
    return [curve for curve in curves if curve.pane == pane]


def _of_run(view: RunView, value: str | None) -> Iterator[tuple[str, str, _Delays]]:
    """Yield what was measured in a run after it has settled: pane, line, and the delays."""
    span = view.span("main") or Span(0, view.scenario.duration_ns)
    for bundle in bands.bundles(view.run):
        line = value or bundle.name
        rtts = [np.empty(0), *_rtts(view, bundle.flows, span)]
        yield "rtt", line, _alike(np.concatenate(rtts))
        on_the_way = _on_the_way(view, bundle, span)
        if on_the_way is not None:
            yield "one-way", line, on_the_way
    waiting = _waiting(view, span)
    if waiting is not None:
        yield "queueing", value or _ALL, waiting
    names = bands.names(view.run)
    for flows in latencies.kinds(view.flows):
        start_ns = min(flow.life.start_ns for flow in flows)
        window = FlowsView(view, flows, Span(start_ns, view.scenario.duration_ns))
        yield "completion", value or names[flows[0].label], _alike(latency.latencies_ms(window))


def _alike(values: npt.NDArray[np.float64]) -> _Delays:
    return values, np.ones(len(values))


def _rtts(view: RunView, flows: Sequence[Flow], span: Span) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the round-trip times at the samples of flows while they are on."""
    for values in FlowsView(view, tuple(flows), span).samples("rtt_us").values():
        yield values / _US_PER_MS


def _on_the_way(view: RunView, bundle: bands.Bundle, span: Span) -> _Delays | None:
    """Return the one-way delays of datagrams: of the whole run unless periods are recorded."""
    if not bundle.flows[0].is_datagrams:
        return None
    if view.scenario.record.delays_ns is None:
        span = Span(0, view.scenario.duration_ns)
    counted = histograms.on_the_way(view, span, bundle.connections)
    return None if counted is None else (counted.delays_ms, counted.packets.astype(np.float64))


def _waiting(view: RunView, span: Span) -> _Delays | None:
    """Return the waits of packets at the bottleneck; None if no recording shows them."""
    queue = facts.bottleneck(view.scenario)
    rate_bps = facts.bottleneck_rate_bps(view.scenario, span.start_ns, span.end_ns)
    if queue is None or not rate_bps:
        return None
    counted = histograms.waiting(view, span, queue)
    if counted is not None and counted.packets.size:
        return counted.delays_ms, counted.packets.astype(np.float64)
    samples = (
        view.run.scan("queues", named=False)
        .filter(
            (pl.col("queue") == queue) & pl.col("time_ns").is_between(span.start_ns, span.end_ns)
        )
        .select(ms=pl.col("backlog_bytes") * (8e3 / rate_bps))
        .collect()
    )
    values = samples["ms"].to_numpy()
    return (values, np.ones(len(values))) if len(values) else None


def _chart(frame: pl.DataFrame, colouring: Colouring) -> alt.ConcatChart:
    scale = colouring.scale(frame["of"].unique(maintain_order=True))
    plots = []
    for pane, title in _PANES.items():
        part = frame.filter(pl.col("delay") == pane)
        if part.is_empty():
            continue
        labelled = part.with_columns(label=colouring.labels(part["of"]))
        high = float(np.max(part.filter(pl.col("share") <= _SHOWN_SHARE)["ms"].to_numpy()))
        plots.append(
            plain(inline(labelled.drop("delay", "of")))
            .mark_line(interpolate="step-after", strokeWidth=1.6, clip=True)
            .encode(
                x=alt.X(
                    "ms:Q",
                    title=title,
                    scale=_scale(pane, float(np.min(part["ms"].to_numpy())), high),
                    axis=alt.Axis(tickCount=6),
                ),
                y=alt.Y(
                    "share:Q",
                    title="share",
                    scale=alt.Scale(domain=[0, 1]),
                    axis=alt.Axis(format="%"),
                ),
                color=alt.Color("label:N", scale=scale, title=None),
                tooltip=[
                    alt.Tooltip("label:N", title="of"),
                    alt.Tooltip("ms:Q", title=title, format=".4~g"),
                    alt.Tooltip("share:Q", format=".1%"),
                ],
            )
            .properties(**_SIZE)
        )
    chart: alt.ConcatChart = alt.concat(*(plots or [marks.nothing(**_SIZE)]), columns=2)
    return chart


def _scale(pane: str, low: float, high: float) -> alt.Scale:
    """Return the scale of times; those of transfers lie decades apart."""
    if pane == "completion":
        return alt.Scale(type="log", nice=True)
    if pane == "queueing":
        return alt.Scale(zero=True, nice=True, domainMax=high)
    return alt.Scale(zero=False, nice=True, domain=list(axes.widened(low, high)))


def _table(pane: str, curves: list[_Curve], colouring: Colouring) -> TextTable:
    rows = tuple(
        TextRow(
            colouring.label(curve.line),
            tuple(curve.percentile(per_mille) for per_mille in _TABLE_PER_MILLE),
        )
        for curve in _of(pane, curves)
    )
    heads = tuple(f"{per_mille / 10:g} %" for per_mille in _TABLE_PER_MILLE)
    return TextTable(_PANES[pane], "percentiles", "", heads, rows)
