"""A refusal of the system ends in one line with the place, the fault and the remedy, and code 2."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from inline_snapshot import snapshot

import measured_files
import passing_kernel
import short_checklist
from command_line import Command, Output
from dumbbell.base.errors import refusal
from passing_kernel import Kernel

SCENARIO: Final = """
duration = "1s"
network = { rate = "1mbit", rtt = "20ms", queue = "1bdp" }
flow = [{ algorithm = "reno" }]
"""

PATH: Final = ("--rate", "1mbit", "--rtt", "20ms", "--duration", "3s", "--runs", "1")
COMPETE: Final = ("compete", "reno", "bic", *PATH)
COMPARE: Final = ("compare", "reno", *PATH)
ADVISE: Final = ("advise", *PATH, "--among", "reno,bic", "--beside", "reno")
TUNE: Final = ("tune", "hybla", *PATH, "--candidates", "2")
HUNT: Final = ("hunt", "vegas", "--against", "reno", "--points", "2", "--duration", "2s")

CHECKLIST: Final = ("checklist", "reno", "--against", "reno", "--quick", "--at-most", "2")
VALIDATE: Final = ("validate", "a.toml", "--runs", "2")

RESULTS: Final[dict[str, tuple[str, ...]]] = {
    "simulate": ("simulate", "a.toml"),
    "compare": COMPARE,
    "sweep": (*COMPARE, "--buffer", "1bdp,2bdp"),
    "compete": COMPETE,
    "import": ("import", "measured.json", "--runs", "1"),
    "run": ("run", "study"),
    "fork": ("run", "study:fig2", "--set", "rtt=30ms", "--quick"),
    "advise": ADVISE,
    "tune": TUNE,
    "hunt": HUNT,
    "checklist": CHECKLIST,
    "validate": VALIDATE,
    "merge": ("merge", "results"),
    "claims": ("claims", "study"),
    "report": ("report", "study"),
    "open": ("open", "small", "--print"),
    "list": ("list", "runs"),
    "pack": ("store", "pack"),
    "check": ("store", "check"),
    "size": ("store", "size"),
    "prune": ("store", "prune", "--unasked", "--yes"),
    "serve": ("serve", "--port", "0"),
}
"""Commands that use a results folder."""

OUTPUT: Final[dict[str, tuple[str, ...]]] = {
    "report": ("report", "study", "--output", "{}"),
    "open": ("open", "small", "--print", "--output", "{}"),
    "simulate": ("simulate", "a.toml", "--report", "{}"),
    "tables": ("simulate", "a.toml", "--tables", "{}/a.csv"),
    "parquet": ("simulate", "a.toml", "--tables", "{}/a.parquet"),
    "pcap": ("simulate", "a.toml", "--pcap", "{}/a"),
    "figure": (*COMPARE, "--figure", "{}/a.svg"),
    "markdown": ("claims", "study", "--markdown", "{}/a.md"),
    "baseline": ("claims", "study", "--save-baseline", "{}/a.json"),
    "page": (*CHECKLIST, "--page", "{}/a.html"),
    "overlay": (*VALIDATE, "--page", "{}/a.html"),
    "scenario": ("import", "measured.json", "--fit-only", "--scenario", "{}/a.toml"),
}
"""Commands that write elsewhere."""

BEFORE: Final = {
    "simulate": ("simulate", "a.toml"),
    "compare": COMPARE,
    "checklist": CHECKLIST,
    "validate": VALIDATE,
}
"""Commands that must run before these, so that these write one file only."""

NOWHERE: Final = "/proc/nothing"
"""Can be read, as what has not been made yet, but not be made."""

PLACES: Final = ["file", "file/below", "x" * 300, "loop", "loop/below", NOWHERE]


@pytest.fixture
def dumbbell(
    dumbbell: Command,
    tmp_path: Path,
    small_folder: Path,
    undrawn: None,
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    """Run the command in a folder that has what commands read, and places that are none."""
    del undrawn
    short_checklist.installed(monkeypatch)
    passing_kernel.installed(Kernel(), monkeypatch)
    (tmp_path / "a.toml").write_text(SCENARIO)
    measured_files.written(tmp_path, measured_files.iperf3())
    (tmp_path / "study").symlink_to(small_folder / "study")
    # A copy: other tests count the runs of the original. Linked, as no file of it is written again.
    shutil.copytree(small_folder / "results", tmp_path / "results", copy_function=os.link)
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/small").symlink_to(small_folder / "study")
    (tmp_path / "file").write_text("nothing")
    (tmp_path / "loop").symlink_to("loop")
    return dumbbell


def assert_told(output: Output, place: str) -> None:
    """Check that the output ends with one error that names the place."""
    assert output.code == 2, output
    error = output.err[output.err.index("error: ") :]
    assert error.count("\n") == 1, error
    assert place[:60] in error
    assert "Traceback" not in output.err


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (name, place)
        for name in RESULTS
        for place in PLACES
        if name not in {"claims", "report", "open", "list"} or place != NOWHERE
    ],
)
def test_a_results_folder_that_cannot_be(dumbbell: Command, name: str, place: str) -> None:
    output = dumbbell(*RESULTS[name], "--results", place)
    assert_told(output, place)


@pytest.mark.parametrize("place", ["file/below", "x" * 300])
@pytest.mark.parametrize("name", OUTPUT)
def test_a_place_for_output_that_cannot_be(dumbbell: Command, name: str, place: str) -> None:
    output = dumbbell(*(word.format(place) for word in OUTPUT[name]))
    assert_told(output, place)


@pytest.mark.parametrize("command", [COMPARE, ADVISE])
@pytest.mark.parametrize("place", ["none/a.svg", "folder.svg"])
def test_a_place_for_a_figure_that_cannot_be_is_refused_before_anything_runs(
    dumbbell: Command, command: tuple[str, ...], place: str
) -> None:
    Path("folder.svg").mkdir()
    output = dumbbell(*command, "--results", "new", "--figure", place)
    assert_told(output, place.partition("/")[0])
    assert output.err.startswith("error: --figure: ")
    assert not Path("new").exists()


WRITING: Final = [
    "simulate",
    "compare",
    "compete",
    "sweep",
    "import",
    "run",
    "fork",
    "advise",
    "tune",
    "hunt",
    "checklist",
    "validate",
    "merge",
]


@contextmanager
def small_files(size_bytes: int) -> Iterator[None]:
    """Let no file grow beyond a size, which even root is refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", [*WRITING, "pack"])
@pytest.mark.parametrize("size_bytes", [0, 1500])
def test_results_that_cannot_be_written(
    dumbbell: Command, small_folder: Path, tmp_path: Path, name: str, size_bytes: int
) -> None:
    """With 1500 bytes the first files fit, as where a disk gets full by and by."""
    folder = tmp_path / "new"
    if name == "pack":
        shutil.copytree(small_folder / "results", folder)
    with small_files(size_bytes):
        output = dumbbell(*RESULTS[name], "--results", "new")
    assert_told(output, "new")


@pytest.mark.parametrize("name", OUTPUT)
def test_output_that_cannot_be_written(dumbbell: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / "new").mkdir()
    arguments = [word.format("new") for word in OUTPUT[name]]
    if (before := BEFORE.get(arguments[0])) is not None:  # so that they write nothing else
        dumbbell(*before)
    with small_files(0):
        output = dumbbell(*arguments)
    assert_told(output, "new")


@pytest.mark.parametrize("name", [*WRITING, "report"])
@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC])
def test_a_folder_of_others_or_that_can_only_be_read_or_is_full(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    """As root cannot be refused by permissions, the system's answers are put in their place."""

    def refused(path: Any, *_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(os, "mkdir", refused)
    option = "--output" if name == "report" else "--results"
    output = dumbbell(*RESULTS[name], option, "new/folder")
    assert_told(output, "new/folder")
    assert os.strerror(number) in output.err


def test_every_answer_of_the_system_has_a_way_out() -> None:
    for number in errno.errorcode:
        message = str(refusal(OSError(number, os.strerror(number), "a/b"), "write it", "a"))
        assert message.startswith(f"a: cannot write it: {os.strerror(number)} (a/b); ")
    # As `os.getcwd` fails where the current folder is gone.
    gone = str(refusal(OSError(errno.ENOENT, os.strerror(errno.ENOENT))))
    assert gone.startswith("the current folder: ")
    several = refusal(shutil.Error([("a", "b", "refused")]), "copy it", "a")
    assert str(several) == snapshot(
        "a: cannot copy it: [('a', 'b', 'refused')]; remove the cause and try again"
    )
