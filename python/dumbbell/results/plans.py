"""Plans: each ``dumbbell run`` stores its own with the results.

The plans of a study lie in ``studies/NAME.json``, so that a report knows which seeds, repetitions
and parts of the study to look for. The path of one that was run by it lies next to them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from dumbbell.base import regular
from dumbbell.base.errors import InputError
from dumbbell.base.keys import part_of
from dumbbell.base.validation import validate
from dumbbell.plan import grid
from dumbbell.plan.expanding import More, PlannedRun
from dumbbell.plan.grid import Selection
from dumbbell.plan.tests import RUNS_MAX
from dumbbell.store import staging
from dumbbell.store.store import Store
from dumbbell.study import files, kept_paths
from dumbbell.study.model import Study


class Plan(BaseModel):
    """The request of a ``dumbbell run``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quick: bool = False
    runs: int | None = Field(None, ge=1, le=RUNS_MAX)
    seed: int = Field(0, ge=0, lt=2**64)
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The grid points that are meant, as in ``--where``; all if empty."""

    more: tuple[More, ...] = Field((), max_length=RUNS_MAX)
    """Grid points of which there are more repetitions, as they decide claims."""

    @classmethod
    def requested(cls, *, quick: bool = False, runs: int | None = None, seed: int = 0) -> Plan:
        """Return the plan of what a user asks for; InputError for numbers out of their range."""
        return validate(cls, {"quick": quick, "runs": runs, "seed": seed})

    def at(self, where: Selection) -> Plan:
        """Return the plan of a part of the grid.

        What the study itself plans is planned of all of it, whatever part has been run.
        """
        if self.runs is None and self.seed == 0:
            return self
        pairs = ((axis, tuple(grid.wanted_values(where, axis))) for axis in sorted(where))
        return self.model_copy(update={"where": tuple(pairs)})

    @property
    def conditions(self) -> list[str]:
        """The conditions of its part, as in ``--where``."""
        return [f"{axis}={','.join(values)}" for axis, values in self.where]

    def runs_of(self, study: Study) -> list[PlannedRun]:
        """Expand the plan; grid points that the study does not have any more are left out."""
        meant = {axis: list(values) for axis, values in self.where}
        kept = grid.kept(meant, study.plan.axes)
        if not all(kept.values()):
            return []
        where = {axis: sorted(values) for axis, values in kept.items()}
        return study.runs(self.quick, where, self.runs, self.seed, more=self.more)

    def same(self, other: Plan) -> bool:
        """Return True if another plan differs at most in its additional repetitions."""
        return self.model_copy(update={"more": ()}) == other.model_copy(update={"more": ()})

    def joined(self, other: Plan) -> Plan:
        """Return the plan with what either has more of."""
        most: dict[object, More] = {}
        for extra in (*self.more, *other.more):
            known = most.get((extra.test, extra.point), extra)
            most[extra.test, extra.point] = max(known, extra, key=lambda one: one.runs)
        return self.model_copy(update={"more": tuple(most.values())})


_PLANS: Final = TypeAdapter(Annotated[tuple[Plan, ...], Field(max_length=1000)])
_BYTES_MAX: Final = 16_000_000


def remember(store: Store, study: str, plan: Plan) -> None:
    """Add a plan of a study to those of a results folder, which must be in use already."""
    # Another process may add one of its own at the same moment.
    with store.errors("write"), staging.locked(store.root):
        plans = recall(store, study)
        merged = tuple(known.joined(plan) if known.same(plan) else known for known in plans)
        if not any(known.same(plan) for known in plans):
            merged = (*plans, plan)
        if merged != plans:
            content = _PLANS.dump_json(merged, indent=1) + b"\n"
            staging.replace(_file(store, study), content, lasting=True)


def keep_path(store: Store, name: str, path: Path) -> None:
    """Keep the path of a study, unless its name leads there without it."""
    try:
        if files.find(name, store.root).samefile(path):
            return
    except (InputError, OSError):
        pass
    with store.errors("write"):
        staging.replace(kept_paths.file(name, store.root), kept_paths.content(path, store.root))


def displaced_path(store: Store, name: str, path: Path) -> Path | None:
    """Return the path of another study of a name, to which it will not lead any more."""
    known = kept_paths.find(name, store.root)
    return None if known is None or known.samefile(path) else known


def recall(store: Store, study: str) -> tuple[Plan, ...]:
    """Return the plans of a study in a results folder, oldest first."""
    path = _file(store, study)
    try:
        return _PLANS.validate_json(regular.read(path, _BYTES_MAX, below=store.root))
    except FileNotFoundError:
        return ()
    except (OSError, ValidationError) as error:
        raise InputError(
            f"this file does not list the requested runs: {_why(error)}",
            source=str(path),
            valid="what `dumbbell run` writes; remove the file and run again",
        ) from None


def _why(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    first = error.errors(include_url=False)[0]
    key = ".".join(map(part_of, first["loc"]))
    return f"{key}: {first['msg']}" if key else first["msg"]


def merge(source: Store, target: Store) -> list[str]:
    """Add the plans of one results folder to those of another one, which must be in use.

    Returns the plans that were left out because they are unreadable, and the reasons.
    """
    left = []
    for study in remembered(source):
        try:
            plans = recall(source, study)
        except InputError as error:
            left.append(str(error))
            continue
        for plan in plans:
            remember(target, study, plan)
        path = kept_paths.find(study, source.root)
        # A name that leads to a study of the target's goes on to do so.
        if path is not None and kept_paths.find(study, target.root) is None:
            keep_path(target, study, path)
    return left


def remembered(store: Store) -> list[str]:
    """Return the names of the studies that a results folder has plans of."""
    listed = regular.files(store.root / kept_paths.FOLDER, ".json", below=store.root)
    return [file.stem for file in listed if kept_paths.NAME.fullmatch(file.stem)]


def _file(store: Store, study: str) -> Path:
    return store.root / kept_paths.FOLDER / f"{study}.json"
