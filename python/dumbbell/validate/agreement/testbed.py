"""The testbed as far as agreement needs it; tests put another one in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dumbbell import _core
from dumbbell.algorithms import apart
from dumbbell.engines.cancelling import CancelToken, crew
from dumbbell.engines.engine import Engine, core_errors
from dumbbell.engines.testbed import TestbedEngine
from dumbbell.execution.executor import in_order_of_completion
from dumbbell.validate.agreement.case import HostSwitches
from dumbbell.validate.agreement.parity import Replay

_AVAILABLE: Final = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True)
class Bed:
    """A testbed.

    Attributes
    ----------
    engine
        Makes the engine; with the kernel's own modules or without.
    switches
        Tells the switches of its hosts.
    replay
        Runs a scenario and replays the callbacks of its algorithms.
    built_in
        The algorithms that the kernel has itself.
    """

    engine: Callable[[bool], Engine]
    switches: HostSwitches
    replay: Replay
    built_in: Sequence[str]


def real() -> Bed:
    """Return the testbed of this machine, ready or not."""
    return Bed(
        lambda modules: TestbedEngine(kernel_modules=modules),
        lambda scenario_json: json.loads(_core.testbed_host_switches(scenario_json)),
        _replay,
        _built_in(),
    )


def _replay(scenario_json: str) -> list[dict[str, Any]]:
    cancel = CancelToken()
    with core_errors("testbed"), crew("parity", 1) as pool, cancel.on_error():
        # What is replayed may be of a user's own.
        told = pool.submit(apart.ask, "testbed_parity", scenario_json, cancel=cancel)
        (found,) = in_order_of_completion([told])
    replayed: list[dict[str, Any]] = json.loads(found)
    return replayed


def _built_in() -> list[str]:
    try:
        return _AVAILABLE.read_text().split()
    except OSError:
        return []
