"""What a figure of a study is, as data: which runs it shows, and how.

A study file lists its figures as ``[[figure]]`` tables. There are two kinds: `points`, a metric
averaged over repetitions against an axis of a test, and `histories`, quantities of single runs
over time. `dumbbell.figures` draws them.
"""

from __future__ import annotations

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
"""What a history shows; `alpha` and `beta` are AIMD parameters that an algorithm reports."""


class _Spec(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, populate_by_name=True
    )


class Coordinate(_Spec):
    """One axis of a plot."""

    field: str = Field(examples=["rtt_ms", "ratio_min_max"])
    """Column of the metrics table."""

    title: str = Field(examples=["round-trip propagation time (ms)"])
    """What the axis says, with the unit."""

    scale: Scale = "linear"
    """How values are placed."""

    low: float | None = None
    """Where the axis begins, unless a value is lower."""

    high: float | None = None
    """Where the axis ends, unless a value is higher."""

    ticks: tuple[float, ...] | None = None
    """Values that are labelled; by default round numbers, on a log scale the decades."""


class Overlay(_Spec):
    """A curve from theory, drawn dashed."""

    theory: str
    """Name of a curve in `dumbbell.theory`."""

    label: str
    """What the legend says."""

    where: Selection = {}
    """Grid points of the figure for which the curve is computed."""


class _Figure(_Spec):
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", examples=["fig4"])
    """Short name."""

    title: str
    """Number and title, as in the publication."""

    caption: str = ""
    """What is shown, in a few sentences."""

    section: str
    """Name of the test under which a report shows the figure."""


class PointsFigure(_Figure):
    """A metric against an axis: the mean of each grid point with its standard error."""

    kind: Literal["points"]

    test: str
    """Name of the test whose runs are shown."""

    where: Selection = {}
    """Grid points that are shown; all if empty."""

    x: Coordinate
    """The horizontal axis."""

    y: Coordinate
    """The vertical axis, a metric of those listed below."""

    series: str = "algorithm"
    """Axis of the test whose values get colours and shapes."""

    facet: str | None = None
    """Axis of the test whose values get a plot each."""

    overlays: tuple[Overlay, ...] = Field((), alias="overlay")
    """Curves from theory."""

    missing: str | None = Field(None, examples=["did not converge"])
    """What it means if a run has no value of the metric."""

    reference: float | None = None
    """A level worth a thin line, such as 1 for a fair ratio."""

    @property
    def tests(self) -> tuple[str, ...]:
        """Tests whose runs the figure needs."""
        return (self.test,)


class Panel(_Spec):
    """One run of a test, drawn over time."""

    title: str
    """What sets this panel apart."""

    test: str
    """Name of the test."""

    where: Selection = {}
    """The grid point: a value of each axis that has more than one."""

    repetition: int = Field(0, ge=0)
    """Which of its runs, counted from 0."""

    start_s: float | None = Field(None, ge=0)
    """Where the time axis begins; by default with the run."""

    end_s: float | None = Field(None, ge=0)
    """Where the time axis ends; by default with the run."""


class HistoriesFigure(_Figure):
    """Quantities of single runs over time: a plot per panel and quantity, a line per flow."""

    kind: Literal["histories"]

    quantities: tuple[Quantity, ...] = Field(("cwnd_segs",), min_length=1)
    """What each panel shows, one below the other."""

    panels: tuple[Panel, ...] = Field(alias="panel", min_length=1)
    """The runs, from top to bottom."""

    @property
    def tests(self) -> tuple[str, ...]:
        """Tests whose runs the figure needs."""
        return tuple(dict.fromkeys(panel.test for panel in self.panels))

    @model_validator(mode="after")
    def _panel_titles_differ(self) -> Self:
        titles = [panel.title for panel in self.panels]
        if len(set(titles)) != len(titles):
            raise ValueError(f"panels need titles that differ, not {titles}")
        return self


FigureSpec = Annotated[PointsFigure | HistoriesFigure, Field(discriminator="kind")]
