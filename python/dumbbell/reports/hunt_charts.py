"""Charts of a hunt: the map of the finding, and all scenarios that were tried."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import number
from dumbbell.base.lazy import altair as alt
from dumbbell.experiments.hunt.hunting import Hunted
from dumbbell.experiments.hunt.search import WEAK
from dumbbell.figures import marks, style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.style import CHOSEN, FAINT, OTHERS

_CELL: Final = 78
_WIDTH: Final = 560
_HEIGHT: Final = 300
_LIGHT_FROM: Final = 0.55


def failures(hunted: Hunted) -> alt.LayerChart | None:
    """Draw the regret of the minimal scenario over rates and round-trip times; None: none."""
    if not hunted.course.cells:
        return None
    space = hunted.space
    rows = [
        {
            "rate": label_of(space.dimension("rate").text(space.of(cell.point, "rate"))),
            "rtt": label_of(space.dimension("rtt").text(space.of(cell.point, "rtt"))),
            "regret": max(0.0, cell.regret),
            "text": "fails" if cell.failure else number(round(cell.regret, 2), 2),
            "is_light": cell.regret >= _LIGHT_FROM,
        }
        for cell in hunted.course.cells
    ]
    rates, rtts = (list(dict.fromkeys(str(row[name]) for row in rows)) for name in ("rate", "rtt"))
    axis = alt.Axis(labelAngle=0)
    base = plain(inline(pl.DataFrame(rows))).encode(
        x=alt.X("rate:O", title="rate", scale=alt.Scale(domain=rates), sort=None, axis=axis),
        y=alt.Y("rtt:O", title="RTT", scale=alt.Scale(domain=rtts[::-1]), sort=None),
    )
    colour = alt.Color("regret:Q", title="regret", scale=alt.Scale(scheme="viridis", domain=[0, 1]))
    ink = marks.ink("datum.is_light", "black", "white")
    chart: alt.LayerChart = (
        alt.layer(
            base.mark_rect().encode(color=colour, tooltip=["rate:O", "rtt:O", "text:N"]),
            base.mark_text(fontSize=12).encode(text=alt.Text("text:N"), color=ink),
        )
        .properties(width=_CELL * len(rates), height=0.55 * _CELL * len(rtts))
        .configure(**style.config())
    )
    return chart


def tried(hunted: Hunted) -> alt.LayerChart:
    """Draw the regret of each scenario in the order of the search, and the worst so far."""
    rows, worst = [], 0.0
    for place, scenario in enumerate(hunted.course.tried, start=1):
        worst = max(worst, scenario.regret)
        rows.append(
            {
                "number": place,
                "regret": max(0.0, scenario.regret),
                "worst": worst,
                "is": hunted.space.words(scenario.point),
            }
        )
    base = plain(inline(pl.DataFrame(rows)))
    x = alt.X(
        "number:Q", title="scenario, in the order of the search", axis=alt.Axis(tickMinStep=1)
    )
    y = alt.Y("regret:Q", title="regret", scale=alt.Scale(domain=[0, 1]))
    bound = plain(inline(pl.DataFrame([{"bound": WEAK}])))
    chart: alt.LayerChart = (
        alt.layer(
            bound.mark_rule(color=FAINT, strokeDash=[4, 4]).encode(y=alt.Y("bound:Q")),
            base.mark_point(size=28, filled=True, opacity=0.7, color=OTHERS).encode(
                x=x, y=y, tooltip=[alt.Tooltip("is:N", title="scenario"), "regret:Q"]
            ),
            base.mark_line(interpolate="step-after", color=CHOSEN).encode(
                x=x, y=alt.Y("worst:Q", title="regret")
            ),
        )
        .properties(width=_WIDTH, height=_HEIGHT)
        .configure(**style.config())
    )
    return chart
