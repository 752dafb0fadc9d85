"""Campaigns on Dask: the bytes of one machine, whatever happens to workers and schedulers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import distributed
import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command, assert_refused
from dumbbell.base.errors import InputError
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution import cluster
from dumbbell.execution.executor import PoolLost, Progress, execute
from dumbbell.execution.pools import Running
from dumbbell.execution.task import Brought, OtherBuild, Task, bring
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import failures
from dumbbell.store.store import Store
from folder_contents import files_of
from sample_runs import resolved

SOON_S = 60


@contextmanager
def started(*arguments: str, python_path: str | None = None) -> Iterator[subprocess.Popen[str]]:
    """Start a part of a cluster; it ends with the block."""
    environment = dict(os.environ)
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def address_of(scheduler: subprocess.Popen[str]) -> str:
    """Wait until a scheduler prints its address."""
    assert scheduler.stderr is not None
    for line in scheduler.stderr:
        if match := re.search(r"Scheduler at:\s+(tcp://\S+)", line):
            return match[1]
    raise AssertionError("no scheduler")


SCHEDULER = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
WORKER = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")


def runs(count: int, duration: str = "2s") -> list[ResolvedScenario]:
    return [resolved({"duration": duration, "seed": seed}) for seed in range(count)]


def test_a_lost_worker_costs_nothing_but_time(tmp_path: Path) -> None:
    wanted = runs(12)
    execute(wanted, Store(tmp_path / "here"), SimulatorEngine(), 2)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as workers,
        distributed.Client(workers) as client,
    ):
        pids = list(client.run(os.getpid).values())

        def follow(state: Progress) -> None:
            if state.finished == 5:
                os.kill(pids[0], signal.SIGKILL)

        with cluster.connected(workers.scheduler_address) as pool:
            assert pool.jobs == 2
            outcome = execute(wanted, Store(tmp_path / "there"), SimulatorEngine(), pool, follow)
        deadline = time.monotonic() + SOON_S
        while len(client.nthreads()) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert pids[0] not in client.run(os.getpid).values()
    assert (len(outcome.done), outcome.failed) == (12, [])
    assert files_of(tmp_path / "here") == files_of(tmp_path / "there")


def test_a_lost_scheduler_ends_it_and_another_goes_on(tmp_path: Path) -> None:
    wanted, store = runs(20), Store(tmp_path)
    with started(*SCHEDULER) as scheduler:
        address = address_of(scheduler)
        with started("worker", address, *WORKER):

            def follow(state: Progress) -> None:
                if state.finished == 3:
                    scheduler.kill()

            with pytest.raises(PoolLost), cluster.connected(address) as pool:
                execute(wanted, store, SimulatorEngine(), pool, follow)
    kept = len(list(store.keys()))
    assert 3 <= kept < 20
    with cluster.connected("local:1") as pool:
        outcome = execute(wanted, store, SimulatorEngine(), pool)
    assert (len(outcome.reused), len(outcome.done)) == (kept, 20 - kept)


def test_workers_of_another_build_are_refused_by_name(tmp_path: Path) -> None:
    package = tmp_path / "dumbbell" / "execution"
    package.mkdir(parents=True)
    for folder in (package.parent, package):  # what is installed comes before a folder without one
        (folder / "__init__.py").touch()
    (package / "task.py").write_text("def build():\n    return 'simulator 0, tables 1'\n")
    with started(*SCHEDULER) as scheduler:
        address = address_of(scheduler)
        with (
            started("worker", address, *WORKER, "--name", "old", python_path=str(tmp_path)),
            pytest.raises(OtherBuild, match=r"tcp://\S+ has simulator 0, tables 1; here it is"),
            cluster.connected(address),
        ):
            pass


class WrongPool:
    """Answers every task but the last with something else than its result."""

    jobs = 1

    def __init__(self, wrong: Callable[[Brought, Brought], object], last: str) -> None:
        self._wrong = wrong
        self._last = last
        self._another = bring(Task(resolved({"duration": "2s"}), SimulatorEngine(), 0))

    def submit(self, task: Task) -> Future[Brought]:
        future: Future[Any] = Future()
        right = bring(task)
        is_last = task.scenario.key == self._last
        future.set_result(right if is_last else self._wrong(right, self._another))
        return future

    def running(self) -> list[Running]:
        return []

    def cancel(self) -> None:
        pass


def files(answer: Brought) -> dict[str, bytes]:
    assert answer.files is not None
    return dict(answer.files)


def changed(answer: Brought, **changes: Any) -> Brought:
    return replace(answer, **changes)


def another_file(name: Any, content: Any = b"") -> Callable[[Brought, Brought], object]:
    return lambda right, _: changed(right, files={**files(right), name: content})


WRONG: dict[str, Callable[[Brought, Brought], Any]] = {
    "another run": lambda _, another: another,
    "nothing": lambda *_: None,
    "a number": lambda *_: 7,
    "a dictionary": lambda right, _: files(right),
    "no files and no error": lambda right, _: changed(right, files=None),
    "an error that is none": lambda right, _: changed(right, files=None, error="no"),
    "no file": lambda right, _: changed(right, files={}),
    "a list of files": lambda right, _: changed(right, files=list(files(right))),
    "garbage": lambda right, _: changed(right, files=dict.fromkeys(files(right), b"\xff")),
    "one table of another run": lambda right, another: changed(
        right, files={**files(right), "flows.parquet": files(another)["flows.parquet"]}
    ),
    "a table less": lambda right, _: changed(
        right, files={k: v for k, v in files(right).items() if k != "flows.parquet"}
    ),
    "a table more": another_file("more.parquet"),
    "an absolute name": another_file("/tmp/dumbbell-was-here"),
    "a name above": another_file("../../../was-here"),
    "a name of another kind": another_file(7),
    "a text for bytes": another_file("flows.parquet", "text"),
    "no extent": lambda right, _: changed(right, ran=None),
    "endless seconds": lambda right, _: changed(right, seconds=float("nan")),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_answer_fails_its_run_and_no_other(
    tmp_path: Path, wrong: Callable[[Brought, Brought], object]
) -> None:
    first, last = (resolved({"duration": "1s", "seed": seed}) for seed in (1, 2))
    store = Store(tmp_path / "results")
    pool = WrongPool(wrong, last.key)
    outcome = execute([first, last], store, SimulatorEngine(), pool)
    ((failed, error),) = outcome.failed
    assert (failed.key, [run.key for run in outcome.done]) == (first.key, [last.key])
    assert str(error).startswith("its worker brought no result of it (")
    assert list(store.keys()) == [last.key]
    assert {path.name for path in tmp_path.iterdir()} == {"results"}
    assert first.key in failures.failures(store, [first.key])


@pytest.mark.parametrize("address", ["", "local", "local:0", "127.0.0.1:8786", "http://a:1"])
def test_what_is_no_cluster_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="not a Dask cluster"), cluster.connected(address):
        pass


def test_a_scheduler_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_WAIT_S", 1)
    with (
        pytest.raises(InputError, match="no scheduler answers"),
        cluster.connected("tcp://127.0.0.1:1"),
    ):
        pass


def test_the_command_takes_a_cluster(dumbbell: Command, tmp_path: Path) -> None:
    small_study.write(tmp_path / "studies" / "small")
    command = ("run", "small", "--quick")
    assert dumbbell(*command, "--results", "here").code == 0
    assert dumbbell(*command, "--results", "there", "--dask", "local:2").code == 0
    here, there = (files_of(tmp_path / name / "runs") for name in ("here", "there"))
    assert here == there
    assert "0 run, 6 reused" in dumbbell(*command, "--results", "there").err
    output = dumbbell(*command, "--dask", "local:1", "--jobs", "3")
    assert_refused(output)
    assert output.err == snapshot(
        "error: --jobs: 3: sets the number of runs at the same time here; valid: without --dask\n"
    )
