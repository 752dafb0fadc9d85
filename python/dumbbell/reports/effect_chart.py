"""The figure of a study's page: measured / stated, a row for each number of the authors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import style
from dumbbell.figures.data import inline, plain
from dumbbell.judging.authors import Kind
from dumbbell.judging.effects import NEAR, Effect
from dumbbell.judging.standing import Standing

NAME: Final = "ours-over-theirs"
"""Name of the figure's files."""

COLOURS: Final[Mapping[Standing, str]] = {
    Standing.HOLDS: style.GOOD,
    Standing.READING: "#2a8fc4",
    Standing.TIE: "#7a7a7a",
    Standing.CONTRADICTED: style.BAD,
    Standing.OPEN: style.OPEN,
}
_SHAPES: Final[Mapping[Kind, str]] = {
    "value": "circle",
    "at least": "triangle-right",
    "at most": "triangle-left",
    "range": "diamond",
}
_WIDTH: Final = 420
_STEP: Final = 19
_ENDS: Final = (0.01, 100.0)
"""Quotients beyond these are drawn at these, and their numbers next to them."""
_LEAST: Final = (0.4, 2.5)
"""The axis has at least these ends."""
_TICKS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def draw(effects: Sequence[Effect], standings: Mapping[str, Standing]) -> dict[str, Any]:
    """Return the chart of the numbers that have runs, in Vega-Lite; there must be one."""
    rows = _rows(effects, standings)
    shown = [name for name in Standing if name.value in set(rows["standing"])]
    low, high = _domain(rows)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    x = alt.X("ratio:Q", scale=scale, title="ours / theirs", axis=alt.Axis(values=ticks))
    y = alt.Y(
        "row:N",
        sort=None,
        title=None,
        scale=alt.Scale(domain=rows["row"].to_list()),
        axis=alt.Axis(labelLimit=260, grid=True, gridColor=style.GRID, ticks=False),
    )
    colour = alt.Color(
        "standing:N",
        title=None,
        scale=alt.Scale(domain=shown, range=[COLOURS[standing] for standing in shown]),
        legend=alt.Legend(orient="top", symbolType="circle", symbolStrokeWidth=0),
    )
    tooltip = [
        alt.Tooltip("claim:N"),
        alt.Tooltip("title:N", title="quantity"),
        alt.Tooltip("theirs:N"),
        alt.Tooltip("ours:N"),
        alt.Tooltip("quotient:N", title="ours / theirs"),
    ]
    bands = [_band(factor, opacity) for factor, opacity in zip(NEAR, (0.16, 0.09), strict=True)]
    one = plain(alt.InlineData(values=[{"one": 1}])).mark_rule(color=style.FAINT)
    chart = plain(inline(rows)).encode(y=y, tooltip=tooltip)
    together = alt.layer(
        *reversed(bands),
        one.encode(x=alt.X("one:Q", scale=scale)),
        chart.mark_rule(strokeWidth=2).encode(
            x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), color=colour
        ),
        chart.mark_point(filled=True, size=80, opacity=1).encode(
            x=x, color=colour, shape=alt.Shape("shape:N", scale=None)
        ),
        *_numbers_beyond(rows, scale),
    ).properties(width=_WIDTH, height=alt.Step(_STEP))
    drawn: dict[str, Any] = together.configure(**style.config()).to_dict()
    return drawn


def frame(effects: Sequence[Effect], standings: Mapping[str, Standing]) -> pl.DataFrame:
    """Return all numbers of the authors as a table."""
    return pl.DataFrame(
        {
            "claim": [effect.claim for effect in effects],
            "quantity": [effect.title for effect in effects],
            "theirs": [effect.theirs for effect in effects],
            "ours": [effect.ours for effect in effects],
            "kind": [effect.kind for effect in effects],
            "ours_over_theirs": [effect.ratio for effect in effects],
            "low": [effect.low for effect in effects],
            "high": [effect.high for effect in effects],
            "standing": [standings[effect.claim].value for effect in effects],
        },
        schema_overrides={"claim": pl.String, "ours_over_theirs": pl.Float64},
    )


def _numbers_beyond(rows: pl.DataFrame, scale: alt.Scale) -> list[alt.Chart]:
    """Return the numbers of quotients that are drawn at an end of the axis."""
    is_low = pl.col("ratio") == _ENDS[0]
    sides: list[tuple[pl.Expr, Literal["left", "right"], int]]
    sides = [(is_low, "left", 9), (~is_low, "right", -9)]
    return [
        plain(inline(side))
        .mark_text(align=align, dx=dx, color=style.INK)
        .encode(
            x=alt.X("ratio:Q", scale=scale), y=alt.Y("row:N", sort=None), text=alt.Text("beyond:N")
        )
        for where, align, dx in sides
        if len(side := rows.filter(pl.col("beyond") != "", where))
    ]


def _band(factor: float, opacity: float) -> alt.Chart:
    ends = alt.InlineData(values=[{"from": 1 / factor, "to": factor}])
    drawn = plain(ends).mark_rect(color="#5c5c5c", opacity=opacity)
    band: alt.Chart = drawn.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"))
    return band


def _rows(effects: Sequence[Effect], standings: Mapping[str, Standing]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    used: dict[str, int] = {}
    for effect in effects:
        if not effect.is_measured:
            continue
        name = f"{effect.claim}  {effect.theirs}"
        used[name] = used.get(name, 0) + 1
        rows.append(
            {
                "row": name if used[name] == 1 else f"{name} ({used[name]})",
                "claim": effect.claim,
                "title": effect.title,
                "theirs": effect.theirs,
                "ours": effect.ours,
                "ratio": _clipped(effect.ratio),
                "beyond": _beyond(effect.ratio),
                "quotient": _in_words(effect),
                "low": _clipped(effect.low),
                "high": _clipped(effect.high),
                "shape": _SHAPES[effect.kind],
                "standing": standings[effect.claim].value,
            }
        )
    return pl.DataFrame(rows)


def _clipped(ratio: float) -> float:
    return min(max(ratio, _ENDS[0]), _ENDS[1])


def _beyond(ratio: float) -> str:
    """Return the number of a quotient beyond the axis, with the direction; else nothing."""
    if _clipped(ratio) == ratio:
        return ""
    if math.isinf(ratio):
        return "\u221e \u2192"
    return f"\u2190 {ratio:.2g}" if ratio < _ENDS[0] else f"{ratio:.3g} \u2192"


def _in_words(effect: Effect) -> str:
    interval = "" if math.isnan(effect.low) else f" ({effect.low:.3g} to {effect.high:.3g})"
    return f"{effect.ratio:.3g}{interval}"


def _domain(rows: pl.DataFrame) -> list[float]:
    ends = (rows[name] for name in ("ratio", "low", "high"))
    values = [value for column in ends for value in column if not math.isnan(value)]
    return [min(_LEAST[0], *values), max(_LEAST[1], *values)]
