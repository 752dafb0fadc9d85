"""Which results the studies of a results folder ask for."""

from __future__ import annotations

from dumbbell import own_algorithms, plans
from dumbbell.errors import DamagedResult, MissingResult, placed
from dumbbell.running.store import Store
from dumbbell.study.model import Study


def asked(store: Store) -> dict[str, set[str]]:
    """Return the keys that each study's plans come to, on every engine that results are of.

    Raises InputError if a study is not where it was.
    """
    engines = set()
    for key in store.keys():  # noqa: SIM118 - a store is no mapping
        try:
            engines.add(store.described(key, is_wanted=False).engine)
        except (DamagedResult, MissingResult):
            continue
    with own_algorithms.nothing_runs():
        return {name: _keys(store, name, engines) for name in plans.remembered(store)}


def _keys(store: Store, name: str, engines: set[str]) -> set[str]:
    with placed(source=f"{store.root}/studies/{name}.json"):
        study = Study.load(name, store.root)
    runs = [
        run.resolved
        for plan in plans.recall(store, name)
        for run in study.runs(plan.quick, {}, plan.runs, plan.seed, more=plan.more)
    ]
    return {run.on(engine).key for run in runs for engine in engines}
