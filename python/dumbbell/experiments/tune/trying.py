"""Runs of candidates on paths, each at most once, and what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from dumbbell.algorithms.catalogue import OwnAlgorithms
from dumbbell.engines import validity
from dumbbell.engines.choices import RETRIES
from dumbbell.engines.engine import Engine
from dumbbell.execution import executor, parallelism
from dumbbell.execution.executor import Outcome, Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.tune.objectives import Objective
from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.plan.expanding import PlannedRun, places
from dumbbell.plan.places import Places
from dumbbell.quantities import taking
from dumbbell.store.store import Store


@dataclass(frozen=True)
class Entrant:
    """An entrant on paths: an algorithm by its name or preset, with some other parameters."""

    choice: str
    parameters: tuple[tuple[str, int], ...] = ()

    @property
    def values(self) -> dict[str, int]:
        """Its parameters by name."""
        return dict(self.parameters)


@dataclass(frozen=True)
class Trial:
    """One run: who, where, and which repetition."""

    entrant: Entrant
    path: NetworkPath
    repetition: int

    @property
    def pair(self) -> tuple[str, int]:
        """Identity of its pair with runs of others: the path and all random numbers."""
        return self.path.name, self.repetition

    @property
    def identity(self) -> tuple[Entrant, str, int]:
        """Its identity among all runs."""
        return self.entrant, self.path.name, self.repetition


@dataclass
class Runs:
    """Finished runs, and their value by each objective.

    Attributes
    ----------
    objectives
        The objectives of the search.
    store, engine, jobs, own
        Where results are kept, what runs them, how many at the same time, and whose algorithms.
    quantities
        Further quantities to take of each run.
    on_progress
        Hears of each run that has come to its end.
    whole
        Whether every run is needed; see `executor.execute`.
    """

    objectives: tuple[Objective, ...]
    store: Store
    engine: Engine
    jobs: int | Pool | None
    own_algorithms: OwnAlgorithms
    quantities: tuple[str, ...] = ()
    on_progress: Callable[[Progress], None] | None = None
    whole: ClassVar[bool] = True
    count: int = 0
    invalid: list[str] = field(default_factory=list)
    _values: dict[tuple[Entrant, str, int], Mapping[str, float | None]] = field(
        default_factory=dict, repr=False
    )

    def make(self, trials: Iterable[Trial]) -> None:
        """Make those that are not there yet."""
        missing = {trial.identity: trial for trial in trials if trial.identity not in self._values}
        planned = {identity: self._planned(trial) for identity, trial in missing.items()}
        where = places(planned.values())
        outcome = executor.execute(
            [run.resolved for run in planned.values()],
            self.store,
            self.engine,
            parallelism.workers(self.engine, self.jobs),
            self.on_progress,
            retries=RETRIES,
            places=where,
            whole=self.whole,
        )
        self.take(outcome, where)
        self.count += len(planned)
        self.invalid += [validity.described(*invalid) for invalid in outcome.invalid]
        taken_values = taking.of_runs(list(planned.values()), self._references, self.store)
        by_key = {run.resolved.key: values for run, values in taken_values}
        for identity, run in planned.items():
            if run.resolved.key in by_key:
                self._values[identity] = by_key[run.resolved.key]

    def take(self, outcome: Outcome, where: Places) -> None:
        """Raise DumbbellError if a run failed."""
        outcome.raise_for_failed(where)

    def _planned(self, trial: Trial) -> PlannedRun:
        entrant = trial.entrant
        return trial.path.planned(
            entrant.choice,
            entrant.values,
            trial.repetition,
            self.own_algorithms,
            self.engine.identity,
        )

    @property
    def _references(self) -> list[str]:
        terms = (term.reference for objective in self.objectives for term in objective.terms)
        return list(dict.fromkeys([*terms, *self.quantities]))

    def worth(self, trials: Sequence[Trial]) -> dict[tuple[str, int], tuple[float, ...]]:
        """Return the objectives of runs by what pairs them; invalid runs are left out."""
        return {
            trial.pair: tuple(one.of(self._values[trial.identity]) for one in self.objectives)
            for trial in trials
            if trial.identity in self._values
        }

    def value(self, trial: Trial, quantity: str) -> float | None:
        """Return a quantity of a run; None where it has no value, or the run was invalid."""
        return self._values.get(trial.identity, {}).get(quantity)

    def values(self, trials: Sequence[Trial], quantity: str) -> list[float]:
        """Return a quantity of runs, where it has a value."""
        values = (self.value(trial, quantity) for trial in trials)
        return [value for value in values if value is not None]


def all_of(entrant: Entrant, paths: Sequence[NetworkPath], repetitions: range) -> list[Trial]:
    """Return the runs of someone on all paths, one repetition after the other."""
    return [Trial(entrant, path, repetition) for repetition in repetitions for path in paths]
