"""Figures of kind `ratios`: by how much one of two series exceeds the other, over two axes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, Self

import polars as pl
from pydantic import Field, model_validator

from dumbbell.algorithms.labels import labels_of
from dumbbell.base.errors import InputError
from dumbbell.base.labels import DIGITS, number
from dumbbell.base.lazy import altair as alt
from dumbbell.figures import axes, cells, marks, means, style
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import Figure, TextRow, TextTable, assembled
from dumbbell.figures.gathering import (
    Facet,
    facets,
    pooled_axes,
    pooled_notes,
    run_notes,
    runs_of,
    runs_per_point,
    values_of,
)
from dumbbell.figures.source import Source
from dumbbell.figures.spec import TestFigure
from dumbbell.inference import statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.quantities import tables
from dumbbell.quantities.names import AxisName, ColumnName, Use, What
from dumbbell.quantities.registry import Best

_EDGE: Final = "#b0b0b0"
_DARK_FROM: Final = 0.6
"""Share of the scale, from its middle, from which text is white."""
_WORDS: Final = {Best.HIGHEST: "better", Best.LOWEST: "better", None: "larger"}
_SCHEMA: Final = {
    "x": pl.String,
    "y": pl.String,
    "ratio": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "runs": pl.Int64,
    "runs_of_second": pl.Int64,
    "decided": pl.Boolean,
}


class RatiosFigure(TestFigure):
    """The ratio of two series over two axes: a cell for each grid point.

    A cell has the colour of the series that is better there. If the quantity has no better end, it
    has the colour of the larger one. A cell is white with a diagonal if the 95 % intervals of the
    two means overlap, because the runs do not decide it. A heat map outlines its winners by the
    same rule. If the test has further axes with several values, the means are averages over these
    values, as in a heat map.
    """

    kind: Literal["ratios"]

    x: AxisName = Field(examples=["rtt"])
    """Axis of the test from left to right."""

    y: AxisName = Field(examples=["rate"])
    """Axis of the test from bottom to top."""

    quantity: ColumnName = Field(examples=["goodput_mbit_per_s"])
    """The [quantity](quantities.md) whose ratio is shown."""

    series: AxisName = "algorithm"
    """Axis of the test whose values are the two series."""

    first: str = Field(examples=["cubic"])
    """Value of `series` whose quantity is the dividend."""

    second: str = Field(examples=["reno"])
    """Value of `series` whose quantity is the divisor."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.first == self.second:
            raise InputError("is the first one, too", key="second", value=self.second)
        return self

    def uses(self) -> Iterator[Use]:
        """Yield every name that it refers to, but that of its section."""
        yield from super().uses()
        for key in ("first", "second"):
            yield Use(key, What.VALUE, (self.series, getattr(self, key)), self.test)

    def draw(self, source: Source) -> Figure:
        """Draw the figure with whatever runs there are."""
        test = source.test(self.test)
        runs = runs_of(source, self).filter(pl.col(self.series).is_in([self.first, self.second]))
        values = {axis: values_of(test, axis, self) for axis in (self.x, self.y)}
        pooled = pooled_axes(test, self, (self.x, self.y, self.series, self.facet))
        panes = [(facet, self._ratios(facet, values, pooled)) for facet in facets(test, self, runs)]
        ratios = pl.concat([pl.DataFrame(schema=_SCHEMA), *(frame for _, frame in panes)])
        reach = _reach(ratios["ratio"])
        best = source.described(self.quantity).best
        plots = [self._plot(facet.title, frame, values, reach, best) for facet, frame in panes]
        chart = alt.concat(*plots, columns=cells.COLUMNS, spacing=26).resolve_scale(color="shared")
        title = f"{source.title(self.test, self.quantity)}: {self._name}"
        counts = runs_per_point(test, runs.drop_nulls(self.quantity))
        notes = list(run_notes(source, self, runs, counts, f"Ratios of means, {self._name},"))
        notes += [*pooled_notes(pooled), *self._winners(ratios, best), *_open(ratios)]
        texts = [self._table(facet.title, frame, values, title) for facet, frame in panes]
        numbers = pl.concat(
            frame.select(
                *([pl.lit(facet.title).alias(self.facet)] if self.facet else []),
                pl.col("x").alias(self.x),
                pl.col("y").alias(self.y),
                pl.lit(self.quantity).alias("quantity"),
                pl.exclude("x", "y"),
            )
            for facet, frame in panes
        )
        return assembled(self, chart, notes, texts, numbers)

    @property
    def _name(self) -> str:
        return " / ".join(labels_of([self.first, self.second]).values())

    def _ratios(
        self,
        facet: Facet,
        values: Mapping[str, Sequence[str]],
        pooled: Mapping[str, Sequence[str]],
    ) -> pl.DataFrame:
        """Return the ratio at each grid point with values of both, as `_SCHEMA` has it."""
        runs = facet.runs.drop_nulls(self.quantity)
        samples: dict[tuple[str, ...], dict[tuple[str, ...], list[float]]] = {}
        places = [self.x, self.y, self.series, *pooled]
        for (x, y, who, *point), part in runs.group_by(places, maintain_order=True):
            samples.setdefault((x, y, who), {})[tuple(point)] = part[self.quantity].to_list()
        decided = self._decided(facet, pooled)
        rows = []
        for y in values[self.y]:
            for x in values[self.x]:
                one, other = (samples.get((x, y, who), {}) for who in (self.first, self.second))
                ones, others = ([part[at] for at in one if at in other] for part in (one, other))
                if ones and min(map(min, [*ones, *others])) >= 0:
                    ratio = statistics.ratio_of_averages(ones, others)
                    counts = (sum(map(len, part)) for part in (ones, others))
                    rows.append((x, y, *_numbers(ratio), *counts, (x, y) in decided))
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")

    def _decided(self, facet: Facet, pooled: Mapping[str, Sequence[str]]) -> set[tuple[str, str]]:
        """Return the points at which the intervals of the two means do not overlap."""
        axes_of_places = {"x": self.x, "y": self.y, "series": self.series}
        places = {name: pl.col(axis) for name, axis in axes_of_places.items()}
        averages = means.averaged(facet.runs, places, self.quantity, pooled)
        # Of two means one is above the other exactly where the other is below it.
        is_best = tables.decided_best(averages, ["x", "y"], highest=True)
        return set(averages.filter(is_best).select("x", "y").iter_rows())

    def _plot(
        self,
        name: str,
        ratios: pl.DataFrame,
        values: Mapping[str, Sequence[str]],
        reach: float,
        best: Best | None,
    ) -> alt.LayerChart | alt.FacetChart:
        xs, ys = values[self.x], values[self.y]
        depth = pl.col("ratio").log().abs() / math.log(reach)
        shown = ratios.select(
            "x",
            "y",
            "decided",
            shown=pl.col("ratio").clip(1 / reach, reach),
            text=pl.Series([cells.text(ratio) for ratio in ratios["ratio"]], dtype=pl.String),
            interval=pl.Series(
                [_interval(row) for row in ratios.iter_rows(named=True)], dtype=pl.String
            ),
            is_dark=pl.col("decided") & (depth >= _DARK_FROM),
        )
        base = plain(inline(shown)).encode(**cells.places(xs, ys, (self.x, self.y)))
        tooltip = [
            *cells.tooltip(values),
            alt.Tooltip("text:N", title=self._name),
            alt.Tooltip("interval:N", title="95 % interval"),
        ]
        looks = style.looks([self.first, self.second])
        below, above = (looks[name] for name in self._ends(best))
        colours = [below.colour, "#ffffff", above.colour]
        domain = [1 / reach, 1, reach]
        # Between white and a colour only its lightness changes, not its hue.
        scale = alt.Scale(type="log", domain=domain, range=colours, interpolate="lab")
        names = json.dumps([f" {look.label} {_WORDS[best]}" for look in (below, above)])
        label = f"datum.label + ({names}[datum.value < 1 ? 0 : datum.value > 1 ? 1 : 2] || '')"
        legend = alt.Legend(format=".3~g", values=domain, labelExpr=label)
        ink = marks.ink("datum.is_dark", "white", "black")
        decided, still_open = (
            base.transform_filter(condition) for condition in ("datum.decided", "!datum.decided")
        )
        return alt.layer(
            decided.mark_rect(stroke=_EDGE).encode(
                color=alt.Color("shown:Q", title=self._name, scale=scale, legend=legend),
                tooltip=tooltip,
            ),
            still_open.mark_rect(stroke=_EDGE, color="white").encode(tooltip=tooltip),
            still_open.mark_point(**cells.diagonal(), stroke=_EDGE, strokeWidth=1),
            base.mark_text(fontSize=11).encode(text=alt.Text("text:N"), color=ink),
        ).properties(title=name, **cells.size(xs, ys))

    def _ends(self, best: Best | None) -> tuple[str, str]:
        """Return whose colour cells have below 1, and whose above: that of the better series."""
        ends = (self.second, self.first)
        return ends[::-1] if best is Best.LOWEST else ends

    def _winners(self, ratios: pl.DataFrame, best: Best | None) -> Iterator[str]:
        """State which series the colours mean, if any cell has one."""
        if ratios["decided"].any():
            below, above = labels_of(self._ends(best)).values()
            yield f"Colours: {above} is {_WORDS[best]} above 1, {below} below."

    def _table(
        self, name: str, ratios: pl.DataFrame, values: Mapping[str, Sequence[str]], title: str
    ) -> TextTable:
        texts = {
            (row["x"], row["y"]): f"{number(row['ratio'], DIGITS)} ({_interval(row)})"
            for row in ratios.iter_rows(named=True)
        }
        rows = tuple(
            TextRow(label, tuple(texts.get((x, y), "–") for x in values[self.x]))
            for y, label in labels_of(values[self.y]).items()
        )
        heads = tuple(labels_of(values[self.x]).values())
        return TextTable(name, f"{title}, with 95 % interval", self.y, heads, rows)


def _numbers(ratio: Estimate) -> tuple[float, float | None, float | None]:
    ends = (end if math.isfinite(end) and end >= 0 else None for end in ratio.interval)
    low, high = ends if ratio.has_interval else (None, None)
    return ratio.value, low, high


def _reach(ratios: pl.Series) -> float:
    """Return the largest ratio, or inverse of one, that colours distinguish."""
    known = ratios.filter(ratios.is_finite() & (ratios > 0))
    most = max((max(ratio, 1 / ratio) for ratio in known), default=1.0)
    return max(most, 1 + axes.LEAST_SPAN)


def _interval(row: Mapping[str, float | None]) -> str:
    if row["low"] is None or row["high"] is None:
        return "no interval"
    return f"{number(row['low'])} to {number(row['high'])}"


def _open(ratios: pl.DataFrame) -> Iterator[str]:
    """Say how many ratios are not decided, if any."""
    count = ratios.height - int(ratios["decided"].sum())
    if count:
        many = f"{count} of {ratios.height}"
        yield (
            f"White with a diagonal: not decided ({many}), "
            "as the 95 % intervals of the two means overlap."
        )
