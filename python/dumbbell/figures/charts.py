"""Quick charts of one run, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from dumbbell.base.units import NS_PER_S
from dumbbell.figures import drawing, timelines
from dumbbell.quantities import bands, series

if TYPE_CHECKING:
    from dumbbell.engines.result import Run


class Offline(alt.VConcatChart):
    """A chart that notebooks show without a network: as SVG, and interactive where they can."""

    def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, Any]:
        return {**drawing.offline(self.to_dict()), "text/plain": repr(self)}


def draw(run: Run, name: str) -> alt.VConcatChart:
    """Draw a series of a run over time; an unknown name is an InputError."""
    row = timelines.Row(
        title="",
        axis=series.named(name).axis,
        lines=series.drawn(run, name),
        algorithms=bands.choices(run, together=False),
        start_s=0.0,
        end_s=run.summary.duration_ns / NS_PER_S,
        joined=series.named(name).joined,
    )
    # A chart that is made of another's dictionary takes Altair three times as long.
    return Offline(vconcat=timelines.plots([row]), spacing=timelines.SPACING)
