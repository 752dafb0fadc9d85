"""The planned runs of a study in a results folder, and the outcome of each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from dumbbell.algorithms import own_algorithms
from dumbbell.base.errors import DamagedResult
from dumbbell.base.remembering import remembered
from dumbbell.engines import engines, validity
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine
from dumbbell.plan.expanding import PlannedRun
from dumbbell.quantities import taking
from dumbbell.results.plans import Plan, recall
from dumbbell.store import failures
from dumbbell.store.store import Store
from dumbbell.study.model import Study

_UNKNOWN: Final = (Plan(), Plan(quick=True))
"""Plans to look for in a folder without plans."""


@dataclass(frozen=True)
class Counts:
    """Progress of a plan: numbers of its runs by outcome."""

    plan: Plan
    planned: int
    finished: int
    invalid: int = 0
    damaged: int = 0
    failed: int = 0

    @property
    def fullness(self) -> tuple[bool, int, int]:
        """Its rank among plans: complete first, then more finished, then fewer planned runs."""
        return self.finished == self.planned, self.finished, -self.planned


class State(StrEnum):
    """The outcome of a planned run."""

    FINISHED = "finished"
    MISSING = "not run yet"
    INVALID = "invalid"
    DAMAGED = "damaged"
    FAILED = "failed"


@dataclass(frozen=True)
class Listed:
    """A planned run of a test, and its outcome.

    `why` is the reason why it is not finished; empty: finished or unknown.
    """

    run: PlannedRun
    plan: Plan
    state: State
    why: str = ""


class PlannedRuns:
    """The planned runs of a study by one engine, and their outcomes in one results folder.

    Where a grid point has runs of full length, its quick runs do not count. Invalid and damaged
    runs are not counted as finished, and no verdict depends on them. `expanded` has the runs of
    plans for which a campaign has them already, as their expansion takes long.
    """

    def __init__(
        self,
        study: Study,
        store: Store,
        plans: Sequence[Plan] = (),
        engine: Engine | str = EngineName.SIMULATOR,
        *,
        expanded: Mapping[Plan, Sequence[PlannedRun]] | None = None,
    ) -> None:
        self.study = study
        self.store = store
        self.engine = engines.named(engine)
        known = tuple(plans) or recall(store, study.name) or _UNKNOWN
        self.plans = sorted(dict.fromkeys(known), key=lambda plan: plan.quick)
        self._expanded = expanded or {}

    @cached_property
    def _planned(self) -> Mapping[str, Mapping[Plan, list[PlannedRun]]]:
        """Test -> plan -> its runs; those of full length come first."""
        planned: dict[str, dict[Plan, list[PlannedRun]]] = {
            test.name: {plan: [] for plan in self.plans} for test in self.study.tests
        }
        for plan in self.plans:
            for run in self._expanded.get(plan) or self._runs_of(plan):
                planned[run.test][plan].append(run.on(self.engine.identity))
        return planned

    def _runs_of(self, plan: Plan) -> Sequence[PlannedRun]:
        with own_algorithms.nothing_runs():
            return plan.runs_of(self.study)

    def _planned_of(self, test: str) -> Mapping[Plan, list[PlannedRun]]:
        """Return plan -> its runs of a test; an unknown test is an InputError."""
        return self._planned[self.study.test(test).name]

    def _sought_of(self, test: str) -> Mapping[Plan, Sequence[PlannedRun]]:
        """Return plan -> its runs of a test; none in an empty folder, as expanding takes long."""
        if self.store.is_empty:
            self.study.test(test)
            return dict.fromkeys(self.plans, ())
        return self._planned_of(test)

    def expand(self) -> None:
        """Expand all plans now; InputError if one of them is none of this study, or too large."""
        _ = self._planned

    @property
    def is_empty(self) -> bool:
        """True if not a single planned run has been run, well or badly."""
        return not any(self.store.has(run.resolved.key) for run in self.planned())

    @cached_property
    def keys(self) -> Mapping[Plan, Set[str]]:
        """Plan -> the keys of its runs; those of full length come first."""
        return {
            plan: {run.resolved.key for runs in self._planned.values() for run in runs[plan]}
            for plan in self.plans
        }

    @cached_property
    def counts(self) -> list[Counts]:
        """Planned and finished runs of each plan; runs that tests share count once."""
        counted = []
        for plan, keys in self.keys.items():
            invalid, damaged = len(keys & self.invalid.keys()), len(keys & self.damaged.keys())
            there = sum(self.store.has(key) for key in keys)
            failed = len(keys & self.failures.keys())
            finished = there - invalid - damaged
            counted.append(Counts(plan, len(keys), finished, invalid, damaged, failed))
        return counted

    @cached_property
    def counted(self) -> list[Counts]:
        """The counts of plans that have runs which no fuller plan has.

        Where nothing has been run, the first.
        """
        telling = []
        known: set[str] = set()
        for counts in sorted(self.counts, key=lambda counts: counts.fullness, reverse=True):
            begun = {key for key in self.keys[counts.plan] if self._is_begun(key)}
            if not begun <= known:
                telling.append(counts)
            known |= begun
        return [counts for counts in self.counts if counts in telling] or self.counts[:1]

    @property
    def progress(self) -> tuple[int, int]:
        """Numbers of finished and of planned runs of the plans that count, each run once."""
        planned = set().union(*(self.keys[counts.plan] for counts in self.counted))
        there = sum(self.store.has(key) for key in planned)
        unfit = planned & (self.invalid.keys() | self.damaged.keys())
        return there - len(unfit), len(planned)

    def _is_begun(self, key: str) -> bool:
        return self.store.has(key) or key in self.failures

    @cached_property
    def damaged(self) -> Mapping[str, str]:
        """The damaged results by their keys, with what is wrong."""
        sound = {
            run.resolved.key
            for test in self.study.tests
            for runs in self._sound(test.name).values()
            for run in runs
        }
        damaged = {}
        for key in dict.fromkeys(run.resolved.key for run in self.planned()):
            if key in sound or key in self.invalid or not self.store.has(key):
                continue
            try:
                self.store.verify(key)
            except DamagedResult as error:
                damaged[key] = str(error)
        return damaged

    @cached_property
    def failures(self) -> Mapping[str, str]:
        """The runs that failed and have no result, by their keys, with the reasons."""
        missing = [
            run.resolved.key for run in self.planned() if not self.store.has(run.resolved.key)
        ]
        return {
            key: str(failure) for key, failure in failures.failures(self.store, missing).items()
        }

    @cached_property
    def invalid(self) -> Mapping[str, str]:
        """The invalid runs by their keys, described with their reasons."""
        if not self.engine.real_time:
            return {}
        invalid = {}
        for run in self.planned():
            key = run.resolved.key
            if key in invalid or not self.store.has(key):
                continue
            with suppress(DamagedResult):
                why = validity.reasons(self.store.get(key).summary)
                if why:
                    invalid[key] = validity.described(run.resolved, why)
        return invalid

    @property
    def troubled(self) -> Mapping[str, Mapping[str, str]]:
        """The runs that count nowhere, by their outcome: key -> description."""
        return {
            "Invalid and left out": self.invalid,
            "Damaged and left out": self.damaged,
            "Failed": self.failures,
        }

    def left_out(self, test: str) -> int:
        """Return how many runs of a test are invalid."""
        keys = {run.resolved.key for runs in self._sought_of(test).values() for run in runs}
        return len(keys & self.invalid.keys())

    def planned(self) -> Iterator[PlannedRun]:
        """Yield all planned runs; a plan may repeat those of another one."""
        for plans in self._planned.values():
            yield from itertools.chain(*plans.values())

    @remembered
    def _sound(self, test: str) -> Mapping[Plan, list[PlannedRun]]:
        """Plan -> its finished runs of a test."""
        return {
            plan: [run for run, _ in taking.of_runs(planned, (), self.store)]
            for plan, planned in self._sought_of(test).items()
        }

    @remembered
    def runs(self, test: str) -> list[Listed]:
        """Return the planned runs of a test, in the order of the grid.

        As for `finished`, quick runs are left out where there are runs of full length.
        """
        finished = {_place(run) for run in self.finished(test)}
        full = {
            tuple(run.axes.values())
            for plan, runs in self._sound(test).items()
            for run in runs
            if not plan.quick
        }
        listed: dict[tuple[str, tuple[str, ...]], Listed] = {}
        for plan in [counts.plan for counts in self.counted]:
            for run in self._planned_of(test)[plan]:
                place = _place(run)
                if place in finished:
                    entry = Listed(run, plan, State.FINISHED)
                elif plan.quick and place[1] in full:
                    continue
                else:
                    entry = Listed(run, plan, *self._fate(run.resolved.key))
                listed.setdefault(place, entry)
        order = {
            tuple(point.axes.values()): number
            for number, point in enumerate(self.study.points(test))
        }
        return sorted(listed.values(), key=lambda entry: order[tuple(entry.run.axes.values())])

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

    @remembered
    def finished(self, test: str) -> list[PlannedRun]:
        """Return the finished runs of a test; quick ones only where there are none in full."""
        full: set[tuple[str, ...]] = set()
        taken: set[tuple[str, tuple[str, ...]]] = set()
        kept = []
        for plan, runs in self._sound(test).items():
            for run in runs:
                key, point = _place(run)
                if (plan.quick and point in full) or (key, point) in taken:
                    continue
                if not plan.quick:
                    full.add(point)
                taken.add((key, point))
                kept.append(run)
        return kept

    @remembered
    def quick(self, test: str) -> bool:
        """Return True if a test has no finished run of full length."""
        return not any(
            self.store.has(run.resolved.key) and run.resolved.key not in self.invalid
            for plan, planned in self._sought_of(test).items()
            if not plan.quick
            for run in planned
        )


def _place(run: PlannedRun) -> tuple[str, tuple[str, ...]]:
    """Return the identity of a run among those of its test: its key and its grid point."""
    return run.resolved.key, tuple(run.axes.values())
