"""What a results folder holds of a study: the runs that were asked for, and their metrics.

Each ``dumbbell run`` leaves its plan beside the results, in ``studies/NAME.json``, so that a report
knows which seeds, repetitions and parts of the study to look for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import polars as pl
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from dumbbell.analysis import metrics
from dumbbell.analysis.run_metrics import Metrics
from dumbbell.catalogue import Algorithm
from dumbbell.claims.checks import TestRuns
from dumbbell.claims.verdicts import ClaimResult, judge
from dumbbell.errors import DamagedResult, InputError, as_toml
from dumbbell.running import campaigns, engines, failures, staging, validity
from dumbbell.running.campaigns import Cost
from dumbbell.running.engine import Engine
from dumbbell.running.engines import EngineName
from dumbbell.running.result import Run
from dumbbell.running.store import Store
from dumbbell.scenario import facts
from dumbbell.study import grid
from dumbbell.study.figure_spec import Selection
from dumbbell.study.model import PlannedRun, Study


class Plan(BaseModel):
    """What a ``dumbbell run`` was asked for, apart from the part of the grid."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quick: bool = False
    runs: int | None = None
    seed: int = 0


_PLANS: Final = TypeAdapter(tuple[Plan, ...])
_UNKNOWN: Final = (Plan(), Plan(quick=True))
"""What is looked for in a folder without plans."""


def remember(store: Store, study: Study, plan: Plan) -> None:
    """Add a plan to those of a results folder, which must be in use already."""
    # Another process may add one of its own at the same moment.
    with store.errors("write"), staging.locked(store.root):
        plans = recall(store, study)
        if plan not in plans:
            content = _PLANS.dump_json((*plans, plan), indent=1) + b"\n"
            staging.replace(_plans_file(store, study), content, lasting=True)


def recall(store: Store, study: Study) -> tuple[Plan, ...]:
    """Return the plans of a results folder, oldest first."""
    path = _plans_file(store, study)
    try:
        return _PLANS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return ()
    except ValidationError:
        raise InputError(
            "this file does not say which runs were asked for",
            source=str(path),
            valid="what `dumbbell run` writes; remove the file and run again",
        ) from None


def remembered(store: Store) -> list[str]:
    """Return the names of the studies that a results folder has plans of."""
    return sorted(path.stem for path in store.root.glob("studies/*.json"))


def _plans_file(store: Store, study: Study) -> Path:
    return store.root / "studies" / f"{study.name}.json"


@dataclass(frozen=True)
class Counts:
    """How much of a plan has been run."""

    plan: Plan
    planned: int
    finished: int
    invalid: int = 0
    damaged: int = 0
    failed: int = 0


class State(StrEnum):
    """What became of a run that was asked for."""

    FINISHED = "finished"
    MISSING = "not run yet"
    INVALID = "invalid"
    DAMAGED = "damaged"
    FAILED = "failed"


@dataclass(frozen=True)
class Listed:
    """A run of a test that was asked for, and what became of it.

    `why` says why it is not finished, where that is known; a finished run has metrics.
    """

    run: PlannedRun
    plan: Plan
    state: State
    why: str = ""
    metrics: Metrics | None = None


class Results:
    """The finished runs of a study by one engine in one results folder.

    Where a grid point has runs of full length, its quick runs do not count. Invalid and
    damaged runs are not counted as finished, and nothing rests on them.
    """

    def __init__(
        self,
        study: Study,
        store: Store,
        plans: Sequence[Plan] = (),
        engine: Engine | str = EngineName.SIMULATOR,
    ) -> None:
        self.study = study
        self.store = store
        self.engine = engines.named(engine)
        found = tuple(plans) or recall(store, study) or _UNKNOWN
        self._plans = sorted(dict.fromkeys(found), key=lambda plan: plan.quick)
        self.table = cache(self._table)
        self.runs = cache(self._runs)
        self._measured = cache(self._take_metrics)

    @cached_property
    def _planned(self) -> Mapping[str, Mapping[Plan, list[PlannedRun]]]:
        """Test -> plan -> its runs; those of full length come first."""
        planned: dict[str, dict[Plan, list[PlannedRun]]] = {
            test.name: {plan: [] for plan in self._plans} for test in self.study.tests
        }
        for plan in self._plans:
            for run in self.study.runs(quick=plan.quick, runs=plan.runs, seed=plan.seed):
                planned[run.test][plan].append(run.on(self.engine.identity))
        return planned

    @property
    def is_empty(self) -> bool:
        """Whether not a single planned run has been run, well or badly."""
        return not any(self.store.has(run.resolved.key) for run in self._all())

    @cached_property
    def counts(self) -> list[Counts]:
        """Planned and finished runs of each plan; runs that tests share count once."""
        counted = []
        for plan in self._plans:
            keys = {run.resolved.key for runs in self._planned.values() for run in runs[plan]}
            invalid, damaged = len(keys & self.invalid.keys()), len(keys & self.damaged.keys())
            there = sum(self.store.has(key) for key in keys)
            failed = len(keys & self.failures.keys())
            finished = there - invalid - damaged
            counted.append(Counts(plan, len(keys), finished, invalid, damaged, failed))
        return counted

    @property
    def counted(self) -> list[Counts]:
        """The counts of what was asked for: of plans with runs, else of the first."""
        begun = [
            each
            for each in self.counts
            if each.finished or each.invalid or each.damaged or each.failed
        ]
        return begun or self.counts[:1]

    @cached_property
    def damaged(self) -> Mapping[str, str]:
        """The damaged results by their keys, with what is wrong."""
        sound = {
            run.resolved.key
            for test in self.study.tests
            for runs in self._measured(test.name).values()
            for run, _ in runs
        }
        found = {}
        for key in dict.fromkeys(run.resolved.key for run in self._all()):
            if key in sound or key in self.invalid or not self.store.has(key):
                continue
            try:
                self.store.verify(key)
            except DamagedResult as error:
                found[key] = str(error)
        return found

    @cached_property
    def failures(self) -> Mapping[str, str]:
        """The runs that failed and have no result, by their keys, with the reasons."""
        missing = [run.resolved.key for run in self._all() if not self.store.has(run.resolved.key)]
        return {key: str(found) for key, found in failures.failures(self.store, missing).items()}

    @cached_property
    def invalid(self) -> Mapping[str, str]:
        """The invalid runs by their keys, described with their reasons."""
        if not self.engine.real_time:
            return {}
        found = {}
        for run in self._all():
            key = run.resolved.key
            if key in found or not self.store.has(key):
                continue
            with suppress(DamagedResult):
                why = validity.reasons(self.store.get(key).summary)
                if why:
                    found[key] = validity.described(run.resolved, why)
        return found

    @property
    def troubled(self) -> Mapping[str, Mapping[str, str]]:
        """The runs that nothing rests on, by what became of them: key -> description."""
        return {
            "Invalid and left out": self.invalid,
            "Damaged and left out": self.damaged,
            "Failed": self.failures,
        }

    @cached_property
    def cost(self) -> Cost:
        """What the valid results hold, and what the commands took that are known."""
        keys = (run.resolved.key for run in self._all())
        return campaigns.cost(self.store, self.study.name, self.engine.identity, keys)

    def left_out(self, test: str) -> int:
        """Return how many runs of a test are invalid."""
        keys = {run.resolved.key for runs in self._planned[test].values() for run in runs}
        return len(keys & self.invalid.keys())

    def _all(self) -> Iterator[PlannedRun]:
        for plans in self._planned.values():
            yield from itertools.chain(*plans.values())

    @cached_property
    def stacks(self) -> list[str]:
        """The TCP stacks of the planned runs, in words."""
        return list(
            dict.fromkeys(
                _stack(stack) for run in self._all() for stack in facts.stacks(run.resolved.data)
            )
        )

    @cached_property
    def algorithms(self) -> list[Algorithm]:
        """The algorithms of the planned runs, in alphabetical order."""
        used = {
            name: run.resolved.data
            for run in self._all()
            for name in facts.algorithms(run.resolved.data)
        }
        return [facts.described(used[name], name) for name in sorted(used)]

    def _take_metrics(self, test: str) -> Mapping[Plan, list[tuple[PlannedRun, Metrics]]]:
        """Plan -> its finished runs of a test with their metrics."""
        return {
            plan: list(metrics.finished(planned, self.store))
            for plan, planned in self._planned[test].items()
        }

    def _runs(self, test: str) -> list[Listed]:
        """Return the runs of a test that were asked for, in the order of the grid.

        As for `finished`, quick runs are left out where there are runs of full length.
        """
        finished = {
            (run.resolved.key, tuple(run.axes.values())): found
            for run, found in self.finished(test)
        }
        full = {
            tuple(run.axes.values())
            for plan, runs in self._measured(test).items()
            for run, _ in runs
            if not plan.quick
        }
        asked = [counts.plan for counts in self.counted]
        listed: dict[tuple[str, tuple[str, ...]], Listed] = {}
        for plan in asked:
            for run in self._planned[test][plan]:
                point = tuple(run.axes.values())
                place = (run.resolved.key, point)
                if place in finished:
                    found = Listed(run, plan, State.FINISHED, metrics=finished[place])
                elif plan.quick and point in full:
                    continue
                else:
                    found = Listed(run, plan, *self._fate(run.resolved.key))
                listed.setdefault(place, found)
        order = {
            tuple(point.axes.values()): number
            for number, point in enumerate(self.study.points(test))
        }
        return sorted(listed.values(), key=lambda each: order[tuple(each.run.axes.values())])

    def _fate(self, key: str) -> tuple[State, str]:
        """Return what became of a run without metrics, and why."""
        for state, known in (
            (State.INVALID, self.invalid),
            (State.DAMAGED, self.damaged),
            (State.FAILED, self.failures),
        ):
            if key in known:
                return state, known[key]
        return State.MISSING, ""

    def finished(self, test: str) -> list[tuple[PlannedRun, Metrics]]:
        """Return the finished runs of a test with their metrics."""
        full: set[tuple[str, ...]] = set()
        taken: set[tuple[tuple[str, ...], str]] = set()
        kept = []
        for plan, runs in self._measured(test).items():
            for run, found in runs:
                point = tuple(run.axes.values())
                if (plan.quick and point in full) or (point, run.resolved.key) in taken:
                    continue
                if not plan.quick:
                    full.add(point)
                taken.add((point, run.resolved.key))
                kept.append((run, found))
        return kept

    def quick(self, test: str) -> bool:
        """Tell whether a test has no finished run of full length."""
        return not any(
            self.store.has(run.resolved.key) and run.resolved.key not in self.invalid
            for plan, planned in self._planned[test].items()
            if not plan.quick
            for run in planned
        )

    def _table(self, test: str) -> pl.DataFrame:
        """Return the metrics of a test, one row per finished run; see `metrics.table`."""
        return metrics.frame(self.study.test(test), self.finished(test))

    def claims(self) -> list[ClaimResult]:
        """Judge the study's claims by these runs; see `claims.evaluate`."""
        evidence = cache(self._evidence)
        return [judge(claim, evidence) for claim in self.study.claims]

    def _evidence(self, test: str) -> TestRuns:
        quick = self.quick(test) and any(plan.quick for plan in self._plans)
        points = self.study.points(test, quick=quick)
        return TestRuns(
            self.study.test(test).axes, [point.axes for point in points], self.table(test)
        )

    def run(self, test: str, where: Selection, repetition: int = 0) -> Run | None:
        """Return the run of one grid point; None if it is not finished, or invalid."""
        for planned in self._planned[test].values():
            for run in planned:
                if run.repetition != repetition or not grid.matches(run.axes, where):
                    continue
                if run.resolved.key in self.invalid:
                    continue
                try:
                    return self.store.get(run.resolved.key)
                except (KeyError, DamagedResult):
                    continue
        return None


def _stack(stack: Mapping[str, Any]) -> str:
    switches = ", ".join(f"{name} = {as_toml(value)}" for name, value in stack["switches"].items())
    return f"{stack['profile']} ({switches})" if switches else str(stack["profile"])
