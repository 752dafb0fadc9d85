"""Results of a study in a results folder: the planned runs, and their quantities."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import Final

import polars as pl

from dumbbell.algorithms import own_algorithms
from dumbbell.algorithms.catalogue import Algorithm, switch_in_files
from dumbbell.base import arguments, hypertext
from dumbbell.base.arguments import Names
from dumbbell.base.errors import DamagedResult, InputError, as_toml, unknown
from dumbbell.base.remembering import remembered
from dumbbell.contract.scenario import StackChoice
from dumbbell.contract.summary import Summary
from dumbbell.engines import doubts, engines, validity
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.figures.figure import Figure
from dumbbell.judging import readings
from dumbbell.judging.control import Control, control
from dumbbell.judging.judging import ClaimResult, judge
from dumbbell.judging.readings import Reading
from dumbbell.judging.runs import Source, TestRuns
from dumbbell.plan import grid
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test
from dumbbell.quantities import derived, tables, taking, titles
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.view import RunView
from dumbbell.results.plans import Plan, recall
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import campaigns, failures
from dumbbell.store.campaigns import Cost
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


class Results:
    """The finished runs of a study by one engine in one results folder.

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
            return self.study.runs(quick=plan.quick, runs=plan.runs, seed=plan.seed, more=plan.more)

    def _planned_of(self, test: str) -> Mapping[Plan, list[PlannedRun]]:
        """Return plan -> its runs of a test; an unknown test is an InputError."""
        return self._planned[self.study.test(test).name]

    def expand(self) -> None:
        """Expand all plans now; InputError if one of them is none of this study, or too large."""
        _ = self._planned

    def __repr__(self) -> str:
        return f"<Results of {self.study.name}: {self._done}>"

    def _repr_html_(self) -> str:
        """Return how much of each test has been run, for notebooks."""
        rows = []
        for test in self.study.tests:
            states = [each.state for each in self.runs(test.name)]
            finished = states.count(State.FINISHED)
            quick = "yes" if finished and self.quick(test.name) else ""
            rows.append((test.name, test.title, finished, len(states), quick))
        heads = ("test", "about", "finished", "asked for", "quick runs")
        title = f"{self.study.name}: {self.study.header.title}"
        return hypertext.summary(title, f"{self.engine.identity}: {self._done}", heads, rows)

    @property
    def _done(self) -> str:
        finished = sum(each.finished for each in self.counted)
        return f"{finished} of {sum(each.planned for each in self.counted)} runs finished"

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

    @cached_property
    def doubtful(self) -> Sequence[str]:
        """The finished runs of each test that may show something else than their algorithms."""
        lines = []
        for test in self.study.tests:
            runs = [run.resolved for run in self.finished(test.name)]
            found_of = (
                (run, doubts.of(run.scenario, summary)) for run, summary in self._summaries(runs)
            )
            lines += [f"{test.name}: {line}" for line in validity.doubtful(found_of)]
        return lines

    def _summaries(
        self, runs: Iterable[ResolvedScenario]
    ) -> Iterator[tuple[ResolvedScenario, Summary]]:
        """Yield each run that there is, once."""
        for run in dict.fromkeys(runs):
            with suppress(KeyError, DamagedResult):
                yield run, self.store.described(run.key).summary

    @property
    def troubled(self) -> Mapping[str, Mapping[str, str]]:
        """The runs that count nowhere, by their outcome: key -> description."""
        return {
            "Invalid and left out": self.invalid,
            "Damaged and left out": self.damaged,
            "Failed": self.failures,
        }

    @cached_property
    def cost(self) -> Cost:
        """Size of the valid results, and the known cost of the commands that ran them."""
        keys = (run.resolved.key for run in self.planned())
        return campaigns.cost(self.store, self.study.name, self.engine.identity, keys)

    def left_out(self, test: str) -> int:
        """Return how many runs of a test are invalid."""
        keys = {run.resolved.key for runs in self._planned_of(test).values() for run in runs}
        return len(keys & self.invalid.keys())

    def planned(self) -> Iterator[PlannedRun]:
        """Yield all planned runs; a plan may repeat those of another one."""
        for plans in self._planned.values():
            yield from itertools.chain(*plans.values())

    @cached_property
    def stacks(self) -> list[str]:
        """The TCP stacks of the planned runs, in words."""
        return list(
            dict.fromkeys(
                _stack(stack)
                for run in self.planned()
                for stack in facts.stacks(run.resolved.scenario)
            )
        )

    @cached_property
    def not_offered(self) -> list[str]:
        """Features of the hosts' stack in the planned runs that the kernel could not offer."""
        runs = (run.resolved for test in self.study.tests for run in self.finished(test.name))
        testbeds = (summary.testbed for _, summary in self._summaries(runs))
        return sorted({each for testbed in testbeds if testbed for each in testbed.not_offered})

    @cached_property
    def algorithms(self) -> list[Algorithm]:
        """The algorithms of the planned runs, in alphabetical order."""
        used = {
            name: run.resolved.scenario
            for run in self.planned()
            for name in facts.algorithms(run.resolved.scenario)
        }
        return [facts.described(used[name], name) for name in sorted(used)]

    @remembered
    def _sound(self, test: str) -> Mapping[Plan, list[PlannedRun]]:
        """Plan -> its finished runs of a test."""
        return {
            plan: [run for run, _ in taking.of_runs(planned, (), self.store)]
            for plan, planned in self._planned_of(test).items()
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
                    found = Listed(run, plan, State.FINISHED)
                elif plan.quick and place[1] in full:
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
            for plan, planned in self._planned_of(test).items()
            if not plan.quick
            for run in planned
        )

    def table(self, test: str, columns: Names = ()) -> pl.DataFrame:
        """Return quantities of a test, derived ones too: one row per finished run.

        `columns` is a reference such as ``goodput_mbit_per_s[1]@late``, or several. There is a
        column for each axis and each reference; see `quantities.tables.frame`. Rows are in the
        order of `finished`. Raises InputError if the test or a quantity is unknown.
        """
        references = list(dict.fromkeys(arguments.names(columns, "columns", "goodput_mbit_per_s")))
        own = self._derived
        taken = list(dict.fromkeys(derived.columns(references, own)))
        described = self.study.test(test)
        values = taking.of_runs(self.finished(test), taken, self.store)
        frame = tables.frame(described, values, taken)
        for name in references:
            if name in own:
                frame = derived.added(frame, list(described.axes), own[name])
        spare = [name for name in taken if name not in references]
        return frame.drop(spare)

    def test(self, name: str) -> Test:
        """Return a test; an unknown name is an InputError."""
        return self.study.test(name)

    def figure(self, name: str) -> Figure:
        """Draw a figure of the study; an unknown name is an InputError."""
        return self.study.figure(name).draw(self)

    def title(self, test: str, column: str) -> str:
        """Return what a column of a test's table is called, with its unit."""
        return titles.of_column(column, self.test(test), self._derived)

    def described(self, text: str) -> Quantity | Derived:
        """Return what is known of the quantity that a reference names."""
        return self._derived.get(text) or taking.described(text)

    def views(self, test: str, where: Selection) -> Iterator[tuple[Mapping[str, str], RunView]]:
        """Yield the finished runs at some grid points of a test, with their axes."""
        for run in self.finished(test):
            if grid.matches(run.axes, where):
                with suppress(KeyError, DamagedResult):
                    run_result = self.store.get(run.resolved.key)
                    yield run.axes, RunView(run_result, run.windows, run.settings)

    def claims(self) -> Sequence[ClaimResult]:
        """Judge the study's claims by these runs."""
        return [judge(claim, self.source) for claim in self.study.claims]

    @cached_property
    def source(self) -> Source:
        """The runs for checks of claims."""
        return Source(cache(self._evidence), self._derived)

    def readings(self, axis: str) -> list[Reading]:
        """Judge the claims at every value of an axis, in the order of the tests.

        Claims that do not name it are what they are; an axis that none names is an InputError.
        """
        main = readings.named(self.study.claims, axis)
        if not main:
            axes = dict.fromkeys(axis for test in self.study.tests for axis in test.axes)
            known = [each for each in axes if readings.named(self.study.claims, each)]
            raise unknown("axis of claims", axis, known)
        values = dict.fromkeys(
            value for test in self.study.tests for value in test.axes.get(axis, ())
        )
        return [
            Reading(
                value,
                any(grid.same_value(value, wanted) for wanted in main),
                [
                    judge(readings.at(claim, axis, value), self.source)
                    for claim in self.study.claims
                ],
            )
            for value in values
        ]

    def control(self, draws: int = 20, seed: int = 0) -> Control:
        """Judge the claims with the names of the algorithms exchanged at random.

        Parameters
        ----------
        draws
            Number of exchanges; fewer if there are not so many.
        seed
            Source of the draws.

        A study with fewer than two algorithms besides its `reference` is an InputError.
        """
        return control(
            self.study.claims,
            self.study.tests,
            self.source,
            reference=self.study.header.reference,
            draws=draws,
            seed=seed,
        )

    @cached_property
    def _derived(self) -> Mapping[str, Derived]:
        return {each.name: each for each in self.study.quantities}

    def _evidence(self, test: str, columns: Sequence[str]) -> TestRuns:
        """Return the runs of a test that a check may use, with their seeds."""
        quick = self.quick(test) and any(plan.quick for plan in self.plans)
        points = self.study.points(test, quick=quick)
        kept = {tuple(point.axes.values()) for point in points}
        whole = self.study.points(test) if quick else ()
        seeds = [run.resolved.scenario.seed for run in self.finished(test)]
        return TestRuns(
            self.test(test).axes,
            [point.axes for point in points],
            self.table(test, columns).with_columns(seed=pl.Series(seeds, dtype=pl.UInt64)),
            repetitions=max((point.runs for point in points), default=1),
            is_quick=quick and bool(seeds),
            is_shorter=quick and bool(self.test(test).quick.set),
            left_out=[each.axes for each in whole if tuple(each.axes.values()) not in kept],
        )

    def get_run(self, test: str, where: Selection, repetition: int = 1) -> Run | None:
        """Return a run of one grid point; None if it is not finished, or invalid.

        Repetitions count from 1; a smaller number is an InputError.
        """
        if repetition < 1:
            problem = "repetitions count from 1"
            raise InputError(problem, key="repetition", value=repetition, valid="1 for the first")
        for planned in self._planned_of(test).values():
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


def _place(run: PlannedRun) -> tuple[str, tuple[str, ...]]:
    """Return the identity of a run among those of its test: its key and its grid point."""
    return run.resolved.key, tuple(run.axes.values())


def _stack(stack: StackChoice) -> str:
    switches = ", ".join(
        f"{name} = {as_toml(switch_in_files(value))}" for name, value in stack.switches.items()
    )
    return f"{stack.profile} ({switches})" if switches else stack.profile
