"""From the tests of a study to the runs that an engine executes."""

from __future__ import annotations

import gc
import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from dumbbell.base.documents import fingerprint, folder_of
from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.base.keys import numbered
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.plan.layers import Layer, merged, where_said
from dumbbell.plan.places import Place
from dumbbell.plan.settings import Settings
from dumbbell.plan.tests import RUNS_MAX, Test, Vary, check_count
from dumbbell.plan.windows import NamedWindow, Window
from dumbbell.scenario.model import Reader
from dumbbell.scenario.resolve import ResolvedScenario


@dataclass(frozen=True)
class Point:
    """One grid point of a test.

    Attributes
    ----------
    scenario
        Its scenario as a table, without a seed.
    layers
        The tables from which it is merged.
    runs
        Number of repetitions.
    """

    test: Test
    axes: Mapping[str, str]
    scenario: Mapping[str, Any]
    layers: Sequence[Layer]
    runs: int

    def __str__(self) -> str:
        axes = ", ".join(f"{axis} = {value}" for axis, value in self.axes.items())
        return f"{self.test.name} ({axes})"


class More(BaseModel):
    """More repetitions of one grid point than of others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    test: str
    """The test."""

    point: tuple[tuple[str, str], ...]
    """The axes of the grid point, with their values."""

    runs: int = Field(ge=1, le=RUNS_MAX)
    """Repetitions in all."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One repetition of a grid point, ready for an engine.

    Attributes
    ----------
    test, axes, repetition
        Its place in the study; see `Place`.
    resolved
        The input of the engine.
    windows
        The parts of the run that quantities are taken over, by name; ``main`` is meant by default.
    settings
        Settings of quantities: name of the table in the study file -> the table.
    table
        Its scenario as files say it.
    """

    test: str
    axes: Mapping[str, str]
    repetition: int
    resolved: ResolvedScenario
    windows: Mapping[str, Window]
    settings: Mapping[str, Settings] = field(default_factory=dict)
    table: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        """Its place in the study."""
        return Place(self.test, self.axes, self.repetition)

    def on(self, engine: str) -> PlannedRun:
        """Return the same run for the engine of this identity."""
        return replace(self, resolved=self.resolved.on(engine))


class Files(Protocol):
    """Origin of the tables of a study."""

    @property
    def path(self) -> Path:
        """The study's folder or file."""
        ...

    def place(self, key: str) -> tuple[str, str]:
        """Return the file that holds a key of the study, and the key in that file."""
        ...


@dataclass(frozen=True)
class Plan:
    """The tests of a study, with what their scenarios and their runs have in common.

    Attributes
    ----------
    tests
        The tests.
    scenario
        Common part of the scenarios of all tests.
    vary
        Changes at some grid points of all tests. A test's own changes come later and win.
    windows
        Windows that all tests have; one of a test comes before one of the same name here.
    settings
        Settings of quantities, for every run; see `PlannedRun`.
    files
        Origin of the tables.
    """

    tests: Sequence[Test]
    scenario: Mapping[str, Any]
    vary: Sequence[Vary]
    windows: Sequence[NamedWindow]
    settings: Mapping[str, Settings]
    files: Files

    def test(self, name: str) -> Test:
        """Return a test; an unknown name is an InputError."""
        for test in self.tests:
            if test.name == name:
                return test
        raise unknown("test", name, [test.name for test in self.tests])

    @property
    def axes(self) -> grid.Axes:
        """The axes of all tests with all their values, and ``test`` itself."""
        return _axes(self.tests)

    def windows_of(self, test: Test) -> Mapping[str, Window]:
        """Return the windows of a test by name; ``main`` is its main one."""
        named = {window.name: window for window in (*self.windows, *test.windows)}
        return {"main": test.measure, **named}

    def check(self, where: Selection) -> None:
        """Raise InputError unless all tests have what is selected together, or those it names.

        Each test that is named must have the axes; a value is enough in one of them.
        """
        tests = self.tests
        if "test" in where:
            with placed(key="test"):
                tests = [self.test(name) for name in grid.wanted_values(where, "test")]
            for test, axis in itertools.product(tests, where):
                if axis not in ("test", *test.axes):
                    raise unknown(f"axis of the test {test.name}", axis, test.axes)
        grid.check(where, _axes(tests))

    def check_axes(self, test: Test) -> None:
        """Raise InputError for an axis of several values that changes no scenario of the test."""
        used: set[str] = set()
        for where, layer in self._layers(test, quick=False):
            in_texts = grid.placeholders(layer.table)
            if layer.key.startswith("test.") and not in_texts <= {*test.axes}:
                return  # A misspelt axis in a text is refused there, with its place.
            used |= {*where, *in_texts}
        for axis, values in test.axes.items():
            if len(values) > 1 and axis not in used:
                raise InputError(
                    "no scenario of the test changes with this axis",
                    key=f"axes.{axis}",
                    value=list(values),
                    valid=f'"{{{axis}}}" in a text of the scenario, or {axis} in a vary.where',
                )

    def points(
        self,
        test: str | Test,
        *,
        quick: bool = False,
        where: Selection | None = None,
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
        planned = _repetitions(test, quick, runs)
        axes = _axes([test])
        layers = [
            (kept, layer)
            for at, layer in self._layers(test, quick)
            if all((kept := grid.kept(at, axes)).values())
        ]
        templates = _Templates(test, layers)
        return [templates.point(place, planned) for place in _chosen(test, quick, where)]

    def _layers(self, test: Test, quick: bool) -> Iterator[tuple[Selection, Layer]]:
        """Yield what the scenarios of a test are made of, and at which grid points.

        Later ones win. Keys in a test have its name instead of its number.
        """
        yield {}, Layer(*self.files.place("scenario"), self.scenario)
        for key, vary in numbered("vary", self.vary):
            yield vary.where, Layer(*self.files.place(f"{key}.set"), vary.set)
        source, _ = self.files.place(f"test.{self.tests.index(test) + 1}")
        prefix = f"test.{test.name}"
        yield {}, Layer(source, f"{prefix}.scenario", test.scenario, is_home=True)
        for key, vary in numbered(f"{prefix}.vary", test.vary):
            yield vary.where, Layer(source, f"{key}.set", vary.set)
        if quick:
            yield {}, Layer(source, f"{prefix}.quick.set", test.quick.set)

    def runs(
        self,
        quick: bool = False,
        where: Selection | None = None,
        runs: int | None = None,
        seed: int = 0,
        tests: Sequence[str] | None = None,
        *,
        more: Sequence[More] = (),
    ) -> list[PlannedRun]:
        """Expand the tests to their runs.

        Runs of different tests can share one resolved scenario; see `scenarios`.

        Parameters
        ----------
        quick
            Only the representative part of each test.
        where
            Only these grid points; a test without an axis of it is left out. ``test`` selects by
            name. An axis or value that no test has is an InputError.
        runs
            Repetitions of each grid point, instead of each test's own number.
        seed
            Source of the seeds of all runs.
        tests
            Only these tests.
        more
            Grid points of which there are more repetitions.
        """
        further = {(extra.test, extra.point): extra.runs for extra in more}
        if where:
            self._check_where(where)
        chosen = self.tests if tests is None else [self.test(name) for name in tests]
        planned: list[PlannedRun] = []
        count = 0
        for test in chosen:
            per_point = _repetitions(test, quick, runs)
            for axes in _chosen(test, quick, where):
                count += max(per_point, further.get(_place(test, axes), 0))
                check_count(count)
        with _uncollected():
            for test in chosen:
                reader = Reader(folder_of(self.files.path) / test.folder, test.own_algorithms)
                for point in self.points(test, quick=quick, where=where, runs=runs):
                    repetitions = max(point.runs, further.get(_place(test, point.axes), 0))
                    planned += self._runs_of(replace(point, runs=repetitions), reader, seed)
        return planned

    def _runs_of(self, point: Point, reader: Reader, seed: int) -> Iterator[PlannedRun]:
        try:
            seeds = _seeds(point, seed)
            # The first seed is drawn while the scenario is checked.
            scenario = reader.parse({"seed": seeds[0], **point.scenario})
            # Another seed can draw more flows than a scenario may have.
            resolved = [scenario.resolve(seed=run_seed) for run_seed in seeds]
        except InputError as error:
            raise where_said(error, point.layers) from None
        windows = self.windows_of(point.test)
        for repetition, run in enumerate(resolved, start=1):
            yield PlannedRun(
                point.test.name,
                point.axes,
                repetition,
                run,
                windows,
                self.settings,
                point.scenario,
            )

    def _check_where(self, where: Selection) -> None:
        with placed(key="where"):
            grid.check(where, self.axes)


def _repetitions(test: Test, quick: bool, runs: int | None) -> int:
    """Return the repetitions of each grid point of a test; see `Plan.points`."""
    return runs or (test.quick.runs if quick else None) or test.runs


def _chosen(test: Test, quick: bool, where: Selection | None) -> Iterator[Mapping[str, str]]:
    """Yield the axes of the grid points of a test that are kept; see `Plan.points`."""
    values = _axes([test])
    selections = (test.quick.where if quick else {}, where or {})
    kept = [grid.kept(selection, values) for selection in selections]
    for axes in test.grid_points:
        place = {"test": test.name, **axes}
        if all(grid.is_kept(place, selection) for selection in kept):
            yield axes


def _place(test: Test, axes: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    return test.name, tuple(axes.items())


@contextmanager
def _uncollected() -> Iterator[None]:
    """Put off garbage collection, which takes a fifth of the time: plans stay in memory."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def scenarios(runs: Iterable[PlannedRun]) -> list[ResolvedScenario]:
    """Return the scenarios of planned runs, each once, in their order."""
    return list({run.resolved.key: run.resolved for run in runs}.values())


def places(runs: Iterable[PlannedRun]) -> dict[str, Place]:
    """Return the places of planned runs by their keys; where tests share a run, the first."""
    by_key: dict[str, Place] = {}
    for run in runs:
        by_key.setdefault(run.resolved.key, run.place)
    return by_key


class _Templates:
    """The scenarios of a test before they get the values of a grid point.

    Layers that many points have in common are merged once.
    """

    def __init__(
        self, test: Test, layers: Sequence[tuple[Mapping[str, frozenset[str]], Layer]]
    ) -> None:
        self._test = test
        self._layers = layers
        self._known: dict[tuple[int, ...], tuple[Sequence[Layer], grid.Template]] = {}

    def point(self, axes: Mapping[str, str], runs: int) -> Point:
        """Return the point of these axes."""
        place = {"test": self._test.name, **axes}
        numbers = tuple(
            number for number, (kept, _) in enumerate(self._layers) if grid.is_kept(place, kept)
        )
        if numbers not in self._known:
            layers = [self._layers[number][1] for number in numbers]
            self._known[numbers] = layers, grid.Template(merged(layers))
        here, template = self._known[numbers]
        try:
            return Point(self._test, axes, template.at(axes), here, runs)
        except InputError as error:
            raise where_said(error, here) from None


def _axes(tests: Sequence[Test]) -> dict[str, list[str]]:
    """Return the axes of tests with all their values, and ``test`` itself."""
    axes: dict[str, list[str]] = {"test": [test.name for test in tests]}
    for test in tests:
        for axis, values in test.axes.items():
            known = axes.setdefault(axis, [])
            known.extend(value for value in values if value not in known)
    return axes


def _seeds(point: Point, seed: int) -> list[int]:
    """Derive a seed for each run from what happens in it, not from what is recorded of it.

    So two tests with the same scenario share their runs. Seeds that all grid points share depend on
    `seed` alone.
    """
    if point.test.seeds == "shared":
        further = [f"[{seed},{repetition}]" for repetition in range(1, point.runs)]
        return [seed, *map(_hashed, further)]
    happening = {key: value for key, value in point.scenario.items() if key != "record"}
    text = fingerprint(happening)
    purposes = [f"[{seed},{repetition},{text}]" for repetition in range(point.runs)]
    return [_hashed(purpose) for purpose in purposes]


def _hashed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
