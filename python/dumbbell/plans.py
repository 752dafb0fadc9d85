"""What was asked for: each ``dumbbell run`` leaves its plan beside the results.

The plans of a study lie in ``studies/NAME.json``, so that a report knows which seeds, repetitions
and parts of the study to look for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from dumbbell.errors import InputError
from dumbbell.plan.expanding import More
from dumbbell.running import staging
from dumbbell.running.store import Store


class Plan(BaseModel):
    """What a ``dumbbell run`` was asked for, apart from the part of the grid."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quick: bool = False
    runs: int | None = None
    seed: int = 0
    more: tuple[More, ...] = ()
    """Grid points of which there are more repetitions, as they decide claims."""

    def same(self, other: Plan) -> bool:
        """Tell whether another plan differs in nothing but in what there is more of."""
        return (self.quick, self.runs, self.seed) == (other.quick, other.runs, other.seed)

    def joined(self, other: Plan) -> Plan:
        """Return the plan with what either has more of."""
        most: dict[object, More] = {}
        for each in (*self.more, *other.more):
            known = most.get((each.test, each.point), each)
            most[each.test, each.point] = max(known, each, key=lambda one: one.runs)
        return self.model_copy(update={"more": tuple(most.values())})


_PLANS: Final = TypeAdapter(tuple[Plan, ...])


def remember(store: Store, study: str, plan: Plan) -> None:
    """Add a plan of a study to those of a results folder, which must be in use already."""
    # Another process may add one of its own at the same moment.
    with store.errors("write"), staging.locked(store.root):
        plans = recall(store, study)
        asked = tuple(known.joined(plan) if known.same(plan) else known for known in plans)
        if not any(known.same(plan) for known in plans):
            asked = (*plans, plan)
        if asked != plans:
            content = _PLANS.dump_json(asked, indent=1) + b"\n"
            staging.replace(_file(store, study), content, lasting=True)


def recall(store: Store, study: str) -> tuple[Plan, ...]:
    """Return the plans of a study in a results folder, oldest first."""
    path = _file(store, study)
    try:
        return _PLANS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return ()
    except ValidationError:
        raise InputError(
            "this file does not say which runs were asked for",
            source=str(path),
            valid="what `dumbbell run` writes; remove the file and run again",
        ) from None


def merge(source: Store, target: Store) -> None:
    """Add the plans of one results folder to those of another one, which must be in use."""
    for study in remembered(source):
        for plan in recall(source, study):
            remember(target, study, plan)


def remembered(store: Store) -> list[str]:
    """Return the names of the studies that a results folder has plans of."""
    return sorted(path.stem for path in store.root.glob("studies/*.json"))


def _file(store: Store, study: str) -> Path:
    return store.root / "studies" / f"{study}.json"
