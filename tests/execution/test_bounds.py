"""Sizes of runs before they begin: runs that nobody is likely to mean do not just run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from inline_snapshot import snapshot

import dumbbell as package
import small_study
import study_runs
from command_line import Command, assert_refused
from dumbbell.conformance import interface
from dumbbell.engines import engines
from dumbbell.engines.sizes import expected_bytes, expected_packets
from dumbbell.execution import bounds
from dumbbell.execution.bounds import TooLarge
from dumbbell.experiments.advise import advise
from dumbbell.experiments.compare import compare
from dumbbell.experiments.setting import Setting
from dumbbell.scenario.model import Scenario
from dumbbell.study.model import Study

SIMULATOR = engines.named("simulator")

SCENARIO = """
duration = "1s"
network = { rate = "1mbit", rtt = "20ms", queue = "1bdp" }
flow = [{ algorithm = "reno" }]
"""


@pytest.fixture
def dumbbell(dumbbell: Command, tmp_path: Path) -> Command:
    """Run the command in a folder with a scenario."""
    (tmp_path / "a.toml").write_text(SCENARIO)
    return dumbbell


def resolved(rate: str, duration: str, flow: dict[str, Any], **network: Any) -> Any:
    table = {
        "duration": duration,
        "network": {"rate": rate, "rtt": "20ms", "queue": "1bdp", **network},
        "flow": [flow],
    }
    return Scenario.parse(table).resolve().on(SIMULATOR.identity)


@pytest.mark.parametrize(
    ("rate", "duration", "flow", "network", "packets"),
    [
        ("12mbit", "100s", {"algorithm": "reno"}, {}, 100_000),
        # What flows have to send bounds it, whatever the path carries ...
        ("10tbit", "100s", {"algorithm": "reno", "bytes": "14600kb"}, {}, 10_000),
        # ... and datagrams are simulated where there is no room for them.
        (
            "12mbit",
            "100s",
            {"transport": "udp", "rate": "120mbit", "packet": 1500},
            {},
            1_000_000,
        ),
        # 2^24 segments per round trip are the most that a flow sends.
        ("10tbit", "1s", {"algorithm": "reno"}, {"rtt": "100ms"}, 167_772_160),
    ],
)
def test_packets_are_what_is_sent_and_carried(
    rate: str, duration: str, flow: dict[str, Any], network: dict[str, Any], packets: int
) -> None:
    expected = expected_packets(resolved(rate, duration, flow, **network).scenario)
    assert expected == pytest.approx(packets, rel=0.03)


def test_memory_is_what_is_under_way_and_in_queues() -> None:
    """563 MB were measured at 1 Tbit/s, 10 ms and 1 BDP, 24 MB with 1,000 flows."""
    fast = resolved("1tbit", "300ms", {"algorithm": "reno"}, rtt="10ms").scenario
    assert expected_bytes(fast, expected_packets(fast)) == pytest.approx(563e6, rel=0.1)
    many = resolved("100mbit", "1s", {"algorithm": "reno", "count": 1000}).scenario
    assert 24e6 < expected_bytes(many, expected_packets(many)) < 100e6
    unlimited = resolved("10mbit", "1s", {"algorithm": "reno"}, queue="unlimited").scenario
    assert expected_bytes(unlimited, expected_packets(unlimited)) < 100e6


def test_unlimited_queues_of_a_switch_take_no_more_than_its_memory() -> None:
    table = {
        "duration": "60s",
        "network": {
            "rate": "10gbit",
            "rtt": "100us",
            "queue": "unlimited",
            "switch": {"memory": "8.6mb", "alpha": 1},
        },
        "flow": [{"algorithm": "reno"}],
    }
    shared = Scenario.parse(table, "shared").resolve().scenario
    packets = expected_packets(shared)
    assert packets > 40e6
    assert expected_bytes(shared, packets) < 20e6


@pytest.mark.parametrize("name", ["li2007", "lukaseder2016", "brakmo2017"])
def test_whole_studies_are_no_larger_than_is_run_without_asking(name: str) -> None:
    study = Study.load(name)
    points = [point for test in study.tests for point in study.points(test.name)]
    # Runs of a point differ by their random numbers alone, so that its first stands for all.
    runs = [
        first.resolved
        for first, point in zip(study_runs.firsts(name), points, strict=True)
        for _ in range(point.runs)
    ]
    bounds.check(runs, SIMULATOR, jobs=1)


PATH = ("--rate", "10tbit", "--rtt", "10ms")


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "reno", *PATH],
        ["compare", "reno", *PATH, "--buffer", "1bdp,2bdp"],
        ["advise", *PATH, "--among", "reno,bic"],
        ["tune", "hybla", *PATH],
        ["simulate", "a.toml", "--set", "network.rate=10tbit", "--duration", "60s"],
    ],
)
def test_a_command_refuses_what_a_slip_made_huge(dumbbell: Command, arguments: list[str]) -> None:
    output = dumbbell(*arguments)
    assert_refused(output)
    assert output.err == snapshot(
        "error: one run of 10tbit for 60s has about 50.0 G packets, which take some 41 min 40 s; valid: up to 10.0 G packets without asking; a smaller rate, a shorter duration, fewer runs or flows, or --large if it is meant\n"
    )
    assert "some 41 min" in output.err
    assert output.err == snapshot(
        "error: one run of 10tbit for 60s has about 50.0 G packets, which take some 41 min 40 s; valid: up to 10.0 G packets without asking; a smaller rate, a shorter duration, fewer runs or flows, or --large if it is meant\n"
    )
    assert "--large" in output.err


def test_python_refuses_it_too(tmp_path: Path) -> None:
    huge = resolved("10tbit", "60s", {"algorithm": "reno"}, rtt="10ms")
    setting = Setting("10tbit", "10ms", "1bdp", "0", "60s", "linux-6")
    with pytest.raises(TooLarge) as refused:
        package.simulate(huge)
    assert str(refused.value) == snapshot(
        "one run of 10tbit for 60s has about 50.0 G packets, which take some 41 min 40 s; valid: up to 10.0 G packets without asking; a smaller rate, a shorter duration, fewer runs or flows, or `large` if it is meant"
    )
    with pytest.raises(TooLarge):
        package.perturb(huge)
    with pytest.raises(TooLarge):
        compare(["reno"], rate="10tbit", rtt="10ms", results=tmp_path)
    with pytest.raises(TooLarge):
        advise(setting, among=["reno"], results=tmp_path)


@pytest.mark.parametrize(
    ("changes", "times", "what"),
    [
        ({"rate": "1tbit", "rtt": "3s", "duration": "50s"}, 1, "one run of 1tbit for 50s takes up"),
        ({"rate": "100gbit", "rtt": "9ms", "duration": "60s"}, 20_000, "in 20,000 runs take some"),
        # Runs of few packets take time to begin and to end.
        ({"rate": "1mbit", "rtt": "9ms", "duration": "1s"}, 10**8, "in 100,000,000 runs take some"),
    ],
)
def test_memory_and_the_time_of_all_runs_have_limits(
    changes: dict[str, str], times: int, what: str
) -> None:
    run = resolved(flow={"algorithm": "reno"}, **changes)
    with pytest.raises(TooLarge, match=what):
        bounds.check([run], SIMULATOR, jobs=2, times=times)
    bounds.check([], SIMULATOR, jobs=2, times=times)


def test_what_is_there_already_takes_nothing(dumbbell: Command, monkeypatch: Any) -> None:
    assert dumbbell("simulate", "a.toml").code == 0
    monkeypatch.setattr(bounds, "RUN_PACKETS_MAX", 1.0)
    assert dumbbell("simulate", "a.toml").code == 0
    assert dumbbell("simulate", "a.toml", "--runs", "2").code == 2
    assert dumbbell("simulate", "a.toml", "--runs", "2", "--large").code == 0


@pytest.mark.parametrize(("answer", "code"), [(True, 0), (False, 2)])
def test_on_a_terminal_somebody_is_asked(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch, answer: bool, code: int
) -> None:
    class Terminal:
        @staticmethod
        def isatty() -> bool:
            return True

    questions: list[str] = []

    def confirm(question: str, err: bool) -> bool:
        assert err
        questions.append(question)
        return answer

    monkeypatch.setattr(bounds, "RUN_PACKETS_MAX", 1.0)
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys.stderr, "isatty", Terminal.isatty, raising=False)
    monkeypatch.setattr(typer, "confirm", confirm)
    assert dumbbell("simulate", "a.toml").code == code
    assert questions == snapshot(["Run it all the same?"])


MANY = str(10**20)
ONE_PATH = ["--rate", "1mbit", "--rtt", "20ms"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "li2007", "--runs", MANY, "--dry-run"], "--runs: "),
        (["run", "li2007", "--seed", MANY, "--dry-run"], "--seed: "),
        (["run", "li2007", "--runs", "499999", "--dry-run"], "runs are planned"),
        (["run", "li2007", "--runs", "499999", "--slurm", "3"], "runs are planned"),
        (["simulate", "a.toml", "--runs", MANY, "--large"], "--runs: "),
        (["simulate", "a.toml", "--perturb", MANY, "--large"], "runs are planned"),
        (["simulate", "a.toml", "--seed", MANY], "--seed: "),
        (["compare", "reno", *ONE_PATH, "--seed", MANY], "--seed: "),
        (["compare", "reno", *ONE_PATH, "--flows", MANY], "number of flows"),
        (["compare", "reno", *ONE_PATH, "--flows", "1..900+1", "--buffer", "1bdp..900bdp+1bdp"],
         "at least 4,050,000 runs"),
        (["advise", *ONE_PATH, "--runs", MANY, "--large"], "runs are planned"),
        (["tune", "hybla", *ONE_PATH, "--candidates", MANY, "--large"], "runs are planned"),
    ],
)  # fmt: skip
def test_what_no_plan_may_have_is_refused_before_it_is_planned(
    dumbbell: Command, arguments: list[str], message: str
) -> None:
    refused = dumbbell(*arguments)
    assert_refused(refused)
    assert message in refused.err
    assert "at most" in refused.err or "1 to 10000" in refused.err or "less than" in refused.err


def test_the_parts_of_a_slurm_script_are_sized(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a.toml").unlink()
    small_study.write(tmp_path / "studies" / "small")
    monkeypatch.setattr(bounds, "RUN_PACKETS_MAX", 1.0)
    command = ["run", "small", "--quick", "--slurm", "2"]
    refused = dumbbell(*command)
    assert_refused(refused)
    assert "without asking" in refused.err
    assert "--quick --large --shard" in dumbbell(*command, "--large").out


def test_calls_of_the_c_library_are_said_whoever_declares_them() -> None:
    code = "void *malloc(unsigned long); // free(1)\nint f(void) { return !malloc(3); }\nsqrt(2);\n"
    assert list(interface.unfit(code, "a.c")) == snapshot(
        [
            "a.c:1: 'malloc(': the kernel has no C library",
            "a.c:3: 'sqrt(': the kernel has no C library",
        ]
    )
