"""The chart of advice: goodput against round-trip time, and what a legacy flow keeps."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from dumbbell.advise import Advice, Candidate
from dumbbell.estimates import Estimate
from dumbbell.figures import style
from dumbbell.figures.data import inline

_SIZE: Final = 330


def draw(advice: Advice) -> alt.HConcatChart:
    """Draw two plots beside each other, an algorithm in the same colour in both."""
    names = sorted(each.name for each in advice.candidates)
    colours = {name: look.colour for name, look in style.looks(names).items()}
    data = pl.DataFrame([_row(each, colours[each.name]) for each in advice.candidates])
    kept = f"what a {advice.beside} flow keeps beside it (of its goodput)"
    setting = advice.setting
    title = alt.TitleParams(
        f"{setting.rate}, RTT {setting.rtt}, buffer {setting.buffer}, loss {setting.loss}",
        subtitle=[f"{advice.advised.name}: {advice.reason}", "Bars are 95 % intervals."],
    )
    chart: alt.HConcatChart = (
        alt.hconcat(
            _plot(data, "rtt", "mean round-trip time alone (ms)"),
            _plot(data, "kept", kept),
            spacing=30,
        )
        .properties(title=title)
        .configure(**style.config())
    )
    return chart


def _row(each: Candidate, colour: str) -> dict[str, float | str]:
    row: dict[str, float | str] = {"name": each.name, "colour": colour}
    for name, part in (("goodput", each.goodput), ("rtt", each.rtt), ("kept", each.kept)):
        low, high = _ends(part)
        row |= {name: part.value, f"{name}_low": low, f"{name}_high": high}
    return row


def _ends(part: Estimate) -> tuple[float, float]:
    return (part.low, part.high) if part.has_interval else (part.value, part.value)


def _plot(data: pl.DataFrame, name: str, title: str) -> alt.LayerChart | alt.FacetChart:
    """Draw goodput against a column and its interval."""
    base = alt.Chart(inline(data)).encode(color=alt.Color("colour:N", scale=None))
    scale = alt.Scale(zero=False)
    x = alt.X(f"{name}:Q", title=title, scale=scale)
    y = alt.Y("goodput:Q", title="goodput alone (Mbit/s)", scale=scale)
    bars = base.mark_rule(opacity=0.5)
    return alt.layer(
        bars.encode(x=alt.X(f"{name}_low:Q", title=title), x2=f"{name}_high:Q", y=y),
        bars.encode(x=x, y=alt.Y("goodput_low:Q"), y2="goodput_high:Q"),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, tooltip="name:N"),
        base.mark_text(align="left", dx=6, dy=-6, fontSize=10).encode(x=x, y=y, text="name:N"),
    ).properties(width=_SIZE, height=_SIZE)
