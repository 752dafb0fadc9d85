"""Charts of a search: its course, the front, and the effect of each parameter."""

from __future__ import annotations

import math
from typing import Final

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.experiments.tune.search import weighted
from dumbbell.experiments.tune.tuning import Tuned
from dumbbell.figures import axes, style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.style import CHOSEN, FAINT, OTHERS

_WIDTH: Final = 620
_SMALL: Final = 280
_HEIGHT: Final = 220


def course(tuned: Tuned) -> alt.LayerChart:
    """Draw the value of each candidate, and the best so far."""
    runs, tried = tuned.search.runs, tuned.course.tried
    first = weighted(runs.objectives, tried[0].first)
    rows, best = [], -math.inf
    for attempt in tried:
        gain = math.exp(weighted(runs.objectives, attempt.first) - first)
        best = max(best, gain if not attempt.dropped else best)
        kept = "dropped" if attempt.dropped else "all repetitions"
        values = tuned.search.space.words(attempt.candidate)
        rows.append(
            {"number": attempt.place, "gain": gain, "best": best, "what": kept, "is": values}
        )
    data = inline(pl.DataFrame(rows))
    x = alt.X(
        "number:Q", title="candidate, in the order of the search", axis=alt.Axis(tickMinStep=1)
    )
    scale = axes.near([pl.Series([row[column] for row in rows]) for column in ("gain", "best")])
    y = alt.Y("gain:Q", title="times the default", scale=scale)
    colour = alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(domain=["all repetitions", "dropped"], range=[OTHERS, FAINT]),
    )
    tooltip = [alt.Tooltip("is:N", title="parameters"), alt.Tooltip("gain:Q", format=".4")]
    points = plain(data).mark_point(size=28, filled=True, opacity=0.7)
    lines = plain(data).mark_line(interpolate="step-after", color=CHOSEN)
    chart = alt.layer(
        points.encode(x=x, y=y, color=colour, tooltip=tooltip),
        lines.encode(x=x, y=alt.Y("best:Q", title="times the default", scale=scale)),
    ).properties(width=_WIDTH, height=_HEIGHT)
    configured: alt.LayerChart = chart.configure(**style.config())
    return configured


def effects(tuned: Tuned) -> alt.ConcatChart | None:
    """Draw the effect of each parameter around the winner; None: no value was tried."""
    if not tuned.effects:
        return None
    plots = []
    for dimension in tuned.search.space.dimensions:
        rows = [
            {
                "value": effect.value,
                "mean": effect.loss.value,
                "low": effect.loss.low if effect.loss.has_interval else effect.loss.value,
                "high": effect.loss.high if effect.loss.has_interval else effect.loss.value,
                "what": "winner" if effect.is_winner else "other",
            }
            for effect in tuned.effects
            if effect.parameter == dimension.name
        ]
        unit = dimension.parameter.unit
        title = dimension.name + (f" ({unit})" if unit != "1" else "")
        scale = alt.Scale(type="symlog" if dimension.is_log else "linear", zero=False)
        x = alt.X("value:Q", title=title, scale=scale)
        up = axes.near([pl.Series([row[end] for row in rows]) for end in ("low", "mean", "high")])
        y = alt.Y("mean:Q", title="times the winner", scale=up)
        base = plain(inline(pl.DataFrame(rows))).encode(x=x)
        colour = alt.Color(
            "what:N",
            legend=None,
            scale=alt.Scale(domain=["winner", "other"], range=[CHOSEN, OTHERS]),
        )
        plots.append(
            alt.layer(
                base.mark_line(color=FAINT, strokeWidth=1).encode(y=y),
                base.mark_rule(strokeWidth=2).encode(
                    y=alt.Y("low:Q", title="times the winner", scale=up),
                    y2=alt.Y2("high:Q"),
                    color=colour,
                ),
                base.mark_point(filled=True, size=70, opacity=1).encode(y=y, color=colour),
            ).properties(width=_SMALL, height=_HEIGHT)
        )
    chart: alt.ConcatChart = alt.concat(*plots, columns=2, spacing=24).configure(**style.config())
    return chart


def front(tuned: Tuned) -> alt.LayerChart | None:
    """Draw the first two objectives of a front against each other; None: there is none."""
    objectives = tuned.search.runs.objectives
    if not tuned.search.front or len(objectives) < 2:
        return None
    ahead = {attempt.place for attempt in tuned.course.front}
    start = tuned.course.tried[0].mean
    rows = [
        {
            "one": math.exp(attempt.mean[0] - start[0]),
            "other": math.exp(attempt.mean[1] - start[1]),
            "what": "front" if attempt.place in ahead else "exceeded",
            "is": tuned.search.space.words(attempt.candidate),
        }
        for attempt in tuned.course.tried
    ]
    colour = alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(domain=["front", "exceeded"], range=[CHOSEN, FAINT]),
    )
    across, up = (axes.near([pl.Series([row[end] for row in rows])]) for end in ("one", "other"))
    points = (
        plain(inline(pl.DataFrame(rows)))
        .mark_point(filled=True, size=50)
        .encode(
            x=alt.X("one:Q", title=f"{objectives[0].name}, times the default", scale=across),
            y=alt.Y("other:Q", title=f"{objectives[1].name}, times the default", scale=up),
            color=colour,
            tooltip=[alt.Tooltip("is:N", title="parameters")],
        )
    )
    chart: alt.LayerChart = (
        alt.layer(points).properties(width=_WIDTH, height=_HEIGHT).configure(**style.config())
    )
    return chart
