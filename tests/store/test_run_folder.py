"""The identity of a run does not depend on its store: the digests of contents, and those of
files.
"""

from __future__ import annotations

import hashlib
import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell import _core
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import DamagedResult
from dumbbell.contract.summary import Summary
from dumbbell.engines.engine import Output, frame
from dumbbell.scenario.resolve import canonical_json
from dumbbell.store import rewriting, run_folder
from dumbbell.store.run_folder import content_digest
from dumbbell.store.store import Store
from sample_runs import completed, output, resolved

KINDS = ["loss", "mark", "start"]


def table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "time_ns": pl.Series([1, 1 << 40], dtype=pl.UInt64),
            "kind": pl.Series(["start", "loss"], dtype=pl.Enum(KINDS)),
            "rtt_us": pl.Series([None, 258], dtype=pl.UInt32),
        }
    )


def test_a_digest_is_what_anybody_would_compute_of_the_contents() -> None:
    """No change of Polars, NumPy or Dumbbell may change it."""
    content = (
        b'["time_ns", "<u8", null]\n\1\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0'
        b'["kind", "|u1", ["loss", "mark", "start"]]\n\2\0'
        b'["rtt_us", "<u4", null]\n\xff\xff\xff\xff\2\1\0\0'
    )
    assert content_digest(table()) == hashlib.sha256(content).hexdigest()


def test_the_digest_of_what_the_engine_hands_on_is_that_of_its_columns() -> None:
    scenario = resolved({"duration": "2s", "record": {"interval": "100ms"}})
    raw = _core.simulate(scenario.json).tables
    assert raw["flows"]
    assert raw["events"]
    for columns in raw.values():
        expected = hashlib.sha256()
        for (name, dtype, values), column in zip(columns, frame(columns), strict=True):
            codes = column.dtype.categories if isinstance(column.dtype, pl.Enum) else None
            head = [name, dtype, None if codes is None else list(codes)]
            expected.update(json.dumps(head).encode() + b"\n" + values)
        assert content_digest(frame(columns)) == expected.hexdigest()


CHANGES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "value": lambda table: table.with_columns(pl.col("time_ns") + 1),
    "null": lambda table: table.with_columns(pl.col("rtt_us").fill_null(0)),
    "name": lambda table: table.rename({"time_ns": "time_us"}),
    "type": lambda table: table.with_columns(pl.col("time_ns").cast(pl.Int64)),
    "code": lambda table: table.with_columns(pl.col("kind").shift(fill_value="mark")),
    "codes": lambda table: table.with_columns(
        pl.Series("kind", ["start", "loss"], dtype=pl.Enum([*KINDS[:2], "stop", "start"]))
    ),
    "order of columns": lambda table: table.select(reversed(table.columns)),
    "order of rows": lambda table: table.reverse(),
    "rows": lambda table: table.head(1),
    "columns": lambda table: table.drop("kind"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_of_the_contents_changes_the_digest(
    change: Callable[[pl.DataFrame], pl.DataFrame],
) -> None:
    assert content_digest(change(table())) != content_digest(table())


def test_chunks_and_the_way_through_a_file_change_no_digest() -> None:
    chunked = pl.concat([table()[:1], table()[1:]], rechunk=False)
    assert chunked.n_chunks() == 2
    for same in (chunked, pl.read_parquet(io.BytesIO(plainly(table())))):
        assert content_digest(same) == content_digest(table())


def files_of(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def filled(root: Path, rows: int = 3) -> tuple[Store, str]:
    store, scenario = Store(root), resolved()
    store.put(scenario, output(scenario, rows))
    return store, scenario.key


def plainly(table: pl.DataFrame) -> bytes:
    """Encode a table as another Polars might."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="uncompressed", statistics=False)
    return buffer.getvalue()


def test_a_run_is_the_same_whoever_writes_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, key = filled(tmp_path / "here")
    monkeypatch.setattr(run_folder, "_parquet", plainly)
    there, _ = filled(tmp_path / "there")
    ours, theirs = files_of(here.root), files_of(there.root)
    assert ours["run.json"] == theirs["run.json"]
    assert ours["files.json"] != theirs["files.json"]
    assert ours["flows.parquet"] != theirs["flows.parquet"]
    assert here.get(key).tables["flows"].equals(there.get(key).tables["flows"])
    for store in (here, there):
        store.verify(key, contents=True)


def test_an_enumeration_that_polars_does_not_know_again_holds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So 1.30 reads what 2.1 has written."""

    def categorical(table: pl.DataFrame) -> bytes:
        return plainly(table.with_columns(pl.col("kind").cast(pl.Categorical)))

    codes = catalogue.schema().codes["kind"]
    kinds = pl.Series("kind", ["drop", "start"], dtype=pl.Enum(codes))
    store, scenario = Store(tmp_path), resolved()
    monkeypatch.setattr(run_folder, "_parquet", categorical)
    store.put(
        scenario,
        Output(
            Summary(duration_ns=1, flows=(), queues=(), packets=0, doubts=()),
            {"events": completed("events", kinds.to_frame())},
        ),
    )
    assert store.get(scenario.key).tables["events"]["kind"].dtype == pl.Categorical
    store.verify(scenario.key, contents=True)


def test_tables_that_were_written_anew_are_found_by_what_they_hold(tmp_path: Path) -> None:
    """Their files are intact, so only a reader of the values sees that they differ."""
    store, key = filled(tmp_path / "results")
    other = output(resolved()).tables["flows"].with_columns(pl.col("sent_segs") + 1)
    folder = next(store.root.glob("runs/??/*"))
    kept = json.loads((folder / "files.json").read_bytes())
    for table, is_found in ((other, True), (other.with_columns(pl.col("sent_segs") - 1), False)):
        content = plainly(table)
        (folder / "flows.parquet").write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        kept["files"]["flows.parquet"] = {"bytes": len(content), "sha256": sha256}
        (folder / "files.json").write_text(json.dumps(kept, sort_keys=True, indent=1) + "\n")
        store.verify(key)
        if is_found:
            with pytest.raises(DamagedResult) as refused:
                store.verify(key, contents=True)
            assert str(refused.value).partition(": ")[2] == snapshot(
                "damaged result (flows.parquet does not hold what the run left); run it again to replace it"
            )
        else:
            store.verify(key, contents=True)


def test_tables_of_another_run_are_damage(tmp_path: Path) -> None:
    store, key = filled(tmp_path / "one")
    other, _ = filled(tmp_path / "other", rows=4)
    folder, foreign = (next(root.glob("runs/??/*")) for root in (store.root, other.root))
    for name in ("files.json", "flows.parquet", "queues.parquet"):
        (foreign / name).replace(folder / name)
    with pytest.raises(DamagedResult) as refused:
        store.get(key)
    assert str(refused.value).partition(": ")[2] == snapshot(
        "damaged result (files.json is not of this run); run it again to replace it"
    )


def test_a_missing_table_is_damage_whatever_the_files_say(tmp_path: Path) -> None:
    store, key = filled(tmp_path)
    folder = next(store.root.glob("runs/??/*"))
    kept = json.loads((folder / "files.json").read_bytes())
    del kept["files"]["flows.parquet"]
    (folder / "files.json").write_text(json.dumps(kept, sort_keys=True, indent=1) + "\n")
    (folder / "flows.parquet").unlink()
    with pytest.raises(DamagedResult) as refused:
        store.get(key)
    assert str(refused.value).partition(": ")[2] == snapshot(
        "damaged result (files.json is not of this run); run it again to replace it"
    )


@pytest.mark.parametrize("name", ["run.json", "files.json", "flows.parquet"])
@pytest.mark.parametrize("content", [b"", b"5", b"[" * 5_000, b"{}\n", b'{"files": 5}\n', None])
def test_whatever_lies_there_instead_is_damage_and_replaced(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    store, key = filled(tmp_path)
    intact = files_of(store.root)
    file = next(store.root.rglob(name))
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    elif name != "run.json":  # without that, there is no result at all
        file.mkdir()
    if file.is_file() or name != "run.json":
        with pytest.raises(DamagedResult):
            store.get(key)
    filled(tmp_path)
    assert files_of(store.root) == intact


def test_neighbours_in_an_array_are_rendered_as_each_alone() -> None:
    values = [{"b": n, "a": ["x\n", 1e-7, -0.0, {}, [], [n] * (n % 7)]} for n in range(2_000)]
    values[1_000]["long"] = ["y" * 50_000, list(range(20_000))]
    content = {"of": values, "z": {"deep": values}, "a": 1}
    plain = json.dumps(content).encode()
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    in_files = json.dumps(content, sort_keys=True, indent=1).encode()
    for text in (plain, canonical, in_files):
        parts = rewriting.texts(text)
        assert b"".join(rewriting.CANONICAL.of(parts)) == canonical
        assert b"".join(rewriting.IN_FILES.of(parts)) == in_files
    for text in (canonical, in_files):
        parts = rewriting.texts(text)
        assert b"".join(rewriting.CANONICAL_AGAIN.of(parts)) == canonical
        assert b"".join(rewriting.IN_FILES_AGAIN.of(parts)) == in_files


def test_a_run_is_written_and_read_again_piece_by_piece() -> None:
    """As plain data, or as a list of all pieces, it would take many times its room."""
    data = json.loads(resolved({"flow.1.count": 20}).json)
    data["flows"] *= 100
    whole = canonical_json(data)
    texts = rewriting.texts(whole.encode())
    assert b"".join(rewriting.CANONICAL.of(texts)) == whole.encode()
    tracemalloc.start()
    size = sum(map(len, rewriting.IN_FILES.of(texts)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    written = b"".join(rewriting.IN_FILES.of(texts))
    assert written.decode() == json.dumps(data, sort_keys=True, indent=1)
    assert (size, peak < size / 2) == (len(written), True)
