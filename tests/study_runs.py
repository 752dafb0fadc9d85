"""The runs of the studies that come with Dumbbell, planned once for all tests."""

from __future__ import annotations

from functools import cache

from dumbbell.plan.expanding import PlannedRun
from dumbbell.study.model import Study


@cache
def runs(name: str, *tests: str, quick: bool = False) -> list[PlannedRun]:
    """Return the runs of a study or of some of its tests."""
    if tests:
        return [run for run in runs(name, quick=quick) if run.test in tests]
    return Study.load(name).runs(quick=quick)


@cache
def firsts(name: str, *tests: str, quick: bool = False) -> list[PlannedRun]:
    """Return the first run of each grid point of a study or of some of its tests."""
    if tests:
        return [run for run in firsts(name, quick=quick) if run.test in tests]
    return Study.load(name).runs(quick=quick, runs=1)


def counts(study: Study) -> dict[str, int]:
    """Return the number of runs of each test."""
    return {test.name: sum(point.runs for point in study.points(test.name)) for test in study.tests}


def one(study: Study, test: str, **where: str) -> PlannedRun:
    """Return the only run of a grid point."""
    (run,) = study.runs(where={"test": test, **where}, runs=1)
    return run
