"""Numbers that the authors state, at the places of a figure where they belong."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Self

import polars as pl
from pydantic import Field, model_validator

from dumbbell.algorithms.labels import label_of
from dumbbell.base.errors import InputError, unknown
from dumbbell.base.keys import numbered
from dumbbell.base.labels import listing, number
from dumbbell.base.lazy import altair as alt
from dumbbell.figures.data import inline, plain
from dumbbell.figures.figure import TextRow, TextTable
from dumbbell.figures.spec import Spec, TestFigure
from dumbbell.figures.style import FAINT
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test
from dumbbell.quantities import tables
from dumbbell.quantities.names import Use, What

WHO: Final = "the authors"
_SIZE: Final = 190
_STROKE: Final = 1.8
_ARROW_PX: Final = 16


class Stated(Spec):
    """A number reported by the authors, drawn hollow next to the measurement."""

    where: Selection = Field({}, examples=[{"algorithm": "bic", "rtt": "6.2ms"}])
    """The grid points of the figure to which the number belongs."""

    field: str | None = Field(None, examples=["goodput_mbit_per_s[1]"])
    """The quantity of the number, if the figure shows several; by default the first one."""

    value: float | None = None
    """The number."""

    low: float | None = None
    """Lower end of a range, instead of a number. Without an upper end it means "at least"."""

    high: float | None = None
    """Upper end of a range. Without a lower end it means "at most"."""

    source: str = Field(examples=["Section V"])
    """Its place in the publication."""

    label: str = ""
    """Its text; by default the number."""

    @model_validator(mode="after")
    def _is_a_number(self) -> Self:
        ends = [end for end in (self.low, self.high) if end is not None]
        if self.value is None and not ends:
            raise InputError("there is no number", key="value", valid="a number, or low and high")
        if self.value is not None and ends:
            raise InputError(
                "a number is no range", key="value", value=self.value, valid="it, or low and high"
            )
        if ends != sorted(ends):
            raise InputError("low is above high", key="low", value=self.low, valid="at most high")
        return self

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The smallest and the largest number; None where it is open."""
        return (self.low, self.high) if self.value is None else (self.value, self.value)

    @property
    def words(self) -> str:
        """The number as readers see it."""
        match self.ends:
            case (None, high):
                return f"at most {number(high, 4)}"
            case (low, None):
                return f"at least {number(low, 4)}"
            case (low, high):
                return f"{number(low, 4)} to {number(high, 4)}" if low != high else number(low, 4)

    @property
    def citation(self) -> str:
        """The number with who states it, and where."""
        return f"{WHO}: {self.label or self.words} ({self.source})"


class StatedFigure(TestFigure):
    """A figure that shows numbers of the authors next to the measured ones."""

    authors: tuple[Stated, ...] = ()
    """Numbers that the authors state in their text, drawn as hollow marks."""

    @property
    @abstractmethod
    def _stated_fields(self) -> list[str]:
        """Columns that a number may be of; the first is meant where it does not say."""

    def uses(self) -> Iterator[Use]:
        """Yield every name that it refers to, but that of its section."""
        yield from super().uses()
        for key, stated in numbered("authors", self.authors):
            yield Use(f"{key}.where", What.POINTS, (stated.where, self.where), self.test)

    @model_validator(mode="after")
    def _fields_are_shown(self) -> Self:
        for key, stated in numbered("authors", self.authors):
            if stated.field is not None and stated.field not in self._stated_fields:
                raise unknown("quantity of the figure", stated.field, self._stated_fields).at(
                    key=f"{key}.field"
                )
        return self

    def stated_of(self, point: Selection) -> list[Stated]:
        """Return the numbers of a plot, given by the value of its facet's axis."""
        return [
            stated
            for stated in self.authors
            if all(
                grid.matches({axis: str(value)}, {axis: stated.where[axis]})
                for axis, value in point.items()
                if axis in stated.where
            )
        ]

    def stated_at(self, test: Test, facet: str | None) -> pl.DataFrame:
        """Return the numbers of a plot at their grid points.

        The columns are the axes, their numbers (such as ``rtt_ms``), ``field``, ``low``, ``high``
        (null where it is open) and ``said``.
        """
        points = grid.select(tables.grid_frame(test), self.where)
        if self.facet is not None and facet is not None:
            points = points.filter(pl.col(self.facet) == facet)
        first = self._stated_fields[0]
        return pl.concat(
            [
                _numbers_at(points.head(0), None, None, first, ""),
                *(
                    _numbers_at(
                        grid.select(points, stated.where),
                        *stated.ends,
                        stated.field or first,
                        stated.citation,
                    )
                    for stated in self.authors
                ),
            ]
        )

    def stated_notes(self) -> Iterator[str]:
        """Say what hollow marks mean."""
        if self.authors:
            open_ended = any(None in stated.ends for stated in self.authors)
            arrows = "; ↑ at least, ↓ at most" * open_ended
            yield f"Large hollow marks: what the authors state{arrows}."

    def stated_table(self) -> Iterator[TextTable]:
        """Yield a table of the numbers, if there are any."""
        if self.authors:
            rows = tuple(
                TextRow(_where(stated), (stated.label or stated.words, stated.source))
                for stated in self.authors
            )
            yield TextTable("", f"What {WHO} state", "where", ("number", "in"), rows)


def _numbers_at(
    points: pl.DataFrame, low: float | None, high: float | None, field: str, words: str
) -> pl.DataFrame:
    return points.with_columns(
        field=pl.lit(field),
        low=pl.lit(low, pl.Float64),
        high=pl.lit(high, pl.Float64),
        said=pl.lit(words),
    )


def _where(stated: Stated) -> str:
    places = (
        listing([label_of(value) for value in grid.wanted_values(stated.where, axis)])
        for axis in stated.where
    )
    return "; ".join(places) or "everywhere"


def values(frames: Iterable[pl.DataFrame]) -> list[pl.Series]:
    """Return all numbers, which an axis needs room for."""
    return [frame[end] for frame in frames for end in ("low", "high")]


def drawn(
    frame: pl.DataFrame,
    chart: Callable[[pl.DataFrame], alt.Chart],
    y: Callable[[str], alt.Y],
    *,
    over: bool = False,
    **look: Any,
) -> list[alt.Chart]:
    """Draw numbers hollow, ranges as two marks with a line between, and open ends with an arrow.

    Parameters
    ----------
    frame
        The numbers: ``low``, ``high``, ``said``, and what `chart` places them by.
    chart
        Makes a chart of such rows that has places and colours.
    y
        Makes the vertical encoding of a column.
    over
        True if they lie over other marks and so are white inside.
    look
        Further properties of the marks.
    """
    if frame.is_empty():
        return []
    low, high = pl.col("low"), pl.col("high")
    ends = pl.concat(
        [
            frame.with_columns(y=low, arrow=pl.when(high.is_null()).then(pl.lit("↑"))),
            frame.filter(low.is_null() | (low != high)).with_columns(
                y=high, arrow=pl.when(low.is_null()).then(pl.lit("↓"))
            ),
        ]
    ).drop_nulls("y")
    size = alt.Size(
        "by:N",
        title=None,
        scale=alt.Scale(type="ordinal", domain=[WHO], range=[_SIZE]),
        legend=alt.Legend(
            symbolType="circle",
            symbolFillColor="transparent",
            symbolStrokeColor=FAINT,
            symbolStrokeWidth=_STROKE,
        ),
    )
    marks = chart(ends.with_columns(by=pl.lit(WHO))).encode(y=y("y"))
    layers = [
        marks.mark_point(filled=False, strokeWidth=_STROKE, **look).encode(
            size=size,
            tooltip=[alt.Tooltip("said:N", title=WHO)],
            description=alt.Description("said:N"),
        )
    ]
    if over:
        inside = marks.mark_point(filled=True, size=_SIZE, opacity=1, aria=False, **look)
        layers.insert(0, inside.encode(color=alt.ColorValue("white")))
    between = frame.filter(low != high)
    if not between.is_empty():
        offset = {key: value for key, value in look.items() if key == "xOffset"}
        rule = chart(between).mark_rule(strokeDash=[3, 2], aria=False, **offset)
        layers.insert(0, rule.encode(y=y("low"), y2=alt.Y2("high:Q")))
    for arrow, away in (("↑", -_ARROW_PX), ("↓", _ARROW_PX)):
        open_ends = ends.filter(pl.col("arrow") == arrow)
        if not open_ends.is_empty():
            text = chart(open_ends).mark_text(text=arrow, dy=away, fontSize=_ARROW_PX, aria=False)
            layers.append(text.encode(y=y("y")))
    return layers


def placed(frame: pl.DataFrame) -> alt.Chart:
    """Return a chart of rows as they are."""
    return plain(inline(frame))
