"""Failed runs: recorded with their reason, named at the end, forgotten when they succeed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dumbbell.base.errors import EngineError
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import Output
from dumbbell.execution.executor import Progress, execute
from dumbbell.plan.places import Place
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.failures import failures
from dumbbell.store.store import FORMAT, Store
from sample_runs import QuickEngine, seeds


class UnluckyEngine(QuickEngine):
    """Fails for some seeds, in ways that are and in ways that are not foreseen."""

    def __init__(self, *unlucky: int) -> None:
        super().__init__()
        self.unlucky = unlucky

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        seed = scenario.scenario.seed
        if seed in self.unlucky:
            if seed % 2:
                raise MemoryError
            raise EngineError(f"no luck with {seed}")
        return super().run(scenario, cancel)


def test_a_failed_run_is_recorded_with_its_reason(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(4)
    place = Place("fairness", {"algorithm": "reno", "rtt": "42ms"}, 3)
    outcome = execute(runs, store, UnluckyEngine(1, 2), places={runs[2].key: place})
    assert {run.key for run, _ in outcome.failed} == {runs[1].key, runs[2].key}
    failed = failures(store, [run.key for run in runs])
    assert list(failed) == [runs[1].key, runs[2].key]
    foreseen, other = failed[runs[2].key], failed[runs[1].key]
    assert (foreseen.error, foreseen.message) == ("EngineError", "no luck with 2")
    assert (foreseen.place, foreseen.traceback) == (place, None)
    assert foreseen.run == "fairness (algorithm = reno, rtt = 42ms), repetition 3"
    assert str(foreseen) == f"{foreseen.run}: no luck with 2"
    assert foreseen.engine == QuickEngine().identity
    assert datetime.now(UTC) - foreseen.last_tried < timedelta(minutes=1)
    assert (other.place, other.run, str(other)) == (
        None,
        "reno, seed 1",
        "reno, seed 1: MemoryError",
    )
    assert other.traceback is not None
    assert "raise MemoryError" in other.traceback


def test_a_later_success_removes_the_record(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(3)
    keys = [run.key for run in runs]
    execute(runs, store, UnluckyEngine(0, 2))
    assert set(failures(store, keys)) == {keys[0], keys[2]}
    execute(runs, store, UnluckyEngine(2))
    assert set(failures(store, keys)) == {keys[2]}
    execute(runs, store, UnluckyEngine())
    assert failures(store, keys) == {}
    assert list((tmp_path / "failures").iterdir()) == []


def test_a_record_that_another_process_wrote_too_late_is_removed(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(1)
    execute(runs, store, UnluckyEngine(0))
    (record,) = (tmp_path / "failures").iterdir()
    content = record.read_bytes()
    execute(runs, store, UnluckyEngine())
    record.write_bytes(content)
    assert execute(runs, store, UnluckyEngine()).reused == runs
    assert failures(store, [runs[0].key]) == {}


def test_a_failure_of_the_first_run_makes_the_folder(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    (run,) = seeds(1)
    execute([run], store, UnluckyEngine(0))
    assert json.loads((tmp_path / "results/format.json").read_text()) == {"format": FORMAT}
    assert set(failures(Store(tmp_path / "results"), [run.key])) == {run.key}


def test_a_record_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(1)
    execute(runs, store, UnluckyEngine(0))
    (record,) = (tmp_path / "failures").iterdir()
    record.write_bytes(b"\xff" + record.read_bytes())
    assert failures(store, [runs[0].key]) == {}


def test_what_failed_is_not_kept_in_memory(tmp_path: Path) -> None:
    outcome = execute(seeds(1), Store(tmp_path), UnluckyEngine(0))
    assert outcome.failed[0][1].__traceback__ is None


@pytest.mark.parametrize("jobs", [1, 3])
def test_progress_tells_the_fate_of_each(tmp_path: Path, jobs: int) -> None:
    store, runs = Store(tmp_path), seeds(6)
    execute(runs[:2], store, QuickEngine())
    steps: list[Progress] = []
    execute(runs, store, UnluckyEngine(4), jobs, steps.append)
    fates = {step.latest.scenario.seed: step.fate.value for step in steps}
    assert fates == {0: "reused", 1: "reused", 2: "done", 3: "done", 4: "failed", 5: "done"}
    assert all((step.seconds > 0) == (step.fate.value == "done") for step in steps)
    last = steps[-1]
    assert (last.done, last.reused, last.failed, last.finished) == (3, 2, 1, 6)
    assert (last.ran.runs, last.packets, last.ran.simulated_s) == (3, 30, 180.0)
