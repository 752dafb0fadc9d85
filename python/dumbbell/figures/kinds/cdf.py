"""Figures of kind `cdf`: how round-trip times and queueing delays are distributed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.base.labels import number
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import marks
from dumbbell.figures.colouring import Colouring
from dumbbell.figures.data import inline
from dumbbell.figures.figure import Figure, TextRow, TextTable, assembled
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.source import Views
from dumbbell.figures.spec import TestFigure
from dumbbell.quantities import histograms
from dumbbell.quantities.names import OptionalAxis
from dumbbell.quantities.spans import Span
from dumbbell.quantities.view import RunView
from dumbbell.scenario import facts

_SIZE: Final = {"width": 350, "height": 260}
_RANKS: Final = np.concatenate([np.linspace(0, 0.99, 199), np.linspace(0.9905, 1, 20)])
_SHOWN_SHARE: Final = 0.995
"""The values beyond are few and far away."""

_TOLD: Final = (0.5, 0.9, 0.95, 0.99)
_PANES: Final = {"rtt": "round-trip time (ms)", "queueing": "queueing delay (ms)"}
_ALL: Final = "all flows"

_Delays = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Delays in ms, and how much each counts."""


class CdfFigure(TestFigure):
    """Distribution functions of round-trip times and of queueing delays at the bottleneck.

    Round-trip times are the latest ones whenever flows are sampled. Queueing delays are those of
    all packets where the scenario records `delays`, else what waits whenever the queue is sampled,
    at its mean rate. Repetitions are put together.
    """

    kind: Literal["cdf"]

    series: OptionalAxis = None
    """Axis of the test whose values get colours; by default flows do."""

    def draw(self, source: Views) -> Figure:
        """Draw the figure with whatever runs there are."""
        colouring = Colouring.of(source, self, self.series)
        found: dict[tuple[str, str], list[_Delays]] = {}
        for axes, view in source.views(self.test, self.where):
            for pane, line, delays in _of_run(
                view, None if self.series is None else axes[self.series]
            ):
                found.setdefault((pane, line), []).append(delays)
        curves = [_Curve.of(pane, line, parts) for (pane, line), parts in found.items()]
        curves.sort(key=lambda each: list(_PANES).index(each.pane))
        frame = pl.concat([_NOTHING, *(curve.frame() for curve in curves)])
        tables = [_table(pane, curves, colouring) for pane in _PANES if _of(pane, curves)]
        notes = ["Share of the samples, or packets, with at most this delay."] if curves else []
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

    @classmethod
    def of(cls, pane: str, line: str, parts: list[_Delays]) -> _Curve:
        values = np.concatenate([values for values, _ in parts])
        weights = np.concatenate([weights for _, weights in parts])
        order = np.argsort(values, kind="stable")
        risen = np.cumsum(weights[order])
        at = np.searchsorted(risen, _RANKS * risen[-1]).clip(0, len(order) - 1)
        return cls(pane, line, values[order][at])

    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "delay": [self.pane] * len(_RANKS),
                "of": [self.line] * len(_RANKS),
                "ms": self.ms,
                "share": _RANKS,
            }
        )

    def percentile(self, share: float) -> float:
        return float(self.ms[np.searchsorted(_RANKS, share)])


def _of(pane: str, curves: list[_Curve]) -> list[_Curve]:
    return [curve for curve in curves if curve.pane == pane]


def _of_run(view: RunView, value: str | None) -> Iterator[tuple[str, str, _Delays]]:
    """Yield what was measured in a run after it has settled: pane, line, and the delays."""
    span = view.span("main") or Span(0, view.scenario.duration_ns)
    samples = (
        view.run.scan("flows")
        .filter(pl.col("time_ns").is_between(span.start_ns, span.end_ns))
        .select(pl.col("label").cast(pl.String), ms=pl.col("rtt_us") / 1e3)
        .drop_nulls()
        .collect()
    )
    for (label,), part in samples.group_by("label", maintain_order=True):
        values = part["ms"].to_numpy()
        yield "rtt", value or facts.whole(str(label)), (values, np.ones(len(values)))
    waiting = _waiting(view, span)
    if waiting is not None:
        yield "queueing", value or _ALL, waiting


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


def _chart(frame: pl.DataFrame, colouring: Colouring) -> alt.HConcatChart:
    scale = colouring.scale(frame["of"].unique(maintain_order=True))
    plots = []
    for pane, title in _PANES.items():
        part = frame.filter(pl.col("delay") == pane)
        if part.is_empty():
            continue
        labelled = part.with_columns(label=colouring.labels(part["of"]))
        high = float(np.max(part.filter(pl.col("share") <= _SHOWN_SHARE)["ms"].to_numpy()))
        plots.append(
            alt.Chart(inline(labelled.drop("delay", "of")))
            .mark_line(interpolate="step-after", strokeWidth=1.6, clip=True)
            .encode(
                x=alt.X(
                    "ms:Q",
                    title=title,
                    scale=alt.Scale(zero=pane == "queueing", nice=True, domainMax=high),
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
    return alt.hconcat(*plots) if plots else alt.hconcat(marks.nothing(**_SIZE))


def _table(pane: str, curves: list[_Curve], colouring: Colouring) -> TextTable:
    rows = tuple(
        TextRow(
            colouring.label(curve.line),
            tuple(number(curve.percentile(share), 4) for share in _TOLD),
        )
        for curve in _of(pane, curves)
    )
    heads = tuple(f"{100 * share:g} %" for share in _TOLD)
    return TextTable(_PANES[pane], "percentiles", "", heads, rows)
