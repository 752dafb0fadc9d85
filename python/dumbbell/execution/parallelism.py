"""Number of runs at the same time."""

from __future__ import annotations

import os

from dumbbell.base.arguments import number
from dumbbell.engines.engine import Engine
from dumbbell.execution.pools import Pool


def workers(engine: Engine, wanted: int | Pool | None = None) -> int | Pool:
    """Return the number of runs at the same time on this machine, or the requested pool."""
    if wanted is not None and hasattr(wanted, "jobs"):
        return wanted
    return jobs(engine, wanted)


def at_once(engine: Engine, wanted: int | Pool | None = None) -> int:
    """Return the number of runs at the same time, on this machine or in the pool."""
    parallel = workers(engine, wanted)
    return parallel if isinstance(parallel, int) else parallel.jobs


def jobs(engine: Engine, wanted: int | None = None) -> int:
    """Return the number of runs at the same time on this machine.

    By default it is one for each processor that this process may use; in real time, where runs
    would disturb each other, it is one.
    """
    if wanted is not None:
        return number(wanted, "jobs", 1)
    if engine.real_time:
        return 1
    if hasattr(os, "sched_getaffinity"):
        # Containers and batch systems give a process fewer processors than the machine has.
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
