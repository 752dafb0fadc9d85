"""The figure of agreement: each measure on both engines, and windows of both over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import altair as alt
import polars as pl

from dumbbell.experiments.validate.measures import MEASURES, Measure
from dumbbell.figures import style
from dumbbell.figures.data import inline
from dumbbell.figures.style import FAINT, INK
from dumbbell.inference.equivalence import Verdict, reach
from fidelity.agreement import page
from fidelity.agreement.judging import Agreement, Compared, Judged
from fidelity.agreement.measures import DISTANCE

_SIZE: Final = 240
_TRACE_WIDTH: Final = 400
_TRACE_HEIGHT: Final = 120
_TRACES: Final = 6
_STEPS: Final = 60
_SHOWN: Final = ("goodput", "rtt", "retransmitted", "queue", "share")
_RELATIVE: Final = ("goodput", "rtt")
"""Measures that range over orders of magnitude: their differences are shown as shares."""

_COLOURS: Final = {
    Verdict.AGREES.value: style.GOOD,
    Verdict.UNDECIDABLE.value: style.OPEN,
    Verdict.DIFFERS.value: style.BAD,
}
_SHAPES: Final = {
    Verdict.AGREES.value: "circle",
    Verdict.UNDECIDABLE.value: "triangle-up",
    Verdict.DIFFERS.value: "cross",
}


def draw(agreement: Agreement) -> alt.VConcatChart:
    """Draw a panel for each measure, and the windows of some scenarios."""
    measures = [*(measure for measure in MEASURES if measure.name in _SHOWN), DISTANCE]
    drawn = (_panel(agreement, measure) for measure in measures)
    panels = [panel for panel in drawn if panel is not None]
    rows = [alt.concat(*panels, columns=3, spacing=26)] if panels else []
    traced = _traced(agreement.judged)
    lines = [_windows(judged, agreement.names) for judged in traced]
    rows += [alt.concat(*lines, columns=2, spacing=26)] if lines else []
    title = alt.TitleParams(
        f"Dumbbell's {agreement.names[1]} and the {agreement.names[0]}: one mark per scenario",
        subtitle=[
            page.headline(agreement) + ".",
            "Bars are 90 % intervals of the difference; the grey band is how large it may be. "
            "Below: windows of the first flow in the run with seed 1.",
        ],
    )
    chart: alt.VConcatChart = (
        alt.vconcat(*rows, title=title, spacing=30)
        .resolve_scale(color="independent", shape="independent", strokeWidth="independent")
        .configure(**style.config())
    )
    return chart


def _panel(agreement: Agreement, measure: Measure) -> alt.LayerChart | alt.FacetChart | None:
    compared = ((judged, judged.of(measure.name)) for judged in agreement.judged)
    all_marks = [
        _mark(judged, comparison) for judged, comparison in compared if comparison is not None
    ]
    relative = measure.name in _RELATIVE
    marks = pl.DataFrame([mark for mark in all_marks if mark["x"] or not relative])
    if marks.is_empty():
        return None
    draw_panel = _relative if relative else _against
    layers = draw_panel(marks, measure, agreement.names)
    return layers.properties(
        title=alt.TitleParams(measure.title, frame="group"), width=_SIZE, height=_SIZE
    )


def _mark(judged: Judged, compared: Compared) -> dict[str, float | str]:
    """Return a mark: its distance from the diagonal is the difference that was judged."""
    scale = compared.measure.scale
    return {
        "scenario": judged.case.name,
        "x": compared.reference.value * scale,
        "difference": compared.difference.value * scale,
        "reach": (reach(compared.difference) or 0.0) * scale,
        "verdict": compared.verdict.value,
    }


def _relative(
    marks: pl.DataFrame, measure: Measure, names: tuple[str, str]
) -> alt.LayerChart | alt.FacetChart:
    """Draw by what share of the value on the reference engine the other one is off."""
    share = {name: 100 * pl.col(name) / pl.col("x") for name in ("difference", "reach")}
    marks = _bars(marks.with_columns(**share), pl.col("difference"))
    band = 100 * measure.share
    far = 1.1 * max(2 * band, *marks["low"].abs().to_list(), *marks["high"].abs().to_list())
    ends = (float(marks["x"].to_numpy().min()) / 1.6, float(marks["x"].to_numpy().max()) * 1.6)
    edges = pl.DataFrame(
        {"x": list(ends), "lower": [-band] * 2, "upper": [band] * 2, "even": [0.0] * 2}
    )
    across = alt.Scale(type="log", domain=list(ends), nice=False)
    up = alt.Scale(domain=[-far, far], nice=False)
    titles = (_with_unit(names[0], measure), f"{names[1]} is above it by (%)")
    return alt.layer(*_band(edges, across, up), *_marks(marks, titles, across, up))


def _against(
    marks: pl.DataFrame, measure: Measure, names: tuple[str, str]
) -> alt.LayerChart | alt.FacetChart:
    """Draw one engine against the other; small values are spread by the square root."""
    marks = _bars(marks, pl.col("x") + pl.col("difference"))
    high = 1.15 * max(1e-3, *marks["x"].to_list(), *marks["y"].to_list())
    places = [high * (step / _STEPS) ** 2 for step in range(_STEPS + 1)]
    reaches = [measure.tolerance(place / measure.scale) * measure.scale for place in places]
    band = list(zip(places, reaches, strict=True))
    edges = pl.DataFrame(
        {
            "x": places,
            "lower": [0.0 if measure is DISTANCE else max(0.0, x - reach) for x, reach in band],
            "upper": [min(high, x + reach) for x, reach in band],
            "even": places,
        }
    )
    scale = alt.Scale(type="sqrt", domain=[0, high], nice=False)
    titles = (_with_unit(names[0], measure), _with_unit(names[1], measure))
    if measure is DISTANCE:
        titles = ("between runs of one engine", "between engines")
    return alt.layer(*_band(edges, scale, scale), *_marks(marks, titles, scale, scale))


def _with_unit(name: str, measure: Measure) -> str:
    return f"{name} ({measure.unit})" if measure.unit else name


def _bars(marks: pl.DataFrame, y: pl.Expr) -> pl.DataFrame:
    reach = pl.col("reach")
    return marks.with_columns(y=y, low=y - reach, high=y + reach)


def _marks(
    marks: pl.DataFrame, titles: tuple[str, str], across: alt.Scale, up: alt.Scale
) -> list[alt.Chart]:
    """Draw the scenarios, each with the interval of its difference."""
    axis = alt.Axis(tickCount=5, format="~r")
    x = alt.X("x:Q", title=titles[0], scale=across, axis=axis)
    y = alt.Y("y:Q", title=titles[1], scale=up, axis=axis)
    base = alt.Chart(inline(marks)).encode(x=x, color=_colour(), tooltip=_tooltip(titles))
    rules = base.mark_rule(strokeWidth=1.5, clip=True)
    points = base.mark_point(filled=True, size=45, opacity=0.9)
    low = alt.Y("low:Q", title=titles[1], scale=up)
    return [rules.encode(y=low, y2="high:Q"), points.encode(y=y, shape=_shape())]


def _band(edges: pl.DataFrame, across: alt.Scale, up: alt.Scale) -> list[alt.Chart]:
    """Draw where the engines may differ, and where they are even."""
    data = alt.Chart(inline(edges)).encode(x=alt.X("x:Q", scale=across))
    area = data.mark_area(color="#d9d9d9", opacity=0.7, clip=True)
    even = data.mark_line(color=FAINT, strokeWidth=0.8)
    return [
        area.encode(y=alt.Y("lower:Q", scale=up), y2="upper:Q"),
        even.encode(y=alt.Y("even:Q", scale=up)),
    ]


def _colour() -> alt.Color:
    scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    return alt.Color("verdict:N", title=None, scale=scale)


def _shape() -> alt.Shape:
    scale = alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values()))
    return alt.Shape("verdict:N", title=None, scale=scale)


def _tooltip(titles: tuple[str, str]) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("scenario:N"),
        alt.Tooltip("x:Q", title=titles[0], format=".4~g"),
        alt.Tooltip("y:Q", title=titles[1], format=".4~g"),
        alt.Tooltip("verdict:N"),
    ]


def _traced(judged: Sequence[Judged]) -> list[Judged]:
    """Return the scenarios whose windows are drawn: of each algorithm alone the first."""
    first: dict[str, Judged] = {}
    for scenario in judged:
        if scenario.windows.height and len(scenario.case.algorithms) == 1:
            first.setdefault(scenario.case.flows, scenario)
    return list(first.values())[:_TRACES]


def _windows(judged: Judged, names: tuple[str, str]) -> alt.Chart:
    colours = alt.Scale(domain=list(names), range=[INK, style.CHOSEN])
    widths = alt.Scale(domain=list(names), range=[2.4, 1.0])
    end_s = float(judged.case.seconds)
    chart: alt.Chart = (
        alt.Chart(inline(judged.windows))
        .mark_line(strokeJoin="round", clip=True)
        .encode(
            x=alt.X("time_s:Q", title="time (s)", scale=alt.Scale(domain=[0, end_s], nice=False)),
            y=alt.Y("value:Q", title="cwnd (segments)", axis=alt.Axis(tickCount=4)),
            color=alt.Color(
                "engine:N",
                scale=colours,
                title=None,
                legend=alt.Legend(symbolType="stroke", symbolSize=400, symbolStrokeWidth=2),
            ),
            strokeWidth=alt.StrokeWidth("engine:N", scale=widths, legend=None),
        )
        .properties(
            title=alt.TitleParams(judged.case.name, frame="group"),
            width=_TRACE_WIDTH,
            height=_TRACE_HEIGHT,
        )
    )
    return chart
