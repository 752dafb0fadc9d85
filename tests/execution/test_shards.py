"""Campaigns in parts: shards, the SLURM script, and merging."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import hostile_folders
from command_line import Command, line
from dumbbell.base.errors import InputError
from dumbbell.engines.sizes import expected_work
from dumbbell.execution.shards import Shard
from dumbbell.plan.expanding import scenarios
from dumbbell.store import staging
from dumbbell.study.model import Study
from small_study import write

PARTS = 4


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "studies" / "small")


@pytest.fixture
def dumbbell(dumbbell: Command, study: Study) -> Command:
    """Run the command where it finds the small study."""
    assert study.name == "small"
    return dumbbell


def same(one: Path, other: Path) -> bool:
    """Return True if two folders hold the same files with the same bytes."""
    folders = filecmp.dircmp(one, other)
    if folders.left_only or folders.right_only:
        return False
    _, differing, errors = filecmp.cmpfiles(one, other, folders.common_files, shallow=False)
    alike = not differing and not errors
    return alike and all(same(one / name, other / name) for name in folders.common_dirs)


# Shards


def test_shards_part_the_runs_into_about_equal_sizes() -> None:
    runs = scenarios(Study.load("mani2012").runs(quick=True))
    parts = [Shard(number, 7).of(runs) for number in range(1, 8)]
    assert sorted(run.key for part in parts for run in part) == sorted(run.key for run in runs)
    loads = [sum(expected_work(run.scenario) for run in part) for part in parts]
    assert max(loads) - min(loads) <= max(expected_work(run.scenario) for run in runs)


@pytest.mark.parametrize("text", ["0/4", "5/4", "4", "1/0", "a/b", "-1/4", "1/4/2"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        Shard.parse(text)
    assert refused.value.problem == snapshot("not a shard")


def test_shards_merged_are_the_whole(dumbbell: Command) -> None:
    assert dumbbell("run", "small", "--quick", "--results", "whole").code == 0
    for number in range(1, PARTS + 1):
        part = ("--shard", f"{number}/{PARTS}", "--results", f"part-{number}")
        assert dumbbell("run", "small", "--quick", *part).code == 0
    parts = [f"part-{number}" for number in range(1, PARTS + 1)]
    assert dumbbell("merge", *parts, "--results", "merged").code == 0
    for name in ("runs", "studies"):
        assert same(Path("whole") / name, Path("merged") / name)
    again = dumbbell("merge", *parts, "--results", "merged")
    assert "0 results added" in again.err
    assert dumbbell("claims", "small", "--results", "merged", "--json").json["claims"]


# Merging


def results(dumbbell: Command, name: str) -> Path:
    dumbbell("run", "small", "--quick", "--results", name)
    return next(Path(name, "runs").glob("??/*/"))


def test_a_damaged_result_is_left_out_and_named(dumbbell: Command) -> None:
    folder = results(dumbbell, "one")
    (folder / "run.json").write_text("{")
    output = dumbbell("merge", "one", "--results", "all")
    assert output.code == 1
    assert folder.name in output.err
    assert not list(Path("all/runs").glob(f"??/{folder.name}"))


def test_two_different_results_of_a_run_are_a_conflict(dumbbell: Command) -> None:
    folder = results(dumbbell, "one")
    shutil.copytree("one", "two")
    other = Path("two", *folder.parts[1:])
    before = (folder / "run.json").read_text()
    damage_by_hand(other)
    assert dumbbell("merge", "one", "--results", "all").code == 0
    output = dumbbell("merge", "two", "--results", "all")
    assert output.code == 1
    assert line(output.err, folder.name).replace(folder.name, "KEY") == snapshot(
        "two different results of KEY; that of all stays"
    )
    assert Path("all", *folder.parts[1:], "run.json").read_text() == before


def damage_by_hand(folder: Path) -> None:
    """Change a result so that it is intact but another one."""
    run = json.loads((folder / "run.json").read_text())
    run["summary"]["packets"] += 1
    hostile_folders.put(folder, run, json.loads((folder / "files.json").read_text()))


def test_what_is_no_results_folder_is_refused(dumbbell: Command) -> None:
    Path("empty").mkdir()
    assert dumbbell("merge", "empty").err == snapshot(
        'error: RESULTS: "empty": not a results folder\n'
    )
    results(dumbbell, "one")
    assert dumbbell("merge", "one", "--results", "one").err == snapshot(
        'error: RESULTS: "one": is the folder to merge into\n'
    )


# Drafts of other machines


def test_drafts_of_other_machines_live_for_a_day(tmp_path: Path) -> None:
    ours, theirs = tmp_path / f"{staging.PREFIX}x", tmp_path / f"{staging.PREFIX}elsewhere_1-x"
    for folder in (ours, theirs):
        folder.mkdir()
    staging.remove_abandoned(tmp_path)
    assert not ours.exists()
    assert theirs.exists()
    staging.remove_abandoned(tmp_path, now_s=theirs.stat().st_mtime + 25 * 3600)
    assert not theirs.exists()


# SLURM

SBATCH = """#!{python}
# Runs array elements at once, in any order, kills some and starts them again, as a cluster does.
import os, random, subprocess, sys
order = random.Random(1)
arguments = sys.argv[1:]
array = [each for each in arguments if each.startswith("--array=")]
script = [each for each in arguments if not each.startswith("--")]
if not array:
    sys.exit(subprocess.run(["bash", *script]).returncode)
last = int(array[0].partition("-")[2].rpartition("-")[2])
elements = list(range(1, last + 1))
order.shuffle(elements)
for element in elements:
    environment = {{**os.environ, "SLURM_ARRAY_TASK_ID": str(element)}}
    if element % 2:
        killed = subprocess.Popen(["bash", *script], env=environment, stderr=subprocess.DEVNULL)
        try:
            killed.wait(1.5)
        except subprocess.TimeoutExpired:
            killed.kill()
            killed.wait()
    subprocess.run(["bash", *script], env=environment, check=True, stdout=sys.stderr)
print("17;cluster")
"""


def test_the_slurm_script_ends_with_the_whole(dumbbell: Command, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    command = f'#!/bin/sh\nexec {sys.executable} -m dumbbell.cli "$@"\n'
    for name, text in (("sbatch", SBATCH.format(python=sys.executable)), ("dumbbell", command)):
        (programs / name).write_text(text)
        (programs / name).chmod(stat.S_IRWXU)
    output = dumbbell("run", "small", "--quick", "--slurm", "2", "--results", "out")
    Path("job.sh").write_text(output.out)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    ended = subprocess.run(
        ["bash", "job.sh"], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    dumbbell("run", "small", "--quick", "--results", "whole")
    assert same(Path("whole/runs"), Path("out-of-small/runs"))
