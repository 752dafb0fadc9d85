"""Starting: small commands import little, and Ctrl-C is answered from the first moment on."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dumbbell
from command_line import caller
from dumbbell import api
from dumbbell.study import files

HEAVY = {
    *("altair", "jinja2", "msgspec", "numpy", "polars", "scipy", "vl_convert"),
    *("dumbbell.figures", "dumbbell.reports", "dumbbell.results", "dumbbell.scenario.model"),
    "dumbbell.study.model",
}
"""Modules that take more than a tenth of a second to import, with their own imports."""

IMPORTED = """
import atexit, sys
atexit.register(lambda: print("\\n".join(sys.modules), file=open("modules", "w")))
sys.argv = ["dumbbell", *{arguments}]
from dumbbell.cli.start import main
main()
"""


def modules(folder: Path, code: str) -> set[str]:
    """Return what a program has imported when it ends."""
    subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=False)
    return set((folder / "modules").read_text().split())


NO_ENGINE = (("--help",), ("list", "studies"), ("run",))
LITTLE = (
    *NO_ENGINE,
    (),
    ("run", "--help"),
    ("list", "figures"),
    ("list", "algorithms"),
    ("list", "stacks"),
    ("open", "--help"),
    ("simulate", "--help"),
    ("doctor",),
    ("algorithms", "show", "reno"),
    ("rnu",),
    ("run", "li2007", "--jbs"),
    ("run", "li2007", "--jobs", "0"),
    ("report",),
    ("compare", "reno"),
)

ONE_AFTER_THE_OTHER = """
import contextlib, json, sys
from dumbbell.cli.start import main
imported = []
for arguments in {commands}:
    before = set(sys.modules)
    sys.argv = ["dumbbell", *arguments]
    with contextlib.suppress(SystemExit):
        main()
    imported.append(sorted(set(sys.modules) - before))
json.dump(imported, open("imported.json", "w"))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], set[str]]:
    """Return what each command imports that leaves nothing behind.

    They share a process: a module counts for the first command that imports it, so those that need
    no engine come first.
    """
    folder = tmp_path_factory.mktemp("imported")
    code = ONE_AFTER_THE_OTHER.format(commands=LITTLE)
    subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=True)
    imported = json.loads((folder / "imported.json").read_text())
    return dict(zip(LITTLE, map(set, imported), strict=True))


def test_the_commands_run(imported: dict[tuple[str, ...], set[str]]) -> None:
    assert "dumbbell.cli.commands" in imported["--help",]
    assert "dumbbell._core" in set().union(*imported.values())


@pytest.mark.parametrize("arguments", LITTLE, ids=" ".join)
def test_what_says_little_imports_little(
    imported: dict[tuple[str, ...], set[str]], arguments: tuple[str, ...]
) -> None:
    assert not imported[arguments] & HEAVY


@pytest.mark.parametrize("arguments", NO_ENGINE, ids=" ".join)
def test_help_and_studies_need_no_engine(
    imported: dict[tuple[str, ...], set[str]], arguments: tuple[str, ...]
) -> None:
    assert not imported[arguments] & {
        "dumbbell._core",
        "dumbbell.algorithms.catalogue",
        "dumbbell.base.validation",
    }


def test_what_runs_imports_no_search_and_no_library(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        'duration = "1s"\n[network]\nrate = "1mbit"\nrtt = "20ms"\nqueue = "1bdp"\n'
        '[[flow]]\nalgorithm = "reno"\n'
    )
    imported = modules(tmp_path, IMPORTED.format(arguments=["simulate", "a.toml"]))
    assert (tmp_path / "results").is_dir()
    assert not imported & {"scipy.stats", "dumbbell.api"}


PAIR = ["compare", "reno", "vegas", "--rate", "5mbit", "--rtt", "20ms", "--duration", "2s"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a comparison that ran."""
    folder = tmp_path_factory.mktemp("compared")
    modules(folder, IMPORTED.format(arguments=[*PAIR, "--runs", "2"]))
    assert (folder / "results" / "answers").is_dir()
    return folder


def test_a_repeated_comparison_imports_little(compared: Path) -> None:
    """Its table is kept. It reads no study, resolves no scenario and takes no quantity."""
    imported = modules(compared, IMPORTED.format(arguments=[*PAIR, "--runs", "2"]))
    assert "dumbbell.store.answers" in imported
    assert not imported & HEAVY


@pytest.fixture
def without_answers(compared: Path, tmp_path: Path) -> Path:
    """Return a folder with the runs of the comparison, but not its table."""
    shutil.copytree(compared / "results", tmp_path / "results")
    shutil.rmtree(tmp_path / "results" / "answers")
    return tmp_path


def test_a_comparison_of_stored_runs_imports_what_it_shows(without_answers: Path) -> None:
    """It draws and renders nothing, and single runs have no interval."""
    imported = modules(without_answers, IMPORTED.format(arguments=[*PAIR, "--runs", "1"]))
    assert "dumbbell.experiments.compare" in imported
    assert not imported & {"altair", "jinja2", "scipy"}


@pytest.mark.parametrize("module", sorted(HEAVY))
def test_what_is_heavy_is_there(module: str) -> None:
    """A renamed module would be missing in every command."""
    assert importlib.util.find_spec(module) is not None


def test_the_package_alone_imports_nothing(tmp_path: Path) -> None:
    code = 'import sys, dumbbell; print("\\n".join(sys.modules), file=open("modules", "w"))'
    imported = modules(tmp_path, code)
    assert {name for name in imported if name.startswith("dumbbell.")} == set()
    assert not imported & {*HEAVY, "pydantic", "rich", "typer"}


def test_every_public_name_is_there_when_it_is_asked_for() -> None:
    assert dumbbell.__all__ == api.__all__, "it stands twice, as type checkers read it as text"
    for name in dumbbell.__all__:
        assert getattr(dumbbell, name).__name__ == name
    assert set(dumbbell.__all__) <= set(dir(dumbbell))
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = dumbbell.simulat


STOP = "import os, signal, weakref\nos.kill(os.getpid(), signal.SIGINT)\n"
"""A module during whose import Ctrl-C is pressed."""

SWALLOWED = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass
except BaseException:
    pass
"""

ANOTHER_ERROR = """
import os, signal
class Name:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass
class Owner:
    name = Name()
"""
"""Python 3.11 makes a RuntimeError of what `__set_name__` raises."""

NOTICED_ONLY = """
import os, signal
class Ending:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass
Ending()
"""
"""Nothing can be raised out of `__del__`: Python prints a traceback and continues."""


PRESSED = """
import hashlib, os, signal, threading, time
from dumbbell.cli import start
signal.signal(signal.SIGINT, start._interrupt)
start.watch()
threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
"""

LONG_STEP = 'hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)'
"""One step of Python without its lock, as drawing a figure is; of a quarter of an hour."""

WAITS_FOR_A_LONG_STEP = f"""
worker = threading.Thread(target=lambda: {LONG_STEP}, daemon=True)
worker.start()
start._DEAF_WALL_S = float("inf")
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
time.sleep(1000)
"""
"""The same in another thread, for which the main one waits where no signal ends the wait."""


MEASURES_LATENESS = """
from dumbbell.engines import lateness
try:
    lateness.measured(1e6)
except KeyboardInterrupt:
    start.leave(start.STOPPED)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the testbed's")
def test_ctrl_c_does_not_wait_until_the_lateness_is_measured() -> None:
    code = PRESSED + MEASURES_LATENESS
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=300).returncode == 130


@pytest.mark.parametrize(
    ("step", "last"),
    [
        (LONG_STEP, "stopped by Ctrl-C\n"),
        (WAITS_FOR_A_LONG_STEP, "stopped by Ctrl-C\n"),
        ("time.sleep(1000)", "KeyboardInterrupt\n"),
    ],
    ids=["a long step", "a wait for one", "no long step"],
)
def test_ctrl_c_ends_a_long_step_and_is_left_to_others(step: str, last: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRESSED + step],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stderr.endswith(last)


@pytest.mark.parametrize(
    ("module", "moment"),
    [
        *(("pydantic", moment) for moment in (STOP, SWALLOWED, ANOTHER_ERROR, NOTICED_ONLY)),
        *((module, STOP) for module in ("polars", "typer")),
    ],
)
def test_ctrl_c_while_modules_are_imported_is_one_line(
    tmp_path: Path, module: str, moment: str
) -> None:
    (tmp_path / f"{module}.py").write_text(moment)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "dumbbell.cli", "claims", "li2007"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped by Ctrl-C\n")


ENDED = """
import atexit, os, sys
from dumbbell.cli import start
press = lambda kill=os.kill, pid=os.getpid(): kill(pid, 2)
"""


@pytest.mark.parametrize(
    "moment",
    ["atexit.register(press)", "last = type('Last', (), {'__del__': lambda _: press()})()"],
    ids=["what is left to do", "modules are cleared"],
)
def test_ctrl_c_after_the_end_of_a_command_changes_nothing(moment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{ENDED}{moment}\nstart.main()", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "dumbbell" in done.stdout.lower()


def test_ctrl_c_before_anything_runs_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "find", interrupted)
    for arguments in (["run", "li2007"], ["list", "studies"], ["report", "--all"]):
        output = caller(monkeypatch, capsys)(*arguments)
        assert (output.code, output.out, output.err) == (130, "", "stopped by Ctrl-C\n")


def test_a_command_that_was_started_deaf_to_ctrl_c_stays_so(tmp_path: Path) -> None:
    """As in a shell's background, or under nohup."""
    (tmp_path / "tomllib.py").write_text(STOP)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "dumbbell.cli", "doctor", "--help"],
        env={**os.environ, "PYTHONPATH": path},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
