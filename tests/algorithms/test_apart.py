"""User-defined algorithms that end their process, never end, or print."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import short_checklist
from command_line import caller
from dumbbell import _core
from dumbbell.algorithms import apart, catalogue
from dumbbell.base.errors import BroughtDown, Cancelled, DumbbellError
from dumbbell.cli import commands
from dumbbell.conformance import behaviour, fuzzing, probe, starting
from dumbbell.conformance.verdicts import Verdict
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.experiments.compare import compare
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.failures import failures
from dumbbell.store.store import Store
from process_table import is_running
from sample_runs import plain

GROWS = "conn->cwnd_segs / params->increase"
NO_RESULT = "conn->cwnd_segs / (params->increase - params->increase * (acked > 0))"
REDUCES = "	state->reductions++;"
PATH: dict[str, Any] = {"rate": "50mbit", "rtt": "20ms", "duration": "2s", "flows": 1}


traps = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64", "i686"),
    reason="other processors return 0 for a division by zero",
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, old: str = "", new: str = "") -> None:
    """Write an algorithm with a part of it replaced."""
    text = starting.text(name)
    assert old in text
    Path(f"{name}.c").write_text(text.replace(old, new) if old else text)


def scenario(name: str, seed: int = 1) -> ResolvedScenario:
    flow = {"algorithm": f"./{name}.c"}
    network = {"rate": "50mbit", "rtt": "20ms", "queue": "1bdp"}
    return Scenario.parse(
        {"duration": "2s", "seed": seed, "network": network, "flow": [flow]}
    ).resolve()


def assert_told(message: str, name: str = "wrong") -> None:
    assert f"the process that ran {name} ended by SIGFPE (a division by zero" in message
    assert f"dumbbell check ./{name}.c" in message


@traps
def test_a_division_by_zero_ends_the_comparison_with_its_reason() -> None:
    write("wrong", GROWS, NO_RESULT)
    with pytest.raises(DumbbellError) as caught:
        compare(["./wrong.c", "cubic"], **PATH, runs=2, jobs=1)
    message = str(caught.value)
    assert message == snapshot(
        "a run failed: compare (algorithm = wrong), repetition 1: the process that ran wrong ended by SIGFPE (a division by zero, or another that has no result); to find where: dumbbell check ./wrong.c"
    )
    assert_told(message)
    write("wrong")
    assert compare(["./wrong.c", "cubic"], **PATH, runs=2, jobs=1).means.height > 0


@traps
def test_the_command_says_it_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write("wrong", GROWS, NO_RESULT)
    path = ["--rate", "50mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "1"]
    Path("wrong.toml").write_text(
        'duration = "2s"\n[network]\nrate = "50mbit"\nrtt = "20ms"\nqueue = "1bdp"\n'
        '[[flow]]\nalgorithm = "./wrong.c"\n'
    )
    for arguments in (["compare", "./wrong.c", *path], ["simulate", "wrong.toml"]):
        monkeypatch.setattr(sys, "argv", ["dumbbell", *arguments])
        with pytest.raises(SystemExit) as stopped:
            commands.main()
        printed = capsys.readouterr()
        assert (stopped.value.code, printed.out) == (1, "")
        assert_told(printed.err)


def test_a_window_of_zero_does_not_stop_the_simulator() -> None:
    write("zero", f"cc_additive_increase(conn, {GROWS}, acked)", "conn->cwnd_segs = 0")
    table = {
        "duration": "5s",
        "network": {
            "rate": "20mbit",
            "rtt": "20ms",
            "queue": "20p",
            "loss": [{"place": "receiver", "probability": 0.01}],
        },
        "flow": [{"algorithm": "./zero.c"}],
    }
    for seed in range(1, 9):
        assert SimulatorEngine().run(Scenario.parse({**table, "seed": seed}).resolve()).summary


@traps
@pytest.mark.parametrize(
    "arguments",
    [
        "simulate access-link --set algorithm=./wrong.c --duration 2s --runs 9",
        "compare ./wrong.c reno --rate 20mbit --rtt 20ms --duration 2s --runs 9",
        "compete ./wrong.c reno --rate 20mbit --rtt 20ms --duration 2s --runs 9",
        "checklist ./wrong.c --quick",
        "advise --rate 20mbit --rtt 20ms --duration 2s --runs 9 --among ./wrong.c,reno",
        "tune ./wrong.c --rate 20mbit,30mbit --rtt 20ms --duration 2s --parameter increase",
    ],
)
def test_what_needs_every_run_ends_with_the_first_that_is_brought_down(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: str,
) -> None:
    write("wrong", GROWS, NO_RESULT)
    short_checklist.installed(monkeypatch)
    done = caller(monkeypatch, capsys)(*arguments.split(), "--jobs", "1")
    assert (done.code, done.out) == (1, "")
    assert_told(done.err)
    (failure,) = (folder / "results" / "failures").iterdir()
    assert json.loads(failure.read_text())["place"] is not None


@traps
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_campaign_records_it_and_goes_on(folder: Path, jobs: int) -> None:
    write("wrong", GROWS, NO_RESULT)
    write("right")
    store = Store(folder / "results")
    wrong = [scenario("wrong", seed) for seed in (1, 2)]
    right = [scenario("right", seed) for seed in (1, 2)]
    runs = [wrong[0], right[0], wrong[1], right[1]]
    outcome = execute(runs, store, SimulatorEngine(), jobs)
    assert {run.key for run in outcome.done} == {run.key for run in right}
    recorded = failures(store, [run.key for run in runs])
    assert list(recorded) == [run.key for run in wrong]
    for failure in recorded.values():
        assert (failure.error, failure.traceback) == ("BroughtDown", None)
        assert failure.run.startswith("wrong, seed ")
        assert_told(failure.message)


def test_a_run_apart_is_the_same_to_the_byte() -> None:
    write("right")
    run = scenario("right")
    here = _core.simulate(run.json)
    for _ in range(2):
        there = apart.simulate(run.json)
        assert there.summary == here.summary
        assert there.tables == here.tables
        assert there.captures is None


def test_captures_come_back_too() -> None:
    write("right")
    data = plain(scenario("right"))
    data["record"]["capture"] = True
    run = ResolvedScenario.of(data)
    captures = SimulatorEngine().run(run).captures
    here = _core.simulate(run.json).captures
    assert here is not None
    assert captures == tuple(here)


def test_what_the_core_refuses_is_refused_as_ever() -> None:
    write("right")
    run = scenario("right")
    with pytest.raises(_core.ScenarioError) as caught:
        apart.simulate(run.json.replace('"duration_ns":2000000000', '"duration_ns":0'))
    assert caught.value.args[0] == "duration_ns"
    with pytest.raises(_core.ScenarioError, match="nothing") as refused:
        apart.simulate(run.json.replace("return cc_half_window(conn);", "return nothing;"))
    assert refused.value.args[0] == "sources.right"


def test_what_an_algorithm_prints_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    write("talks", REDUCES, f'{REDUCES}\n\t__builtin_puts("reduced");')
    assert SimulatorEngine().run(scenario("talks")).summary.packets > 0
    assert "reduced" not in capfd.readouterr().out


def test_one_that_never_ends_can_be_cancelled() -> None:
    write("endless", REDUCES, f"{REDUCES}\n\tfor (;;)\n\t\t;")
    run, token = scenario("endless"), CancelToken()
    timer = threading.Timer(0.2, token.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        SimulatorEngine().run(run, token)
    with pytest.raises(Cancelled):
        SimulatorEngine().run(run, token)


def test_a_check_gives_up_on_one_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PATIENCE_S", 0.3)
    # The fuzzer waits for its alarm, which is due in 5 s.
    sooner = "extern unsigned alarm(unsigned);\n\talarm(1);"
    write("endless", REDUCES, f"{REDUCES}\n\t{sooner}\n\tfor (;;)\n\t\t;")
    algorithm = catalogue.read("./endless.c")
    (row,) = behaviour.rows(algorithm)
    assert row.message == snapshot("a simulation has not ended after 0.3 s")
    first, *others = fuzzing.rows("endless", algorithm.code)
    assert first.verdict is Verdict.FAILED
    assert first.message == snapshot("ssthresh does not end")
    assert first.remedy == fuzzing.ENDLESS
    assert [row.verdict for row in others] == [Verdict.NOT_CHECKED] * 2


@pytest.fixture
def endless_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let children compile for ever, unless they are cancelled."""
    apart._idle.close()
    compiler = folder / "compiler"
    compiler.write_text("#!/bin/sh\nexec sleep 1000000\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))


def test_a_check_gives_up_however_early_its_patience_ends(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(probe, "PATIENCE_S", 0.3)
    write("right")
    algorithm = catalogue.read("./right.c")
    request.getfixturevalue("endless_compiler")
    (row,) = behaviour.rows(algorithm)
    assert row.message == snapshot("a simulation has not ended after 0.3 s")


@pytest.mark.usefixtures("endless_compiler")
def test_a_question_that_takes_too_long_is_given_up_while_it_compiles() -> None:
    with pytest.raises(apart.TooLong):
        apart.ask("load_algorithm", "right", starting.text("right"), "right.c", patience_s=0.5)


def test_a_process_that_died_while_it_waited_is_replaced() -> None:
    write("right")
    run = scenario("right")
    first = apart.simulate(run.json)
    waiting = apart._idle.take()
    waiting.kill()
    waiting._process.wait()
    apart._idle.put(waiting)
    assert apart.simulate(run.json).summary == first.summary


GROUP = Path("/proc/self/autogroup")


@pytest.mark.skipif(
    not GROUP.exists() or os.geteuid() != 0, reason="root, and a kernel that groups sessions"
)
def test_a_child_comes_first_while_it_runs_the_testbed() -> None:
    ours, child = GROUP.read_text(), apart.Child()
    group = Path(f"/proc/{child._process.pid}/autogroup")
    assert group.read_text() == ours
    for function, arguments, nice in (
        ("testbed_run", ("{}", "{}"), "nice -20\n"),
        ("simulate", ("{}",), "nice 0\n"),
    ):
        with pytest.raises(_core.ScenarioError):
            child.call(function, *arguments)
        assert group.read_text().endswith(nice)
        assert GROUP.read_text() == ours
    child.close()


def test_the_end_waits_for_no_child_that_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_GRACE_S", 0.2)
    child = apart.Child()
    child._process.send_signal(signal.SIGSTOP)
    closing = threading.Thread(target=child.close, daemon=True)
    closing.start()
    closing.join(10)
    is_waiting = closing.is_alive()
    child._process.send_signal(signal.SIGCONT)
    assert not is_waiting


def test_how_a_process_ended_is_told() -> None:
    assert apart._how(-signal.SIGSEGV) == snapshot("ended by SIGSEGV (memory that is not its own)")
    assert apart._how(3) == snapshot("ended with exit code 3")
    assert apart._how(-signal.SIGUSR1) == snapshot("ended by SIGUSR1 (User defined signal 1)")


@traps
def test_several_algorithms_are_all_named() -> None:
    write("wrong", GROWS, NO_RESULT)
    write("right")
    flows = [{"algorithm": f"./{name}.c"} for name in ("right", "wrong")]
    network = {"rate": "50mbit", "rtt": "20ms", "queue": "1bdp"}
    run = Scenario.parse({"duration": "2s", "network": network, "flow": flows}).resolve()
    with pytest.raises(BroughtDown) as caught:
        SimulatorEngine().run(run)
    assert str(caught.value) == snapshot(
        "the process that ran right or wrong ended by SIGFPE (a division by zero, or another that has no result); to find where: dumbbell check ./right.c, dumbbell check ./wrong.c"
    )
    assert str(caught.value) == snapshot(
        "the process that ran right or wrong ended by SIGFPE (a division by zero, or another that has no result); to find where: dumbbell check ./right.c, dumbbell check ./wrong.c"
    )


def test_a_file_is_called_as_the_command_finds_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("right")
    code = catalogue.read("./right.c").code
    assert catalogue.file_of("right", code) == "./right.c"
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert catalogue.file_of("right", code) == str(folder / "right.c")
    assert catalogue.file_of("other", code) == "other.c"


ENDLESS = """
import sys
from dumbbell.algorithms import apart
print("begins", flush=True)
apart.simulate(sys.stdin.read())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_runs_apart_ends_with_who_asked_for_it() -> None:
    write("endless", REDUCES, f"{REDUCES}\n\tfor (;;)\n\t\t;")
    parent = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(scenario("endless").json)
    parent.stdin.close()
    assert parent.stdout.readline() == "begins\n"
    child = wait_for_child(parent.pid)
    time.sleep(0.3)
    assert is_running(child)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end_s = time.monotonic() + 60
    while is_running(child) and time.monotonic() < end_s:
        time.sleep(0.05)
    assert not is_running(child)


def wait_for_child(pid: int) -> int:
    end_s = time.monotonic() + 60
    while time.monotonic() < end_s:
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in file.read_text().split():
                if "apart_child.py" in Path(f"/proc/{child}/cmdline").read_text():
                    return int(child)
        time.sleep(0.05)
    raise AssertionError("no child")


def test_a_crash_has_its_own_remedy_in_each_part() -> None:
    write("crash", REDUCES, f"{REDUCES}\n\t*(volatile int *)0 = 1;")
    rows = list(fuzzing.rows("crash", catalogue.read("./crash.c").code))
    assert [row.verdict for row in rows] == [Verdict.FAILED] * 3
    assert len({row.remedy for row in rows}) == 1
