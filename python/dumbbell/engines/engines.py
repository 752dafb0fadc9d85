"""The choice of an engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from dumbbell.base.errors import unknown
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine, SimulatorEngine
from dumbbell.engines.testbed import TestbedEngine
from dumbbell.execution.pools import Pool

_ENGINES: Final[Mapping[str, Callable[[], Engine]]] = {
    EngineName.SIMULATOR: SimulatorEngine,
    EngineName.TESTBED: TestbedEngine,
}


def named(choice: Engine | str) -> Engine:
    """Return the engine of a name, whether or not this machine can run it."""
    if not isinstance(choice, str):
        return choice
    if choice not in _ENGINES:
        raise unknown("engine", choice, _ENGINES)
    return _ENGINES[choice]()


def runnable(choice: Engine | str) -> Engine:
    """Return the engine of a name; TestbedError if this machine cannot run it."""
    engine = named(choice)
    if isinstance(engine, TestbedEngine):
        engine.check()
    return engine


def option(engine: Engine) -> str:
    """Return what a command says of its engine: nothing of the simulator, as it is the default."""
    return f" --engine {EngineName.TESTBED}" if engine.real_time else ""


def workers(engine: Engine, wanted: int | Pool | None = None) -> int | Pool:
    """Return how many runs go on at the same time on this machine, or the pool that is wanted."""
    return jobs(engine, wanted) if wanted is None or isinstance(wanted, int) else wanted


def at_once(engine: Engine, wanted: int | Pool | None = None) -> int:
    """Return how many runs go on at the same time, on this machine or in the pool."""
    found = workers(engine, wanted)
    return found if isinstance(found, int) else found.jobs


def jobs(engine: Engine, wanted: int | None = None) -> int:
    """Return how many runs go on at the same time on this machine.

    By default it is one for each processor that this process may use; in real time, where runs
    would disturb each other, it is one.
    """
    if wanted is not None:
        return wanted
    if engine.real_time:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
