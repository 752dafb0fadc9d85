"""Two engines and one store: results never get mixed, and invalid runs never count."""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from msgspec.structs import replace

import small_study
from command_line import line
from dumbbell import _core, api
from dumbbell.algorithms import apart, catalogue
from dumbbell.base import errors
from dumbbell.base.errors import DumbbellError, GivenUp, InputError
from dumbbell.cli import commands, progress
from dumbbell.contract.summary import TestbedSummary
from dumbbell.engines import engines, machine, testbed, validity
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import HastyEngine, Output, SimulatorEngine
from dumbbell.engines.machine import Machine
from dumbbell.execution import parallelism
from dumbbell.execution.executor import Fate, Interrupted, Progress, execute
from dumbbell.experiments.compare import compare
from dumbbell.plan.expanding import scenarios
from dumbbell.quantities import taking
from dumbbell.reports import compare_chart, site
from dumbbell.results.plans import Plan, remember
from dumbbell.results.results import Results
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.extent import Extent
from dumbbell.store.store import Store
from sample_runs import QuickEngine, output, resolved, scenario, seeds

TESTBED = TestbedSummary(
    kernel="6.18.44",
    invalid=(),
    not_offered=("tso_segs_max",),
    delivered_packets=10,
    lateness_mean_ns=4_000,
    held_permille=1,
    held_max_ns=400_000,
    lateness_p99_ns=60_000,
    lateness_max_ns=310_000,
    emulator_busy_permille=250,
    traffic_busy_permille=125,
    traffic_held_permille=2,
    traffic_held_max_ns=1_300_000,
    waiting_p99_ns=20_000,
    starved_permille=0,
    window_limited_permille=0,
    stolen_permille=3,
    local_drops=7,
    datagrams_sent_permille=998,
)


class FakeTestbed:
    """The simulator behind another identity; the first `faults` runs of each scenario come late."""

    real_time = True

    def __init__(self, faults: int = 0, only: Sequence[int] | None = None) -> None:
        self.identity = "testbed 1, Linux 1.0"
        self.faults = faults
        self.only = only
        self.ran: list[int] = []

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        seed = scenario.scenario.seed
        self.ran.append(seed)
        spared = self.only is not None and seed not in self.only
        late = self.ran.count(seed) <= self.faults and not spared
        output = self.simulated(scenario, cancel)
        testbed = replace(TESTBED, invalid=("packets came 2 ms late",) if late else ())
        return Output(replace(output.summary, testbed=testbed), output.tables)

    def simulated(self, scenario: ResolvedScenario, cancel: CancelToken | None) -> Output:
        return SimulatorEngine().run(scenario, cancel)


class QuickTestbed(FakeTestbed):
    """Costs nothing."""

    def simulated(self, scenario: ResolvedScenario, cancel: CancelToken | None) -> Output:
        del cancel
        return output(scenario)


def test_a_key_tells_which_engine_ran_it() -> None:
    scenario = resolved()
    other = scenario.on("testbed 1, Linux 1.0")
    assert scenario.engine == catalogue.ENGINE_VERSION
    assert len({scenario, other, scenario.on("testbed 1, Linux 2.0")}) == 3
    assert other.json == scenario.json
    assert other.on(catalogue.ENGINE_VERSION) == scenario


def test_the_identity_of_the_testbed_names_version_kernel_and_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    identities = [testbed.TestbedEngine().identity]
    assert catalogue.TESTBED_VERSION in identities[0]
    assert machine.system() in identities[0]
    identities.append(testbed.TestbedEngine(kernel_modules=True).identity)
    monkeypatch.setattr(machine, "system", lambda: "Linux 99")
    identities.append(testbed.TestbedEngine().identity)
    monkeypatch.setattr(catalogue, "TESTBED_VERSION", "another")
    identities.append(testbed.TestbedEngine().identity)
    assert len(set(identities)) == 4
    assert catalogue.ENGINE_VERSION not in identities


def test_both_engines_live_in_one_store(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), seeds(3)
    execute(runs, store, QuickEngine())
    outcome = execute(runs, store, QuickTestbed())
    assert (len(outcome.done), len(outcome.reused)) == (3, 0)
    assert len(list(store.keys())) == 6
    assert store.verify(outcome.done[0].key).engine == "testbed 1, Linux 1.0"
    assert store.verify(runs[0].key).engine == catalogue.ENGINE_VERSION
    assert len(execute(runs, store, QuickEngine()).reused) == 3


@pytest.mark.parametrize(("faults", "runs"), [(0, 1), (1, 2), (2, 3)])
def test_an_invalid_run_is_repeated_until_it_is_valid(
    tmp_path: Path, faults: int, runs: int
) -> None:
    engine, store = QuickTestbed(faults), Store(tmp_path)
    outcome = execute(seeds(1), store, engine)
    assert (len(outcome.done), outcome.invalid) == (1, [])
    assert engine.ran == [0] * runs
    assert store.get(outcome.done[0].key).summary.testbed == TESTBED


class HastyTestbed(QuickTestbed):
    """Gives up late runs, if `gives_up` is set."""

    gives_up = False

    def hasty(self) -> HastyTestbed:
        other = copy.copy(self)  # they count their runs together
        other.gives_up = True
        return other

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        output = super().run(scenario, cancel)
        if self.gives_up and validity.reasons(output.summary):
            raise GivenUp("held up")
        return output


@pytest.mark.parametrize(("faults", "kept"), [(0, ()), (2, ()), (3, ("packets came 2 ms late",))])
def test_all_attempts_but_the_last_are_given_up_where_nothing_can_make_them_valid(
    tmp_path: Path, faults: int, kept: tuple[str, ...]
) -> None:
    engine, store = HastyTestbed(faults), Store(tmp_path)
    outcome = execute(seeds(1), store, engine, retries=2)
    assert outcome.failed == []
    assert engine.ran == [0] * min(faults + 1, 3)
    (key,) = store.keys()
    assert validity.reasons(store.get(key).summary) == kept
    assert isinstance(testbed.TestbedEngine(), HastyEngine)


def test_one_that_stays_invalid_is_kept_named_and_tried_again(tmp_path: Path) -> None:
    engine, store = QuickTestbed(faults=3), Store(tmp_path)
    steps: list[Progress] = []
    outcome = execute(seeds(2), store, engine, 1, steps.append, retries=2)
    assert [why for _, why in outcome.invalid] == [("packets came 2 ms late",)] * 2
    assert (outcome.done, steps[-1].invalid, steps[-1].finished) == ([], 2, 2)
    assert "invalid run" in (steps[0].warning or "")
    assert "reno, seed 0): packets came 2 ms late" in (steps[0].warning or "")
    assert len(list(store.keys())) == 2
    again = execute(seeds(2), store, engine, retries=0)
    assert (len(again.done), len(again.reused)) == (2, 0)
    assert validity.reasons(store.get(again.done[0].key).summary) == ()
    assert len(execute(seeds(2), store, engine).reused) == 2


def test_a_valid_result_does_not_give_way_to_an_invalid_one(tmp_path: Path) -> None:
    store, (scenario,) = Store(tmp_path), seeds(1)
    good, bad = QuickTestbed().run(scenario), QuickTestbed(faults=1).run(scenario)
    for put, why in ((bad, ("packets came 2 ms late",)), (good, ()), (bad, ())):
        store.put(scenario, put)
        assert validity.reasons(store.get(scenario.key).summary) == why


def test_an_invalid_run_is_kept_by_an_interruption_too(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def interrupt(state: Progress) -> None:
        del state
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="are kept"):
        execute(seeds(2), store, QuickTestbed(faults=9), 1, interrupt)
    assert list(store.keys())


def test_a_notebook_repeats_too() -> None:
    wanted = resolved({"duration": "1s"})
    engine = FakeTestbed(faults=1)
    run = api.simulate(wanted, engine=engine)
    assert len(engine.ran) == 2
    assert run.summary.testbed == TESTBED
    assert run.key == wanted.on(engine.identity).key
    late = api.simulate(wanted, engine=FakeTestbed(faults=1), retries=0)
    assert validity.reasons(late.summary)


def test_an_unknown_engine_is_an_input_error() -> None:
    with pytest.raises(InputError, match="engine") as caught:
        api.simulate(resolved(), engine="testbet")
    assert caught.value.near == "testbed"


def test_real_time_runs_are_alone_by_default() -> None:
    assert parallelism.jobs(FakeTestbed()) == 1
    assert parallelism.jobs(FakeTestbed(), 2) == 2
    assert parallelism.jobs(SimulatorEngine()) >= 1


# --- A study on both engines ---------------------------------------------------------


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results, Results]:
    """Return the small study's folder, its results by the simulator and by a testbed that is late.

    One run on the testbed is invalid; there are quick runs only.
    """
    folder = tmp_path_factory.mktemp("both")
    study = small_study.write(folder / "study")
    store = small_study.run(study, folder / "results", quick=True)
    planned = scenarios(study.runs(quick=True, where={"test": "fairness"}))
    engine = FakeTestbed(faults=9, only=[planned[0].scenario.seed])
    outcome = execute(planned, store, engine)
    assert (len(outcome.invalid), len(outcome.done)) == (1, len(planned) - 1)
    remember(store, study.name, Plan(quick=True))
    return folder, Results(study, store), Results(study, store, engine=engine)


def test_results_are_those_of_one_engine(both: tuple[Path, Results, Results]) -> None:
    _, simulated, measured = both
    assert simulated.invalid == {}
    assert simulated.table("fairness").height == measured.table("fairness").height + 1
    (counts,) = measured.counts
    assert (counts.finished, counts.invalid) == (measured.table("fairness").height, 1)
    assert [reason for reason in measured.invalid.values() if "2 ms late" in reason]
    assert (measured.left_out("fairness"), measured.left_out("lossy")) == (1, 0)


def test_claims_do_not_rest_on_invalid_runs(both: tuple[Path, Results, Results]) -> None:
    _, simulated, measured = both
    assert simulated.claims()[0].detail.split("; ")[3] == snapshot(
        "needs at least 2 runs of 4 grid points"
    )
    # The grid point of the invalid run has no other run.
    assert measured.claims()[0].detail == snapshot(
        "utilisation: 1 of 4 grid points have not been run, such as Standard TCP, rate 5 Mbit/s, rtt 20 ms; expected at least 25 %, for every grid point"
    )


def test_a_history_does_not_show_an_invalid_run(both: tuple[Path, Results, Results]) -> None:
    _, simulated, measured = both
    (key,) = measured.invalid
    (planned,) = (
        run
        for run in measured.study.runs(quick=True)
        if run.on(measured.engine.identity).resolved.key == key
    )
    assert simulated.stored_run("fairness", {**planned.axes}) is not None
    assert measured.stored_run("fairness", {**planned.axes}) is None


def test_a_report_tells_engine_and_invalid_runs(
    both: tuple[Path, Results, Results], tmp_path: Path
) -> None:
    _, simulated, measured = both
    file = site.write(measured, tmp_path / "measured")
    page, checks = file.read_text(), file.with_name("checks.html").read_text()
    assert "testbed 1, Linux 1.0" in page
    assert "1 invalid run" in checks
    assert "packets came 2 ms late" in checks
    assert line(checks, "left out") == snapshot("<dd>3 of 6; 1 invalid, left out</dd>")
    assert re.search(r"dumbbell run \S*study --engine testbed --quick", page)
    assert re.search(r"dumbbell report \S*study --engine testbed", page)
    file = site.write(simulated, tmp_path / "simulated")
    other = file.read_text() + file.with_name("checks.html").read_text()
    assert "invalid" not in re.sub(r"<style.*?</style>", "", other)
    assert catalogue.ENGINE_VERSION in other


def test_a_figure_tells_engine_and_invalid_runs(both: tuple[Path, Results, Results]) -> None:
    _, simulated, measured = both
    (spec,) = (figure for figure in measured.study.figures if figure.name == "fig1")
    notes = spec.draw(measured).notes
    assert notes == snapshot(
        (
            "One quick run per point.",
            "Run by the testbed 1, Linux 1.0.",
            "1 invalid run is left out.",
            "Not run yet: rtt 40 ms; 1 further of 8 points.",
        )
    )
    assert not any("Run by" in note for note in spec.draw(simulated).notes)


def test_quantities_leave_invalid_runs_out(tmp_path: Path) -> None:
    study, store = small_study.write(tmp_path / "study"), Store(tmp_path / "results")
    planned = [
        run.on(FakeTestbed().identity) for run in study.runs(quick=True, where={"test": "fairness"})
    ]
    engine = FakeTestbed(faults=1, only=[planned[0].resolved.scenario.seed])
    execute(scenarios(planned), store, engine, retries=0)
    assert len(list(taking.of_runs(planned, ["utilisation"], store))) == len(planned) - 1
    execute(scenarios(planned), store, engine, retries=0)
    assert len(list(taking.of_runs(planned, ["utilisation"], store))) == len(planned)


PATH: dict[str, Any] = {"rate": "10mbit", "rtt": "20ms", "duration": "2s", "runs": 2}


def test_a_comparison_leaves_invalid_runs_out_and_names_them(tmp_path: Path) -> None:
    late = compare(
        ["reno", "cubic"],
        **PATH,
        results=tmp_path,
        engine=FakeTestbed(faults=9, only=[0]),
    )
    assert len(late.invalid) == 2
    assert late.means["n"].unique().to_list() == [1]
    assert late.as_dict()["engine"] == "testbed 1, Linux 1.0"
    assert len(late.as_dict()["invalid"]) == 2
    title = compare_chart.draw(late).to_dict()["title"]
    assert title["subtitle"][1:] == snapshot(
        [
            "Run by the testbed 1, Linux 1.0.",
            "2 invalid runs are left out.",
        ]
    )


def test_a_comparison_without_a_valid_run_says_why(tmp_path: Path) -> None:
    with pytest.raises(DumbbellError) as refused:
        compare(["reno"], **PATH, results=tmp_path, engine=FakeTestbed(faults=9))
    first, reason = str(refused.value).split("; ")
    assert (first, reason.rpartition(": ")[2]) == snapshot(
        ("no run is valid", "packets came 2 ms late")
    )


# --- The command ----------------------------------------------------------------------

SCENARIO = """
duration = "1s"
[network]
rate = "10mbit"
rtt = "20ms"
queue = "1bdp"
[[flow]]
algorithm = "reno"
"""


class Command:
    """Runs the command in an empty folder, with a fake in the testbed's place."""

    def __init__(self, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._patch = patch
        self._capsys = capsys

    def testbed(self, engine: FakeTestbed) -> None:
        self._patch.setattr(engines, "_ENGINES", {**engines._ENGINES, "testbed": lambda: engine})

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        self._patch.setattr(sys, "argv", ["dumbbell", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            commands.main()
        printed = self._capsys.readouterr()
        return int(stopped.value.code or 0), printed.out, printed.err


@pytest.fixture
def dumbbell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.toml").write_text(SCENARIO)
    small_study.write(tmp_path / "study")
    return Command(monkeypatch, capsys)


def test_simulate_tells_how_the_testbed_kept_up(dumbbell: Command) -> None:
    dumbbell.testbed(FakeTestbed())
    code, out, _ = dumbbell("simulate", "one.toml", "--engine", "testbed")
    assert code == 0
    for words in ("60 us", "310 us", "25 %", "12.5 %", "0.3 %", "99.8 %", "6.18.44", "tso_segs"):
        assert words in out
    assert "testbed" not in dumbbell("simulate", "one.toml")[1]


def test_an_invalid_run_is_exit_code_1_with_its_reason(dumbbell: Command) -> None:
    dumbbell.testbed(FakeTestbed(faults=9))
    code, out, err = dumbbell("simulate", "one.toml", "--engine", "testbed", "--json")
    assert code == 1
    assert json.loads(out)["summary"]["testbed"]["invalid"] == snapshot(["packets came 2 ms late"])
    assert "packets came 2 ms late" in err


def test_retries_are_counted_by_the_option(dumbbell: Command) -> None:
    dumbbell.testbed(FakeTestbed(faults=1))
    assert dumbbell("simulate", "one.toml", "--engine", "testbed", "--retries", "0")[0] == 1
    dumbbell.testbed(FakeTestbed(faults=4))
    assert dumbbell("simulate", "one.toml", "--engine", "testbed", "--retries", "4")[0] == 0


def test_a_study_on_the_testbed_says_how_long_and_what_is_invalid(dumbbell: Command) -> None:
    dumbbell.testbed(FakeTestbed(faults=1))
    where = ["--where", "test=fairness", "--quick", "--engine", "testbed"]
    code, _, err = dumbbell("run", "study", *where, "--retries", "0")
    assert code == 1
    assert line(err, " about ") == snapshot("4 runs in real time, one at a time: about 24 s")
    assert re.search(r"0 run, 0 reused, [46] invalid, 0 failed", err)
    assert "packets came 2 ms late" in err
    assert line(err, "Invalid runs") == snapshot(
        "Invalid runs are left out of everything; the same command tries them again."
    )
    code, _, err = dumbbell("run", "study", *where)
    assert code == 0
    assert "dumbbell report study --engine testbed" in err
    code, out, _ = dumbbell("claims", "study", "--engine", "testbed", "--json")
    assert json.loads(out)["engine"] == "testbed 1, Linux 1.0"
    assert json.loads(out)["quick"] is True
    assert json.loads(out)["claims"][0]["checks"][0]["findings"]
    _, _, err = dumbbell("claims", "study")
    assert err.replace(catalogue.ENGINE_VERSION, "ENGINE") == snapshot(
        "results holds no run of study by this engine (ENGINE); dumbbell run study\n"
    )


def test_a_comparison_with_invalid_runs_is_exit_code_1(dumbbell: Command) -> None:
    dumbbell.testbed(FakeTestbed(faults=9, only=[0]))
    options = [f"--{name}={value}" for name, value in PATH.items()]
    code, out, err = dumbbell("compare", "reno", *options, "--engine", "testbed", "--json")
    assert code == 1
    assert line(err, " about ") == snapshot("2 runs in real time, one at a time: about 4 s")
    assert "packets came 2 ms late" in err
    assert len(json.loads(out)["invalid"]) == 1


def test_the_testbed_captures_nothing(dumbbell: Command) -> None:
    code, _, err = dumbbell("simulate", "one.toml", "--engine", "testbed", "--pcap", "a")
    assert code == 2
    assert err == snapshot(
        'error: --pcap: "a": only the simulator captures packets; valid: --engine simulator\n'
    )
    captured = scenario().resolve(capture=True)
    with pytest.raises(InputError) as refused:
        testbed.TestbedEngine().run(captured)
    assert str(refused.value) == snapshot("capture = true: only the simulator captures packets")


LACKING = {
    "kernel": "6.18.44",
    "ready": False,
    "facts": [
        {
            "name": "privileges",
            "state": "without CAP_BPF",
            "ok": False,
            "required": True,
            "needed_for": "everything",
            "remedy": "run as root",
        }
    ],
}


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "one.toml"],
        ["run", "study", "--quick"],
        ["compare", "reno", "--rate=10mbit", "--rtt=20ms"],
    ],
)
def test_a_machine_that_cannot_says_why_at_once(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]
) -> None:
    monkeypatch.setattr(machine, "look", lambda: Machine.model_validate(LACKING))
    code, out, err = dumbbell(*arguments, "--engine", "testbed")
    assert (code, out) == (2, "")
    assert err == (
        snapshot(
            "error: the testbed is not ready, because of privileges (without CAP_BPF): run as root; "
            "`dumbbell doctor` shows more\n"
        )
    )


def test_reports_of_the_testbed_need_no_testbed(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(machine, "look")
    code, _, err = dumbbell("claims", "study", "--engine", "testbed")
    assert code == 0
    assert "--engine testbed" in err


def test_what_the_testbed_refuses_during_a_run_is_its_own_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise _core.TestbedError("no device: refused; modprobe tun")

    monkeypatch.setattr(apart, "ask", refuse)
    with pytest.raises(errors.TestbedError, match="modprobe tun") as caught:
        testbed.TestbedEngine().run(resolved())
    assert caught.value.exit_code == 2


def test_time_left_in_real_time_is_what_the_runs_last() -> None:
    long, short = resolved({"duration": "60s"}), resolved({"duration": "20s"})
    assert progress.announcement([long, short], 1) == (
        snapshot("2 runs in real time, one at a time: about 1 min 20 s")
    )
    tracker = progress.Tracker([long, short], 0, stored={long.key}, real_time=True)
    ran = Extent(packets=5_000_000)
    tracker.update(Progress(2, 0, 1, 0, 0, ran, latest=long, fate=Fate.REUSED))
    assert tracker.text(0.1) == "1 reused, about 20 s left"
