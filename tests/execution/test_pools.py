"""Runs in other processes: what an executor brings back is what threads of this one bring."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import Cancelled, EngineError
from dumbbell.conformance import starting
from dumbbell.engines.cancelling import crew
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import Interrupted, PoolLost, execute
from dumbbell.execution.pools import ExecutorPool, ThreadPool
from dumbbell.execution.task import OtherBuild, Task, bring
from dumbbell.store import failures
from dumbbell.store.store import Store
from folder_contents import files_of
from sample_runs import QuickEngine, resolved, seeds


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


def test_processes_bring_the_same_bytes(tmp_path: Path, processes: ProcessPoolExecutor) -> None:
    runs = [resolved({"duration": "2s", "seed": seed}) for seed in range(8)]
    mine = starting.write("mine", folder=tmp_path)
    runs.append(resolved({"duration": "1s", "flow.1.algorithm": str(mine)}))
    execute(runs, Store(tmp_path / "here"), SimulatorEngine(), 2)
    pool = ExecutorPool(processes, 2)
    outcome = execute(runs, Store(tmp_path / "there"), SimulatorEngine(), pool)
    assert len(outcome.done) == len(runs)
    assert files_of(tmp_path / "here") == files_of(tmp_path / "there")
    assert pool.running() == []
    again = execute(runs, Store(tmp_path / "there"), SimulatorEngine(), pool)
    assert len(again.reused) == len(runs)


class Here(Executor):
    """Does at once what it is given, in another thread each."""

    def __init__(self) -> None:
        self.given = 0
        self.most = 0
        self._open = 0
        self._lock = threading.Lock()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self.given += 1
            self._open += 1
            self.most = max(self.most, self._open)
        threading.Thread(target=self._work, args=(future, fn, args, kwargs)).start()
        return future

    def _work(self, future: Future[Any], fn: Any, args: Any, kwargs: Any) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = self.worked(fn, args, kwargs)
        except BaseException as error:
            self._done()
            future.set_exception(error)
        else:
            self._done()
            future.set_result(result)

    def _done(self) -> None:
        with self._lock:
            self._open -= 1

    def worked(self, fn: Any, args: Any, kwargs: Any) -> Any:
        return fn(*args, **kwargs)


def shares(pool: ThreadPool) -> Iterator[float]:
    """Yield how far the only run has come, each time it has come further."""
    last, end_s = 0.0, time.monotonic() + 100
    while time.monotonic() < end_s:
        (share,) = [running.share for running in pool.running()] or [None]
        if share is not None and share > last:
            last = share
            yield share
        time.sleep(0.001)


def test_a_simulation_tells_how_far_it_has_come() -> None:
    with crew("run", 1) as threads:
        pool, engine = ThreadPool(threads, 1), SimulatorEngine()
        run = resolved({"duration": "20h"}).on(engine.identity)
        future = pool.submit(Task(run, engine, 0))
        progress = shares(pool)
        assert 0 < next(progress) < next(progress) < 1
        pool.cancel()
        with pytest.raises(Cancelled):
            future.result(20)
    assert pool.running() == []


def test_tasks_are_handed_out_as_they_are_needed(tmp_path: Path) -> None:
    executor = Here()
    outcome = execute(seeds(40), Store(tmp_path), QuickEngine(), ExecutorPool(executor, 2))
    assert (len(outcome.done), executor.given) == (40, 40)
    assert executor.most <= 6


class Losing(Here):
    """Loses the worker of every third task."""

    def worked(self, fn: Any, args: Any, kwargs: Any) -> Any:
        task: Task = args[0]
        if task.scenario.scenario.seed % 3 == 0:
            raise RuntimeError("the worker died three times")
        return fn(*args, **kwargs)


def test_a_lost_worker_costs_its_run_only(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(6)
    outcome = execute(runs, store, QuickEngine(), ExecutorPool(Losing(), 2))
    assert (len(outcome.done), len(outcome.failed)) == (4, 2)
    failed = failures.failures(store, [run.key for run in runs])
    assert {failure.message for failure in failed.values()} == snapshot(
        {"its worker ended: RuntimeError: the worker died three times"}
    )
    assert len(execute(runs, store, QuickEngine(), ExecutorPool(Here(), 2)).done) == 2


class Gone(Here):
    """Is gone after three tasks."""

    def worked(self, fn: Any, args: Any, kwargs: Any) -> Any:
        if self.given > 3:
            raise CancelledError("scheduler lost")
        return fn(*args, **kwargs)


def test_when_nobody_is_left_what_is_finished_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(PoolLost, match=r"nobody is left.*scheduler lost.*same command continues"):
        execute(seeds(10), store, QuickEngine(), ExecutorPool(Gone(), 1))
    kept = len(list(store.keys()))
    assert kept < 10
    assert len(execute(seeds(10), store, QuickEngine()).done) == 10 - kept


class OtherEngine(QuickEngine):
    """Has another identity elsewhere."""

    @property
    def identity(self) -> str:
        return "quick" if threading.current_thread() is threading.main_thread() else "slow 7"


def test_a_worker_of_another_build_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(OtherBuild) as refused:
        execute(seeds(3), store, OtherEngine(), ExecutorPool(Here(), 1))
    assert str(refused.value) == snapshot(
        "vm would run it on slow 7, not on quick: install the same Dumbbell there"
    )
    assert list(store.keys()) == []
    assert not (tmp_path / "failures").exists()


class OddError(Exception):
    """Cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("odd")
        self.lock = threading.Lock()


class OddEngine(QuickEngine):
    def run(self, *_: Any) -> Any:
        raise OddError


def test_what_goes_wrong_travels_whatever_it_is() -> None:
    (run,) = [run.on(OddEngine().identity) for run in seeds(1)]
    brought = bring(Task(run, OddEngine(), 0))
    assert isinstance(brought.error, EngineError)
    assert str(brought.error) == "OddError: odd"
    assert "in run" in (brought.trace or "")


def test_ctrl_c_withdraws_what_has_not_begun(
    tmp_path: Path, processes: ProcessPoolExecutor
) -> None:
    store = Store(tmp_path)
    runs = [resolved({"duration": "60s", "seed": seed}) for seed in range(50)]

    def follow(_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted) as refused:
        execute(runs, store, SimulatorEngine(), ExecutorPool(processes, 2), follow)
    assert str(refused.value).partition(" of ")[2] == snapshot(
        "50 runs are kept; the same command continues"
    )
    assert 1 <= len(list(store.keys())) < 50
