"""What a figure of a study is, as data: which runs it shows, and how.

A study file lists its figures as ``[[figure]]`` tables. There are two kinds: `points`, a metric
averaged over repetitions against an axis of a test, and `histories`, quantities of single runs
over time. `dumbbell.figures` draws them.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Scale = Literal["linear", "log"]
Selection = dict[str, str | list[str]]
"""Axis -> the value or values of it that are shown, written as in the test's axes."""

Quantity = Literal[
    "cwnd_segs",
    "ssthresh_segs",
    "in_flight_segs",
    "rtt_ms",
    "throughput_mbit",
    "goodput_mbit",
    "alpha",
    "beta",
    "queue_packets",
]
"""What a history shows over time; `alpha` and `beta` are AIMD parameters that an algorithm reports.
"""


class _Spec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Coordinate(_Spec):
    """One axis of a plot: the column shown, its label with unit, and its scale."""

    field: str
    title: str
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    ticks: list[float] | None = None


class Overlay(_Spec):
    """A curve from theory, drawn dashed."""

    theory: str
    """Name of a closed form in `dumbbell.theory`."""
    label: str
    where: Selection = {}
    """Which points of the figure the curve is computed for."""


class _Figure(_Spec):
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    title: str
    """Number and title, as in the paper."""
    caption: str = ""
    section: str
    """Name of the test under which the report shows the figure."""


class PointsFigure(_Figure):
    """A metric against an axis: one mark per grid point, the mean with its standard error."""

    kind: Literal["points"]
    test: str
    where: Selection = {}
    x: Coordinate
    y: Coordinate
    series: str = "algorithm"
    facet: str | None = None
    overlay: list[Overlay] = []
    missing: str | None = None
    """What a run without a value of the metric means, such as "did not converge"."""
    reference: float | None = None
    """A level worth a thin line, such as 1 for a fair ratio."""

    @property
    def tests(self) -> list[str]:
        """Tests whose runs the figure needs."""
        return [self.test]


class Panel(_Spec):
    """One run of a test, drawn over time."""

    title: str
    test: str
    where: Selection
    """Values of all axes that have more than one."""
    repetition: int = Field(default=0, ge=0)
    quantities: list[Quantity] | None = None
    """Overrides the figure's."""
    start_s: float | None = None
    end_s: float | None = None


class HistoriesFigure(_Figure):
    """Quantities of single runs over time, one row per panel and quantity, one line per flow."""

    kind: Literal["histories"]
    quantities: list[Quantity] = Field(default=["cwnd_segs"], min_length=1)
    panel: list[Panel] = Field(min_length=1)

    @property
    def tests(self) -> list[str]:
        """Tests whose runs the figure needs."""
        return list(dict.fromkeys(panel.test for panel in self.panel))

    @model_validator(mode="after")
    def _panel_titles_differ(self) -> Self:
        titles = [panel.title for panel in self.panel]
        if len(set(titles)) != len(titles):
            raise ValueError(f"panels of figure {self.name} need titles that differ: {titles}")
        return self


FigureSpec = Annotated[PointsFigure | HistoriesFigure, Field(discriminator="kind")]
