"""Quick charts of one run, for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

import altair as alt

from dumbbell.errors import unknown
from dumbbell.figures import chart_histories, history

if TYPE_CHECKING:
    from dumbbell.running.result import Run
    from dumbbell.study.figure_spec import Quantity

Kind = Literal["cwnd", "goodput", "rtt", "queue"]

_QUANTITIES: Final[Mapping[Kind, Quantity]] = {
    "cwnd": "cwnd_segs",
    "goodput": "goodput_mbit",
    "rtt": "rtt_ms",
    "queue": "queue_packets",
}


def draw(run: Run, what: Kind) -> alt.VConcatChart:
    """Draw one quantity of a run over time."""
    if what not in _QUANTITIES:
        raise unknown("chart", what, _QUANTITIES)
    quantity = _QUANTITIES[what]
    row = chart_histories.Row(
        title="",
        quantity=history.MEASURES[quantity].title,
        lines=history.series(run, quantity),
        start_s=0.0,
        end_s=run.summary["duration_ns"] / 1e9,
    )
    return chart_histories.draw([row])
