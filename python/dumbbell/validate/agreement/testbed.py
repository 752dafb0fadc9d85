"""The testbed as far as agreement needs it; tests put another one in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dumbbell import _core
from dumbbell.running.engine import Engine, core_errors
from dumbbell.running.testbed import TestbedEngine
from dumbbell.validate.agreement.parity import Replay

_AVAILABLE: Final = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True)
class Bed:
    """A testbed.

    Attributes
    ----------
    engine
        Makes the engine; with the kernel's own modules or without.
    replay
        Runs a scenario and replays the callbacks of its algorithms.
    built_in
        The algorithms that the kernel has itself.
    """

    engine: Callable[[bool], Engine]
    replay: Replay
    built_in: Sequence[str]


def real() -> Bed:
    """Return the testbed of this machine, ready or not."""
    return Bed(lambda modules: TestbedEngine(kernel_modules=modules), _replay, _built_in())


def _replay(scenario_json: str) -> list[dict[str, Any]]:
    cancel = _core.CancelToken()
    with ThreadPoolExecutor(max_workers=1) as pool, core_errors("testbed"):
        told = pool.submit(_core.testbed_parity, scenario_json, cancel)
        try:
            found: list[dict[str, Any]] = json.loads(told.result())
        except KeyboardInterrupt:
            cancel.cancel()
            raise
    return found


def _built_in() -> list[str]:
    try:
        return _AVAILABLE.read_text().split()
    except OSError:
        return []
