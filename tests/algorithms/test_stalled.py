"""User-defined algorithms whose callbacks never return: what ends is their run, with a reason.

Limits are of processor time, so these tests pass on a machine that is however busy.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Any

import pytest

import dumbbell
import dumbbell.gym
import process_table
import short_checklist
from command_line import Command
from dumbbell.algorithms import apart, catalogue
from dumbbell.base.errors import BroughtDown, DumbbellError
from dumbbell.conformance import behaviour, starting
from dumbbell.engines.engine import Output, SimulatorEngine
from dumbbell.scenario.model import Scenario
from dumbbell.store.store import Store

LIMIT_S = 0.2
INIT = "	state->min_rtt_us = CC_NO_RTT;"
CONG_AVOID = "	cc_additive_increase("
HOOKS = {"init": INIT, "cong_avoid": "	if (!cc_may_grow(conn))"}
LOOP = "	for (;;)\n\t\t;\n"
REASON = (
    f"the process that ran loop took {LIMIT_S} s of processor time after ",
    " s of its run and came no further, as if a loop in a callback had no end; "
    "to find where: dumbbell check ./loop.c",
)
NETWORK: dict[str, Any] = {"rate": "50mbit", "rtt": "20ms", "queue": "1bdp"}

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder, with new children and a short limit; return their temporary folder."""
    apart._idle.close()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(apart, "STALLED_S", LIMIT_S)
    return scratch


@pytest.fixture(params=list(HOOKS))
def loop(request: pytest.FixtureRequest) -> None:
    """Have a file ``loop.c`` whose callback never returns."""
    write(HOOKS[request.param], LOOP)


@pytest.fixture
def late_loop() -> None:
    """Have such a file whose runs begin, for what treats all hooks alike."""
    write(HOOKS["cong_avoid"], LOOP)


def write(before: str, added: str) -> None:
    text = starting.text("loop")
    assert text.count(before) == 1
    Path("loop.c").write_text(text.replace(before, added + before))


def assert_told(message: str) -> None:
    for part in REASON:
        assert part in message


def assert_nothing_is_left(scratch: Path) -> None:
    """Look for files, and for processes that have the temporary folder."""
    apart._idle.close()
    assert [file for file in scratch.rglob("*") if not file.is_dir()] == []
    assert list(scratch.rglob("work-*")) == []
    if sys.platform == "linux":
        assert not process_table.with_temporary_folder(scratch)


@pytest.mark.usefixtures("loop")
def test_a_comparison_names_it_and_keeps_the_others(
    dumbbell: Command, tmp_path: Path, scratch: Path
) -> None:
    path = ["--rate", "50mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "1", "--flows", "1"]
    output = dumbbell("compare", "./loop.c", "cubic", *path)
    assert output.code == 1
    assert_told(output.err)
    assert len(list(Store(tmp_path / "results").keys())) == 1
    assert_nothing_is_left(scratch)


@pytest.mark.usefixtures("late_loop")
def test_a_hunt_names_it(scratch: Path) -> None:
    with pytest.raises(DumbbellError, match="ordinary path") as caught:
        dumbbell.hunt("./loop.c", against="cubic", points=2, runs=2, duration="2s", jobs=1)
    assert_told(str(caught.value))
    assert_nothing_is_left(scratch)


@pytest.mark.usefixtures("late_loop")
def test_a_quick_checklist_names_it(monkeypatch: pytest.MonkeyPatch, scratch: Path) -> None:
    short_checklist.installed(monkeypatch)
    with pytest.raises(DumbbellError) as caught:
        dumbbell.checklist("./loop.c", against="reno", quick=True, at_most=2, jobs=2)
    assert_told(str(caught.value))
    assert_nothing_is_left(scratch)


@pytest.mark.usefixtures("late_loop")
def test_the_library_names_it(scratch: Path) -> None:
    with pytest.raises(DumbbellError) as caught:
        dumbbell.compare("./loop.c", rate="50mbit", rtt="20ms", duration="2s", runs=1, flows=1)
    assert_told(str(caught.value))
    assert_nothing_is_left(scratch)


@pytest.mark.usefixtures("loop")
def test_an_environment_names_it_before_it_loads_it(scratch: Path) -> None:
    flows = [{"algorithm": "cubic"}, {"algorithm": "./loop.c"}]
    paths = {"duration": "2s", "network": NETWORK, "flow": flows}
    with pytest.raises(BroughtDown) as caught:
        dumbbell.gym.PathEnv(paths=paths).reset(seed=1)
    assert_told(str(caught.value))
    assert_nothing_is_left(scratch)


@pytest.mark.usefixtures("loop")
def test_a_check_names_it() -> None:
    (row,) = behaviour.rows(catalogue.read("./loop.c"))
    assert f"took {LIMIT_S} s of processor" in row.message


def run() -> Output:
    table = {"duration": "2s", "network": NETWORK, "flow": [{"algorithm": "./loop.c"}]}
    return SimulatorEngine().run(Scenario.parse(table).resolve())


def test_a_callback_that_only_waits_takes_no_processor_time() -> None:
    write(CONG_AVOID, "	if (!state->reductions++)\n		usleep(2000000);\n")
    text = Path("loop.c").read_text()
    registration = "CC_PARAMS(loop);"
    assert registration in text
    declared = f"{registration}\nextern int usleep(unsigned usec);"
    Path("loop.c").write_text(text.replace(registration, declared))
    assert run().summary.packets > 0


def test_a_run_that_comes_further_may_take_any_time() -> None:
    write(CONG_AVOID, "	for (volatile u32 spent = 0; spent < 200000; spent++)\n\t\t;\n")
    used_s = children_s()
    assert run().summary.packets > 0
    apart._idle.close()
    assert children_s() - used_s > LIMIT_S


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@linux
def test_the_system_ends_a_child_before_others_if_memory_runs_out() -> None:
    apart.ask("load_algorithm", "loop", starting.text("loop"), "loop.c")
    child = apart._idle.take()
    assert Path(f"/proc/{child._process.pid}/oom_score_adj").read_text() == "1000\n"
    apart._idle.put(child)
