"""Run the cases of a suite in two passes, and judge them.

The first pass finds when an algorithm enters the state at which a case changes the path. The second
is the same scenario with the change at that moment. The simulator is deterministic, so until then
both are the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.algorithms.labels import label_of
from dumbbell.base.errors import DamagedResult, placed
from dumbbell.base.labels import listing
from dumbbell.engines import engines
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.execution.executor import Outcome, Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.cases import changing, outcome
from dumbbell.experiments.cases.outcome import Cases, Judged
from dumbbell.experiments.cases.reported import Reported, reported
from dumbbell.experiments.cases.suite import NAME, Case, CaseRun, Change, Suite
from dumbbell.experiments.cases.trace import Trace, UnknownError
from dumbbell.experiments.suites.roles import Role, read
from dumbbell.results import experiments
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.store.store import Store

_STEM: Final = "cases"
"""Beginning of the names of the studies."""

_NOTHING: Final = "its run has no result"


@dataclass(frozen=True)
class Place:
    """A path of a case, for an algorithm.

    Attributes
    ----------
    role
        The algorithm.
    case
        The case.
    number
        The number of the path in it, from 0.
    """

    role: Role
    case: Case
    number: int

    @property
    def run(self) -> CaseRun:
        """Its scenario and its checks."""
        return self.case.runs[self.number]

    @property
    def test(self) -> str:
        """The name of its test."""
        further = f"-{self.number + 1}" if self.number else ""
        return f"{self.role.id}-{self.case.number:02}-{self.case.name}{further}"


@dataclass(frozen=True)
class Passes:
    """Both passes of the cases of some algorithms.

    Attributes
    ----------
    suite
        The cases.
    reported
        What each algorithm reports.
    store
        The results folder.
    seed
        Source of the seeds.
    """

    suite: Suite
    reported: Mapping[Role, Reported]
    store: Store
    seed: int

    def judged(self, run: Callable[[Campaign], Outcome]) -> list[Cases]:
        """Run both passes by `run`, and return the verdicts for each algorithm."""
        scenarios = {
            test: changing.first(self.suite, place.run, place.role.typed)
            for test, place in self._places.items()
        }
        changing_scenarios = {
            test: scenario
            for test, scenario in scenarios.items()
            if self._places[test].run.change is not None
        }
        traces: dict[str, Trace] = {}
        if changing_scenarios:
            first = self._campaign(changing_scenarios, "first pass")
            run(first)
            traces = self._traces(first, {})
        moments_ns, whys = self._changed(scenarios, traces)
        last = self._campaign(
            {test: scenario for test, scenario in scenarios.items() if test not in whys}, _STEM
        )
        run(last)
        return self._verdicts(last, moments_ns, whys)

    @cached_property
    def _places(self) -> dict[str, Place]:
        """The paths of all cases and algorithms, by their tests."""
        places = (
            Place(role, case, number)
            for role in self.reported
            for case in self.suite.cases
            for number in range(len(case.runs))
        )
        return {place.test: place for place in places}

    def _changed(
        self, scenarios: dict[str, dict[str, Any]], traces: Mapping[str, Trace]
    ) -> tuple[dict[str, int], dict[str, str]]:
        """Put the changes into scenarios; return their moments, and why some have none."""
        moments_ns, whys = {}, {}
        for test, scenario in scenarios.items():
            change = self._places[test].run.change
            if change is None:
                continue
            try:
                moments_ns[test] = changing.moment_ns(change, traces[test])
            except KeyError:
                whys[test] = _NOTHING
                continue
            except UnknownError as unknown:
                whys[test] = str(unknown)
                continue
            scenarios[test] = changing.second(scenario, change, moments_ns[test], traces[test])
        return moments_ns, whys

    def _verdicts(
        self, last: Campaign, moments_ns: Mapping[str, int], whys: Mapping[str, str]
    ) -> list[Cases]:
        traces = self._traces(last, moments_ns)
        results = last.own_results()
        judged: dict[Role, list[Judged]] = {role: [] for role in self.reported}
        for (role, _), group in groupby(
            self._places.items(), lambda pair: (pair[1].role, pair[1].case.number)
        ):
            of_case = dict(group)
            runs = [
                whys.get(test) or _repeated(place.run.change, traces.get(test))
                for test, place in of_case.items()
            ]
            case = next(iter(of_case.values())).case
            judged[role].append(outcome.judged(self.suite, case, role, runs))
        return [Cases(results, self.suite, role, tuple(judged[role])) for role in self.reported]

    def _traces(self, campaign: Campaign, moments_ns: Mapping[str, int]) -> dict[str, Trace]:
        """Return the finished runs of a campaign by their tests."""
        traces = {}
        for planned in campaign.planned:
            try:
                run = self.store.get(planned.resolved.key)
            except (KeyError, DamagedResult):
                continue
            reported_of = self.reported[self._places[planned.test].role]
            traces[planned.test] = Trace(run, reported_of, moments_ns.get(planned.test))
        return traces

    def _campaign(self, scenarios: Mapping[str, dict[str, Any]], what: str) -> Campaign:
        """Keep the runs of a pass as a study."""
        who = listing([label_of(role.name) for role in self.reported])
        title = f"{who} by the cases of {self.suite.title}"
        study = experiments.head(
            _STEM,
            [self._test(test, scenario) for test, scenario in scenarios.items()],
            command=[*("checklist", *(role.typed for role in self.reported)), "--suite", NAME],
            title=title if what == _STEM else f"{title}: {what}",
            summary=f"{self.suite.title}, {self.suite.revised}, appendix A",
        )
        engine = engines.named(EngineName.SIMULATOR)
        plan = Plan.requested(quick=False, seed=self.seed)
        return Campaign.of_experiment(study, self.store, engine, plan)

    def _test(self, test: str, scenario: dict[str, Any]) -> dict[str, Any]:
        case = self._places[test].case
        return {
            "name": test,
            "title": f"{case.source} {case.title}",
            "source": case.source,
            "seeds": "shared",
            "folder": str(Path.cwd()),
            "axes": {"case": [case.name]},
            "scenario": scenario,
        }


def _repeated(change: Change | None, trace: Trace | None) -> Trace | str:
    """Return a run that repeats the first pass until its change; else why it does not count."""
    if trace is None:
        return _NOTHING
    if change is None:
        return trace
    try:
        at_ns = changing.moment_ns(change, trace)
    except UnknownError as unknown:
        return str(unknown)
    if at_ns != trace.change_ns:
        return "the second pass did not repeat the first"
    return trace


def passes_of(algorithms: Sequence[str], suite: Suite, store: Store, seed: int) -> Passes:
    """Read algorithms; one that is none, or has no states of BBR, is an InputError."""
    own_algorithms: dict[str, Algorithm] = {}
    roles = read(algorithms, "algorithm", "bbr3", own_algorithms)
    with placed(key="algorithm"):
        reports = {
            role: reported(catalogue.algorithm(role.name.partition("@")[0], own_algorithms))
            for role in roles
        }
    store.create()
    return Passes(suite, reports, store, seed)


def cases(
    algorithms: Sequence[str],
    suite: Suite,
    *,
    seed: int = 0,
    results: Store | str | Path = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Cases]:
    """Run the cases and judge them; return one for each algorithm.

    Parameters
    ----------
    algorithms
        The algorithms, by their names or their C files.
    suite
        The cases.
    seed, results, jobs, retries, large, on_progress
        As for `compare`.
    """
    store = Store.of(results)
    run = partial(
        Campaign.complete, large=large, jobs=jobs, retries=retries, on_progress=on_progress
    )
    return passes_of(algorithms, suite, store, seed).judged(run)
