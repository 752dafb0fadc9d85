"""A figure of a study as data: the keys that several kinds share.

A study file lists its figures as ``[[figure]]`` tables of several kinds. Each kind is a file of
`dumbbell.figures.kinds`: its keys, what they refer to, and how it is drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import ConfigDict, Field

from dumbbell.figures.figure import Figure
from dumbbell.figures.source import Source
from dumbbell.plan.grid import Selection
from dumbbell.quantities import names
from dumbbell.quantities.names import Chosen, ColumnName, OptionalAxis, TestName, Use, What
from dumbbell.scenario.tables import Table, Title

Scale = Literal["linear", "log"]


class Spec(Table):
    """A table of a figure; code may use the names of its fields, too."""

    model_config = ConfigDict(populate_by_name=True)


class Coordinate(Spec):
    """One axis of a plot."""

    field: ColumnName = Field(examples=["rtt_ms", "goodput_mbit_per_s[1]"])
    """A [quantity](quantities.md), or the numbers of an axis of the test, such as `rtt_ms`."""

    title: Title | None = Field(None, examples=["round-trip propagation time (ms)"])
    """Title of the axis, with the unit; by default that of the quantity."""

    scale: Scale = "linear"
    """Scale of the axis."""

    low: float | None = None
    """Where the axis begins, unless a value is lower."""

    high: float | None = None
    """Where the axis ends, unless a value is higher."""

    ticks: tuple[float, ...] | None = None
    """Values that are labelled; by default round numbers, or decades on a log scale."""

    zero: float | None = Field(None, gt=0, examples=[1e-8])
    """Position of 0 on a log scale; by default 0 is not shown there."""

    def titled(self, source: Source, test: str) -> Self:
        """Return the axis with a title."""
        if self.title is not None:
            return self
        return self.model_copy(update={"title": source.title(test, self.field)})


@dataclass(frozen=True)
class Behind:
    """Runs that a figure shows.

    Attributes
    ----------
    words
        Their role in the figure.
    test
        Their test.
    where
        Their grid points.
    repetition
        Number of the run of the one grid point; None: all runs.
    """

    words: str
    test: str
    where: Selection
    repetition: int | None = None


class BaseFigure(Spec, ABC):
    """A figure of any kind."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", examples=["fig4"])
    """Short name."""

    title: Title
    """Number and title, as in the publication."""

    caption: str = ""
    """Description of the figure, in a few sentences."""

    section: str
    """Name of the test under which a report shows the figure."""

    @abstractmethod
    def draw(self, source: Source) -> Figure:
        """Draw it with whatever runs there are."""

    @abstractmethod
    def behind(self) -> Iterator[Behind]:
        """Yield the runs that it shows."""

    def uses(self) -> Iterator[Use]:
        """Yield every name that it refers to, but that of its section."""
        yield from names.uses(self)

    def fields(self) -> Mapping[str, str]:
        """Return the columns of the test's table that it shows: key -> column."""
        return {use.key: use.name for use in names.uses(self) if use.what is What.COLUMN}


class TestFigure(BaseFigure):
    """A figure of the runs of one test."""

    __test__ = False

    test: TestName
    """Name of the test whose runs are shown."""

    where: Chosen = Field({})
    """Grid points that are shown; all if empty."""

    facet: OptionalAxis = None
    """Axis of the test whose values get a plot each."""

    def behind(self) -> Iterator[Behind]:
        """Yield the runs that it shows."""
        yield Behind("The runs behind it", self.test, self.where)
