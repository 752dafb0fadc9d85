"""A campaign: the planned runs of a study, run as far as they are not there yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dumbbell.base.errors import InputError
from dumbbell.engines import engines
from dumbbell.engines.choices import AT_MOST, RETRIES
from dumbbell.engines.engine import Engine
from dumbbell.execution import bounds, parallelism, schedule
from dumbbell.execution.executor import Outcome, Progress, execute
from dumbbell.execution.pools import Pool, Running
from dumbbell.execution.shards import Shard
from dumbbell.judging.evidence import Need, Verdict
from dumbbell.judging.judging import ClaimResult
from dumbbell.plan import grid
from dumbbell.plan.expanding import More, PlannedRun, places, scenarios
from dumbbell.plan.grid import Selection
from dumbbell.plan.places import Places
from dumbbell.results import experiments, plans
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.campaigns import Logbook
from dumbbell.store.store import Store
from dumbbell.study.model import Study


@dataclass(frozen=True)
class Campaign:
    """A request to run a study, or a part of it.

    Attributes
    ----------
    study
        The study.
    store
        The results folder; runs that it holds are not run again.
    engine
        The engine that runs them.
    plan
        The number of repetitions, the source of seeds, and whether only the representative part
        runs.
    where
        The grid points that are meant; all if empty.
    shard
        The part of them that is run here; None: all of it.
    """

    study: Study
    store: Store
    engine: Engine
    plan: Plan = field(default_factory=Plan)
    where: Selection = field(default_factory=dict)
    shard: Shard | None = None

    @classmethod
    def of_experiment(
        cls, content: Mapping[str, Any], store: Store, engine: Engine, plan: Plan
    ) -> Campaign:
        """Keep an experiment in the results folder, which must be in use; see `experiments`."""
        with experiments.saved(content, store.root) as study:
            campaign = cls(study, store, engine, plan)
            _ = campaign.planned
        return campaign

    @property
    def kept_plan(self) -> Plan:
        """The plan as a results folder keeps it: with the part that is meant."""
        where = dict(self.where)
        if self.study.is_part:
            chosen = grid.wanted_values(where, "test") if "test" in where else None
            tests = [test.name for test in self.study.tests]
            where["test"] = [name for name in tests if chosen is None or name in chosen]
        return self.plan.at(where)

    @cached_property
    def planned(self) -> list[PlannedRun]:
        """The runs; that there are none is an InputError."""
        runs = self.study.runs(
            self.plan.quick, self.where, self.plan.runs, self.plan.seed, more=self.plan.more
        )
        if not runs:
            raise self._without_runs()
        return [run.on(self.engine.identity) for run in runs]

    def _without_runs(self) -> InputError:
        """Return the error for conditions that no run meets, with values that would do."""
        conditions = " ".join(
            f"{axis}={','.join(grid.wanted_values(self.where, axis))}" for axis in self.where
        )
        problem, valid = "selects no run", "fewer conditions"
        if self.plan.quick and any(self._points(self.where, quick=False)):
            problem = "quick runs leave this out"
            valid = ", or ".join([*self._instead(), "runs that are not quick"])
        return InputError(problem, key="where", value=conditions, valid=valid)

    def _instead(self) -> Iterator[str]:
        """Yield the values of each condition that quick runs have with all others."""
        for axis in self.where:
            others = {name: wanted for name, wanted in self.where.items() if name != axis}
            kept = {point.get(axis) for point in self._points(others, quick=True)}
            if values := [value for value in self.study.plan.axes[axis] if value in kept]:
                yield f"{axis}={','.join(values)}"

    def _points(self, where: Selection, *, quick: bool) -> Iterator[Mapping[str, str]]:
        """Yield the axes of grid points of the study, with the test."""
        for test in self.study.tests:
            for point in self.study.points(test.name, quick=quick, where=where):
                yield {"test": test.name, **point.axes}

    @cached_property
    def places(self) -> Places:
        """The places of the runs in the study."""
        return places(self.planned)

    @cached_property
    def _mine(self) -> list[ResolvedScenario]:
        """The runs of this machine, also those that are stored."""
        runs = scenarios(self.planned)
        return runs if self.shard is None else self.shard.of(runs)

    @cached_property
    def stored(self) -> set[str]:
        """The keys of those that were there at first."""
        return {run.key for run in self._mine if self.store.has(run.key)}

    @cached_property
    def ordered(self) -> list[ResolvedScenario]:
        """The runs of this machine, in the order of execution."""
        return schedule.ordered(self._mine, self.places, self.stored)

    def check_size(self, jobs: int | Pool | None = None) -> None:
        """Raise TooLarge if what is not there yet is larger than anybody is likely to mean."""
        missing = [run for run in self.ordered if run.key not in self.stored]
        bounds.check(missing, self.engine, parallelism.at_once(self.engine, jobs))

    def run(
        self,
        *,
        large: bool = False,
        jobs: int | Pool | None = None,
        retries: int = RETRIES,
        on_progress: Callable[[Progress], None] | None = None,
        on_wait: Callable[[Sequence[Running]], None] | None = None,
        whole: bool = False,
    ) -> tuple[Outcome, Logbook]:
        """Run the missing runs, and keep their cost with the results.

        Unless what is `large` is meant, it raises TooLarge; see `executor.execute` for the other
        parameters and for what else is raised.
        """
        engines.runnable(self.engine)
        if not large:
            self.check_size(jobs)
        at_once = parallelism.workers(self.engine, jobs)
        book = Logbook(
            self.store,
            self.study.name,
            self.engine.identity,
            quick=self.plan.quick,
            jobs=parallelism.at_once(self.engine, jobs),
        )

        def follow(state: Progress) -> None:
            if state.finished == 1:
                plans.remember(self.store, self.study.name, self.kept_plan)
                plans.keep_path(self.store, self.study.name, self.study.path)
            book.note(state.ran, state.failed)
            if on_progress is not None:
                on_progress(state)

        with ExitStack() as opened:
            opened.enter_context(book)
            outcome = execute(
                self.ordered,
                self.store,
                self.engine,
                at_once,
                follow,
                retries=retries,
                places=self.places,
                on_wait=on_wait,
                whole=whole,
            )
        return outcome, book

    def results(self) -> Results:
        """Return what the results folder holds of the study by this engine."""
        return Results(self.study, self.store, engine=self.engine, expanded=self._expanded)

    def own_results(self) -> Results:
        """Return the results of this campaign's own plan."""
        return Results(
            self.study, self.store, [self.kept_plan], self.engine, expanded=self._expanded
        )

    @property
    def _expanded(self) -> Mapping[Plan, Sequence[PlannedRun]]:
        """The plan with its runs, if these are all of it."""
        is_whole = self.kept_plan.where or not self.where
        return {self.kept_plan: self.planned} if is_whole else {}

    def complete(
        self,
        *,
        large: bool,
        jobs: int | Pool | None,
        retries: int = RETRIES,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Run the missing runs as `run` does, and raise DumbbellError if one failed."""
        outcome, _ = self.run(
            large=large, jobs=jobs, retries=retries, on_progress=on_progress, whole=True
        )
        outcome.raise_for_failed(self.places)
        return outcome

    def run_until_decided(
        self, run: Callable[[Campaign], Outcome], at_most: int = AT_MOST, *, alone: bool = False
    ) -> tuple[Campaign, Outcome]:
        """Run the campaign, then the repetitions that are expected to decide its claims.

        Judge by all runs of the study in the results folder or, if `alone`, by those of the
        campaign: then the same campaign again ends with the same runs, whatever the folder has.
        Stop as soon as a run fails or is invalid: a claim cannot be judged by such runs. Return
        the last campaign that ran, and its outcome.
        """
        campaign, outcome = self, run(self)
        while not (outcome.failed or outcome.invalid):
            further = campaign.deciding(at_most, alone=alone)
            if further is None:
                break
            campaign, outcome = further, run(further)
        return campaign, outcome

    def deciding(self, at_most: int = AT_MOST, *, alone: bool = False) -> Campaign | None:
        """Return a campaign with the repetitions that are expected to decide undecided claims.

        Claims that are expected to need more than `at_most` repetitions of a grid point get none.
        None if there is no other claim to decide.
        """
        needs = [
            need
            for claim in self.undecided(alone=alone)
            if not beyond(claim, at_most)
            for need in claim.needs
        ]
        more = _more(needs, self._repetitions())
        if not more:
            return None
        known = {(extra.test, extra.point): extra for extra in self.plan.more}
        known |= {(extra.test, extra.point): extra for extra in more}
        return replace(self, plan=self.plan.model_copy(update={"more": tuple(known.values())}))

    def undecided(self, *, alone: bool = False) -> list[ClaimResult]:
        """Return the claims that the results do not decide; see `run_until_decided`."""
        results = self.own_results() if alone else self.results()
        return [claim for claim in results.claims() if claim.verdict is Verdict.UNDECIDED]

    def _repetitions(self) -> Mapping[tuple[str, tuple[tuple[str, str], ...]], int]:
        """Return the planned repetitions of each grid point."""
        repetitions: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        for run in self.planned:
            place = (run.test, tuple(run.axes.items()))
            repetitions[place] = repetitions.get(place, 0) + 1
        return repetitions


def beyond(claim: ClaimResult, at_most: int) -> bool:
    """Return whether an undecided claim is expected to need more repetitions than that."""
    return not claim.needs or any(need.runs > at_most for need in claim.needs)


def _more(
    needs: Sequence[Need], counts: Mapping[tuple[str, tuple[tuple[str, str], ...]], int]
) -> list[More]:
    """Return the grid points that need more repetitions than planned."""
    needed: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
    for need in needs:
        place = (need.test, tuple(need.axes.items()))
        if place in counts and need.runs > max(counts[place], needed.get(place, 0)):
            needed[place] = need.runs
    return [More(test=test, point=point, runs=runs) for (test, point), runs in needed.items()]
