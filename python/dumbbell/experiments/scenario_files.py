"""Scenario files with changes, as `simulate` and `validate` run them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import parse_time
from dumbbell.engines.engine import Engine
from dumbbell.experiments import outcomes
from dumbbell.experiments.outcomes import Judged
from dumbbell.results import experiments
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.scenario import changes as altering
from dumbbell.scenario import library, sampling
from dumbbell.scenario.changes import Change
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.store import Store


@dataclass(frozen=True)
class Read:
    """A scenario file with changes; it has been checked.

    Attributes
    ----------
    file
        The file.
    table
        Its content with the changes, and with the time between samples.
    seed
        Its seed, or that of the command.
    changes
        The changes in words.
    command
        The command that runs it again.
    prefix
        Beginning of its name as an experiment.
    interval_ns
        The time between samples, if it was chosen.
    """

    file: Path
    table: dict[str, Any]
    seed: int
    changes: tuple[str, ...]
    command: tuple[str, ...]
    prefix: str = ""
    interval_ns: int | None = None

    def campaign(self, store: Store, engine: Engine, plan: Plan) -> Campaign:
        """Keep it in a results folder as an experiment, and return what is to be run."""
        store.create()
        with placed(source=str(self.file)):
            return Campaign.of_experiment(self.content, store, engine, plan)

    @property
    def content(self) -> dict[str, Any]:
        """The study of it, with its outcomes as claims."""
        study = experiments.of_scenario(
            self.table, self.file, self.changes, self.command, self.prefix
        )
        return {**study, "claim": list(self.outcomes.claims)}

    @cached_property
    def outcomes(self) -> Judged:
        """What sources state of it, if it is a scenario that ships."""
        choices = [self.table["algorithm"]] if "algorithm" in self.table else []
        return outcomes.judged(self.file, self.table, choices, test=experiments.RUN)

    def captured(self, seed: int) -> ResolvedScenario:
        """Return the run that keeps all packets."""
        scenario = Scenario.parse(self.table, str(self.file))
        return scenario.resolve(seed=seed, capture=True)


def read(
    file: Path,
    changes: Sequence[Change],
    duration: str | None = None,
    seed: int | None = None,
    *,
    command: str,
    prefix: str = "",
) -> Read:
    """Read and check a scenario file for a command; what is wrong names the file, or the change.

    The `seed` of the command replaces that of the file, so no change may set another.
    """
    made = [*changes]
    if duration is not None:
        with placed(key="duration"):
            parse_time(duration)
        made.append(Change("duration", duration))
    altering.check_once(made if seed is None else [*made, Change("seed", seed)])
    typed, file = file, library.file(file)
    content = altering.changed(Scenario.table(file), made)
    try:
        scenario = Scenario.parse(content, str(file))
    except InputError as error:
        raise altering.blamed(error, made) from None
    options = [word for change in changes for word in ("--set", str(change))]
    options += [] if duration is None else ["--duration", duration]
    words = (command, str(typed), *options)
    shown = tuple(f"{change.key} = {change.value}" for change in made)
    first = scenario.seed if seed is None else seed
    interval_ns = sampling.chosen_ns(scenario)
    sampled = sampling.filled(content, interval_ns)
    return Read(file, sampled, first, shown, words, prefix, interval_ns)
