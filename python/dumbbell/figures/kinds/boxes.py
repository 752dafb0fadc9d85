"""Figures of kind `boxes`: how the samples of runs are distributed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, TypeAlias

import numpy as np
import polars as pl
from pydantic import model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.labels import number
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, marks, stated, style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextRow, TextTable, assembled
from dumbbell.figures.gathering import names_of, run_notes, values_of
from dumbbell.figures.looks import Look
from dumbbell.figures.source import Source
from dumbbell.figures.spec import Coordinate
from dumbbell.figures.stated import StatedFigure
from dumbbell.figures.style import INK
from dumbbell.plan.grid import Selection
from dumbbell.quantities.counters import Values
from dumbbell.quantities.goodput_samples import samples_mbit_per_s
from dumbbell.quantities.names import AxisName
from dumbbell.quantities.reference import parse

_SAMPLED: Final = "goodput_mbit_per_s"
"""The quantity of which samples are taken."""

_QUANTILES: Final = {"min": 0.0, "q25": 0.25, "q50": 0.5, "q75": 0.75, "max": 1.0}
_HEIGHT: Final = 300
_STEP: Final = 92
_BOX: Final = 38

_At: TypeAlias = "Callable[[str], alt.Y]"


class BoxesFigure(StatedFigure):
    """Distributions of the samples of runs, with all repetitions together.

    A box spans the middle half of the samples, with a line at their median. The whiskers reach from
    the smallest to the largest sample. The study's settings `samples` determine the samples.
    """

    kind: Literal["boxes"]

    series: AxisName = "algorithm"
    """Axis of the test whose values get a box each."""

    y: Coordinate
    """The vertical axis. Its field is `goodput_mbit_per_s` of all sampled flows, or of some
    flows."""

    @property
    def _stated_fields(self) -> list[str]:
        return [self.y.field]

    @model_validator(mode="after")
    def _has_samples(self) -> Self:
        if parse(self.y.field).name != _SAMPLED:
            raise InputError(
                "samples are not taken of it", key="y.field", value=self.y.field, valid=_SAMPLED
            )
        return self

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        test = source.test(self.test)
        values = [None] if self.facet is None else values_of(test, self.facet, self)
        panes = [_pane(source, self, value) for value in values]
        looks = style.looks(values_of(test, self.series, self))
        y = self.y.titled(source, self.test)
        runs = pl.concat([pane.points for pane in panes])
        counts = [count for pane in panes for count in pane.boxes["runs"]]
        notes = [*run_notes(source, self, runs, counts, "Samples"), *self.stated_notes()]
        tables = [*(_table(pane, self, y, looks) for pane in panes), *self.stated_table()]
        return assembled(self, _chart(y, panes, looks), notes, tables, _numbers(panes, self))


@dataclass(frozen=True)
class _Pane:
    """One plot.

    Attributes
    ----------
    title
        The value that distinguishes it.
    boxes
        Rows of ``series``, the quantiles, and how many ``samples`` and ``runs`` they are of.
    points
        The axes of the runs.
    stated
        The authors' numbers: ``series``, ``low``, ``high`` and ``said``.
    """

    title: str
    boxes: pl.DataFrame
    points: pl.DataFrame
    stated: pl.DataFrame


def _pane(source: Source, spec: BoxesFigure, value: str | None) -> _Pane:
    where = spec.where if spec.facet is None or value is None else {**spec.where, spec.facet: value}
    pooled: dict[str, list[Values]] = {}
    points = []
    for point, samples in _samples(source, spec, where):
        pooled.setdefault(point[spec.series], []).append(samples)
        points.append(point)
    rows = [
        {"series": series, **_quantiles(np.concatenate(parts)), "runs": len(parts)}
        for series, parts in pooled.items()
    ]
    numbers = dict.fromkeys(_QUANTILES, pl.Float64)
    schema = {"series": pl.String, **numbers, "samples": pl.Int64, "runs": pl.Int64}
    test = source.test(spec.test)
    axes_of = dict.fromkeys(test.axes, pl.String)
    title = "" if spec.facet is None or value is None else names_of(test, spec.facet, spec)[value]
    stated_numbers = spec.stated_at(test, value)
    return _Pane(
        title,
        pl.DataFrame(rows, schema=schema),
        pl.DataFrame(points, schema=axes_of),
        stated_numbers.select("low", "high", "said", series=spec.series).unique(
            maintain_order=True
        ),
    )


def _samples(
    source: Source, spec: BoxesFigure, where: Selection
) -> Iterator[tuple[Mapping[str, str], Values]]:
    """Yield the samples of each finished run at the chosen grid points, with its axes."""
    reference = parse(spec.y.field)
    for point, run in source.views(spec.test, where):
        view = run.of_flows(reference.subject, reference.window)
        if view is not None:
            yield point, samples_mbit_per_s(view)


def _quantiles(samples: Values) -> dict[str, float | int | None]:
    quantiles = {
        name: float(np.quantile(samples, share)) if samples.size else None
        for name, share in _QUANTILES.items()
    }
    return {**quantiles, "samples": samples.size}


def _table(pane: _Pane, spec: BoxesFigure, y: Coordinate, looks: Mapping[str, Look]) -> TextTable:
    """Return a row per series and a column per quantile."""
    rows = tuple(
        TextRow(looks[row["series"]].label, tuple(number(row[name], 4) for name in _QUANTILES))
        for row in pane.boxes.iter_rows(named=True)
    )
    columns = ("smallest", "Q 0.25", "Q 0.5", "Q 0.75", "largest")
    caption = f"{y.title}, quantiles of the samples of all runs"
    return TextTable(pane.title, caption, spec.series, columns, rows)


def _numbers(panes: Sequence[_Pane], spec: BoxesFigure) -> pl.DataFrame:
    return pl.concat(
        pane.boxes.select(
            *([pl.lit(pane.title).alias(spec.facet)] if spec.facet else []),
            pl.col("series").alias(spec.series),
            pl.lit(spec.y.field).alias("quantity"),
            pl.exclude("series"),
        )
        for pane in panes
    )


def _chart(y: Coordinate, panes: Sequence[_Pane], looks: Mapping[str, Look]) -> alt.HConcatChart:
    """Draw the plots side by side with a common axis."""
    ends = [pane.boxes[name] for pane in panes for name in ("min", "max")]
    span = axes.extent(y, [*ends, *stated.values(pane.stated for pane in panes)])

    def at(column: str) -> alt.Y:
        return axes.channel(alt.Y, column, y, span)

    size = {"width": _STEP * len(looks), "height": _HEIGHT}
    plots = [alt.layer(*_layers(pane, y, looks, at)) for pane in panes]
    named = zip(plots, panes, strict=True)
    return alt.hconcat(*(plot.properties(title=pane.title, **size) for plot, pane in named))


def _layers(pane: _Pane, y: Coordinate, looks: Mapping[str, Look], at: _At) -> list[alt.Chart]:
    """Return whiskers, boxes and medians of a plot; the boxes say their numbers."""
    boxes = marks.labelled(pane.boxes, looks).drop("series")
    descriptions = [_description(row, str(y.title)) for row in boxes.iter_rows(named=True)]
    scale = alt.Scale(type="band", domain=[look.label for look in looks.values()])
    x = alt.X("label:N", title=None, sort=None, scale=scale, axis=alt.Axis(labelAngle=0))
    colour = marks.colour(looks, legend=None)
    base = plain(inline(boxes.with_columns(said=pl.Series(descriptions, dtype=pl.String)))).encode(
        x=x, color=colour
    )

    def theirs(frame: pl.DataFrame) -> alt.Chart:
        named = marks.labelled(frame, looks).drop("series")
        drawn: alt.Chart = plain(inline(named)).encode(x=x, color=colour)
        return drawn

    numbers = [alt.Tooltip(f"{name}:Q", format=".4~g") for name in _QUANTILES]
    ends = base.mark_tick(orient="horizontal", size=_BOX / 2, thickness=1.4, aria=False)
    return [
        base.mark_rule(strokeWidth=1.4, aria=False).encode(y=at("min"), y2=alt.Y2("max:Q")),
        ends.encode(y=at("min")),
        ends.encode(y=at("max")),
        # White below, so that the whisker does not shine through.
        base.mark_bar(size=_BOX, color="white", aria=False).encode(
            y=at("q25"), y2=alt.Y2("q75:Q"), color=alt.ColorValue("white")
        ),
        base.mark_bar(size=_BOX, fillOpacity=0.45, strokeWidth=1.4).encode(
            y=at("q25"),
            y2=alt.Y2("q75:Q"),
            stroke=marks.stroke(looks),
            tooltip=[
                alt.Tooltip("label:N", title="series"),
                *numbers,
                alt.Tooltip("samples:Q"),
                alt.Tooltip("runs:Q"),
            ],
            description=alt.Description("said:N"),
        ),
        base.mark_tick(orient="horizontal", size=_BOX, thickness=2.4, aria=False).encode(
            y=at("q50"), color=alt.ColorValue(INK)
        ),
        # Beside the box, which would hide them.
        *stated.drawn(pane.stated, theirs, at, xOffset=_BOX * 0.8),
    ]


def _description(row: Mapping[str, Any], title: str) -> str:
    quantiles = ", ".join(f"{name} {number(row[name], 4)}" for name in _QUANTILES)
    return f"{row['label']}: {title} {quantiles}; {row['samples']} samples of {row['runs']} runs"
