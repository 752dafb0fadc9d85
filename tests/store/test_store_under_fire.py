"""The store under fire: many processes, kill -9, full and read-only disks, flipped bits.

Processes, signals and file systems are real; what needs the rights of root is skipped without them.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings
from inline_snapshot import snapshot

import small_study
from command_line import line
from dumbbell.base.errors import DamagedResult, InputError, StoreError
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import Output
from dumbbell.execution.executor import execute
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import staging
from dumbbell.store.run_folder import RunFile
from dumbbell.store.store import FORMAT, Store
from folder_contents import files_of
from killable_processes import Nursery, fail, put
from sample_runs import QuickEngine, output, resolved, seeds

RUNS = 12


def draws(number: int) -> Sequence[int]:
    """Return seeds of moments to be killed at: the same few ones, or other ones in `make fuzz`."""
    if settings.get_current_profile_name() == "fuzz":
        return random.sample(range(10**6), 8)
    return range(number)


ALONE = ("unshare", "--mount", "--propagation", "private")


@pytest.fixture(scope="module")
def mounts() -> bool:
    """Return True if a process may have mounts of its own."""
    return not subprocess.run([*ALONE, "true"], check=False, capture_output=True).returncode


@pytest.fixture(scope="module")
def nursery(mounts: bool) -> Iterator[Nursery]:
    with Nursery(ALONE if mounts else ()) as started:
        yield started


@pytest.fixture(scope="module")
def undisturbed(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return all files of a campaign that nothing happened to."""
    root = tmp_path_factory.mktemp("undisturbed") / "results"
    assert nursery.run("campaign", root, 0, RUNS, 2) == 0
    files = files_of(root)
    assert sum(name.endswith("run.json") for name in files) == RUNS
    return files


def drafts(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if staging.is_staging(path)]


def test_processes_share_a_campaign(
    nursery: Nursery, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    parts = [(0, RUNS), (0, RUNS), (0, RUNS // 2), (RUNS // 3, RUNS)]
    processes = [nursery.start("campaign", tmp_path, *part, 2) for part in parts]
    assert [nursery.wait(process) for process in processes] == [0] * len(parts)
    assert files_of(tmp_path) == undisturbed
    assert drafts(tmp_path) == []


def test_processes_put_the_same_results(nursery: Nursery, tmp_path: Path) -> None:
    processes = [nursery.start("share", tmp_path, 20) for _ in range(2)]
    assert [nursery.wait(process) for process in processes] == [0, 0]
    store = Store(tmp_path)
    assert sorted(store.keys()) == sorted(scenario.key for scenario in seeds(20))
    assert all(store.verify(scenario.key) for scenario in seeds(20))
    assert drafts(tmp_path) == []


def test_processes_repair_the_same_damage(
    nursery: Nursery, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    assert nursery.run("campaign", tmp_path, 0, RUNS, 2) == 0
    for round_ in range(2):
        for path in sorted(tmp_path.rglob("flows.parquet"))[round_ % 2 :: 2]:
            path.write_bytes(b"")
        errors = [tmp_path.with_name(f"{round_}-{number}") for number in range(4)]
        processes = [nursery.start("campaign", tmp_path, 0, RUNS, 2, err=err) for err in errors]
        ended = [nursery.wait(process) for process in processes]
        assert ended == [0] * 4, [err.read_text() for err in errors]
        assert files_of(tmp_path) == undisturbed


def test_another_process_may_remove_the_damage_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does so between our attempt to put a result in its place and our look at what is there."""
    store, scenario = Store(tmp_path), resolved()
    store.put(scenario, output(scenario))
    intact = files_of(tmp_path)
    next(tmp_path.rglob("run.json")).write_bytes(b"")
    rename = Path.rename

    def overtaken(path: Path, target: Path) -> Path:
        try:
            return rename(path, target)
        except OSError:
            monkeypatch.undo()
            staging.discard(target)
            raise

    monkeypatch.setattr(Path, "rename", overtaken)
    store.put(scenario, output(scenario))
    assert Path.rename is rename
    assert files_of(tmp_path) == intact


def test_another_process_may_remove_what_is_about_to_be_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, engine, runs = Store(tmp_path), QuickEngine(), seeds(2)
    execute(runs, store, engine)
    verify = Store.verify

    def overtaken(self: Store, key: str) -> RunFile:
        monkeypatch.undo()
        staging.discard(next(tmp_path.glob(f"runs/*/{key}")))
        return verify(self, key)

    monkeypatch.setattr(Store, "verify", overtaken)
    outcome = execute(runs, store, engine)
    assert (len(outcome.done), len(outcome.reused), outcome.warnings) == (1, 1, [])


@pytest.mark.hypothesis  # so that `make fuzz` runs it
@pytest.mark.parametrize("seed", draws(2))
def test_a_campaign_that_is_killed_at_any_moment_resumes(
    nursery: Nursery,
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    seed: int,
) -> None:
    draw = random.Random(seed)
    killed = 0
    # Counted in steps, not in time: meanwhile another thread is anywhere in its run. Each time
    # more steps are allowed, so that it ends however many it takes to find all results again.
    while (
        code := nursery.run(
            "campaign", tmp_path, 0, RUNS, 2, kill_at=draw.randint(1, 75 * (1 + killed))
        )
    ) != 0:
        assert code == -signal.SIGKILL
        killed += 1
        for key in list(Store(tmp_path).keys()):
            Store(tmp_path).verify(key)
    assert killed
    assert nursery.run("campaign", tmp_path, 0, RUNS, 2) == 0
    assert files_of(tmp_path) == undisturbed


@pytest.mark.parametrize("before", ["nothing", "damage", "intact"])
def test_a_writer_may_be_killed_at_every_step(
    nursery: Nursery, tmp_path: Path, before: str
) -> None:
    scenario = resolved({"seed": 1})
    reference = Store(tmp_path / "reference")
    reference.put(scenario, output(scenario))
    wanted = files_of(reference.root)
    for step in range(1, 200):
        root = tmp_path / f"{step}"
        if before != "nothing":
            shutil.copytree(reference.root, root)
        if before == "damage":
            next(root.rglob("queues.parquet")).write_bytes(b"")
        code = nursery.run("put", root, 1, kill_at=step)
        for key in list(Store(root).keys()):
            if before != "damage":
                Store(root).verify(key)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        put(str(root), 1)
        assert files_of(root) == wanted
        assert drafts(root) == []
    assert step > 12
    assert files_of(root) == wanted


def test_a_failure_may_be_killed_at_every_step(nursery: Nursery, tmp_path: Path) -> None:
    for step in range(1, 100):
        root = tmp_path / f"{step}"
        code = nursery.run("fail", root, 1, kill_at=step)
        if code == 0:
            break
        fail(str(root), 1)
        Store(root).clean()
        assert set(files_of(root)) == {"format.json"}
        assert drafts(root) == []
    assert step > 8


COMMAND = ("run", "study", "--jobs", "2")


@pytest.fixture(scope="module")
def study_results(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the results of the small study, run by its command."""
    folder = tmp_path_factory.mktemp("command")
    small_study.write(folder / "study")
    assert nursery.run("command", folder, *COMMAND) == 0
    return results_of(folder)


def results_of(folder: Path) -> dict[str, bytes]:
    """Return the files that must not depend on the way of running a study: its results and
    plans.
    """
    files = files_of(folder / "results")
    return {
        name: content
        for name, content in files.items()
        if not name.startswith("campaigns/") and not name.endswith(".path")
    }


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", draws(1))
def test_the_command_is_killed_and_goes_on(
    nursery: Nursery, study_results: dict[str, bytes], tmp_path: Path, seed: int
) -> None:
    small_study.write(tmp_path / "study")
    draw = random.Random(seed)
    codes = [
        nursery.run("command", tmp_path, *COMMAND, kill_at=draw.randrange(1, 380)) for _ in range(3)
    ]
    assert set(codes) <= {-signal.SIGKILL, 0}
    assert nursery.run("command", tmp_path, *COMMAND) == 0
    assert results_of(tmp_path) == study_results
    assert drafts(tmp_path) == []


def test_commands_of_different_studies_share_a_folder(
    nursery: Nursery, study_results: dict[str, bytes], tmp_path: Path
) -> None:
    small_study.write(tmp_path / "study")
    small_study.write(tmp_path / "other")
    text = (tmp_path / "other/study.toml").read_text()
    text = text.replace('"small"', '"other"').replace('"12s"', '"3s"')
    (tmp_path / "other/study.toml").write_text(text)
    commands = [COMMAND, COMMAND, (*COMMAND, "--quick"), ("run", "other", "--jobs", "2")]
    errors = [tmp_path / f"err{number}" for number in range(len(commands))]
    processes = [
        nursery.start("command", tmp_path, *arguments, err=err)
        for arguments, err in zip(commands, errors, strict=True)
    ]
    ended = [nursery.wait(process) for process in processes]
    assert ended == [0] * len(commands), [err.read_text() for err in errors]
    files = results_of(tmp_path)
    assert {name: files.get(name) for name in study_results if name.startswith("runs/")} == {
        name: content for name, content in study_results.items() if name.startswith("runs/")
    }
    plans = json.loads(files["studies/small.json"])
    assert sorted(plan["quick"] for plan in plans) == [False, True]
    assert "studies/other.json" in files
    store = Store(tmp_path / "results")
    assert all(store.verify(key) for key in list(store.keys()))
    assert drafts(tmp_path) == []


@pytest.fixture
def disk(nursery: Nursery, mounts: bool, tmp_path: Path) -> Path:
    """Provide a disk of 160 kB, which only the nursery's processes see."""
    if not mounts:
        pytest.skip("a mount namespace needs the rights of root")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", folder)
    assert nursery.run("shell", *mount) == 0
    return folder


def where_told(text: str, folder: Path) -> str:
    """Return the error without the file that was written at the moment."""
    return re.sub(r" \(FOLDER[^)]*\)", "", line(text, "error: ").replace(str(folder), "FOLDER"))


def test_a_full_disk_stops_the_command_until_there_is_room(
    nursery: Nursery, disk: Path, study_results: dict[str, bytes], tmp_path: Path
) -> None:
    small_study.write(tmp_path / "study")
    command = (*COMMAND, "--results", str(disk / "results"))
    errors = [tmp_path / f"err{number}" for number in range(3)]
    assert nursery.run("command", tmp_path, *command, err=errors[0]) == 2
    printed = errors[0].read_text()
    assert printed.count("error: ") == 1
    assert where_told(printed, disk) == snapshot(
        "error: FOLDER/results: cannot write results: No space left on device; free some room, or name a place elsewhere; finished results are kept: the same command continues"
    )
    assert nursery.run("copy", disk / "results", tmp_path / "full") == 0
    kept = Store(tmp_path / "full")
    assert drafts(kept.root) == []
    keys = list(kept.keys())
    assert 0 < len(keys) < 18
    assert all(kept.verify(key) for key in keys)
    assert nursery.run("shell", "mount", "-o", "remount,size=8m", disk) == 0
    assert nursery.run("command", tmp_path, *command, err=errors[1]) == 0
    assert f"{18 - len(keys)} run, {len(keys)} reused, 0 failed" in errors[1].read_text()
    assert nursery.run("copy", disk / "results", tmp_path / "results") == 0
    assert results_of(tmp_path) == study_results


def test_a_store_that_can_only_be_read_is_used_but_not_written(
    nursery: Nursery, disk: Path, tmp_path: Path
) -> None:
    small_study.write(tmp_path / "study")
    results = ("--results", str(disk / "results"))
    part = (*COMMAND, *results, "--where", "test=lossy")
    err = tmp_path / "err"
    assert nursery.run("shell", "mount", "-o", "remount,size=8m", disk) == 0
    assert nursery.run("command", tmp_path, *part) == 0
    assert nursery.run("shell", "mount", "-o", "remount,ro", disk) == 0
    assert nursery.run("command", tmp_path, *part, err=err) == 0
    assert "0 run, 2 reused, 0 failed" in err.read_text()
    assert nursery.run("command", tmp_path, "claims", "study", *results) == 0
    assert nursery.run("command", tmp_path, *COMMAND, *results, err=err) == 2
    printed = err.read_text()
    assert where_told(printed, disk) == snapshot(
        "error: FOLDER/results: cannot write results: Read-only file system; name a place that can be written; finished results are kept: the same command continues"
    )
    assert "Traceback" not in printed


@pytest.mark.parametrize("name", ["flows.parquet", "queues.parquet", "files.json", "run.json"])
def test_a_flipped_bit_is_found(tmp_path: Path, name: str) -> None:
    store, engine = Store(tmp_path), QuickEngine()
    (scenario,) = seeds(1)
    execute([scenario], store, engine)
    intact = files_of(tmp_path)
    path = next(tmp_path.rglob(name))
    content = path.read_bytes()
    draw = random.Random(name)
    places = draw.sample(range(len(content)), 300)
    repaired = places[::30]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(DamagedResult):
            store.get(scenario.key)
        if place in repaired:
            outcome = execute([scenario], store, engine)
            assert (len(outcome.done), len(outcome.warnings)) == (1, 1)
            assert files_of(tmp_path) == intact
    assert len(engine.seeds) == 1 + len(repaired)


def test_a_flipped_bit_in_the_format_is_a_clear_error_or_harmless(tmp_path: Path) -> None:
    Store(tmp_path).create()
    path = tmp_path / "format.json"
    content = path.read_bytes()
    refused = 0
    for bit in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        if b'{"format": %d}' % FORMAT in flipped:  # the bit is in the end of the line
            continue
        with pytest.raises(InputError, match=re.escape(str(tmp_path))):
            Store(tmp_path)
        refused += 1
    assert refused > 7 * len(content)


class OvertakenEngine(QuickEngine):
    """Somebody else makes the folder one of another format during the fourth run."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        if scenario.scenario.seed == 3:
            staging.replace(self.root / "format.json", b'{"format": 0}')
        return super().run(scenario, cancel)


def test_a_folder_that_becomes_one_of_another_format_stops_everything(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        execute(seeds(10), Store(tmp_path), OvertakenEngine(tmp_path))
    assert str(refused.value).partition(": ")[2] == snapshot(
        "this results folder has format 0, this Dumbbell reads format 2; valid: another results folder, or the Dumbbell that wrote this one; what was kept before is still there"
    )
    assert 1 <= len(list(tmp_path.rglob("run.json"))) <= 3
    assert not (tmp_path / "failures").exists()
