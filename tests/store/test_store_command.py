"""The upkeep of results folders: checked, packed, measured, pruned."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command, assert_refused, line
from dumbbell.base.errors import StoreError
from dumbbell.execution.executor import execute
from dumbbell.results.inventory import Inventory
from dumbbell.store import campaigns, upkeep
from dumbbell.store.store import Store
from sample_runs import QuickEngine, seeds


@pytest.fixture
def dumbbell(dumbbell: Command, tmp_path: Path) -> Command:
    small_study.write(tmp_path / "studies" / "small")
    assert dumbbell("run", "small", "--quick").code == 0
    return dumbbell


def folders() -> list[Path]:
    return sorted(Path("results/runs").glob("??/*/"))


def test_an_intact_folder_is_said_to_be(dumbbell: Command) -> None:
    output = dumbbell("store", "check", "--contents")
    assert (output.code, output.out) == (0, f"{len(folders())} results, 0 damaged\n")


def test_damage_is_named(dumbbell: Command) -> None:
    (folders()[0] / "run.json").write_text("{")
    output = dumbbell("store", "check")
    assert output.code == 1
    assert output.out == f"{len(folders())} results, 1 damaged\n"
    assert folders()[0].name in output.err


def test_what_is_packed_is_read_as_before(dumbbell: Command) -> None:
    before = dumbbell("claims", "small", "--json").json
    runs = len(folders())
    whole = {key: Store("results").take(key) for key in Store("results").keys()}  # noqa: SIM118
    output = dumbbell("store", "pack")
    assert output.out.startswith(f"{runs} results in results/packs/")
    assert list(Path("results/runs").iterdir()) == []
    assert {key: Store("results").take(key) for key in whole} == whole
    assert dumbbell("claims", "small", "--json").json == before
    assert dumbbell("store", "check", "--contents").out == f"{runs} results, 0 damaged\n"
    assert f"{runs} reused" in dumbbell("run", "small", "--quick").err
    assert dumbbell("store", "pack").out == snapshot("nothing to pack\n")
    assert dumbbell("merge", "results", "--results", "other").code == 0
    assert sorted(Store("other").loose()) == sorted(whole)


def test_a_result_that_is_damaged_in_a_pack_is_run_again(tmp_path: Path) -> None:
    store, runs, engine = Store(tmp_path), seeds(3), QuickEngine()
    execute(runs, store, engine)
    packed = upkeep.pack(store, lambda _: None)
    assert (packed.results, packed.damaged) == (3, [])
    assert packed.file is not None
    content = packed.file.read_bytes()
    frame = store.get(runs[0].key).scan("flows", named=False).collect()
    place = content.index(b"PAR1\x15")
    packed.file.write_bytes(content[: place + 5] + b"\xff" + content[place + 6 :])
    again = Store(tmp_path)
    damaged = upkeep.check(again, lambda _: None)
    assert len(damaged) == 1
    outcome = execute(runs, again, engine)
    assert (len(outcome.done), len(outcome.reused)) == (1, 2)
    assert upkeep.check(again, lambda _: None) == []
    assert upkeep.pack(again, lambda _: None).results == 1
    assert upkeep.check(Store(tmp_path), lambda _: None) == []
    assert Store(tmp_path).get(runs[0].key).scan("flows", named=False).collect().equals(frame)


def test_a_damaged_result_is_not_packed(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(3)
    execute(runs, store, QuickEngine())
    folder = store.folder(runs[1].key)
    (folder / "flows.parquet").write_bytes(b"")
    packed = upkeep.pack(store, lambda _: None)
    assert packed.results == 2
    assert str(folder) in packed.damaged[0]
    assert list(store.loose()) == [runs[1].key]


def test_a_pack_that_is_no_pack_is_said(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(1)
    execute(runs, store, QuickEngine())
    packed = upkeep.pack(store, lambda _: None)
    assert packed.file is not None
    packed.file.write_bytes(b"nothing")
    for use in (store.has, store.get, Store(tmp_path).has):
        with pytest.raises(StoreError, match=f"not a database.*{packed.file.name}"):
            use(runs[0].key)
    with pytest.raises(StoreError):
        list(Store(tmp_path).keys())


def test_tables_of_a_pack_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(1)
    execute(runs, store, QuickEngine())
    upkeep.pack(store, lambda _: None)
    run = store.get(runs[0].key)
    assert isinstance(run.scan("queues"), pl.LazyFrame)
    assert run.tables["queues"]["backlog_packets"].to_list() == [0, 0, 0]
    assert run.tables["events"].height == 0


def test_the_size_is_told_by_study(dumbbell: Command) -> None:
    printed = dumbbell("store", "size").out
    assert f" {len(folders())} " in line(printed, "small")
    assert line(printed, "no study").startswith("of no study ")


def test_pruning_says_first_and_removes_then(dumbbell: Command) -> None:
    runs = len(folders())
    (folders()[0] / "run.json").write_text("{")
    execute(seeds(2), Store("results"), QuickEngine())
    output = dumbbell("store", "prune")
    assert "1 results damaged" in output.out
    assert output.err == snapshot("Nothing was removed; --yes removes it.\n")
    assert len(folders()) == runs + 2
    assert output.out.count("results ") == 1, "only the damaged ones are meant"
    output = dumbbell("store", "prune", "--unasked", "--yes")
    assert line(output.out, "requested").split(",")[0] == snapshot("2 results not requested")
    assert len(folders()) == runs - 1
    assert dumbbell("store", "prune", "--unasked").out == snapshot("nothing to remove\n")


def test_results_of_an_earlier_simulator_may_go(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = [run.on("simulator 0") for run in seeds(2)]

    class Earlier(QuickEngine):
        @property
        def identity(self) -> str:
            return "simulator 0"

    execute(runs, store, Earlier())
    execute(seeds(1), store, QuickEngine())
    execute([run.on("testbed 1, Linux 5") for run in seeds(1)], store, QuickEngine())
    useless = list(upkeep.useless(store, QuickEngine().identity, None))
    assert {result.why for result in useless} == {"of simulator 0"}
    assert {result.key for result in useless} == {run.key for run in runs}
    upkeep.prune(store, useless)
    assert len(list(store.keys())) == 1


def test_what_is_no_results_folder_is_refused(dumbbell: Command) -> None:
    for command in ("check", "pack", "size", "prune"):
        assert_refused(dumbbell("store", command, "--results", "studies"))


def test_what_a_study_that_is_gone_may_ask_for_stays(dumbbell: Command) -> None:
    Path("results/studies/gone.json").write_text(json.dumps([{}]))
    (folders()[0] / "run.json").write_text("{")
    execute(seeds(2), Store("results"), QuickEngine())
    before = len(folders())
    output = dumbbell("store", "prune", "--unasked", "--yes")
    assert (output.code, len(folders())) == (0, before - 1)
    assert output.err == snapshot(
        'gone is not known here, so unused results stay; to have them removed, bring the study back or remove results/studies/gone.json: "gone": unknown study; valid: small, brakmo2017, kumazoe2012, li2007, lukaseder2016, mani2012\n'
    )
    output = dumbbell("store", "size")
    assert output.code == 0
    assert output.err == snapshot("""\
gone is not known here, its runs are of no study: "gone": unknown study; valid: \n\
small, brakmo2017, kumazoe2012, li2007, lukaseder2016, mani2012
""")
    Path("results/studies/gone.json").unlink()
    assert dumbbell("store", "prune", "--unasked").out.split(",")[0] == snapshot(
        "2 results not requested"
    )


def test_a_c_file_that_is_lost_stops_nothing(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("dumbbell.study.files._PACKAGE", tmp_path)
    assert dumbbell("new", "my_cc").code == 0
    network = 'network = { rate = "5mbit", rtt = "10ms", queue = "1bdp" }'
    flow = 'flow = [{ algorithm = "./my_cc.c" }]'
    Path("a.toml").write_text(f'duration = "1s"\n{network}\n{flow}\n')
    assert dumbbell("simulate", "a.toml").code == 0
    Path("my_cc.c").unlink()
    (copies,) = Path("results/experiments").glob("*/copies")
    shutil.rmtree(copies)
    assert "my_cc" in dumbbell("list", "runs").out
    for command in (("report", "--all"), ("store", "size"), ("store", "prune", "--unasked")):
        output = dumbbell(*command)
        assert output.code == 0, output.err
        assert "a-" in output.err
    assert len(list(Inventory(Store("results"), lambda *_: None).runs())) == len(folders())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('[{"runs": 1000000000}]', "1.runs: Input should be less than or equal to"),
        ('[{"runs": -1}]', "1.runs: Input should be greater than or equal to 1"),
        ('[{"runs": 400000}]', "runs are planned"),
        ("[" * 5000, "Invalid JSON"),
        ("[" + ",".join(["{}"] * 1001) + "]", "at most 1000"),
        (None, "not a regular file"),
    ],
)
def test_a_plan_that_is_none_is_named(dumbbell: Command, content: str | None, why: str) -> None:
    file = Path("results/studies/small.json")
    file.unlink()
    if content is None:
        os.mkfifo(file)
    else:
        file.write_text(content)
    output = dumbbell("claims", "small")
    assert_refused(output)
    assert why in output.err
    assert dumbbell("merge", "results", "--results", "other").code == 0


def test_a_log_without_a_zone_counts_not(dumbbell: Command) -> None:
    (file,) = Path("results/campaigns").iterdir()
    file.write_text(file.read_text().replace('Z"', '"'))
    os.mkfifo(file.with_name("queue.json"))
    assert campaigns.latest(Store("results")) is None
    output = dumbbell("merge", "results", "--results", "other")
    assert output.code == 1
    assert sorted(
        line.partition(": results/campaigns/")[0] for line in output.err.splitlines()
    ) == snapshot(
        ["6 results added to other, 0 were there", "damaged, left out", "damaged, left out"]
    )


def test_a_bit_that_flips_in_what_was_measured_is_found(dumbbell: Command) -> None:
    before = dumbbell("claims", "small", "--json").json
    files = sorted(Path("results/quantities").glob("??/*.json"))
    for file in files:
        content = file.read_bytes()
        place = content.index(b":0.") + 3
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    output = dumbbell("store", "check")
    assert output.code == 1
    assert line(output.err, f"{len(files)} files").removeprefix(f"{len(files)} ") == snapshot(
        "files of what was measured count as absent: it is taken again."
    )
    assert dumbbell("claims", "small", "--json").json == before
    assert dumbbell("store", "check").code == 0


def test_what_claims_leave_out_as_damaged_is_named(dumbbell: Command) -> None:
    assert dumbbell("claims", "small", "--json").json["damaged"] == []
    for folder in folders():
        (folder / "run.json").write_text("{")
    output = dumbbell("claims", "small")
    assert output.err.count("damaged result") == len(folders())
    for mode in ((), ("--over", "rtt"), ("--both-engines",)):
        output = dumbbell("claims", "small", "--json", *mode)
        if output.code == 0:
            assert len(output.json["damaged"]) == len(folders())
