"""Results of a study in a results folder: values of its runs, figures and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property

import polars as pl

from dumbbell.algorithms.catalogue import Algorithm, switch_in_files
from dumbbell.base import arguments, hypertext
from dumbbell.base.arguments import Names
from dumbbell.base.errors import DamagedResult, InputError, as_toml, unknown
from dumbbell.contract.scenario import StackChoice
from dumbbell.contract.summary import Summary
from dumbbell.engines import doubts, validity
from dumbbell.engines.result import Run
from dumbbell.figures.figure import Figure
from dumbbell.judging import readings
from dumbbell.judging.control import Control, control
from dumbbell.judging.judging import ClaimResult, judge
from dumbbell.judging.readings import Reading
from dumbbell.judging.runs import Source, TestRuns
from dumbbell.plan import grid
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import Test
from dumbbell.quantities import derived, tables, taking, titles
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.view import RunView
from dumbbell.results.planned_runs import PlannedRuns, State
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import campaigns
from dumbbell.store.campaigns import Cost


class Results(PlannedRuns):
    """The results of a study by one engine in one results folder: values, figures and verdicts."""

    def __repr__(self) -> str:
        return f"<Results of {self.study.name}: {self._done}>"

    def _repr_html_(self) -> str:
        """Return how much of each test has been run, for notebooks."""
        rows = []
        for test in self.study.tests:
            states = [run.state for run in self.runs(test.name)]
            finished = states.count(State.FINISHED)
            quick = "yes" if finished and self.quick(test.name) else ""
            rows.append((test.name, test.title, finished, len(states), quick))
        heads = ("test", "about", "finished", "asked for", "quick runs")
        title = f"{self.study.name}: {self.study.header.title}"
        return hypertext.summary(title, f"{self.engine.identity}: {self._done}", heads, rows)

    @property
    def _done(self) -> str:
        finished, planned = self.progress
        return f"{finished} of {planned} runs finished"

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

    @cached_property
    def cost(self) -> Cost:
        """Size of the valid results, and the known cost of the commands that ran them."""
        keys = (run.resolved.key for run in self.planned())
        return campaigns.cost(self.store, self.study.name, self.engine.identity, keys)

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
        return sorted(
            {feature for testbed in testbeds if testbed for feature in testbed.not_offered}
        )

    @cached_property
    def algorithms(self) -> list[Algorithm]:
        """The algorithms of the planned runs, in alphabetical order."""
        used = {
            name: run.resolved.scenario
            for run in self.planned()
            for name in facts.algorithms(run.resolved.scenario)
        }
        return [facts.described(used[name], name) for name in sorted(used)]

    def table(self, test: str, columns: Names = ()) -> pl.DataFrame:
        """Return quantities of a test, derived ones too: one row per finished run.

        `columns` is a reference such as ``goodput_mbit_per_s[1]@late``, or several. There is a
        column for each axis and each reference; see `quantities.tables.frame`. Rows are in the
        order of `finished`. Raises InputError if the test or a quantity is unknown.
        """
        references = list(dict.fromkeys(arguments.names(columns, "columns", "goodput_mbit_per_s")))
        taken = list(dict.fromkeys(derived.columns(references, self._derived)))
        described = self.study.test(test)
        values = taking.of_runs(self.finished(test), taken, self.store)
        frame = tables.frame(described, values, taken)
        for name in references:
            if name in self._derived:
                frame = derived.added(frame, list(described.axes), self._derived[name])
        spare = [name for name in taken if name not in references]
        return frame.drop(spare)

    def test(self, name: str) -> Test:
        """Return a test; an unknown name is an InputError."""
        return self.study.test(name)

    def figure(self, name: str) -> Figure:
        """Draw a figure of the study; an unknown name is an InputError."""
        valid_name = arguments.name(name, "name", next(iter(self._figure_names), "fig1"))
        return self.study.figure(valid_name).draw(self)

    @property
    def _figure_names(self) -> list[str]:
        return [figure.name for figure in self.study.figures]

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
            known = [name for name in axes if readings.named(self.study.claims, name)]
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
        return {quantity.name: quantity for quantity in self.study.quantities}

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
            left_out=[point.axes for point in whole if tuple(point.axes.values()) not in kept],
        )

    def stored_run(self, test: str, where: Selection, repetition: int = 1) -> Run | None:
        """Return a run of one grid point; None if it is not finished, or invalid.

        Repetitions count from 1; a smaller number is an InputError.
        """
        if repetition < 1:
            problem = "repetitions count from 1"
            raise InputError(problem, key="repetition", value=repetition, valid="1 for the first")
        for planned in self._sought_of(test).values():
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


def _stack(stack: StackChoice) -> str:
    switches = ", ".join(
        f"{name} = {as_toml(switch_in_files(value))}" for name, value in stack.switches.items()
    )
    return f"{stack.profile} ({switches})" if switches else stack.profile
