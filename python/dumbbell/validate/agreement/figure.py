"""The figure of agreement: each measure on both engines, and windows of both over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import altair as alt
import polars as pl

from dumbbell.figures import chart_style
from dumbbell.figures.chart_data import inline
from dumbbell.figures.chart_style import FAINT, INK
from dumbbell.validate.agreement import page
from dumbbell.validate.agreement.judging import Agreement, Compared, Judged
from dumbbell.validate.agreement.measures import DISTANCE, MEASURES, Measure
from dumbbell.validate.agreement.statistics import Verdict

_SIZE: Final = 240
_TRACE_WIDTH: Final = 400
_TRACE_HEIGHT: Final = 120
_TRACES: Final = 6
_STEPS: Final = 60
_SHOWN: Final = ("goodput", "rtt", "retransmitted", "queue", "share")
_LOGARITHMIC: Final = ("goodput", "rtt")
"""The others are small or zero in many scenarios: their axes go by the square root."""

_COLOURS: Final = {
    Verdict.AGREES.value: "#0072b2",
    Verdict.UNDECIDABLE.value: "#e69f00",
    Verdict.DIFFERS.value: "#d55e00",
}
_SHAPES: Final = {
    Verdict.AGREES.value: "circle",
    Verdict.UNDECIDABLE.value: "triangle-up",
    Verdict.DIFFERS.value: "cross",
}


def draw(agreement: Agreement) -> alt.VConcatChart:
    """Draw a panel for each measure, and the windows of some scenarios."""
    measures = [*(measure for measure in MEASURES if measure.name in _SHOWN), DISTANCE]
    found = [_panel(agreement, measure) for measure in measures]
    panels = [panel for panel in found if panel is not None]
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
        .configure(**chart_style.config())
    )
    return chart


def _panel(agreement: Agreement, measure: Measure) -> alt.LayerChart | alt.FacetChart | None:
    compared = ((judged, judged.of(measure.name)) for judged in agreement.judged)
    found = [_mark(judged, each) for judged, each in compared if each is not None]
    if not found:
        return None
    marks = pl.DataFrame(found)
    ends = _ends(marks, measure)
    kind: Literal["log", "sqrt"] = "log" if measure.name in _LOGARITHMIC else "sqrt"
    scale = alt.Scale(type=kind, domain=list(ends), nice=False)
    axis = alt.Axis(tickCount=4 if kind == "log" else 5, format="~r")
    titles = _titles(measure, agreement.names)
    x = alt.X("x:Q", title=titles[0], scale=scale, axis=axis)
    y = alt.Y("y:Q", title=titles[1], scale=scale, axis=axis)
    base = alt.Chart(inline(marks)).encode(x=x, tooltip=_tooltip(titles))
    layers = alt.layer(
        *_band(measure, ends, scale),
        base.mark_rule(strokeWidth=1.5, clip=True).encode(
            y=alt.Y("low:Q", scale=scale), y2="high:Q", color=_colour()
        ),
        base.mark_point(filled=True, size=45, opacity=0.9).encode(
            y=y, color=_colour(), shape=_shape()
        ),
    )
    return layers.properties(
        title=alt.TitleParams(measure.title, frame="group"), width=_SIZE, height=_SIZE
    )


def _titles(measure: Measure, names: tuple[str, str]) -> tuple[str, str]:
    if measure is DISTANCE:
        return "between runs of one engine", "between engines"
    unit = f" ({measure.unit})" if measure.unit else ""
    return f"{names[0]}{unit}", f"{names[1]}{unit}"


def _mark(judged: Judged, compared: Compared) -> dict[str, float | str]:
    """Return a mark: how high it stands above the diagonal is the difference that was judged."""
    scale = compared.measure.scale
    x, difference = compared.reference.mean, compared.difference
    reach = difference.reach or 0.0
    y = x + difference.mean
    return {
        "scenario": judged.case.name,
        "x": x * scale,
        "y": y * scale,
        "low": (y - reach) * scale,
        "high": (y + reach) * scale,
        "verdict": compared.verdict.value,
    }


def _ends(marks: pl.DataFrame, measure: Measure) -> tuple[float, float]:
    """Return the ends of both axes: they are the same, so that equality is the diagonal."""
    values = [*marks["x"].to_list(), *marks["y"].to_list()]
    if measure.name not in _LOGARITHMIC:
        return 0.0, 1.15 * max(*values, 1e-3)
    positive = [value for value in values if value > 0] or [1.0]
    return min(positive) / 1.6, max(positive) * 1.6


def _band(measure: Measure, ends: tuple[float, float], scale: alt.Scale) -> list[alt.Chart]:
    """Draw where the engines may differ, and the diagonal."""
    low, high = ends
    steps = [step / _STEPS for step in range(_STEPS + 1)]
    places = [low * (high / low) ** step if low else high * step**2 for step in steps]
    reaches = [measure.tolerance(place / measure.scale) * measure.scale for place in places]
    band = list(zip(places, reaches, strict=True))
    frame = pl.DataFrame(
        {
            "x": places,
            "lower": [low if measure is DISTANCE else max(low, x - reach) for x, reach in band],
            "upper": [min(high, x + reach) for x, reach in band],
        }
    )
    data = alt.Chart(inline(frame)).encode(x=alt.X("x:Q", scale=scale))
    area = data.mark_area(color="#d9d9d9", opacity=0.7).encode(
        y=alt.Y("lower:Q", scale=scale), y2="upper:Q"
    )
    diagonal = data.mark_line(color=FAINT, strokeWidth=0.8).encode(y=alt.Y("x:Q", scale=scale))
    return [area, diagonal]


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
    for each in judged:
        if each.windows.height and len(each.case.algorithms) == 1:
            first.setdefault(each.case.flows, each)
    return list(first.values())[:_TRACES]


def _windows(judged: Judged, names: tuple[str, str]) -> alt.Chart:
    colours = alt.Scale(domain=list(names), range=[INK, "#e69f00"])
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
