"""Runs of a score: in memory, and of a user's own algorithm in another process."""

from __future__ import annotations

from typing import Final

from dumbbell import _core
from dumbbell.algorithms import apart
from dumbbell.algorithms.catalogue import OwnAlgorithms
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import core_errors, unpacked
from dumbbell.engines.result import Run
from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.quantities import taking
from dumbbell.quantities.kept import Values
from dumbbell.scoring.worth import Measure

PATIENCE_S: Final = 120.0
"""Time of a run in seconds, however busy the machine is; `Limits.cpu_s` ends what loops."""


def measured(own_algorithms: OwnAlgorithms) -> Measure:
    """Return what runs built-in and own algorithms; raises what `apart.ask` raises."""
    identity = engines.named(EngineName.SIMULATOR).identity

    def measure(choice: str, path: NetworkPath, wanted: list[str]) -> Values:
        resolved = path.planned(choice, {}, 0, own_algorithms, identity).resolved
        with core_errors("simulator"):
            if resolved.scenario.sources:
                raw = apart.ask("simulate", resolved.json, patience_s=PATIENCE_S)
                output = unpacked(apart.RawOutput(*raw))
            else:
                output = unpacked(_core.simulate(resolved.json, None))
        return taking.of_run(Run.of(resolved, output), wanted)

    return measure
