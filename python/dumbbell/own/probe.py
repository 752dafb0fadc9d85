"""Simulations that an algorithm may bring down or never end, and a digest of what they recorded."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from typing import Any, Final

from dumbbell import _core
from dumbbell.errors import BroughtDown, EngineError
from dumbbell.running.apart import Child, Died, RawOutput
from dumbbell.scenario.resolve import ResolvedScenario

PATIENCE_S: Final = 300


def outcomes(scenarios: Sequence[ResolvedScenario]) -> list[dict[str, Any]]:
    """Run scenarios, all in one other process, and return summary and digest of each.

    BroughtDown if one of them does not come to its end.
    """
    child = Child()
    too_late = threading.Event()

    def give_up() -> None:
        too_late.set()
        child.kill()

    impatient = threading.Timer(PATIENCE_S, give_up)
    impatient.daemon = True
    impatient.start()
    try:
        return [_outcome(child.run(scenario.json)) for scenario in scenarios]
    except Died as died:
        if too_late.is_set():
            raise BroughtDown(f"a simulation has not ended after {PATIENCE_S} s") from None
        raise BroughtDown(f"the process {died}") from None
    except (EngineError, _core.ScenarioError) as error:
        raise BroughtDown(str(error)) from None
    finally:
        impatient.cancel()
        child.kill()
        child.close()


def _outcome(output: RawOutput) -> dict[str, Any]:
    digest = hashlib.sha256(output.summary.encode())
    for name, columns in sorted(output.tables.items()):
        for column, dtype, content in columns:
            digest.update(f"{name} {column} {dtype}".encode())
            digest.update(content)
    return {"summary": json.loads(output.summary), "digest": digest.hexdigest()}
