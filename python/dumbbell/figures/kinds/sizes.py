"""Figures of kind `sizes`: durations of requests and transfers, by their size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import marks
from dumbbell.figures.colouring import Colouring
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextRow, TextTable, assembled
from dumbbell.figures.gathering import engine_notes
from dumbbell.figures.source import Views
from dumbbell.figures.spec import TestFigure
from dumbbell.quantities import bands, latencies, latency
from dumbbell.quantities.counters import percentile
from dumbbell.quantities.names import OptionalAxis
from dumbbell.quantities.shown import number
from dumbbell.quantities.shown import percentile as shown_percentile
from dumbbell.quantities.spans import Span
from dumbbell.quantities.view import FlowsView, RunView

_SIZE: Final = {"width": 350, "height": 260}
_PANES: Final = {"latency_ms": "completion time (ms)", "slowdown": "slow-down"}
_DOTS_MAX: Final = 1500
_PARTS_OF_DECADE: Final = 2
_PER_MILLE: Final = {500: "50 %", 990: "99 %"}
_DASHES: Final = {"50 %": [1, 0], "99 %": [5, 4]}
_SCHEMA: Final = {
    "of": pl.String,
    "bytes": pl.Float64,
    "latency_ms": pl.Float64,
    "slowdown": pl.Float64,
}


class SizesFigure(TestFigure):
    """Completion times of requests and transfers over their size, and their slow-downs.

    The slow-down is the completion time divided by that over an empty path. Each dot is a request
    or a transfer. Lines show the median and the 99 % percentile for each half decade of sizes that
    has enough of them. All repetitions count together.
    """

    kind: Literal["sizes"]

    series: OptionalAxis = None
    """Axis of the test whose values get colours; by default kinds of flows do."""

    def draw(self, source: Views) -> Figure:
        """Draw the figure with whatever runs there are."""
        colouring = Colouring.of(source, self, self.series)
        parts = [pl.DataFrame(schema=_SCHEMA)]
        for axes, view in source.views(self.test, self.where):
            parts += _of_run(view, None if self.series is None else axes[self.series])
        completions = pl.concat(parts)
        lines = _lines(completions)
        if completions.is_empty():
            notes = ["Not run yet, or nothing ended."]
        else:
            notes = [_LINES_NOTE] if _has_lines(lines) else []
            if completions.height > _DOTS_MAX:
                notes.append(f"{_DOTS_MAX:,} of {completions.height:,} are drawn as dots.")
        notes += list(engine_notes(source.engine, source.left_out(self.test)))
        return assembled(
            self,
            _chart(completions, lines, colouring),
            notes,
            list(_tables(lines, colouring)),
            completions,
        )


def _of_run(view: RunView, value: str | None) -> Iterator[pl.DataFrame]:
    """Yield what requests and transfers took, from the first start of their kind on."""
    names = bands.names(view.run)
    for flows in latencies.kinds(view.flows):
        start_ns = min(flow.life.start_ns for flow in flows)
        window = FlowsView(view, flows, Span(start_ns, view.scenario.duration_ns))
        took = latency.completions(window)
        yield took.select(pl.lit(value or names[flows[0].label]).alias("of"), *list(_SCHEMA)[1:])


def _lines(completions: pl.DataFrame) -> pl.DataFrame:
    """Return percentiles of what lies in a part of a decade, at the middle of its sizes."""
    part = (pl.col("bytes").log10() * _PARTS_OF_DECADE).round(9).ceil().cast(pl.Int64) - 1
    rows = []
    for (of, place), group in completions.group_by("of", part.alias("part"), maintain_order=True):
        assert isinstance(place, int)
        for per_mille, name in _PER_MILLE.items():
            values = [percentile(group[pane].to_numpy(), per_mille) for pane in _PANES]
            rows.append((of, place, _edge(place + 0.5), name, group.height, *values))
    return pl.DataFrame(rows, schema=_LINES, orient="row").sort("of", "part", maintain_order=True)


_LINES: Final = {
    "of": pl.String,
    "part": pl.Int64,
    "bytes": pl.Float64,
    "percentile": pl.String,
    "finished": pl.Int64,
    **dict.fromkeys(_PANES, pl.Float64),
}


_LINES_NOTE: Final = "Lines: 50 %, and dashed 99 %, of half a decade of sizes with enough of them."


def _has_lines(lines: pl.DataFrame) -> bool:
    """Return True if some sizes have enough for a percentile."""
    return any(lines[pane].count() for pane in _PANES)


def _edge(place: float) -> float:
    """Return the size in bytes at which a part of a decade begins."""
    return float(10 ** (place / _PARTS_OF_DECADE))


def _chart(
    completions: pl.DataFrame, lines: pl.DataFrame, colouring: Colouring
) -> alt.HConcatChart:
    if completions.is_empty():
        return alt.hconcat(marks.nothing(**_SIZE))
    colour = alt.Color(
        "label:N", scale=colouring.scale(completions["of"].unique(maintain_order=True)), title=None
    )
    kept = completions.sort("bytes").gather_every(-(-completions.height // _DOTS_MAX))
    dots = inline(_labelled(kept, colouring))
    curves = inline(_labelled(lines.drop("part"), colouring)) if _has_lines(lines) else None
    charts = [_pane(dots, curves, pane, colour) for pane in _PANES]
    return alt.hconcat(*charts)


def _labelled(frame: pl.DataFrame, colouring: Colouring) -> pl.DataFrame:
    return frame.with_columns(label=colouring.labels(frame["of"])).drop("of")


def _pane(
    dots: alt.InlineData, curves: alt.InlineData | None, pane: str, colour: alt.Color
) -> alt.LayerChart | alt.FacetChart:
    x = alt.X(
        "bytes:Q",
        title="size (B)",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(format="~s", tickCount=6),
    )
    y = alt.Y(f"{pane}:Q", title=_PANES[pane], scale=alt.Scale(type="log"))
    tooltip = [
        alt.Tooltip("label:N", title="of"),
        alt.Tooltip("bytes:Q", title="size (B)", format=",.0f"),
        alt.Tooltip(f"{pane}:Q", title=_PANES[pane], format=".4~g"),
    ]
    single = (
        plain(dots)
        .mark_circle(size=10, opacity=0.3)
        .encode(x=x, y=y, color=colour, tooltip=tooltip)
    )
    if curves is None:
        return alt.layer(single).properties(**_SIZE)
    line = (
        plain(curves)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=28))
        .transform_filter(f"isValid(datum.{pane})")
        .encode(
            x=x,
            y=y,
            color=colour,
            strokeDash=alt.StrokeDash(
                "percentile:N",
                title=None,
                scale=alt.Scale(domain=list(_DASHES), range=list(_DASHES.values())),
                legend=alt.Legend(symbolType="stroke", symbolSize=400),
            ),
            tooltip=[*tooltip, alt.Tooltip("percentile:N"), alt.Tooltip("finished:Q")],
        )
    )
    return alt.layer(single, line).properties(**_SIZE)


def _tables(lines: pl.DataFrame, colouring: Colouring) -> Iterator[TextTable]:
    """Yield a table of each pane: a row for each kind and sizes."""
    by_part: Mapping[Any, pl.DataFrame] = lines.partition_by(
        "of", "part", as_dict=True, maintain_order=True
    )
    for pane, title in _PANES.items():
        rows = []
        for (of, place), part in by_part.items():
            finished = int(part["finished"][0])
            cells = (
                shown_percentile(value, per_mille, finished)
                for per_mille, value in zip(_PER_MILLE, part[pane], strict=True)
            )
            sizes = f"{number(_edge(place), 2)} to {number(_edge(place + 1), 2)} B"
            rows.append(TextRow(f"{colouring.label(of)}, {sizes}", (str(finished), *cells)))
        heads = ("finished", *_PER_MILLE.values())
        yield TextTable(title, "percentiles", "size", heads, tuple(rows))
