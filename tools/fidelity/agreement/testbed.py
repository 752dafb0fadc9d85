"""The testbed as far as agreement needs it; tests put another one in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell import _core
from dumbbell.conformance.kernel import Replay, on_testbed
from dumbbell.engines.engine import Engine
from dumbbell.engines.testbed import TestbedEngine
from fidelity.agreement.case import HostSwitches

_AVAILABLE: Final = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True)
class Bed:
    """A testbed.

    Attributes
    ----------
    engine
        Makes the engine; with the kernel's own modules or without.
    switches
        Returns the switches of its hosts.
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
        on_testbed,
        _built_in(),
    )


def _built_in() -> list[str]:
    try:
        return _AVAILABLE.read_text().split()
    except OSError:
        return []
