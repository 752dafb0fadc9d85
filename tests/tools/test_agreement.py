"""Agreement of two engines: the set of scenarios, the table, the page, the figure, the command."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fidelity import steps
from fidelity.__main__ import app
from fidelity.agreement import (
    deciding,
    figure,
    hosts,
    judging,
    page,
    parity,
    running,
    scenarios,
    testbed,
    troubles,
)
from fidelity.agreement.case import Case
from fidelity.agreement.collecting import Collected, Side, collect
from fidelity.agreement.explanations import Explanation
from fidelity.agreement.measures import DISTANCE
from fidelity.agreement.running import Validation
from fidelity.agreement.scenarios import ChosenCase
from fidelity.agreement.scenarios import Path as Bottleneck
from fidelity.agreement.testbed import Bed
from inline_snapshot import snapshot

from command_line import sentence
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import EngineError
from dumbbell.cli import commands
from dumbbell.conformance.kernel import Replay
from dumbbell.engines import machine
from dumbbell.engines.engine import Engine, SimulatorEngine
from dumbbell.engines.machine import Fact, Machine
from dumbbell.experiments.validate.measures import MEASURES
from dumbbell.figures import drawing
from dumbbell.inference.equivalence import Verdict, reach
from dumbbell.scenario import facts
from dumbbell.store.store import Store
from passing_kernel import Kernel
from sample_runs import plain, tcp

ALGORITHMS = catalogue.algorithms()
PATH = Bottleneck(10, 20, 1.0, 0.01)
ALONE = ChosenCase((ALGORITHMS["reno"],), PATH, False, 3)
PAIR = ChosenCase((ALGORITHMS["cubic"], ALGORITHMS["reno"]), PATH, True, 3)
CASES = (ALONE, PAIR)


SWITCHES = {"receive_buffer_bytes": 1 << 20, "timer_tick_ns": 4_000_000}
"""Those of the hosts of the testbed that replaces the real one."""


def side(engine: Engine, repetitions: int = 3) -> Side:
    return Side("kernel", engine, repetitions)


def agreement(
    root: Path,
    kernel: Kernel | None = None,
    explanations: Sequence[Explanation] = (),
    cases: Sequence[Case] = CASES,
) -> judging.Agreement:
    store = Store(root / "results")
    ours = collect(cases, Side("simulator", SimulatorEngine(), 4), store)
    theirs = collect(cases, side(kernel or Kernel()), store)
    return judging.compare(cases, ("kernel", theirs), ("simulator", ours), explanations)


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the place of the runs of a kernel that does as the simulator."""
    return tmp_path_factory.mktemp("alike")


def bed(kernel: Kernel | None = None, replay: Replay | None = None) -> Bed:
    return Bed(
        lambda _: kernel or Kernel(), lambda _: SWITCHES, replay or replayed(), ["reno", "bbr"]
    )


def replayed(**changes: Any) -> Replay:
    counts = {"callbacks": {"cong_avoid": 59_000, "ssthresh": 1000}, "lost_records": 0}
    return lambda _: [{**counts, "differing": 0, "mismatches": [], **changes}]


# The set


def test_the_set_covers_every_algorithm_both_ways() -> None:
    cases = scenarios.all_cases()
    assert len({case.name for case in cases}) == len(cases)
    for name in ALGORITHMS:
        having = [
            case for case in cases if name in {algorithm.name for algorithm in case.algorithms}
        ]
        kinds = {(len(case.algorithms), case.loss) for case in having}
        assert kinds >= {(1, False), (1, True), (2, False)}, name
    assert {10, 500} <= {case.path.rate_mbit for case in cases}
    assert {10, 160} <= {case.path.rtt_ms for case in cases}
    assert all(0 < case.path.buffer_bdp <= 1 for case in cases)


def test_each_trouble_is_in_the_set_and_bursts_of_loss_are_the_same_on_both_engines() -> None:
    troubled = [case for case in scenarios.all_cases() if case.trouble is not None]
    assert [case.trouble for case in troubled] == list(troubles.TROUBLES)
    alike = [case.trouble.name for case in troubled if case.trouble and case.loses_alike]
    assert alike == snapshot(["loss in bursts"])
    assert PAIR.loses_alike
    assert not ALONE.loses_alike


def test_every_scenario_is_one() -> None:
    for case in scenarios.all_cases():
        resolved = case.resolve(1)
        assert resolved.scenario.duration_ns == case.seconds * 10**9, case.name
        assert len(resolved.scenario.flows) == len(case.algorithms), case.name
        assert case.resolve(2).key != resolved.key, case.name


@pytest.mark.parametrize("count", [1, 7, 16, 25])
def test_the_set_takes_no_more_time_than_it_may(count: int) -> None:
    reno = ALGORITHMS["reno"]
    known = [reno.model_copy(update={"name": f"reno{number}"}) for number in range(count)]
    cases = scenarios.all_cases(known)
    assert scenarios.real_time_s(cases) <= 40 * 60
    assert {case.algorithms[0].name for case in cases} == {algorithm.name for algorithm in known}


def test_the_quick_set_takes_three_minutes() -> None:
    quick = scenarios.quick(scenarios.all_cases())
    assert scenarios.real_time_s(quick) <= 3 * 60
    assert len(quick) == 3


def test_a_new_algorithm_moves_no_scenario_of_the_others() -> None:
    known = [ALGORITHMS[name] for name in ("reno", "cubic", "bic")]
    before = {case.name for case in scenarios.all_cases(known)}
    more = [*known, ALGORITHMS["reno"].model_copy(update={"name": "newreno"})]
    after = {case.name for case in scenarios.all_cases(more) if "newreno" not in case.name}
    assert after <= before


def test_what_listens_to_marks_gets_some() -> None:
    marked = ALGORITHMS["reno"].model_copy(update={"family": "ecn"})
    pair = ChosenCase((marked, ALGORITHMS["cubic"]), PATH, False, 3)
    assert pair.table()["network"]["queue"]["discipline"] == "step"
    assert ChosenCase((marked,), PATH, False, 3).resolve(1).scenario.links


# Comparing


def test_what_is_paced_leaves_segmentation_to_its_device() -> None:
    paced = ALGORITHMS["reno"].model_copy(update={"flags": ("pacing",)})
    case = ChosenCase((paced, ALGORITHMS["cubic"]), PATH, False, 3)
    flows = case.resolve(1).scenario.flows
    switches = [tcp(flow).stack.switches for flow in flows]
    assert [switch.get("tso", False) for switch in switches] == [True, False]


def test_an_engine_agrees_with_itself(alike: Path) -> None:
    whole = agreement(alike)
    assert (whole.within, whole.passed, whole.kernels) == (2, True, ("6.18.0",))
    for judged in whole.judged:
        assert judged.verdict is Verdict.AGREES
        assert judged.runs == (3, 4)
        assert {comparison.measure.name for comparison in judged.goals} == {"goodput", "rtt"}
        assert set(judged.windows["engine"].unique()) == {"kernel", "simulator"}
    # Seed by seed, and both engines lose the same packets.
    pair = whole.judged[1].of("goodput")
    assert pair is not None
    assert (pair.difference.value, reach(pair.difference)) == (0, 0)
    assert whole.judged[0].of("share") is None
    assert whole.judged[1].of("share") is not None


class Distant(Kernel):
    """A kernel whose acknowledgements travel longer."""

    def __init__(self, delay_ns: int) -> None:
        super().__init__()
        self.delay_ns = delay_ns

    def changed(self, data: dict[str, Any]) -> None:
        for flow in data["flows"]:
            flow["reverse"]["delay_ns"] += self.delay_ns


class Wavering(Kernel):
    """A kernel with one run that is as slow as a window is small, where nothing is lost."""

    def changed(self, data: dict[str, Any]) -> None:
        lossy = any(link["loss"] for link in data["links"])
        if data["seed"] == 2 and not lossy:
            for flow in data["flows"]:
                flow["transport"]["tcp"]["stack"]["switches"]["receive_window_bytes"] = 15_000


def test_the_simulated_hosts_hold_packets_and_nothing_else_differs() -> None:
    bare, held = plain(ALONE.resolve(1)), plain(ALONE.resolve(1, hosts.HOLD_NS))
    edges = [
        next(link for link in data["links"] if link["name"] == "edge 1") for data in (bare, held)
    ]
    assert [edge["exit_jitter_ns"] for edge in edges] == [1_200_000, 1_200_000 + hosts.HOLD_NS]
    edges[1]["exit_jitter_ns"] -= hosts.HOLD_NS
    assert held == bare


def test_only_the_simulator_is_given_the_time_and_the_switches_of_hosts(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    running.validate([ALONE], bed(), store, modules=False)
    runs = list(map(store.get, store.keys()))
    edges = {
        (str(run.summary.testbed is not None), link.exit_jitter_ns)
        for run in runs
        for link in run.scenario.links
        if link.name == "edge 1"
    }
    assert edges == {("True", 1_200_000), ("False", 1_200_000 + hosts.HOLD_NS)}
    for run in runs:
        (stack,) = facts.stacks(run.scenario)
        assert stack.switches == ({} if run.summary.testbed is not None else SWITCHES)


def test_what_hosts_add_is_measured_where_the_queue_is_empty(tmp_path: Path) -> None:
    quiet = ChosenCase((ALGORITHMS["reno"],), Bottleneck(100, 10, 0.5, 0.01), True, 3)
    slow = Distant(70_000)
    whole = agreement(tmp_path, slow, cases=(quiet, *CASES))
    text = page.page(Validation(whole, None, ()))
    assert re.sub(r"0\.06\d", "0.06", sentence(text, "of 1 scenarios")) == snapshot(
        "Where the queue is nearly always empty, the kernel's mean round trip is then 0.06 ms longer (the median of 1 scenarios)."
    )
    added = whole.hosts
    assert added is not None
    assert added.scenarios == 1, "not where a queue stands, nor where two flows share it"
    assert added.left_us == pytest.approx(70 - 0.0005 * 10_200, abs=3)
    slow.held_permille = 3
    stopped = agreement(tmp_path / "stopped", slow, cases=[quiet]).hosts
    assert stopped is not None
    assert stopped.held == pytest.approx(0.0035)
    assert stopped.left_us == pytest.approx(added.left_us - 0.003 * 10_270, abs=3)
    assert agreement(tmp_path / "queues", cases=CASES).hosts is None


def test_what_is_undecided_runs_more_often(tmp_path: Path) -> None:
    kernel, store = Wavering(), Store(tmp_path / "results")
    simulator = Side("simulator", SimulatorEngine(), 4)
    whole = deciding.measure(CASES, side(kernel), simulator, store)
    assert [judged.verdict for judged in whole.judged] == [Verdict.UNDECIDABLE, Verdict.AGREES]
    assert kernel.runs == 6
    assert [comparison.measure.name for comparison in whole.judged[0].outside] == ["goodput", "rtt"]
    (remark,) = page.remarks(whole)
    assert remark.text == snapshot(
        "outside but undecided: no reason is known, and it may be chance"
    )
    assert remark.places == (f"{CASES[0].name}: goodput is outside, mean RTT is outside",)
    assert whole.passed, "what is undecided fails nothing"
    patient = dataclasses.replace(side(kernel), repetitions_undecided=(5, 8))
    again = deciding.measure(CASES, patient, simulator, store)
    assert [judged.runs for judged in again.judged] == [(8, 32), (3, 4)]
    assert kernel.runs == 6 + 5
    first, later = (one.judged[0].of("goodput") for one in (whole, again))
    assert first is not None
    assert later is not None
    assert (reach(later.difference) or 0) < (reach(first.difference) or 0)


def test_more_runs_take_no_more_time_than_they_may(tmp_path: Path) -> None:
    kernel, store = Wavering(), Store(tmp_path / "results")
    patient = dataclasses.replace(side(kernel), repetitions_undecided=(5, 8))
    simulator = Side("simulator", SimulatorEngine(), 4)
    step_s = scenarios.real_time_s(CASES[:1], 2)

    def runs(further_s: float) -> int:
        whole = deciding.measure(CASES, patient, simulator, store, further_s=further_s)
        return whole.judged[0].runs[0]

    assert [runs(step_s - 1), runs(step_s), runs(1.5 * step_s)] == [3, 5, 8]
    assert runs(0) == 8, "finished runs take no time"


def test_the_scenario_that_the_fewest_runs_may_decide_comes_first(tmp_path: Path) -> None:
    """The slow run of Reno is so far off that its mean is near the band's end; CDG's is not."""
    cases = (ALONE, ChosenCase((ALGORITHMS["cdg"],), PATH, False, 3))
    patient = dataclasses.replace(side(Wavering()), repetitions_undecided=(5,))
    whole = deciding.measure(
        cases,
        patient,
        Side("simulator", SimulatorEngine(), 4),
        Store(tmp_path / "results"),
        further_s=scenarios.real_time_s(cases[:1], 2),
    )
    assert [judged.runs[0] for judged in whole.judged] == [3, 5]


def test_what_differs_needs_an_explanation(tmp_path: Path) -> None:
    slow = Kernel({"receive_window_bytes": 6000})
    names = tuple(measure.name for measure in (*MEASURES, DISTANCE))
    known = (
        Explanation(("reno,*",), names, "its window is small"),
        Explanation(("*",), names, "and the other's"),
    )
    unexplained = agreement(tmp_path, slow)
    assert unexplained.within == 0
    assert not unexplained.passed
    assert unexplained.judged[0].verdict is Verdict.DIFFERS
    explained = agreement(tmp_path, slow, known)
    assert explained.passed
    assert not explained.stale
    assert [comparison.reason for comparison in explained.judged[0].differing][:1] == snapshot(
        ["its window is small"]
    )
    reasons = {remark.text: remark.places for remark in page.remarks(explained)}
    assert list(reasons) == snapshot(["its window is small", "and the other's"])
    assert all(place.startswith(CASES[0].name) for place in reasons["its window is small"])


def test_an_explanation_without_a_difference_is_stale(alike: Path) -> None:
    known = [
        Explanation(("reno,*",), ("rtt",), "it was slow once"),
        Explanation(("htcp,*",), ("rtt",), "not in these scenarios"),
        Explanation(("reno,*",), ("goodput",), "it may show", always=False),
    ]
    whole = agreement(alike, explanations=known)
    assert whole.stale == (known[0],)
    stale = "explains nothing any more: reno,*: it was slow once"
    assert stale in [remark.text for remark in page.remarks(whole)]


def test_invalid_runs_are_left_out_and_named(tmp_path: Path) -> None:
    whole = agreement(tmp_path, Kernel(invalid=[2]))
    assert [judged.runs for judged in whole.judged] == [(2, 4), (2, 4)]
    assert [(run.repetition, run.failed) for run in whole.unusable] == [(2, False)] * 2
    assert whole.passed
    (remark,) = (remark for remark in page.remarks(whole) if "Invalid" in remark.text)
    assert remark.text == snapshot("Invalid runs on the kernel, left out.")
    assert [place.partition(": run 2, ")[0] for place in remark.places] == [
        case.name for case in CASES
    ]
    nothing = agreement(tmp_path / "none", Kernel(invalid=[1, 2, 3]))
    assert {judged.verdict for judged in nothing.judged} == {Verdict.NOT_MEASURED}
    assert not nothing.passed
    assert "not measured" in page.headline(nothing)


def test_what_the_kernel_does_not_offer_is_told(tmp_path: Path) -> None:
    kernel = Kernel()
    kernel.not_offered = ["dsack"]
    whole = agreement(tmp_path, kernel)
    assert [remark.text for remark in page.remarks(whole)] == snapshot(
        ["not offered by the kernel: dsack"]
    )


def test_a_run_that_breaks_fails_the_validation(tmp_path: Path) -> None:
    whole = agreement(tmp_path, Kernel(broken=3))
    assert [run.reason for run in whole.unusable] == ["no such device"] * 2
    assert all(run.failed for run in whole.unusable)
    assert not whole.passed


def test_runs_of_different_engines_have_different_keys(tmp_path: Path) -> None:
    kernel = Kernel()
    store = Store(tmp_path / "results")
    collect(CASES, side(kernel), store)
    collect(CASES, Side("simulator", SimulatorEngine(), 3), store)
    assert len(list(store.keys())) == 12
    collect(CASES, side(kernel), store)
    assert kernel.runs == 6


# Parity


def test_parity_runs_until_there_are_enough_callbacks() -> None:
    (checked,) = parity.check([ALGORITHMS["bic"]], replayed())
    assert (checked.callbacks, checked.passed) == (120_000, True)
    (few,) = parity.check([ALGORITHMS["bic"]], replayed(callbacks={"cong_avoid": 10}))
    assert (few.callbacks, few.passed) == (80, False)
    assert few.remark == "fewer than 100,000 callbacks"


def test_parity_names_the_first_mismatch_and_what_fails() -> None:
    (checked,) = parity.check(
        [ALGORITHMS["bic"]], replayed(differing=3, mismatches=["ssthresh: 5, not 6", "more"])
    )
    assert (checked.mismatches, checked.passed, checked.callbacks) == (3, False, 60_000)
    assert checked.remark == "ssthresh: 5, not 6"
    assert checked.remark in page.parity_cells(checked)[-1]

    def broken(_: str) -> list[dict[str, Any]]:
        raise EngineError("the verifier refused it")

    bic, reno = parity.check([ALGORITHMS["bic"], ALGORITHMS["reno"]], broken)
    assert bic.remark == reno.remark == "the verifier refused it"


# Tables, page, figure


def test_the_page_tells_it_all(tmp_path: Path) -> None:
    validation = running.validate(CASES, bed(), Store(tmp_path / "results"))
    assert validation.passed
    text = page.page(validation)
    assert "Kernel 6.18.0, simulator" in text
    assert "2 of 2 scenarios (100 %; goal 90 %)" in text
    assert "0.04 ms more, at random" in text
    assert "nearly always empty" not in text, "no scenario here tells of the hosts"
    rows = [line for line in text.splitlines() if line.startswith("| reno, 10 Mbit/s, 20 ms")]
    assert len(rows) == 2, "once against the simulator, once against the kernel's module"
    assert all(row.endswith("| agrees |") for row in rows)
    assert "| cubic | 120,000 | 0 | 0 | equal |" in text
    assert page.page(validation) == text
    json.dumps(validation.as_dict(), allow_nan=False)


def test_the_figure_has_a_panel_for_each_measure(alike: Path) -> None:
    chart = figure.draw(agreement(alike))
    svg = drawing.rendered(chart.to_dict(), ".svg").decode()
    for title in ("goodput", "mean RTT", "retransmitted", "mean queue", "window distance"):
        assert f">{title}<" in svg
    assert ">cwnd (segments)<" in svg
    assert ">reno, 10 Mbit/s, 20 ms, 1 BDP<" in svg


def test_the_figure_of_nothing_can_be_drawn() -> None:
    empty = Collected({case.name: {} for case in CASES})
    compared = judging.compare(CASES, ("kernel", empty), ("simulator", empty))
    assert drawing.rendered(figure.draw(compared).to_dict(), ".svg")


# The command


def _command(monkeypatch: pytest.MonkeyPatch, root: Path, *arguments: str) -> int | str | None:
    options = ("--engine", "testbed", "--results", str(root / "results"), "--jobs", "1")
    monkeypatch.setattr(sys, "argv", ["fidelity", *options, *arguments])
    with pytest.raises(SystemExit) as stopped:
        commands.main(app)
    return stopped.value.code


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """Put a small set and a ready testbed in the command's way."""
    kernel = Kernel()
    monkeypatch.setattr(machine, "look", lambda: Machine(kernel="6.18.0", ready=True, facts=()))
    monkeypatch.setattr(testbed, "real", lambda: bed(kernel))
    monkeypatch.setattr(scenarios, "all_cases", lambda: CASES)
    return kernel


def test_the_command_compares_and_goes_on(
    ready: Kernel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    written, drawn = tmp_path / "page.md", tmp_path / "agreement.svg"
    assert not _command(monkeypatch, tmp_path, "--markdown", str(written), "--figure", str(drawn))
    printed = capsys.readouterr().out
    assert "2 of 2 scenarios" in printed
    assert "equal" in printed
    assert written.read_text().startswith("# Agreement with the kernel")
    assert drawn.read_text().startswith("<svg")
    runs = ready.runs
    assert not _command(monkeypatch, tmp_path, "--json")
    data = json.loads(capsys.readouterr().out)
    assert data["testbed"]["agreement"]["within"] == 2
    assert data["checks"] == []
    assert ready.runs == runs, "finished runs are used again"


def test_the_command_fails_where_something_is_outside(
    ready: Kernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ready.broken = 1
    assert _command(monkeypatch, tmp_path, "--only", "RENO, 10") == 1


def test_the_command_says_why_the_testbed_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = Fact(
        name="root",
        state="no",
        ok=False,
        required=True,
        needed_for="everything",
        remedy="run it with sudo",
    )
    monkeypatch.setattr(
        machine, "look", lambda: Machine(kernel="6.18.0", ready=False, facts=(root,))
    )
    assert _command(monkeypatch, tmp_path) == 2
    assert capsys.readouterr().err == snapshot(
        "error: the testbed is not ready, because of root (no): run it with sudo; `dumbbell doctor` shows more\n"
    )
    assert _command(monkeypatch, tmp_path, "--only", "no such thing") == 2
    assert "--only" in capsys.readouterr().err
    # The checks against theory do not need it.
    monkeypatch.setattr(sys, "argv", ["fidelity", "--only", "reno, 10"])
    monkeypatch.setattr(steps, "all_checks", tuple)
    monkeypatch.setattr(scenarios, "all_cases", lambda: CASES)
    with pytest.raises(SystemExit) as stopped:
        commands.main(app)
    assert not stopped.value.code
    assert capsys.readouterr().err == snapshot(
        "simulator and kernel are not compared: the testbed is not ready, because of root (no): run it with sudo\n"
    )
