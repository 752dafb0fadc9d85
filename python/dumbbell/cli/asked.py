"""Which results the studies of a results folder ask for."""

from __future__ import annotations

from dumbbell import experiments, plans
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
    found = {}
    for name in plans.remembered(store):
        study = _study(store, name)
        runs = [
            run.resolved
            for plan in plans.recall(store, name)
            for run in study.runs(plan.quick, {}, plan.runs, plan.seed, more=plan.more)
        ]
        found[name] = {run.on(engine).key for run in runs for engine in engines}
    return found


def _study(store: Store, name: str) -> Study:
    folder = store.root / experiments.FOLDER / name
    with placed(source=f"{store.root}/studies/{name}.json"):
        return Study.load(folder if folder.is_dir() else name)
