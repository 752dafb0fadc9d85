"""Simulations that an algorithm may bring down or never end, and a digest of what they recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dumbbell import _core
from dumbbell.algorithms.apart import Child, Died, RawOutput, Stalled
from dumbbell.algorithms.patience import Patience
from dumbbell.base.errors import BroughtDown, EngineError
from dumbbell.contract.reading import read_summary
from dumbbell.contract.summary import Summary
from dumbbell.scenario.resolve import ResolvedScenario

PATIENCE_S: Final = 60


@dataclass(frozen=True)
class Outcome:
    """The summary of a simulation, and a digest of all that it recorded."""

    summary: Summary
    digest: str
    cwnd_max_segs: int
    """The largest window of all samples."""


def outcomes(scenarios: Sequence[ResolvedScenario]) -> list[Outcome]:
    """Run scenarios, all in one other process.

    BroughtDown if one of them does not come to its end.
    """
    child = Child()
    patience = Patience(PATIENCE_S, child.kill)
    try:
        with patience:
            return [_outcome(child.simulate(scenario.json)) for scenario in scenarios]
    except (Died, Stalled) as ended:
        if patience.is_over:
            raise BroughtDown(f"a simulation has not ended after {PATIENCE_S} s") from None
        raise BroughtDown(f"the process {ended}") from None
    except (EngineError, _core.ScenarioError) as error:
        raise BroughtDown(str(error)) from None
    finally:
        child.kill()
        child.close()


def _outcome(output: RawOutput) -> Outcome:
    digest = hashlib.sha256(output.summary.encode())
    for name, columns in sorted(output.tables.items()):
        for column, dtype, content in columns:
            digest.update(f"{name} {column} {dtype}".encode())
            digest.update(content)
    windows = [
        content for column, _, content in output.tables.get("flows", ()) if column == "cwnd_segs"
    ]
    largest = max((np.frombuffer(content, "<u4").max(initial=0) for content in windows), default=0)
    return Outcome(read_summary(output.summary), digest.hexdigest(), int(largest))
