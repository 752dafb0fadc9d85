"""The results folder: whole, verified, identical, shared, and honest about trouble."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.base import regular
from dumbbell.base.errors import DamagedResult, InputError, MissingResult, StoreError
from dumbbell.engines.engine import empty_frame
from dumbbell.scenario.resolve import canonical_json
from dumbbell.store import staging
from dumbbell.store.store import FORMAT, Store
from folder_contents import files_of
from sample_runs import output, resolved

LONG_AGO_S = 1_000_000_000


def filled(root: Path) -> tuple[Store, str]:
    store = Store(root)
    scenario = resolved()
    store.put(scenario, output(scenario))
    return store, scenario.key


def test_a_result_comes_back_as_it_was_put(tmp_path: Path) -> None:
    store, key = filled(tmp_path / "results")
    run = store.get(key)
    assert run.key == key
    assert run.scenario == resolved().scenario
    assert run.summary == output(resolved()).summary
    assert run.tables["queues"].equals(output(resolved()).tables["queues"])
    assert run.tables["flows"].columns == [*empty_frame("flows").columns, "label", "algorithm"]
    assert run.tables["events"].is_empty()
    assert store.has(key)
    assert list(store.keys()) == [key]


def test_the_same_result_is_the_same_bytes(tmp_path: Path) -> None:
    scenario = resolved()
    whole = output(scenario, rows=1000)
    chunks = {name: pl.concat([t[:300], t[300:]]) for name, t in whole.tables.items()}
    chunked = type(whole)(whole.summary, dict(reversed(chunks.items())))
    for name, content in (("a", whole), ("b", chunked)):
        Store(tmp_path / name).put(scenario, content)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    folder = f"runs/{scenario.key[:2]}/{scenario.key}"
    names = ["run.json", "files.json", "flows.parquet", "queues.parquet"]
    assert set(files_of(tmp_path / "a")) == {"format.json", *(f"{folder}/{n}" for n in names)}


def test_an_intact_result_stays(tmp_path: Path) -> None:
    store, key = filled(tmp_path)
    before = {path: path.stat().st_ino for path in tmp_path.rglob("*.parquet")}
    store.put(resolved(), output(resolved()))
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*.parquet")} == before
    assert store.has(key)


def test_there_is_nothing_before_the_first_result(tmp_path: Path) -> None:
    store = Store(tmp_path / "none")
    store.clean()
    assert not store.has("00")
    assert list(store.keys()) == []
    assert not (tmp_path / "none").exists()
    with pytest.raises(MissingResult) as refused:
        store.get("00")
    assert str(refused.value) == snapshot("no result is stored under 00")


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def nest(path: Path) -> None:
    path.write_text("[" * 5000 + "]" * 5000)


def put_a_folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def put_a_queue(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def put_a_link(path: Path) -> None:
    """Move a file out of the results folder, and have a link lead to it."""
    path.rename(path.parents[4] / "elsewhere")
    path.symlink_to(path.parents[4] / "elsewhere")


def put_an_endless_file(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def put_a_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nowhere")


def swell(path: Path) -> None:
    """Make it a file of 1 TB, of which nothing is on the disk."""
    os.truncate(path, 10**12)


@pytest.mark.parametrize(
    "harm",
    [
        truncate,
        flip,
        nest,
        swell,
        put_a_folder,
        put_a_queue,
        put_a_link,
        put_a_dangling_link,
        put_an_endless_file,
        Path.unlink,
        lambda path: path.write_bytes(b""),
    ],
)
@pytest.mark.parametrize("name", ["flows.parquet", "queues.parquet", "files.json", "run.json"])
def test_damage_is_found_and_replaced(
    tmp_path: Path, name: str, harm: Callable[[Path], object]
) -> None:
    store, key = filled(tmp_path / "results")
    intact = files_of(store.root)
    harm(next(store.root.rglob(name)))
    with pytest.raises((DamagedResult, MissingResult)):
        store.get(key)
    if store.has(key):
        assert store.size_bytes(key) < 10**13
    store.put(resolved(), output(resolved()))
    assert files_of(store.root) == intact


def test_a_result_in_the_wrong_place_is_damaged(tmp_path: Path) -> None:
    store, key = filled(tmp_path)
    folder = next(tmp_path.glob("runs/??/*"))
    other = key[:2] + "0" * 62
    folder.rename(folder.with_name(other))
    with pytest.raises(DamagedResult) as refused:
        store.get(other)
    assert str(refused.value).partition(": ")[2] == snapshot(
        "damaged result (it does not match its name); run it again to replace it"
    )


def test_a_changed_summary_is_damage_even_if_it_is_valid_json(tmp_path: Path) -> None:
    store, key = filled(tmp_path)
    path = next(tmp_path.rglob("run.json"))
    content = json.loads(path.read_text())
    content["summary"]["packets"] = 11
    path.write_text(json.dumps(content))
    with pytest.raises(DamagedResult) as refused:
        store.get(key)
    assert str(refused.value).partition(": ")[2] == snapshot(
        "damaged result (run.json does not match its digest); run it again to replace it"
    )


@pytest.mark.parametrize("what", ["files", "scenario", "summary", "key"])
@pytest.mark.parametrize("value", [5, None, [], {"a": 5}])
def test_a_description_of_another_shape_is_damage_even_if_its_digest_is_right(
    tmp_path: Path, what: str, value: object
) -> None:
    store, key = filled(tmp_path)
    path = next(tmp_path.rglob("run.json"))
    content = {**json.loads(path.read_text()), what: value}
    del content["digest"]
    content["digest"] = hashlib.sha256(canonical_json(content).encode()).hexdigest()
    path.write_text(json.dumps(content, sort_keys=True, indent=1) + "\n")
    for read in (store.get, store.described):
        with pytest.raises(DamagedResult):
            read(key)


@pytest.mark.parametrize("name", ["flows.parquet", "run.json"])
@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_what_the_system_refuses_to_read_is_damage_and_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    store, key = filled(tmp_path)
    refused = next(tmp_path.rglob(name)).stat().st_ino
    read = regular.read

    def failing(path: Path, bytes_max: int, *, below: Path | None = None) -> bytes:
        if path.stat().st_ino == refused:
            raise OSError(number, os.strerror(number), str(path))
        return read(path, bytes_max, below=below)

    monkeypatch.setattr(regular, "read", failing)
    with pytest.raises(DamagedResult, match=os.strerror(number)):
        store.get(key)
    store.put(resolved(), output(resolved()))
    assert store.get(key).key == key


def test_what_keeps_this_process_from_reading_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, key = filled(tmp_path)

    def failing(path: Path, *_: object, **__: object) -> bytes:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(path))

    monkeypatch.setattr(regular, "read", failing)
    with pytest.raises(StoreError, match=os.strerror(errno.EMFILE)):
        store.get(key)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"format": 1}', f"has format 1, this Dumbbell reads format {FORMAT}"),
        (f'{{"format": "{FORMAT}"}}', f"has format {FORMAT}, this"),
        ("[]", "does not say which format"),
        ("[" * 5000, "does not say which format"),
        ("", "does not say which format"),
        ("{}", "does not say which format"),
    ],
)
def test_another_format_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "format.json").write_text(content)
    with pytest.raises(InputError, match=problem) as caught:
        Store(tmp_path)
    assert str(tmp_path) in str(caught.value.source)


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match=r"it holds thesis\.tex, but no format\.json"):
        Store(tmp_path)


def test_a_file_is_no_results_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as refused:
        Store(tmp_path / "file")
    assert str(refused.value).removeprefix(f"{tmp_path}/") == snapshot(
        "file: not a folder; valid: another --results, or nothing at this path: it is made"
    )


@pytest.mark.parametrize("kept", range(5))
def test_a_full_disk_leaves_no_partial_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """The disk is full after `kept` files; the fifth is never written."""
    write_bytes = Path.write_bytes
    written: list[Path] = []

    def limited(path: Path, content: bytes) -> int:
        if len(written) == kept:
            write_bytes(path, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        written.append(path)
        return write_bytes(path, content)

    store = Store(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", limited)
    if kept == 4:
        store.put(resolved(), output(resolved()))
        return
    with pytest.raises(StoreError, match="cannot write results: No space left") as caught:
        store.put(resolved(), output(resolved()))
    assert caught.value.exit_code == 2
    assert list(store.keys()) == []
    assert [path for path in tmp_path.rglob("*") if staging.is_staging(path)] == []


def test_a_folder_that_cannot_be_created_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises((StoreError, InputError), match=r"not a folder|Not a directory"):
        Store(tmp_path / "file" / "results").put(resolved(), output(resolved()))


def in_other_process(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    tests = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=environment, stdout=subprocess.PIPE
    )


def test_what_a_killed_writer_left_is_no_result_and_is_removed(tmp_path: Path) -> None:
    store, key = filled(tmp_path)
    parent = tmp_path / "runs" / key[:2]
    code = (
        "import pathlib, sys, time; from dumbbell.store import staging\n"
        "with staging.folder(pathlib.Path(sys.argv[1])) as draft:\n"
        "    (draft / 'run.json').write_text('{}'); print(draft, flush=True); time.sleep(60)\n"
    )
    writer = in_other_process(code, str(parent))
    assert writer.stdout is not None
    draft = Path(writer.stdout.readline().decode().strip())
    store.clean()
    assert draft.exists(), "its writer is alive"
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    assert list(store.keys()) == [key]
    store.clean()
    assert not draft.exists()
    assert store.has(key)


def test_a_draft_without_a_writer_is_removed_at_once(tmp_path: Path) -> None:
    abandoned = [staging.new_path(tmp_path) for _ in range(2)]
    abandoned[0].mkdir()
    abandoned[1].touch()
    with staging.folder(tmp_path) as draft:
        staging.remove_abandoned(tmp_path)
        assert draft.exists()
    assert not any(path.exists() for path in abandoned)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.json"
    for content in (b"old", b"newer"):
        staging.replace(path, content, lasting=True)
        assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_without_locks_only_age_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "fcntl", None)
    store, _ = filled(tmp_path)
    draft = staging.new_path(tmp_path / "runs" / "ab")
    draft.mkdir(parents=True)
    os.utime(draft, (time.time() - 3600, time.time() - 3600))
    store.clean()
    assert draft.exists()
    os.utime(draft, (LONG_AGO_S, LONG_AGO_S))
    store.clean()
    assert not draft.exists()


def test_frames_are_read_when_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, key = filled(tmp_path)
    run = store.get(key)
    collected: list[Any] = []
    collect = pl.LazyFrame.collect

    def counting(frame: pl.LazyFrame, *args: Any, **kwargs: Any) -> Any:
        collected.append(frame)
        return collect(frame, *args, **kwargs)

    monkeypatch.setattr(pl.LazyFrame, "collect", counting)
    assert run.summary.packets == 10
    assert collected == []
    assert run.tables["flows"].height == 3
    assert run.tables["flows"] is run.tables["flows"]
    assert len(collected) == 1
