"""Results that the studies of a results folder use."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.algorithms import own_algorithms
from dumbbell.base.errors import DamagedResult, InputError, MissingResult
from dumbbell.results import plans
from dumbbell.store.store import Store
from dumbbell.study.model import Study


@dataclass(frozen=True)
class InUse:
    """Keys of the results in use, by study; and why those of other studies are unknown."""

    keys: dict[str, set[str]]
    unknown: dict[str, str]


def in_use(store: Store) -> InUse:
    """Return the keys that each study's plans come to, on every engine that results are of."""
    engines = set()
    for key in store.keys():  # noqa: SIM118 - a store is no mapping
        try:
            engines.add(store.described(key, is_wanted=False).engine)
        except (DamagedResult, MissingResult):
            continue
    usage = InUse({}, {})
    for name in plans.remembered(store):
        try:
            with own_algorithms.nothing_runs():
                usage.keys[name] = _keys(store, name, engines)
        except InputError as error:
            usage.unknown[name] = str(error)
    return usage


def _keys(store: Store, name: str, engines: set[str]) -> set[str]:
    study = Study.load(name, store.root)
    runs = [run.resolved for plan in plans.recall(store, name) for run in plan.runs_of(study)]
    return {run.on(engine).key for run in runs for engine in engines}
