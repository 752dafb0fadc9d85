"""The paths of an environment: a set, one scenario, or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dumbbell.base.arguments import names, wrong
from dumbbell.base.arguments import number as whole
from dumbbell.base.errors import InputError, listed, near, placed, unknown
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.model_record import Record
from dumbbell.scenario.path_sets import SIZES, STANDARD, PathSet
from dumbbell.scenario.resolve import ResolvedScenario

Paths = str | Path | PathSet | Scenario | Mapping[str, Any] | Sequence[Any]
"""A set of paths or its name; a scenario, the content of its file or the file; or several."""

_NOTHING: Final = {"interval": "none", "events": []}
"""Nobody reads tables of an episode."""


class Source:
    """Paths by their numbers, each resolved when it is first asked for.

    Parameters
    ----------
    choice
        The paths.
    learners
        The flows of learners: so many of the first, or those of these labels. The label of a single
        one is the argument `learner`, which errors then name.
    """

    def __init__(self, choice: Paths, learners: int | Sequence[str]) -> None:
        self._paths: PathSet | list[Scenario] = _paths(choice)
        self._key = "learner" if isinstance(learners, str) else "learners"
        self._wanted: Final = _learners(learners)
        self._resolved: dict[int, ResolvedScenario] = {}
        self._baselines: dict[int, float] = {}
        self.learners: Final = self._flows(0)

    def __len__(self) -> int:
        return len(self._paths)

    def name(self, number: int) -> str:
        """Return the name of a path."""
        if isinstance(self._paths, PathSet):
            return self._paths.name(number)
        return self._paths[number].title or f"scenario {number}"

    def resolved(self, number: int) -> ResolvedScenario:
        """Return a path as the engine runs it; its learners are the flows of the first path."""
        if number not in self._resolved:
            learners = self._flows(number)
            if learners != self.learners:
                del self._resolved[number]
                raise InputError(
                    "has its learners elsewhere than the first scenario",
                    key=f"paths.{number}",
                    valid=f"learners' flows at the places {list(self.learners)}",
                )
        return self._resolved[number]

    def labels(self) -> list[str]:
        """Return the labels of the flows that learners steer."""
        flows = self.resolved(0).scenario.flows
        return [flows[learner].label for learner in self.learners]

    def baseline_mbit_per_s(self, number: int) -> float:
        """Return the goodput of all other flows if learners have the algorithms named for them.

        TCP flows count, in the mean of the whole run.
        """
        if number not in self._baselines:
            summary = SimulatorEngine().run(self.resolved(number)).summary
            acked = sum(
                flow.acked_bytes for flow in summary.flows if flow.flow not in self.learners
            )
            self._baselines[number] = acked * 8e3 / summary.duration_ns
        return self._baselines[number]

    def rehearse(self, number: int) -> None:
        """Run a path with user-defined algorithms once in another process, as `simulate` does.

        An episode runs them in this process. BroughtDown if one of them ends that or never returns.
        """
        if self.resolved(number).scenario.sources:
            self.baseline_mbit_per_s(number)

    def _scenario(self, number: int) -> Scenario:
        if isinstance(self._paths, PathSet):
            count = self._wanted if isinstance(self._wanted, int) else 1
            table = self._paths.table(number, count)
            return Scenario.parse({**table, "record": _NOTHING})
        record = Record(**_NOTHING)
        return self._paths[number].model_copy(update={"record": record})

    def _flows(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the flows that learners steer on a path."""
        if number not in self._resolved:
            self._resolved[number] = self._scenario(number).resolve()
        if isinstance(self._paths, PathSet) or len(self) == 1:
            return self._chosen(number)
        with placed(key=f"paths.{number}"):
            return self._chosen(number)

    def _chosen(self, number: int) -> tuple[int, ...]:
        flows = self._resolved[number].scenario.flows
        if isinstance(self._wanted, int):
            connections = [place for place, flow in enumerate(flows) if flow.transport.tcp]
            if self._wanted > len(connections):
                raise InputError(
                    "more than the path has TCP flows",
                    key="learners",
                    value=self._wanted,
                    valid=f"1 to {len(connections)}" if connections else "a scenario with some",
                )
            return tuple(connections[: self._wanted])
        by_label = {flow.label: place for place, flow in enumerate(flows)}
        for label in self._wanted:
            if label not in by_label:
                raise unknown("flow", label, by_label).at(key=self._key)
            if not flows[by_label[label]].transport.tcp:
                raise InputError(
                    "sends datagrams, which a learner cannot steer", key=self._key, value=label
                )
        return tuple(by_label[label] for label in self._wanted)


def label_or_first(learner: object) -> str | int:
    """Return the label of the only learner's flow; for None 1, which is the first TCP flow."""
    if learner is None or isinstance(learner, str):
        return 1 if learner is None else learner
    raise wrong("learner", learner, "not a label", "the label of a flow")


def _learners(given: object) -> int | list[str]:
    """Return the labels of learners' flows, each once, or their number."""
    valid = "labels of flows, each once, or how many"
    if isinstance(given, str):
        return [given]
    if isinstance(given, Sequence):
        if not given:
            raise wrong("learners", [], "nobody", valid)
        labels = names(given, "learners", "cubic 1")
        if len(set(labels)) < len(labels):
            raise wrong("learners", labels, "twice", valid)
        return labels
    try:
        return whole(given, "learners", 1)
    except InputError as error:
        raise replace(error, valid=valid) from None


def _paths(choice: Paths) -> PathSet | list[Scenario]:
    if isinstance(choice, PathSet):
        return choice
    if isinstance(choice, str) and choice in SIZES:
        return STANDARD.paths(choice)
    if isinstance(choice, Sequence) and not isinstance(choice, str):
        if not choice:
            raise wrong("paths", [], "no paths", "at least one scenario")
        scenarios = []
        for number, path in enumerate(choice):
            with placed(key=f"paths.{number}"):
                scenarios.append(_scenario(path))
        return scenarios
    with placed(key="paths"):
        return [_scenario(choice)]


def _scenario(value: object) -> Scenario:
    match value:
        case Scenario():
            return value
        case Mapping():
            return Scenario.parse(value)
        case str() | Path():
            try:
                return Scenario.load(value)
            except InputError as error:
                set_name = near(str(value), SIZES)
                if error.near is None and set_name is not None:
                    valid = f"{listed(SIZES)}, {error.valid}"
                    raise replace(error, near=set_name, valid=valid) from None
                raise
    valid = f"{listed(SIZES)}, a scenario, the path of its file, or a list of scenarios"
    raise InputError("no path", value=type(value).__name__, valid=valid)
