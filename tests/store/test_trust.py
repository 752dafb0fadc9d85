"""Reading results or listing studies runs no code in them, as docs/trust.md states."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from inline_snapshot import snapshot

import small_study
from dumbbell.algorithms import apart, catalogue, own_algorithms
from dumbbell.base import documents
from dumbbell.base.errors import DamagedResult, InputError
from dumbbell.cli import commands
from dumbbell.conformance import starting
from dumbbell.contract.scenario import Scenario as Contract
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store import merging, thrift, upkeep
from dumbbell.store.store import Store
from dumbbell.study import experiment_names, files
from dumbbell.study.model import Study
from hostile_folders import forged_tables, put, put_table
from process_table import is_running

MARK = "ran"
BOOM = """extern int system(const char *command);
__attribute__((constructor)) static void boom(void) { if (system("touch MARK")) return; }
"""

STUDY = """
[study]
name = "evil"
title = "Evil"
authors = ["A"]
year = 2026
[[test]]
name = "both"
title = "Both"
axes = { algorithm = ["./evil.c@quick", "./evil.c@none-such"] }
[test.scenario]
duration = "2s"
record = { algorithm_state = true, interval = "100ms" }
network = { rate = "50mbit", rtt = "20ms", queue = "1bdp" }
flow = [{ algorithm = "{algorithm}", parameters = { whatever = 5 } }]
[[figure]]
name = "f"
title = "F"
section = "both"
kind = "histories"
quantities = ["cwnd_segs"]
[[figure.panel]]
title = "x"
test = "both"
where = { algorithm = "evil@quick" }
[[claim]]
id = "C01"
text = "It has a state."
source = "here"
expectation = "more than 1"
[[claim.check]]
type = "band"
test = "both"
quantity = "state:whatever[evil]"
low = 1
[[claim]]
id = "C02"
text = "It has parameters."
source = "here"
expectation = "5"
[[claim.check]]
type = "parameters"
[claim.check.presets]
"studies/evil/evil.c" = { whatever = 5 }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, of which nothing is known from earlier tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(own_algorithms, "_seen", {})
    return tmp_path


def evil(folder: Path, name: str = "evil") -> str:
    """Return a source that leaves a mark as soon as it is loaded."""
    return BOOM.replace("MARK", str(folder / MARK)) + starting.text(name)


def dumbbell(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["dumbbell", *arguments])
    with pytest.raises(SystemExit) as stopped:
        commands.main()
    return int(stopped.value.code or 0)


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "studies"),
        ("list", "figures"),
        ("claims", "evil"),
        ("report", "evil"),
        ("claims", "evil", "--json"),
    ],
)
def test_reading_a_study_of_others_runs_nothing_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    study = folder / "studies" / "evil"
    study.mkdir(parents=True)
    (study / "evil.c").write_text(evil(folder))
    (study / "study.toml").write_text(STUDY)
    monkeypatch.setattr(apart, "Child", None)  # no process could be started either
    # A report needs a run.
    assert dumbbell(monkeypatch, *arguments) == (2 if "report" in arguments else 0)
    assert not (folder / MARK).exists()


def test_pages_and_upkeep_of_results_run_nothing_of_the_studies_that_asked_for_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = folder / "studies" / "evil"
    study.mkdir(parents=True)
    (study / "evil.c").write_text(evil(folder))
    text = STUDY.replace(', "./evil.c@none-such"', "").replace("state:whatever", "state:min_rtt_us")
    (study / "study.toml").write_text(text.replace("whatever", "increase"))
    assert dumbbell(monkeypatch, "run", "evil") == 0
    (folder / MARK).unlink()
    for known in (folder / "cache", folder / "results" / "quantities"):
        shutil.rmtree(known, ignore_errors=True)
    own_algorithms._seen.clear()
    monkeypatch.setattr(apart, "Child", None)
    assert dumbbell(monkeypatch, "store", "size") == 0
    assert dumbbell(monkeypatch, "open", "--print") == 0
    capsys.readouterr()
    assert dumbbell(monkeypatch, "store", "prune", "--unasked") == 0
    assert capsys.readouterr().out == snapshot("nothing to remove\n")
    assert not (folder / MARK).exists()
    assert not (folder / "cache/dumbbell/algorithms").exists(), "an idle process described it"


def test_loading_is_done_by_another_process_and_remembered(folder: Path) -> None:
    (folder / "evil.c").write_text(evil(folder))
    with own_algorithms.nothing_runs():
        unknown = catalogue.read("./evil.c")
    assert (unknown.is_described, unknown.info) == (False, ())
    algorithm = catalogue.read("./evil.c")
    assert (folder / MARK).exists()
    assert algorithm.info == ("min_rtt_us", "reductions")
    assert (algorithm.source_hash, algorithm.identity) == (unknown.source_hash, unknown.identity)
    own_algorithms._seen.clear()
    (folder / MARK).unlink()
    with own_algorithms.nothing_runs():
        assert catalogue.read("./evil.c") == algorithm
    assert not (folder / MARK).exists()


@pytest.mark.parametrize(
    ("body", "patience_s", "message"),
    [
        (
            "__builtin_trap();",
            30.0,
            snapshot(
                "./boom.c: the process that loaded it ended by SIGNAL: something runs as soon as it is loaded, such as a constructor; valid: functions that nobody but the hooks calls"
            ),
        ),
        (
            "for (;;) ;",
            0.8,
            snapshot(
                "./boom.c: the process that loaded it has not ended after 0.8 s: something runs as soon as it is loaded, such as a constructor; valid: functions that nobody but the hooks calls"
            ),
        ),
    ],
)
def test_a_constructor_takes_nobody_down_but_its_own_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, body: str, patience_s: float, message: str
) -> None:
    monkeypatch.setattr(own_algorithms, "PATIENCE_S", patience_s)
    text = f"__attribute__((constructor)) static void boom(void) {{ {body} }}\n"
    (folder / "boom.c").write_text(text + starting.text("boom"))
    with pytest.raises(InputError) as caught:
        catalogue.read("./boom.c")
    # The signal depends on the processor.
    assert re.sub(r"SIG[A-Z]+ \([^)]*\)", "SIGNAL", str(caught.value)) == message


def test_a_name_that_is_built_in_is_refused_while_reading_too(folder: Path) -> None:
    (folder / "cubic.c").write_text("")
    with own_algorithms.nothing_runs(), pytest.raises(InputError, match="built in"):
        catalogue.read("./cubic.c")


def plain_run() -> ResolvedScenario:
    network = {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"}
    flow = [{"algorithm": "reno"}]
    return Scenario.parse({"duration": "1s", "network": network, "flow": flow}).resolve()


def rewritten(store: Store, run: ResolvedScenario, **changes: object) -> None:
    """Change the description of a stored run, with digests that fit."""
    folder = store.folder(run.key)
    content = json.loads((folder / "run.json").read_text())
    for key, value in changes.items():
        content[key] = {**content[key], **value} if isinstance(value, dict) else value
    put(folder, content, json.loads((folder / "files.json").read_text()))


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario": {"sources": {"reno": "@evil"}}},
        {"scenario": {"sources": {"evil": "@evil"}}},
        {"scenario": {"seed": 77}},
        {"engine": "simulator 0"},
        {"schema": 1},
    ],
)
def test_a_stored_run_that_is_not_what_its_key_says_is_damaged_and_run_again(
    folder: Path, changes: dict[str, object]
) -> None:
    store, run = Store(folder / "results"), plain_run()
    execute([run], store, SimulatorEngine())
    text = json.dumps(changes).replace('"@evil"', json.dumps(evil(folder)))
    rewritten(store, run, **json.loads(text))
    with pytest.raises(DamagedResult) as refused:
        store.get(run.key)
    assert str(refused.value).partition(": ")[2] == snapshot(
        "damaged result (its key is not that of what it holds); run it again to replace it"
    )
    outcome = execute([run], store, SimulatorEngine())
    assert len(outcome.done) == 1
    assert "damaged result" in outcome.warnings[0]
    assert store.get(run.key).scenario == run.scenario
    assert not (folder / MARK).exists()


def test_what_a_stored_source_exports_is_never_found_out_by_running_it(folder: Path) -> None:
    data = json.loads(plain_run().json)
    data["flows"][0]["transport"]["tcp"]["algorithm"] = "evil"
    data["sources"] = {"evil": evil(folder)}
    run = ResolvedScenario.of(data)
    assert isinstance(run.scenario, Contract)
    assert facts.state_column(run.scenario, "evil", "min_rtt_us") is None
    assert not facts.described(run.scenario, "evil").is_described
    assert not (folder / MARK).exists()


# Results folders of others


@pytest.fixture
def theirs(folder: Path) -> tuple[Store, ResolvedScenario]:
    """Return a results folder of somebody else with one run."""
    store, run = Store(folder / "theirs"), plain_run()
    execute([run], store, SimulatorEngine())
    return store, run


def everything(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("{key}", "{folder}/ran"),
        ("{key}", "../../../../ran"),
        ("{key}", "inner/run.json"),
        ("{key}", "NOTES.txt"),
        ("../../../ran", "run.json"),
        ("{folder}/ran", "run.json"),
        ("{upper}", "run.json"),
        ("{key}0", "run.json"),
        ("", "run.json"),
        ("\x1b[31m", "\x1b[31m"),
    ],
)
def test_nothing_of_a_pack_is_written_but_the_files_of_its_runs(
    folder: Path, theirs: tuple[Store, ResolvedScenario], key: str, name: str
) -> None:
    store, run = theirs
    whole = everything(store.root)
    file = upkeep.pack(store, lambda _: None).file
    assert file is not None
    names = {"key": run.key, "folder": str(folder), "upper": run.key.upper()}
    with closing(sqlite3.connect(file)) as pack, pack:
        row = (key.format(**names), name.format(**names), b"ours\n")
        pack.execute("insert into files values (?, ?, ?)", row)
    before = everything(folder)
    merged = merging.merge([Store(store.root)], Store(folder / "ours"))
    assert (merged.added, merged.damaged, len(merged.strangers)) == (1, [], 1)
    assert everything(folder) - before == {f"ours/{file}" for file in whole}


@pytest.mark.parametrize("table", ["../../../../ran", "/ran", "a/b", "run.json/x", "", "A"])
def test_a_run_names_no_table_outside_its_folder(
    theirs: tuple[Store, ResolvedScenario], table: str
) -> None:
    store, run = theirs
    rewritten(store, run, tables={table: {"rows": 1, "sha256": "0" * 64}})
    for read in (store.get, store.described, store.take):
        with pytest.raises(DamagedResult) as refused:
            read(run.key)
        problem = str(refused.value).partition(": ")[2].replace(repr(f"{table}.parquet"), "TABLE")
        assert problem == snapshot(
            "damaged result (TABLE is no file of a result); run it again to replace it"
        )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, str]:
    """Return a results folder with a run that has samples and events."""
    table = json.loads(json.dumps(RECORDED))
    run = Scenario.parse(table).resolve()
    store = Store(tmp_path_factory.mktemp("recorded"))
    execute([run], store, SimulatorEngine())
    return store, run.key


RECORDED = {
    "duration": "300ms",
    "network": {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"},
    "record": {"interval": "1ms"},
    "flow": [{"algorithm": "reno"}],
}


@pytest.mark.parametrize("forged", forged_tables())
def test_a_table_is_decoded_only_if_it_is_one_that_the_run_could_leave(
    folder: Path, recorded: tuple[Store, str], monkeypatch: pytest.MonkeyPatch, forged: str
) -> None:
    intact, key = recorded
    shutil.copytree(intact.root, folder / "theirs")
    store = Store(folder / "theirs")
    assert store.verify(key, contents=True).tables["flows"].rows > 200
    forge, problem = forged_tables()[forged]
    place = store.folder(key)
    put_table(place, "flows", forge(pl.read_parquet(place / "flows.parquet")))
    monkeypatch.setattr(pl, "read_parquet", None)  # nothing decodes it
    monkeypatch.setattr(pl, "scan_parquet", None)
    for read in (store.get, store.take):
        with pytest.raises(DamagedResult, match=rf"{key[:8]}.*flows\.parquet: .*{problem}"):
            read(key)


@pytest.mark.parametrize(
    ("table", "rows", "problem"),
    [
        ("flows", 10**12, "this scenario leaves 1 to 302"),
        ("queues", 605, "this scenario leaves 1 to 604"),
        ("events", 20_000_001, "leaves 1 to 20000000"),
        ("events", -1, "leaves 1 to"),
    ],
)
def test_a_run_says_of_no_table_that_it_has_more_rows_than_a_run_can_leave(
    folder: Path, recorded: tuple[Store, str], table: str, rows: int, problem: str
) -> None:
    shutil.copytree(recorded[0].root, folder / "theirs")
    store = Store(folder / "theirs")
    place = store.folder(recorded[1])
    put_table(place, table, (place / f"{table}.parquet").read_bytes(), rows)
    with pytest.raises(DamagedResult, match=rf"{table}\.parquet: {rows} rows, and .*{problem}"):
        store.get(recorded[1])


@pytest.mark.parametrize("content", [b"\x19\xfc\xff\xff\xff\xff\x0f", b"\x1c" * 5000, b"\xff" * 99])
def test_what_describes_itself_without_end_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"ends too soon|too deeply|64 bits|describes itself"):
        thrift.struct(content, 0)


EXPERIMENT = """
[study]
name = "{name}"
title = "Theirs"
authors = ["A"]
year = 2026
[[test]]
name = "t"
title = "T"
axes = {{ algorithm = ["{algorithm}"] }}
[test.scenario]
duration = "1s"
network = {{ rate = "10mbit", rtt = "20ms", queue = "1bdp" }}
flow = [{{ algorithm = "{{algorithm}}" }}]
"""


def their_experiment(results: Path, name: str, algorithm: str = "./evil.c") -> Path:
    """Write an experiment with a user-defined algorithm into a results folder of somebody else."""
    place = results / "experiments" / name
    place.mkdir(parents=True)
    (place / "evil.c").write_text(evil(results.parent))
    (place / "study.toml").write_text(EXPERIMENT.format(name=name, algorithm=algorithm))
    return place


@pytest.mark.parametrize("options", [("--dry-run",), ("--slurm", "2")])
def test_an_experiment_takes_the_place_of_no_study(
    folder: Path,
    theirs: tuple[Store, ResolvedScenario],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
) -> None:
    monkeypatch.setattr(files, "_PACKAGE", folder)
    small_study.write(folder / "studies" / "small-00000000")
    (folder / "results").symlink_to("theirs")
    their_experiment(theirs[0].root, "small-00000000")
    for results in ("theirs", "results"):
        assert dumbbell(monkeypatch, "run", "small-00000000", "--results", results, *options) == 0
    assert not (folder / MARK).exists()
    assert Study.load("small-00000000", Path("theirs")).header.year == 2024


@pytest.mark.parametrize("name", ["li2007", "mine-12345678", "x", "two-flows-0badc0de"])
def test_an_experiment_counts_only_under_a_name_that_says_what_it_is(
    folder: Path,
    theirs: tuple[Store, ResolvedScenario],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    monkeypatch.setattr(files, "_PACKAGE", folder)  # no study but theirs
    their_experiment(theirs[0].root, name)
    for command in ("run", "claims", "report"):
        assert dumbbell(monkeypatch, command, name, "--results", "theirs") == 2
    assert dumbbell(monkeypatch, "merge", "theirs", "--results", "ours") == 0
    assert f"left out: theirs/experiments/{name}: " in capsys.readouterr().err
    assert not (folder / "ours" / "experiments").exists()
    for reading in (("list", "runs"), ("list", "studies"), ("store", "size"), ("report", "--all")):
        assert dumbbell(monkeypatch, *reading, "--results", "theirs") == 0
    assert not (folder / MARK).exists()


def test_merging_brings_of_an_experiment_no_file_but_its_study(
    folder: Path, theirs: tuple[Store, ResolvedScenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = their_experiment(theirs[0].root, "x-00000000")
    tests = documents.read_toml(place / "study.toml")["test"]
    name = f"x-{experiment_names.digest(tests)}"
    (place / "study.toml").write_text(EXPERIMENT.format(name=name, algorithm="./evil.c"))
    place.rename(place.with_name(name))
    for reading in (("list", "runs"), ("claims", name), ("store", "size")):
        assert dumbbell(monkeypatch, *reading, "--results", "theirs") == 0
    assert dumbbell(monkeypatch, "merge", "theirs", "--results", "ours") == 0
    assert everything(folder / "ours" / "experiments") == {f"{name}/study.toml"}
    assert not (folder / MARK).exists()
    assert dumbbell(monkeypatch, "run", name, "--results", "ours") == 2


@pytest.mark.skipif(sys.platform != "linux", reason="reads a device that has no end")
def test_one_ctrl_c_ends_a_check_whatever_its_compiler_does(folder: Path) -> None:
    endless = '#define ENDLESS "/dev/zero"\n#include ENDLESS\n'
    (folder / "zero.c").write_text(endless + starting.text("zero"))
    check = subprocess.Popen(
        [sys.executable, "-m", "dumbbell.cli", "check", "./zero.c"],
        stderr=subprocess.DEVNULL,
    )
    compilers = wait_for_compilers()
    began_s = time.monotonic()
    check.send_signal(signal.SIGINT)
    assert check.wait() == 130
    assert time.monotonic() - began_s < 25  # The compiler alone may take 30 s.
    end_s = time.monotonic() + 60
    while any(is_running(pid) for pid in compilers) and time.monotonic() < end_s:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in compilers)


def wait_for_compilers() -> list[int]:
    """Return the processes that compile zero.c for a command that was started here."""
    end_s = time.monotonic() + 60
    while time.monotonic() < end_s:
        names = (entry.name for entry in Path("/proc").iterdir())
        compilers = [pid for pid in map(int, filter(str.isdecimal, names)) if compiles(pid)]
        if compilers:
            return compilers
        time.sleep(0.05)
    raise AssertionError("no compiler")


def compiles(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(word.endswith(b"/zero.c") for word in words) and b"check" not in words
