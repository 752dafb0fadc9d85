"""The runs of a scenario on both engines, and what they show of each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from dumbbell.base.errors import DamagedResult, TestbedError
from dumbbell.engines import engines, testbed, validity
from dumbbell.engines.choices import RETRIES
from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.scenario_files import Read
from dumbbell.experiments.validate.comparing import Compared, compared
from dumbbell.experiments.validate.measures import MEASURES
from dumbbell.inference import equivalence
from dumbbell.inference.equivalence import Verdict
from dumbbell.inference.estimates import CONFIDENCE
from dumbbell.inference.statistics import runs_needed
from dumbbell.results.campaign import Campaign
from dumbbell.results.planned_runs import State
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.model_stack import Stack
from dumbbell.store.store import Store

RUNS: Final = 5
"""Runs on each engine unless another number is asked for."""

RUNS_MOST: Final = 1000
"""Runs on each engine beyond which nobody asks whether they would decide."""


@dataclass(frozen=True)
class Unjudged:
    """A run that shows nothing about the scenario, and why."""

    repetition: int
    seed: int
    why: str


@dataclass(frozen=True)
class Side:
    """The runs of the scenario on an engine.

    Attributes
    ----------
    name
        Its name in sentences.
    results
        Its results.
    runs
        The runs that count, by repetition.
    unjudged
        The others.
    """

    name: str
    results: Results
    runs: Mapping[int, Run]
    unjudged: tuple[Unjudged, ...]

    @classmethod
    def of(cls, name: str, campaign: Campaign) -> Side:
        """Return the runs of a campaign on its engine."""
        results = campaign.own_results()
        (test,) = results.study.tests
        runs: dict[int, Run] = {}
        unjudged = []
        for listed in results.runs(test.name):
            repetition, key = listed.run.repetition, listed.run.resolved.key
            why = listed.why or listed.state.value
            if listed.state in (State.FINISHED, State.INVALID):
                with suppress(KeyError, DamagedResult):
                    run = campaign.store.get(key)
                    why = "; ".join(validity.reasons(run.summary))
                    if not why:
                        runs[repetition] = run
                        continue
            unjudged.append(Unjudged(repetition, listed.run.resolved.scenario.seed, why))
        return cls(name, results, runs, tuple(unjudged))

    @property
    def requested(self) -> int:
        """The number of requested runs."""
        return len(self.runs) + len(self.unjudged)

    @property
    def first(self) -> Run | None:
        """The first run that counts."""
        return next(iter(self.runs.values()), None)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "engine": self.results.engine.identity,
            "runs": len(self.runs),
            "not_judged": [vars(run) for run in self.unjudged],
        }


@dataclass(frozen=True)
class Validation:
    """A scenario on both engines.

    Attributes
    ----------
    simulator, kernel
        Its runs on each.
    compared
        Its measures, as far as both engines have values.
    """

    simulator: Side
    kernel: Side
    compared: tuple[Compared, ...]

    @classmethod
    def of(cls, campaigns: tuple[Campaign, Campaign]) -> Validation:
        """Compare the runs of a scenario on the simulator and on the kernel."""
        simulator = Side.of("the simulator", campaigns[0])
        kernel = Side.of("the kernel", campaigns[1])
        comparisons = [
            compared(
                measure, kernel.runs, simulator.runs, CONFIDENCE, pairs=_loses_alike(simulator)
            )
            for measure in MEASURES
        ]
        return cls(simulator, kernel, tuple(filter(None, comparisons)))

    @property
    def sides(self) -> tuple[Side, Side]:
        """The kernel, which is the reference, and the simulator."""
        return self.kernel, self.simulator

    @property
    def goals(self) -> list[Compared]:
        """The measures that must agree: goodput and mean RTT."""
        return [comparison for comparison in self.compared if comparison.measure.goal]

    @property
    def verdict(self) -> Verdict:
        """The verdict on all of it: it agrees if no measure differs and the goals agree."""
        if not self.goals:
            return Verdict.NOT_MEASURED
        if self.having(Verdict.DIFFERS):
            return Verdict.DIFFERS
        decided = all(comparison.verdict is Verdict.AGREES for comparison in self.goals)
        return Verdict.AGREES if decided else Verdict.UNDECIDABLE

    def having(self, verdict: Verdict) -> list[Compared]:
        """Return the measures with a verdict."""
        return [comparison for comparison in self.compared if comparison.verdict is verdict]

    @property
    def not_offered(self) -> list[str]:
        """Features of the scenario's stack that the kernel does not have."""
        testbeds = (run.summary.testbed for run in self.kernel.runs.values())
        return sorted(
            {feature for testbed in testbeds if testbed for feature in testbed.not_offered}
        )

    def frame(self) -> pl.DataFrame:
        """Return a row for each measure, in the units of its quantity.

        The columns are ``measure``, ``quantity``, ``verdict`` and ``tolerated``; then ``kernel``,
        ``simulator`` and ``difference``, each with the ends of its 95 % interval.
        """
        schema = dict.fromkeys(("measure", "quantity", "verdict"), pl.String)
        rows = []
        for comparison in self.compared:
            measure = comparison.measure
            row: list[str | float | None] = [measure.name, measure.quantity]
            row += [comparison.verdict.value, comparison.high]
            for part in (comparison.reference, comparison.other, comparison.difference):
                row += part.as_dict().values()
            rows.append(row)
        parts = ("kernel", "simulator", "difference")
        ends = [f"{part}{end}" for part in parts for end in ("", "_low", "_high")]
        numbers = dict.fromkeys(("tolerated", *ends), pl.Float64)
        return pl.DataFrame(rows, schema={**schema, **numbers}, orient="row")

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "scenario": self.simulator.results.study.header.summary,
            "verdict": self.verdict.value,
            "confidence": CONFIDENCE,
            "kernel": self.kernel.as_dict(),
            "simulator": self.simulator.as_dict(),
            "not_offered": self.not_offered,
            "measures": {
                comparison.measure.name: comparison.as_dict() for comparison in self.compared
            },
        }


def _loses_alike(side: Side) -> bool:
    """Return True if chance loses packets, and both engines the same ones where seeds are equal."""
    run = side.first
    return run is not None and any(link.loss for link in run.scenario.links)


def needed(comparison: Compared) -> int | None:
    """Return how many runs on each engine are expected to decide a measure; None: very many."""
    runs = comparison.difference.runs
    if runs < 2:
        return None

    def decides(more: int) -> bool:
        expected = comparison.difference.with_runs(more)
        verdict = equivalence.verdict(expected, comparison.low, comparison.high)
        return verdict is not Verdict.UNDECIDABLE

    return runs_needed(decides, runs + 1, RUNS_MOST)


def campaigns(
    read: Read, *, runs: int, store: Store, kernel: Engine | str = "testbed"
) -> tuple[Campaign, Campaign]:
    """Keep a scenario in a results folder, and return what is to be run on each engine.

    Both engines have the testbed's hosts. TestbedError if this machine has no testbed, before
    anything runs.
    """
    try:
        real = engines.runnable(kernel)
    except TestbedError as error:
        raise TestbedError(f"{error}; no run was judged") from None
    plan = Plan.requested(seed=read.seed, runs=runs)
    simulated = _on_equal_hosts(read).campaign(store, engines.named("simulator"), plan)
    return simulated, Campaign(simulated.study, store, real, plan)


def _on_equal_hosts(read: Read) -> Read:
    """Return the scenario with the hosts of the testbed, as far as it does not set them."""
    scenario = Scenario.parse(read.table, str(read.file))
    switches = testbed.host_switches(scenario.resolve())

    def equal(stack: Stack) -> dict[str, Any]:
        return {"profile": stack.profile, "switches": {**switches, **stack.switches}}

    table: dict[str, Any] = {**read.table, "stack": equal(scenario.stack)}
    for key, traffic in (("flow", scenario.flow), ("arrivals", scenario.arrivals)):
        if key in table:
            table[key] = [
                {**entry, "stack": equal(model.stack)} if model.stack else entry
                for entry, model in zip(table[key], traffic, strict=True)
            ]
    return replace(read, table=table)


def validate(
    read: Read,
    *,
    runs: int = RUNS,
    results: Store,
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Validation:
    """Run a scenario on both engines, and compare; runs that fail are not judged.

    Parameters
    ----------
    read
        The scenario.
    runs
        Repetitions on each engine, with the same seeds.
    results, jobs, retries, large, on_progress
        As for `compare`.
    """
    both = campaigns(read, runs=runs, store=results)
    for campaign in both:
        campaign.run(
            large=large,
            jobs=None if campaign.engine.real_time else jobs,
            retries=retries,
            on_progress=on_progress,
        )
    return Validation.of(both)
