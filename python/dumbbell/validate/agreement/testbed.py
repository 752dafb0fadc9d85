"""The testbed as far as agreement needs it: whether it is ready, its engine, its parity check."""

from __future__ import annotations

import importlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, cast

from dumbbell import _core
from dumbbell.running.engine import Engine

_AVAILABLE: Final = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def missing() -> list[str]:
    """Say what keeps this machine from running the testbed, each with its remedy; none: ready."""
    core = _module("dumbbell._core")
    if not getattr(core, "TESTBED", False):
        return ["this build of Dumbbell has no testbed: build it on Linux"]
    found = json.loads(core.testbed_facts())
    return [
        " - ".join(filter(None, (f"{fact['name']}: {fact['found']}", fact["remedy"])))
        for fact in found["facts"]
        if not (fact["ok"] or found["ready"])
    ]


def engine(kernel_modules: bool = False) -> Engine:
    """Return the testbed; with the kernel's own modules or with our builds."""
    engines = _module("dumbbell.running.engine")
    return cast(Engine, engines.TestbedEngine(kernel_modules=kernel_modules))


def parity(scenario_json: str) -> list[dict[str, Any]]:
    """Run a scenario, replay each callback natively, and return what each algorithm's did."""
    replay = _module("dumbbell._core").testbed_parity
    cancel = _core.CancelToken()
    with ThreadPoolExecutor(max_workers=1) as pool:
        told = pool.submit(replay, scenario_json, cancel)
        try:
            found: list[dict[str, Any]] = json.loads(told.result())
        except KeyboardInterrupt:
            cancel.cancel()
            raise
    return found


def version() -> str:
    """Return what tells this testbed from others: the hash of its sources."""
    return str(_module("dumbbell._core").TESTBED_VERSION)


def built_in() -> list[str]:
    """Return the algorithms that the kernel itself has."""
    try:
        return _AVAILABLE.read_text().split()
    except OSError:
        return []


def _module(name: str) -> Any:
    return importlib.import_module(name)
