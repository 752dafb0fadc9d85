"""A published study as data: its tests, figures and claims.

A study is a folder of TOML files that are read as one, or a single file. Each test is a grid of
scenarios; `Study.runs` expands it to the runs that an engine executes.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from dumbbell import catalogue
from dumbbell.catalogue import Algorithm, Own
from dumbbell.errors import InputError, unknown
from dumbbell.running.places import Place
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario, canonical_json
from dumbbell.study import grid
from dumbbell.study.claim_spec import Claim, Measured
from dumbbell.study.figure_spec import FigureSpec, Selection
from dumbbell.study.files import names, read
from dumbbell.units import Duration

RESERVED_AXES: Final = ("test", "repetition", "key")
"""Columns of the metrics table that no axis may be called."""


class _Table(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, populate_by_name=True
    )


class Header(_Table):
    """What the study is."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", examples=["li2007"])
    """Short name, as given to the commands."""

    title: str
    """Title of the publication."""

    authors: tuple[str, ...]
    """Its authors."""

    year: int
    """Year of publication."""

    venue: str = ""
    """Where it was published."""

    summary: str = ""
    """What it does, in a few sentences."""


class Convergence(_Table):
    """How convergence after the start of a flow is judged.

    The short-term throughput is an exponentially weighted moving average whose window (the
    inverse of lambda) grows with the bandwidth-delay product.
    """

    share: float = Field(0.8, gt=0, lt=1)
    """Share of its goal (the flow's own average, or the other flow's rate) to reach."""

    lost: float = Field(0.4, gt=0, lt=1)
    """Flows that had converged have diverged when the slower has less than this of the faster."""

    window_per_packet: Duration = Field(1_500_000, validate_default=False, examples=["1.5ms"])
    """Window per packet of the bandwidth-delay product."""

    window_minimum: Duration = Field(2_000_000_000, validate_default=False, examples=["2s"])
    """Shortest window."""


class Samples(_Table):
    """How the samples of a run are read where they are looked at one by one, as with iperf3.

    The short-term throughput of Lukaseder et al. 2016 is a discrete moving average over them:
    `u <- (1 - weight) u + weight x`, from 0 on. A flow has converged when it reaches `share` of the
    flow's average from its start to the end.
    """

    interval: Duration = Field(1_000_000_000, gt=0, validate_default=False, examples=["1s"])
    """Time between samples, a multiple of the record's interval."""

    weight: float = Field(0.1, gt=0, le=1)
    """Weight of a new sample in the moving average (lambda)."""

    share: float = Field(0.8, gt=0, lt=1)
    """Share of the flow's own average to reach (epsilon)."""


class Measure(_Table):
    """What part of a run the averages are taken over: it begins when all flows have started."""

    length: Duration | None = Field(None, examples=["600s"])
    """Longest part used; by default to the end of the run."""

    skip: float = Field(0.0, ge=0, lt=1)
    """Share of that part which is left out at its beginning."""


class Vary(_Table):
    """A change to the scenario at some grid points."""

    where: Selection = Field(examples=['{ algorithm = "reno" }'])
    """The grid points: for each axis the value or the values that are meant."""

    set: dict[str, Any] = Field(examples=['{ duration = "3600s" }'])
    """What is merged into their scenario."""


class Quick(_Table):
    """The representative part of a test that ``--quick`` keeps."""

    runs: int | None = Field(None, ge=1)
    """Repetitions of each grid point."""

    where: Selection = {}
    """Grid points that are kept."""

    set: dict[str, Any] = Field({}, examples=['{ duration = "100s" }'])
    """What is merged into the scenario."""


class Test(_Table):
    """One test: a grid of scenarios, each repeated with different seeds."""

    __test__ = False

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", examples=["fairness"])
    """Short name."""

    title: str
    """What is tested."""

    source: str = ""
    """Where in the publication."""

    runs: int = Field(1, ge=1)
    """Repetitions of each grid point."""

    axes: dict[str, tuple[str, ...]] = Field(min_length=1)
    """The grid, complete and in this order; ``{axis}`` in the scenario is the axis's value. A
    C file of your own, such as `./my_cc.c`, is a value, too; its grid points are called `my_cc`."""

    without: tuple[Selection, ...] = Field((), examples=[[{"algorithm": "reno", "second": "reno"}]])
    """Grid points that are left out, such as those that another one repeats."""

    scenario: dict[str, Any] = {}
    """The scenario, on top of the study's."""

    measure: Measure = Measure()
    """What the averages are taken over."""

    vary: tuple[Vary, ...] = ()
    """Changes at some grid points; later ones win."""

    quick: Quick = Quick()
    """What ``--quick`` keeps."""

    @field_validator("axes")
    @classmethod
    def _check_axes(cls, axes: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for axis, values in axes.items():
            if axis in RESERVED_AXES:
                raise InputError("reserved name", key=axis, valid="another name for the axis")
            if not values or len(set(values)) < len(values):
                raise InputError("an axis needs values that differ", key=axis, value=list(values))
        return axes

    _own: dict[str, Algorithm] = PrivateAttr(default_factory=dict)

    @property
    def own(self) -> Own:
        """The algorithms that its axes name by their files; values of axes are their names."""
        return self._own

    @property
    def grid_points(self) -> Iterator[dict[str, str]]:
        """The values of the axes at each grid point, in the order of the axes."""
        for values in itertools.product(*self.axes.values()):
            axes = dict(zip(self.axes, values, strict=True))
            if not any(grid.matches(axes, left_out) for left_out in self.without):
                yield axes

    @model_validator(mode="after")
    def _read_own(self, info: ValidationInfo) -> Self:
        folder = (info.context or {}).get("folder", Path())
        named = {}
        for axis, values in self.axes.items():
            try:
                named[axis] = tuple(catalogue.named(value, folder, self._own) for value in values)
            except InputError as error:
                raise error.at(key=f"axes.{axis}") from None
        object.__setattr__(self, "axes", named)
        return self

    @model_validator(mode="after")
    def _check_selections(self) -> Self:
        selections = [(f"vary.{index}.where", vary.where) for index, vary in enumerate(self.vary)]
        left_out = [(f"without.{index}", where) for index, where in enumerate(self.without)]
        for key, where in [*selections, *left_out, ("quick.where", self.quick.where)]:
            try:
                grid.check(where, self.axes)
            except InputError as error:
                raise error.at(key=key) from None
        return self


@dataclass(frozen=True)
class Point:
    """One grid point of a test, with its scenario as a table that still lacks a seed."""

    test: Test
    axes: Mapping[str, str]
    scenario: Mapping[str, Any]
    runs: int

    def __str__(self) -> str:
        axes = ", ".join(f"{axis} = {value}" for axis, value in self.axes.items())
        return f"{self.test.name} ({axes})"


@dataclass(frozen=True)
class PlannedRun:
    """One repetition of a grid point, ready for an engine."""

    test: str
    axes: Mapping[str, str]
    repetition: int
    resolved: ResolvedScenario
    measure: Measure
    convergence: Convergence
    samples: Samples = field(default_factory=Samples)

    @property
    def place(self) -> Place:
        """Where it stands in the study."""
        return Place(self.test, self.axes, self.repetition)

    def on(self, engine: str) -> PlannedRun:
        """Return the same run for the engine of this identity."""
        return replace(self, resolved=self.resolved.on(engine))


class Study(_Table):
    """A study: what it is, its tests, its figures and its claims."""

    header: Header = Field(alias="study")
    """What it is."""

    convergence: Convergence = Convergence()
    """How convergence is judged."""

    samples: Samples = Samples()
    """How samples are read where they are looked at one by one."""

    scenario: dict[str, Any] = {}
    """What the scenarios of all tests have in common."""

    vary: tuple[Vary, ...] = ()
    """Changes at some grid points of all tests, or of those that `where` names as `test`. What a
    test says itself, its scenario and its own changes, comes later and wins."""

    tests: tuple[Test, ...] = Field(alias="test", min_length=1)
    """Its tests."""

    figures: tuple[FigureSpec, ...] = Field((), alias="figure")
    """Its figures."""

    claims: tuple[Claim, ...] = Field((), alias="claim")
    """Its claims."""

    _source: str = PrivateAttr("study")

    @classmethod
    def load(cls, study: str | Path) -> Self:
        """Read a study by its name, or from its folder or file."""
        content = read(study)
        loaded = content.validate(cls)
        loaded._source = str(content.path)
        return loaded

    @staticmethod
    def names() -> list[str]:
        """Return the names of the studies that come with Dumbbell or lie in ``./studies``."""
        return names()

    @property
    def name(self) -> str:
        """Its short name."""
        return self.header.name

    def test(self, name: str) -> Test:
        """Return a test; an unknown name is an InputError."""
        for test in self.tests:
            if test.name == name:
                return test
        raise unknown("test", name, [test.name for test in self.tests])

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for kind, used in (
            ("test", [test.name for test in self.tests]),
            ("figure", [figure.name for figure in self.figures]),
            ("claim", [claim.id for claim in self.claims]),
        ):
            for index, name in enumerate(used):
                if name in used[:index]:
                    key = f"{kind}.{index}.{'id' if kind == 'claim' else 'name'}"
                    raise InputError(f"a second {kind} of this name", key=key, value=name)
        return self

    @model_validator(mode="after")
    def _check_selections(self) -> Self:
        for index, vary in enumerate(self.vary):
            try:
                self._check_points(vary.where)
            except InputError as error:
                raise error.at(key=f"vary.{index}.where") from None
        for key, test, where in self._selections():
            try:
                grid.check(where, self.test(test).axes)
            except InputError as error:
                place = f"{key}.test" if error.key is None else f"{key}.where"
                raise InputError(
                    error.problem,
                    key=f"{place}.{error.key}" if error.key else place,
                    value=error.value,
                    valid=error.valid,
                    near=error.near,
                ) from None
        return self

    def _check_points(self, where: Selection) -> None:
        """Raise InputError unless all tests have what is selected together, or those it names.

        Each test that is named must have the axes; a value is enough in one of them.
        """
        tests: Sequence[Test] = self.tests
        if "test" in where:
            try:
                tests = [self.test(name) for name in grid.wanted_values(where, "test")]
            except InputError as error:
                raise error.at(key="test") from None
            for test, axis in itertools.product(tests, where):
                if axis not in ("test", *test.axes):
                    raise unknown(f"axis of the test {test.name}", axis, test.axes)
        grid.check(where, self._axes(tests))

    def _selections(self) -> Iterator[tuple[str, str, Selection]]:
        """Yield where figures and claims refer to grid points: key, test and selection."""
        for index, figure in enumerate(self.figures):
            for key, test, where in figure.selections:
                yield f"figure.{index}{key}", test, where
        for index, claim in enumerate(self.claims):
            for number, check in enumerate(claim.checks):
                if isinstance(check, Measured):
                    for where in check.selections:
                        yield f"claim.{index}.check.{number}", check.test, where

    def points(
        self,
        test: str | Test,
        *,
        quick: bool = False,
        where: grid.Selection | None = None,
        runs: int | None = None,
    ) -> list[Point]:
        """Return the grid points of a test in the order of its axes.

        Parameters
        ----------
        test
            The test or its name.
        quick
            Keep only the representative part.
        where
            Keep only these points; besides the axes, ``test`` selects by the test's name.
        runs
            Repetitions of each point, instead of the test's own number.
        """
        if isinstance(test, str):
            test = self.test(test)
        kept = test.quick.where if quick else {}
        planned = (test.quick.runs if quick else None) or test.runs
        return [
            Point(test, axes, self._scenario(test, axes, quick), runs or planned)
            for axes in test.grid_points
            if grid.matches(axes, kept)
            and (where is None or grid.matches({"test": test.name, **axes}, where))
        ]

    def _scenario(self, test: Test, axes: Mapping[str, str], quick: bool) -> Mapping[str, Any]:
        template: Any = self.scenario
        for vary in self.vary:
            if grid.matches({"test": test.name, **axes}, vary.where):
                template = grid.merged(template, vary.set)
        template = grid.merged(template, test.scenario)
        for vary in test.vary:
            if grid.matches(axes, vary.where):
                template = grid.merged(template, vary.set)
        if quick:
            template = grid.merged(template, test.quick.set)
        try:
            filled: Mapping[str, Any] = grid.substitute(template, axes)
        except InputError as error:
            raise error.at(source=self._source, key=f"test.{test.name}.scenario") from None
        return filled

    def runs(
        self,
        quick: bool = False,
        where: grid.Selection | None = None,
        runs: int | None = None,
        seed: int = 0,
        tests: Sequence[str] | None = None,
    ) -> list[PlannedRun]:
        """Expand the tests to their runs.

        Runs of different tests can share one resolved scenario; see `scenarios`.

        Parameters
        ----------
        quick
            Only the representative part of each test.
        where
            Only these grid points; a test that lacks an axis of it is left out. ``test``
            selects by name. What no test has is an InputError.
        runs
            Repetitions of each grid point, instead of each test's own number.
        seed
            Where the seeds of all runs come from.
        tests
            Only these tests.
        """
        if where:
            self._check_where(where)
        chosen = self.tests if tests is None else [self.test(name) for name in tests]
        return [
            run
            for test in chosen
            for point in self.points(test, quick=quick, where=where, runs=runs)
            for run in self._repetitions(point, seed)
        ]

    def _repetitions(self, point: Point, seed: int) -> Iterator[PlannedRun]:
        place = f"test.{point.test.name}.scenario"
        try:
            scenario = Scenario.parse(point.scenario, self._source, point.test.own)
            seeds = [_seed(point, seed, repetition) for repetition in range(point.runs)]
            # Another seed can draw more flows than a scenario may have.
            resolved = [scenario.model_copy(update={"seed": own}).resolve() for own in seeds]
        except InputError as error:
            raise _placed(error, place, self._source) from None
        for repetition, run in enumerate(resolved):
            yield PlannedRun(
                point.test.name,
                point.axes,
                repetition,
                run,
                point.test.measure,
                self.convergence,
                self.samples,
            )

    def _axes(self, tests: Sequence[Test]) -> dict[str, list[str]]:
        """Return the axes of tests with all their values, and ``test`` itself."""
        axes: dict[str, list[str]] = {"test": [test.name for test in tests]}
        for test in tests:
            for axis, values in test.axes.items():
                known = axes.setdefault(axis, [])
                known.extend(value for value in values if value not in known)
        return axes

    def _check_where(self, where: grid.Selection) -> None:
        try:
            grid.check(where, self._axes(self.tests))
        except InputError as error:
            raise error.at(source="--where") from None


def scenarios(runs: Iterable[PlannedRun]) -> list[ResolvedScenario]:
    """Return the scenarios of planned runs, each once, in their order."""
    return list({run.resolved.key: run.resolved for run in runs}.values())


def places(runs: Iterable[PlannedRun]) -> dict[str, Place]:
    """Return the places of planned runs by their keys; where tests share a run, the first."""
    found: dict[str, Place] = {}
    for run in runs:
        found.setdefault(run.resolved.key, run.place)
    return found


def _seed(point: Point, seed: int, repetition: int) -> int:
    """Derive a seed from what happens in a run, not from what is recorded of it.

    So two tests with the same scenario share their runs.
    """
    happening = {key: value for key, value in point.scenario.items() if key != "record"}
    text = canonical_json([seed, repetition, happening])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _placed(error: InputError, key: str, source: str) -> InputError:
    """Put an error of a scenario into its place in the study."""
    first = error.at(source=source, key=key)
    first.others = tuple(other.at(source=source, key=key) for other in error.others)
    return first
