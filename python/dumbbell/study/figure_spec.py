"""What a figure of a study is, as data: which runs it shows, and how.

A study file lists its figures as ``[[figure]]`` tables of several kinds. `points` shows a metric,
averaged over repetitions, against an axis of a test; `bars` and `scatter` show it in groups, `rows`
has a line for each value of an axis; `boxes` shows how the samples of runs are distributed, and
`histories` quantities of single runs over time. `dumbbell.figures` draws them.
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
    "drops_per_s",
    "retransmissions_per_s",
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

    zero: float | None = Field(None, gt=0, examples=[1e-8])
    """Where 0 stands on a log scale; by default it has no place there."""


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


class _TestFigure(_Figure):
    test: str
    """Name of the test whose runs are shown."""

    where: Selection = {}
    """Grid points that are shown; all if empty."""

    facet: str | None = None
    """Axis of the test whose values get a plot each."""

    @property
    def tests(self) -> tuple[str, ...]:
        """Tests whose runs the figure needs."""
        return (self.test,)

    @property
    def selections(self) -> tuple[tuple[str, str, Selection], ...]:
        """Where the figure refers to grid points: key inside it, test, selection."""
        return (("", self.test, self.where),)


class PointsFigure(_TestFigure):
    """A metric against an axis: the mean of each grid point with its standard error."""

    kind: Literal["points"]

    x: Coordinate
    """The horizontal axis."""

    y: Coordinate
    """The vertical axis, a metric of those listed below."""

    series: str = "algorithm"
    """Axis of the test whose values get colours and shapes."""

    overlays: tuple[Overlay, ...] = Field((), alias="overlay")
    """Curves from theory."""

    missing: str | None = Field(None, examples=["did not converge"])
    """What it means if a run has no value of the metric."""

    reference: float | None = None
    """A level worth a thin line, such as 1 for a fair ratio."""


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

    @property
    def selections(self) -> tuple[tuple[str, str, Selection], ...]:
        """Where the figure refers to grid points: key inside it, test, selection."""
        return tuple(
            (f".panel.{number}", panel.test, panel.where)
            for number, panel in enumerate(self.panels)
        )

    @model_validator(mode="after")
    def _panel_titles_differ(self) -> Self:
        titles = [panel.title for panel in self.panels]
        if len(set(titles)) != len(titles):
            raise ValueError(f"panels need titles that differ, not {titles}")
        return self


class Part(_Spec):
    """A part of a stacked bar."""

    field: str = Field(examples=["goodput_mbit_1"])
    """The metric."""

    label: str = Field(examples=["flow 1"])
    """What the legend says."""


class _GroupedFigure(_TestFigure):
    groups: str = Field(examples=["rtt"])
    """Axis of the test whose values stand along the horizontal axis, a group each."""

    groups_title: str = Field(examples=["round-trip time"])
    """What the horizontal axis says."""

    series: str = "algorithm"
    """Axis of the test whose values stand beside each other in a group and get colours."""

    y: Coordinate
    """The vertical axis, a metric of those listed below."""

    missing: str | None = Field(None, examples=["did not converge"])
    """What it means if a run has no value of the metric."""

    reference: float | None = None
    """A level worth a thin line."""


class BarsFigure(_GroupedFigure):
    """A metric as bars in groups: the mean of each grid point with its standard error."""

    kind: Literal["bars"]

    parts: tuple[Part, ...] = Field((), alias="part")
    """What a bar is stacked from; by default it is one."""

    marks: Coordinate | None = None
    """A second metric, drawn as points over the bars with an axis of its own on the right."""


class ScatterFigure(_GroupedFigure):
    """A metric as marks in groups: the mean of each grid point, and its runs as dots."""

    kind: Literal["scatter"]

    shapes: str | None = Field(None, examples=["second"])
    """Axis of the test whose values get shapes."""


class BoxesFigure(_TestFigure):
    """How the samples of runs are distributed, those of all repetitions together.

    A box spans the middle half of the samples, with a line at their median; the whiskers reach
    from the smallest to the largest. Samples are taken as the study's `samples` say.
    """

    kind: Literal["boxes"]

    series: str = "algorithm"
    """Axis of the test whose values get a box each."""

    y: Coordinate
    """The vertical axis; its field is `goodput_mbit`, the goodput of all sampled flows."""


class Stated(_Spec):
    """A number that the publication states of one plot."""

    where: Selection = {}
    """The value of the facet's axis."""

    low: float
    """The number, or the smallest one."""

    high: float | None = None
    """The largest one, of a range."""

    label: str = Field(examples=["the paper: 8.2 to 8.27 Gbit/s"])
    """What the plot says about it."""


class RowsFigure(_TestFigure):
    """A metric in rows: the mean of each grid point with its runs, beside what was stated."""

    kind: Literal["rows"]

    rows: str = Field(examples=["cause"])
    """Axis of the test whose values get a row each."""

    x: Coordinate
    """The horizontal axis, a metric of those listed below."""

    stated: tuple[Stated, ...] = ()
    """What the publication states, drawn as a line or a band."""

    @property
    def selections(self) -> tuple[tuple[str, str, Selection], ...]:
        """Where the figure refers to grid points: key inside it, test, selection."""
        stated = (
            (f".stated.{number}", self.test, each.where) for number, each in enumerate(self.stated)
        )
        return (*super().selections, *stated)


FigureSpec = Annotated[
    PointsFigure | BarsFigure | ScatterFigure | BoxesFigure | RowsFigure | HistoriesFigure,
    Field(discriminator="kind"),
]
