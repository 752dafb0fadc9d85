"""One run as it travels: the task for a worker, and the answer.

Both can be pickled, so a run can take place in any process that has the same Dumbbell, on this
machine or on another. It needs no results folder: what comes back are the files of the result.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
import socket
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import Cancelled, DamagedResult, DumbbellError, EngineError
from dumbbell.engines import validity
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import Engine
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import run_folder
from dumbbell.store.extent import NOTHING, Extent
from dumbbell.store.result_files import InMemory
from dumbbell.store.run_folder import RunFile


class OtherBuild(DumbbellError):  # noqa: N818 - what was found, not what to do
    """A worker would make other results than the requested ones."""

    exit_code = 2


@dataclass(frozen=True)
class Task:
    """The task of a worker.

    Attributes
    ----------
    scenario
        The run; algorithms of a user's own travel in it as source.
    engine
        The engine that runs it.
    retries
        Number of repetitions as long as it is invalid.
    """

    scenario: ResolvedScenario
    engine: Engine
    retries: int


@dataclass(frozen=True)
class Brought:
    """The answer to a task.

    Attributes
    ----------
    files
        The files of its result by their names; None: it failed.
    ran
        Extent of the executed runs, invalid attempts included.
    seconds
        Duration, in seconds.
    error, trace
        The failure, and its traceback unless the error explains itself.
    """

    files: Mapping[str, bytes] | None
    ran: Extent
    seconds: float = 0.0
    error: Exception | None = None
    trace: str | None = None


def bring(task: Task, cancel: CancelToken | None = None) -> Brought:
    """Run a task. An error in the run is part of the answer; raises Cancelled and OtherBuild."""
    if task.engine.identity != task.scenario.engine:
        raise OtherBuild(
            f"{socket.gethostname()} would run it on {task.engine.identity}, not on "
            f"{task.scenario.engine}: install the same Dumbbell there"
        )
    began_s = time.monotonic()
    ran = NOTHING
    files: dict[str, bytes] = {}
    try:
        for output in validity.attempts(task.engine, task.scenario, cancel, task.retries):
            duration_ns = task.scenario.duration_ns
            task.scenario.forget()  # encoding takes as much again
            files = dict(run_folder.encoded(task.scenario, output))
            ran += Extent.of(duration_ns, output.summary, sum(map(len, files.values())))
    except Cancelled:
        raise
    except Exception as error:  # the others go on, whatever went wrong here
        return _failed(error, ran)
    return Brought(files, ran, time.monotonic() - began_s)


def received(
    answer: object, scenario: ResolvedScenario
) -> tuple[Brought, tuple[RunFile, InMemory] | None]:
    """Return what a worker answered, and the verified result in it, if it has one.

    Any other answer than one to this task, such as the result of another run, becomes a failure of
    it.
    """
    try:
        brought = _checked(answer)
        if brought.files is None:
            return brought, None
        run, result = run_folder.taken(InMemory(scenario.key, brought.files), is_wanted=True)
        if result.files.keys() != brought.files.keys():
            raise ValueError("it holds more than the files of a run")
    except (ValueError, DamagedResult) as error:
        failure = EngineError(f"its worker brought no result of it ({error})")
        return Brought(None, NOTHING, error=failure), None
    return brought, (run, result)


def _checked(answer: object) -> Brought:
    """Return an answer if it is of the right shape; ValueError if not."""
    if not isinstance(answer, Brought):
        raise ValueError(f"{type(answer).__name__} in place of a result")
    counts = dataclasses.astuple(answer.ran) if isinstance(answer.ran, Extent) else (None,)
    if not all(_is_count(count) for count in (*counts, answer.seconds)):
        raise ValueError("it does not say how much was run")
    if not isinstance(answer.trace, str | None):
        raise ValueError("it does not say where it failed")
    if answer.files is None and not isinstance(answer.error, Exception):
        raise ValueError("neither files nor an error")
    return answer


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


def _failed(error: Exception, ran: Extent) -> Brought:
    explains_itself = isinstance(error, DumbbellError)
    trace = None if explains_itself else "".join(traceback.format_exception(error))
    error.__traceback__ = None  # it would keep the run in memory
    try:
        pickle.dumps(error)
    except Exception:  # what it holds, nobody knows
        error = EngineError(f"{type(error).__name__}: {error}")
    return Brought(None, ran, error=error, trace=trace)


def build() -> str:
    """Say what results of this process are."""
    return f"{catalogue.ENGINE_VERSION}, tables {catalogue.schema().version}"
