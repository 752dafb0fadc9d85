"""Costs of campaigns: kept over several commands, apart from the results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import small_study
from dumbbell.base.errors import EngineError
from dumbbell.execution.executor import execute
from dumbbell.plan.expanding import scenarios
from dumbbell.store import campaigns
from dumbbell.store.campaigns import Effort, Logbook
from dumbbell.store.extent import Extent
from dumbbell.store.store import Store
from sample_runs import QuickEngine, seeds


def book(store: Store, study: str = "small") -> Logbook:
    return Logbook(store, study, QuickEngine().identity, quick=False, jobs=2)


def all_of(store: Store) -> list[campaigns.Command]:
    return list(campaigns.commands(store, "small", QuickEngine().identity))


def test_commands_add_up(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(5)
    for count in (2, 5):
        with book(store) as kept:
            execute(runs[:count], store, QuickEngine(), 2, lambda now: kept.note(now.ran, 0))
    logged = all_of(store)
    assert sorted(campaign.runs for campaign in logged) == [2, 3]
    assert all(
        campaign.jobs == 2 and not campaign.quick and campaign.wall_s > 0 for campaign in logged
    )
    cost = campaigns.cost(store, "small", QuickEngine().identity, [run.key for run in runs] * 2)
    effort = cost.effort
    assert (effort.commands, effort.runs, effort.packets) == (2, 5, 50)
    assert effort.packets_per_s == pytest.approx(50 / sum(campaign.wall_s for campaign in logged))
    assert effort.peak_memory_bytes is not None
    assert 10e6 < effort.peak_memory_bytes < 100e9
    size = sum(path.stat().st_size for path in tmp_path.glob("runs/*/*/*"))
    assert cost.held == Extent(5, 300.0, 50, size)


def test_other_studies_and_engines_do_not_count(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create()
    for study in ("small", "small-too", "other"):
        with book(store, study) as kept:
            kept.note(Extent(1, 60.0, 10, 1), 0)
    assert [campaign.study for campaign in all_of(store)] == ["small"]
    assert list(campaigns.commands(store, "small", "another")) == []
    assert campaigns.cost(store, "none", "none", []) == campaigns.Cost(Extent(), Effort())


def test_what_a_command_did_is_there_before_it_ends(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create()
    kept = book(store)
    kept.note(Extent(1, 60.0, 10, 1), 0)
    assert [campaign.runs for campaign in all_of(store)] == [1]
    kept.note(Extent(2, 120.0, 20, 2), 1)
    assert [campaign.runs for campaign in all_of(store)] == [1], "not written again within seconds"
    with pytest.raises(EngineError), kept:
        raise EngineError
    assert [(campaign.runs, campaign.failed) for campaign in all_of(store)] == [(2, 1)]


def test_a_command_that_runs_nothing_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    execute(seeds(2), store, QuickEngine())
    with book(store) as kept:
        execute(seeds(2), store, QuickEngine(), 1, lambda now: kept.note(now.ran, now.failed))
    assert not (tmp_path / "campaigns").exists()


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    execute(seeds(1), store, QuickEngine())
    (tmp_path / "campaigns").touch()
    with book(store) as kept:
        kept.note(Extent(1, 60.0, 10, 1), 0)
    assert all_of(store) == []


def test_a_log_that_cannot_be_read_does_not_count(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create()
    for _ in range(2):
        with book(store) as kept:
            kept.note(Extent(1, 60.0, 10, 1), 0)
    next((tmp_path / "campaigns").iterdir()).write_bytes(b"")
    assert len(all_of(store)) == 1


def test_only_what_is_there_intact_and_valid_is_held(tmp_path: Path) -> None:
    study = small_study.write(tmp_path / "study")
    store = small_study.run(study, tmp_path / "results", quick=True)
    runs = scenarios(run for run in study.runs(quick=True))
    keys = [run.key for run in runs]
    held = campaigns.held(store, keys)
    assert held.runs == len(list(store.keys())) < len(keys)
    packets = [store.get(key).summary.packets for key in list(store.keys())]
    assert held.packets == sum(packets) > 10_000
    assert held.simulated_s == 6.0 * held.runs
    next(store.root.rglob("run.json")).write_text("{}")
    assert campaigns.held(store, keys).runs == held.runs - 1


@pytest.mark.skipif(sys.platform != "linux", reason="what getrusage tells elsewhere is its own")
def test_the_memory_of_a_command_is_not_that_of_what_started_it() -> None:
    large = bytearray(b"1") * (300 << 20)
    code = "from dumbbell.store import campaigns; print(campaigns.peak_memory_bytes())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert 10 << 20 < int(done.stdout) < len(large)
