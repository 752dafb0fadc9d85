"""Axes that hold all their values, with ticks that people read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import polars as pl

from dumbbell.base.lazy import altair as alt
from dumbbell.figures import units
from dumbbell.figures.spec import Coordinate, Scale
from dumbbell.figures.style import FONT_WITH_SUPERSCRIPTS

_Channel = TypeVar("_Channel", "alt.X", "alt.Y")

_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LEAST_SPAN: Final = 0.05
"""Least length of an axis without 0, as a share of its largest value: noise is not an effect."""

LEAST_SHARE: Final = 0.001
"""The same of an axis of shares, whatever its values."""

_HEADROOM: Final = 0.04
_FOR_INTERVALS: Final = 0.35
"""Largest extension of a linear axis for intervals, as a share of the extent of the values."""


@dataclass(frozen=True)
class Extent:
    """The span of an axis."""

    kind: Scale
    low: float
    high: float

    @property
    def scale(self) -> alt.Scale:
        """The Vega-Lite scale of this extent."""
        zero = alt.Undefined if self.kind == "log" else False
        return alt.Scale(type=self.kind, domain=[self.low, self.high], nice=False, zero=zero)

    @property
    def foot(self) -> float:
        """Value at the foot of bars."""
        return self.low if self.kind == "log" else min(max(self.low, 0.0), self.high)


def extent(
    axis: Coordinate,
    columns: Iterable[pl.Series],
    intervals: Iterable[pl.Series] = (),
    reference: float | None = None,
) -> Extent:
    """Return an extent that holds all values, the reference line, ticks and the requested ends.

    Without given ends a linear axis has only some room for the ends of intervals: those of two runs
    can be many times as long as all the rest. On a log scale the values have whole decades, which
    is room enough.
    """
    log = axis.scale == "log"
    line = pl.Series([reference], dtype=pl.Float64)
    values = _shown([line, *columns], log)
    bounds = (axis.low, axis.high, axis.zero if log else None)
    wanted = [bound for bound in bounds if bound is not None]
    places = [*values, *wanted, *(axis.ticks or ())] or [1.0, 10.0]
    low, high = min(places), max(places)
    if log:
        low = low if low == axis.low else 10.0 ** math.floor(math.log10(low) + 1e-9)
        high = high if high == axis.high else 10.0 ** math.ceil(math.log10(high) - 1e-9)
        return Extent("log", low, high if high > low else 10 * low)
    if low != axis.low and low > 0:
        low = 0.0
    ends = _shown(intervals, log) or [low]
    room = _FOR_INTERVALS * (high - low)
    if axis.low is None and low < 0:
        low = min(low, max(min(ends), low - room))
    if axis.high is None:
        high = max(high, min(max(ends), high + room))
    if high != axis.high:
        high += _HEADROOM * (high - low)
        high = max(high, low + _least(low, high, units.is_share(axis.field)))
    return Extent("linear", low, high if high > low else low + 1)


def widened(
    low: float, high: float, *, share: bool = False, scale: float = 1.0
) -> tuple[float, float]:
    """Return the ends of an axis without 0, of which a small difference fills but a small part.

    They lie around the same middle, but not below 0 if `low` does not, nor is a share above 1. For
    shares, `scale` is the factor to the unit that is shown, such as 100 for per cent.
    """
    missing = _least(low, high, share, scale) - (high - low)
    if missing <= 0:
        return low, high
    length = high - low + missing
    first = low - missing / 2
    if share and high <= scale:
        first = min(first, scale - length)
    if low >= 0:
        first = max(0.0, first)
    return first, first + length


def near(
    columns: Iterable[pl.Series], *, share: bool = False, scale: float = 1.0, **others: Any
) -> alt.Scale:
    """Return a scale without 0 that holds all values, and is no shorter than `widened` allows.

    `others` is what else the scale shall be.
    """
    values = _shown(columns, log=False) or [0.0, 1.0]
    ends = widened(min(values), max(values), share=share, scale=scale)
    return alt.Scale(domain=list(ends), nice=False, zero=False, **others)


def _least(low: float, high: float, share: bool, scale: float = 1.0) -> float:
    """Return how long an axis of these values must be; 1 if all are 0."""
    least = LEAST_SPAN * max(abs(low), abs(high))
    return max(least, LEAST_SHARE * scale) if share else least or 1.0


def _shown(columns: Iterable[pl.Series], log: bool) -> list[float]:
    """Return the numbers that the scale has a place for."""
    values = pl.concat([pl.Series([], dtype=pl.Float64), *(c.cast(pl.Float64) for c in columns)])
    values = values.drop_nulls()
    return values.filter(values.is_finite() & ((values > 0) | (not log))).to_list()


def channel(
    kind: type[_Channel], column: str, axis: Coordinate, span: Extent, **others: Any
) -> _Channel:
    """Return the encoding of a numeric column; `others` are further properties of the axis."""
    return kind(f"{column}:Q", title=axis.title, scale=span.scale, axis=ticks(axis, span, **others))


def ticks(axis: Coordinate, span: Extent, **others: Any) -> alt.Axis:
    """Return the figure's own ticks, else decades on a log scale, else round numbers or percents.

    `others` are further properties of the axis.
    """
    if axis.ticks is not None:
        return alt.Axis(values=axis.ticks, labelExpr="format(datum.value, '~r')", **others)
    if span.kind == "linear":
        percents = {"format": "~%"} if units.is_percent(axis.field) else {}
        return alt.Axis(**{"tickCount": 6, **percents, **others})
    first = math.ceil(math.log10(span.low) - 1e-9)
    last = math.floor(math.log10(span.high) + 1e-9)
    decades = range(first, last + 1)
    labels = ["10" + str(exponent).translate(_SUPERSCRIPTS) for exponent in decades]
    nth = f"round(log(datum.value) / LN10) - ({first})"
    values, label = [10.0**exponent for exponent in decades], f"{labels}[{nth}]"
    if axis.zero is not None:
        below = 1.01 * axis.zero
        values = [axis.zero, *(value for value in values if value > below)]
        label = f"datum.value < {below} ? '0' : {label}"
    return alt.Axis(
        values=values,
        labelExpr=label,
        labelFont=FONT_WITH_SUPERSCRIPTS,
        **others,
    )


def placed(axis: Coordinate, values: pl.Expr) -> pl.Expr:
    """Return the places of values: 0 has a separate place on a log scale, if the axis has one."""
    if axis.scale != "log" or axis.zero is None:
        return values
    return pl.when(values == 0).then(pl.lit(axis.zero)).otherwise(values)
