"""The choice of an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dumbbell.base.arguments import wrong
from dumbbell.base.errors import listed, unknown
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine, SimulatorEngine
from dumbbell.engines.testbed import TestbedEngine

_ENGINES: Final[Mapping[str, Callable[[], Engine]]] = {
    EngineName.SIMULATOR: SimulatorEngine,
    EngineName.TESTBED: TestbedEngine,
}


def named(choice: Engine | str) -> Engine:
    """Return the engine of a name, whether or not this machine can run it."""
    if not isinstance(choice, str):
        if not hasattr(choice, "identity"):
            raise wrong("engine", choice, "not an engine", listed(_ENGINES))
        return choice
    if choice not in _ENGINES:
        raise unknown("engine", choice, _ENGINES).at(key="engine")
    return _ENGINES[choice]()


def runnable(choice: Engine | str) -> Engine:
    """Return the engine of a name; TestbedError if this machine cannot run it."""
    engine = named(choice)
    if isinstance(engine, TestbedEngine):
        engine.check()
    return engine


def option(engine: Engine) -> str:
    """Return a command's option for its engine; empty for the simulator, the default."""
    return f" --engine {EngineName.TESTBED}" if engine.real_time else ""
