"""Executing many runs: each once, none stops the others, and it can be interrupted."""

from __future__ import annotations

import errno
import gc
import os
import signal
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import DumbbellError, EngineError, StoreError
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import Output, SimulatorEngine
from dumbbell.execution.executor import Interrupted, Progress, execute
from dumbbell.plan.places import Place
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.result_files import RUN_FILE, InMemory
from dumbbell.store.store import Store
from sample_runs import QuickEngine, output, resolved, seeds


@pytest.mark.parametrize("jobs", [1, 4])
def test_every_run_is_run_once(tmp_path: Path, jobs: int) -> None:
    engine, store = QuickEngine(), Store(tmp_path)
    runs = seeds(10)
    progress: list[Progress] = []
    outcome = execute(runs + runs[:3], store, engine, jobs, progress.append)
    assert {run.key for run in outcome.done} == {run.key for run in runs}
    assert (outcome.reused, outcome.failed, outcome.warnings) == ([], [], [])
    assert sorted(engine.seeds) == list(range(10))
    assert [step.finished for step in progress] == list(range(1, 11))
    assert (progress[-1].total, progress[-1].packets) == (10, 100)


def test_what_is_there_is_reused(tmp_path: Path) -> None:
    engine, store = QuickEngine(), Store(tmp_path)
    execute(seeds(3), store, engine)
    outcome = execute(seeds(5), store, engine)
    assert (len(outcome.done), len(outcome.reused)) == (2, 3)
    assert engine.seeds == [0, 1, 2, 3, 4]


def test_a_damaged_result_is_run_again_with_a_warning(tmp_path: Path) -> None:
    engine, store = QuickEngine(), Store(tmp_path)
    runs = seeds(3)
    execute(runs, store, engine)
    folder = tmp_path / "runs" / runs[1].key[:2] / runs[1].key
    (folder / "flows.parquet").write_bytes(b"")
    progress: list[Progress] = []
    outcome = execute(runs, store, engine, on_progress=progress.append)
    assert (len(outcome.done), len(outcome.reused)) == (1, 2)
    assert len(outcome.warnings) == 1
    assert f"{folder}: damaged result" in outcome.warnings[0]
    assert [step.warning for step in progress if step.warning] == outcome.warnings
    assert store.verify(runs[1].key)


class FailingEngine(QuickEngine):
    """Fails for every third seed."""

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        if scenario.scenario.seed % 3 == 0:
            raise EngineError(f"seed {scenario.scenario.seed}")
        return super().run(scenario, cancel)


def test_a_failed_run_does_not_stop_the_others(tmp_path: Path) -> None:
    store = Store(tmp_path)
    outcome = execute(seeds(10), store, FailingEngine(), jobs=2)
    assert len(outcome.done) == 6
    assert sorted(str(error) for _, error in outcome.failed) == [
        "seed 0",
        "seed 3",
        "seed 6",
        "seed 9",
    ]
    assert len(list(store.keys())) == 6


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (2, "a run failed: fairness (), repetition 1: seed 0"),
        (4, "2 runs failed; the first is fairness (), repetition 1: seed 0"),
    ],
)
def test_failed_runs_are_named_by_their_places(tmp_path: Path, count: int, message: str) -> None:
    runs = seeds(count)
    outcome = execute(runs, Store(tmp_path), FailingEngine())
    with pytest.raises(DumbbellError) as caught:
        outcome.raise_for_failed({runs[0].key: Place("fairness", {}, 1)})
    assert str(caught.value) == message
    assert outcome.failures()[0].endswith(", seed 0: seed 0"), "without places: flows and seed"
    execute(runs[1:2], Store(tmp_path), FailingEngine()).raise_for_failed()


def test_a_full_disk_stops_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, store = QuickEngine(), Store(tmp_path)
    write_bytes = Path.write_bytes
    written: list[str] = []

    def limited(path: Path, content: bytes) -> int:
        written.append(path.name)
        if written.count(RUN_FILE) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", limited)
    with pytest.raises(StoreError, match="No space left"):
        execute(seeds(1000), store, engine)
    assert len(list(store.keys())) == 3
    assert len(engine.seeds) < 1000


class WatchedEngine(QuickEngine):
    """Counts how many of its outputs are still in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.outputs: list[weakref.ref[Output]] = []

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        del cancel
        result = output(scenario)
        self.outputs.append(weakref.ref(result))
        return result

    def alive(self) -> int:
        gc.collect()
        return sum(reference() is not None for reference in self.outputs)


def test_no_result_stays_in_memory(tmp_path: Path) -> None:
    engine = WatchedEngine()
    alive: list[int] = []
    gc.freeze()  # so that only what this test leaves is looked through, again and again
    execute(seeds(20), Store(tmp_path), engine, 2, lambda _: alive.append(engine.alive()))
    gc.unfreeze()
    assert max(alive) <= 2
    assert engine.alive() == 0


ENDLESS = {"duration": "100000h", "record": {"interval": "none", "events": []}}


def test_ctrl_c_stops_running_simulations_and_keeps_what_is_finished(tmp_path: Path) -> None:
    store = Store(tmp_path)
    short = resolved({"duration": "10ms"})
    runs = [short, *(resolved({**ENDLESS, "seed": seed}) for seed in range(5))]
    press = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    with pytest.raises(Interrupted) as caught:
        execute(runs, store, SimulatorEngine(), 2, lambda _: press.start())
    assert str(caught.value) == snapshot(
        "interrupted: 1 of 6 runs are kept; the same command continues"
    )
    assert caught.value.exit_code == 130
    assert list(store.keys()) == [short.key]
    for thread in threading.enumerate():
        if thread.name.startswith("run"):
            thread.join(timeout=60)
            assert not thread.is_alive()


class StoppedStore(Store):
    """Is interrupted while it writes."""

    def install(self, result: InMemory) -> None:
        """Write half of it."""
        (first, *_) = result.files
        whole = InMemory(result.name, result.files)
        object.__setattr__(whole, "files", StoppingFiles(result.files, first))
        super().install(whole)


class StoppingFiles(dict[str, bytes]):
    """Files of a result; after the first of them somebody presses Ctrl-C."""

    def __init__(self, files: Mapping[str, bytes], first: str) -> None:
        super().__init__(files)
        self._first = first

    def items(self) -> Any:
        yield self._first, self[self._first]
        raise KeyboardInterrupt


def test_ctrl_c_while_a_result_is_written_leaves_nothing_of_it(tmp_path: Path) -> None:
    run = resolved({"duration": "10ms"})
    with pytest.raises(Interrupted) as refused:
        execute([run], StoppedStore(tmp_path), SimulatorEngine())
    assert str(refused.value) == snapshot(
        "interrupted: 0 of 1 runs are kept; the same command continues"
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "format.json"]
    assert execute([run], Store(tmp_path), SimulatorEngine()).done == [run]


def test_jobs_do_not_change_a_byte(tmp_path: Path) -> None:
    runs = [
        resolved({"duration": "5s", "seed": seed, "flow.1.count": 2, "flow.1.start": start})
        for seed in range(4)
        for start in ("0s", {"from": "0s", "to": "2s"})
    ]
    for jobs in (1, 2):
        execute(runs, Store(tmp_path / str(jobs)), SimulatorEngine(), jobs)
    contents = [
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "1", tmp_path / "2")
    ]
    assert contents[0] == contents[1]
    assert len(contents[0]) > len(runs)
