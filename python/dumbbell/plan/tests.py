"""The tests of a study, as its files have them: grids of scenarios, and what varies on them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm, OwnAlgorithms
from dumbbell.base.errors import InputError, placed
from dumbbell.base.keys import numbered
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.plan.windows import NamedWindow, Window, differing
from dumbbell.scenario.tables import Table, Title

RUNS_MAX: Final = 500_000
"""Of a study by one plan, and grid points of a test: what is planned takes 4.5 kB a run."""


def check_count(runs: int) -> None:
    """Raise InputError for more runs than one plan may have, before any of them takes memory."""
    if runs > RUNS_MAX:
        raise InputError(
            f"at least {runs:,} runs are planned",
            valid=f"at most {RUNS_MAX:,} by one plan: fewer repetitions, values or grid points",
        )


RESERVED_AXES: Final = ("test", "repetition", "key")
"""Columns of the metrics table that no axis may be called."""


class Vary(Table):
    """A change to the scenario at some grid points."""

    where: Selection = Field(examples=['{ algorithm = "reno" }'])
    """The grid points: the value or the values of each axis that the change applies to."""

    set: dict[str, Any] = Field(examples=['{ duration = "3600s" }'])
    """Keys and values that are merged into their scenario."""


class Quick(Table):
    """The representative part of a test that ``--quick`` keeps."""

    runs: int | None = Field(None, ge=1)
    """Repetitions of each grid point."""

    where: Selection = Field({})
    """Grid points that are kept."""

    set: dict[str, Any] = Field({}, examples=['{ duration = "100s" }'])
    """Keys and values that are merged into the scenario."""


class Test(Table):
    """One test: a grid of scenarios, each repeated with different seeds."""

    __test__ = False

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", examples=["fairness"])
    """Short name."""

    title: Title
    """Title of the test."""

    source: str = ""
    """Its place in the publication."""

    runs: int = Field(1, ge=1)
    """Repetitions of each grid point."""

    seeds: Literal["drawn", "shared"] = "drawn"
    """Origin of the seeds of repetitions. `drawn`: seeds come from the scenario and `--seed`, so
    that they differ between grid points. `shared`: seeds are equal at all grid points. The first is
    `--seed`, and the others are drawn from it."""

    folder: str = Field("", examples=["/home/me/scenarios"])
    """The folder to which the paths of the test's files are relative; by default that of the
    study."""

    axes: dict[str, tuple[str, ...]] = Field(min_length=1)
    """The grid: all axes in order, each with all its values. ``{axis}`` in the scenario is replaced
    by the axis's value. An axis with several values must change a scenario. A C file such as
    `./my_cc.c` is also a value. Its grid points are called `my_cc`."""

    without: tuple[Selection, ...] = Field((), examples=[[{"algorithm": "reno", "second": "reno"}]])
    """Grid points that are left out, such as those that another one repeats."""

    scenario: dict[str, Any] = Field({})
    """The scenario, on top of the study's."""

    measure: Window = Window()
    """The main window, which applies to all quantities that name no other one."""

    windows: tuple[NamedWindow, ...] = Field((), alias="window")
    """Further windows, which quantities name: `goodput_mbit_per_s@during`."""

    vary: tuple[Vary, ...] = ()
    """Changes at some grid points; later ones win."""

    quick: Quick = Quick()
    """The part that ``--quick`` keeps."""

    @field_validator("axes")
    @classmethod
    def _check_axes(cls, axes: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for axis, values in axes.items():
            if axis in RESERVED_AXES:
                raise InputError("reserved name", key=axis, valid="another name for the axis")
            if not values:
                raise InputError("an axis without a value", key=axis, value=[], valid="some values")
            if (again := grid.twice(values)) is not None:
                raise InputError(
                    "an axis has the same value twice", key=axis, value=again, valid="each once"
                )
        points = math.prod(map(len, axes.values()))
        if points > RUNS_MAX:
            raise InputError(
                f"{points:,} grid points", valid=f"at most {RUNS_MAX:,}; several tests have more"
            )
        return axes

    _own_algorithms: dict[str, Algorithm] = PrivateAttr(default_factory=dict)

    @property
    def own_algorithms(self) -> OwnAlgorithms:
        """The algorithms that its axes name by their files; values of axes are their names."""
        return self._own_algorithms

    @property
    def grid_points(self) -> Iterator[dict[str, str]]:
        """The values of the axes at each grid point, in the order of the axes."""
        without = [grid.kept(left_out, self.axes) for left_out in self.without]
        for values in itertools.product(*self.axes.values()):
            axes = dict(zip(self.axes, values, strict=True))
            if not any(grid.is_kept(axes, left_out) for left_out in without):
                yield axes

    def restricted(self, points: Sequence[Mapping[str, str]]) -> Self:
        """Return the test with no more grid points than these of its own need."""
        axes = {
            axis: tuple(value for value in values if any(point[axis] == value for point in points))
            for axis, values in self.axes.items()
        }
        smaller = self.model_copy(update={"axes": axes})
        # What leaves out `reno` would leave out `reno@abe` with it.
        left_out = [
            other
            for other in smaller.grid_points
            if not any(grid.matches(point, other) for point in points)
        ]
        return smaller.model_copy(update={"without": (*self.without, *left_out)})

    @model_validator(mode="after")
    def _read_own(self, info: ValidationInfo) -> Self:
        folder = (info.context or {}).get("folder", Path()) / self.folder
        named = {}
        for axis, values in self.axes.items():
            with placed(key=f"axes.{axis}"):
                named[axis] = tuple(
                    catalogue.named(value, folder, self._own_algorithms) for value in values
                )
        object.__setattr__(self, "axes", named)
        return self

    @field_validator("windows")
    @classmethod
    def _windows_differ(cls, windows: tuple[NamedWindow, ...]) -> tuple[NamedWindow, ...]:
        return differing(windows)

    @model_validator(mode="after")
    def _check_selections(self) -> Self:
        selections = [(f"{key}.where", vary.where) for key, vary in numbered("vary", self.vary)]
        left_out = numbered("without", self.without)
        for key, where in [*selections, *left_out, ("quick.where", self.quick.where)]:
            with placed(key=key):
                grid.check(where, self.axes)
        return self
