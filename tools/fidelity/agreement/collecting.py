"""Execution of the scenarios on an engine, with unusable runs kept apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dumbbell.contract.summary import TestbedSummary
from dumbbell.engines import validity
from dumbbell.engines.engine import Engine
from dumbbell.engines.result import Run
from dumbbell.execution import executor
from dumbbell.execution.executor import Progress
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.store import Store
from fidelity.agreement.case import Case, HostSwitches


@dataclass(frozen=True)
class Side:
    """One of the two engines that are compared.

    Attributes
    ----------
    name
        Its name in tables.
    engine, jobs
        The engine that runs the scenarios, and the number of runs at the same time.
    repetitions
        Runs of each scenario, with the seeds 1, 2 and so on.
    repetitions_undecided
        Larger and larger numbers of runs of a scenario that fewer do not decide.
    hold_ns
        How long packets are held in senders at most, for the time that they spend in hosts where
        the engine has none.
    switches
        Returns the switches of the other engine's hosts; None: those of the stack.
    """

    name: str
    engine: Engine
    repetitions: int
    jobs: int = 1
    repetitions_undecided: tuple[int, ...] = ()
    hold_ns: int = 0
    switches: HostSwitches | None = None

    def resolved(self, case: Case, repetition: int) -> ResolvedScenario:
        """Return a run of a scenario on this engine."""
        return case.resolve(repetition, self.hold_ns, self.switches).on(self.engine.identity)


@dataclass(frozen=True)
class Unusable:
    """A run that shows nothing about its scenario, and the reason."""

    scenario: str
    side: str
    repetition: int
    reason: str
    failed: bool
    """True if it ended early, rather than missed its limits."""


@dataclass
class Collected:
    """The runs of one engine, by scenario and repetition."""

    runs: dict[str, dict[int, Run]] = field(default_factory=dict)
    unusable: list[Unusable] = field(default_factory=list)

    def replaced(self, later: Collected) -> Collected:
        """Return these runs with later ones in place of those of the same scenarios."""
        kept = [unusable for unusable in self.unusable if unusable.scenario not in later.runs]
        return Collected({**self.runs, **later.runs}, kept + later.unusable)

    @property
    def testbeds(self) -> list[TestbedSummary]:
        """The testbed's summary of each run, which names its kernel."""
        runs = [run for repetitions in self.runs.values() for run in repetitions.values()]
        return [run.summary.testbed for run in runs if run.summary.testbed is not None]


def collect(
    cases: Sequence[Case],
    side: Side,
    store: Store,
    on_progress: Callable[[Progress], None] | None = None,
) -> Collected:
    """Run what the store does not hold."""
    collected = Collected({case.name: {} for case in cases})
    planned = [
        (case.name, repetition, side.resolved(case, repetition))
        for case in cases
        for repetition in range(1, side.repetitions + 1)
    ]
    resolved = [scenario for _, _, scenario in planned]
    outcome = executor.execute(resolved, store, side.engine, side.jobs, on_progress)
    failed = dict(outcome.failed)
    for name, repetition, scenario in planned:
        if scenario in failed:
            reason = str(failed[scenario]) or type(failed[scenario]).__name__
            collected.unusable.append(Unusable(name, side.name, repetition, reason, True))
            continue
        run = store.get(scenario.key)
        invalid = "; ".join(validity.reasons(run.summary))
        if invalid:
            collected.unusable.append(Unusable(name, side.name, repetition, invalid, False))
        else:
            collected.runs[name][repetition] = run
    return collected
