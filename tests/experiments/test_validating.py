"""Simulator and kernel on one scenario: verdicts, runs that are not judged, page and overlay."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import passing_kernel
from command_line import unmeasured
from dumbbell.base.errors import InputError, TestbedError
from dumbbell.engines import engines
from dumbbell.engines.engine import Engine
from dumbbell.experiments import scenario_files
from dumbbell.experiments.validate import validating, words
from dumbbell.experiments.validate.comparing import Compared
from dumbbell.experiments.validate.measures import MEASURES
from dumbbell.experiments.validate.validating import Validation
from dumbbell.inference.equivalence import Verdict
from dumbbell.inference.estimates import Exact, Student
from dumbbell.reports import validate_chart, validate_page
from dumbbell.scenario import facts
from dumbbell.store.store import Store
from passing_kernel import Kernel

SCENARIO = """
duration = "3s"
seed = 1
network = { rate = "4mbit", rtt = "20ms", queue = "1bdp", edge_jitter = "3ms" }
record = { interval = "50ms" }
flow = [{ algorithm = "cubic" }]
"""


class LongerPath(Kernel):
    """A kernel on whose path packets take 6 ms more."""

    def changed(self, data: dict[str, Any]) -> None:
        for flow in data["flows"]:
            flow["forward"]["delay_ns"] += 6_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my.toml"
    path.write_text(SCENARIO)
    return path


def validated(
    file: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, runs: int = 3
) -> Validation:
    passing_kernel.installed(kernel, monkeypatch)
    read = scenario_files.read(file, [], command="validate", prefix="validate-")
    return validating.validate(
        read, runs=runs, results=Store(file.parent / "results"), jobs=2, retries=0
    )


def test_engines_that_do_the_same_agree(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    validation = validated(file, Kernel(), monkeypatch)
    assert validation.verdict is Verdict.AGREES
    assert [comparison.measure.name for comparison in validation.compared] == [
        "goodput",
        "rtt",
        "retransmitted",
        "queue",
    ]
    assert all(comparison.difference.value == 0 for comparison in validation.compared)
    assert unmeasured(words.verdict(validation)) == snapshot(
        "The simulator agrees with the kernel here: goodput, mean RTT, retransmitted and mean queue are within their bands."
    )
    assert not list(words.remarks(validation))


def test_a_longer_path_differs_and_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    validation = validated(file, LongerPath(), monkeypatch)
    assert validation.verdict is Verdict.DIFFERS
    differing = [comparison.measure.name for comparison in validation.having(Verdict.DIFFERS)]
    assert "rtt" in differing
    (rtt,) = (comparison for comparison in validation.compared if comparison.measure.name == "rtt")
    assert rtt.difference.high < rtt.low
    assert "mean RTT is" in words.verdict(validation)
    assert validation.as_dict()["measures"]["rtt"]["verdict"] == "differs"


def test_both_engines_have_the_hosts_of_the_testbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel()
    kernel.host_switches = {"receive_buffer_bytes": 9_000_000, "quick_acks": 3}
    file = tmp_path / "my.toml"
    old_hosts = '{ profile = "linux-4.14", switches = { quick_acks = 0 } }'
    file.write_text(
        SCENARIO.replace('"cubic" }', f'"cubic" }}, {{ algorithm = "reno", stack = {old_hosts} }}')
    )
    for side in validated(file, kernel, monkeypatch).sides:
        assert side.first is not None
        stacks = facts.stacks(side.first.scenario)
        assert [(choice.profile, choice.switches) for choice in stacks] == [
            ("linux-6", kernel.host_switches),
            ("linux-4.14", {**kernel.host_switches, "quick_acks": 0}),
        ]


def test_intervals_that_reach_over_a_band_are_undecided(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first second of a slow start is all there is, and losses differ: so do goodputs.
    file.write_text(
        SCENARIO.replace('"3s"', '"1s"').replace(
            "edge_jitter", 'loss = [{ place = "receiver", probability = 0.02 }], edge_jitter'
        )
    )

    class OtherLosses(Kernel):
        def changed(self, data: dict[str, Any]) -> None:
            data["seed"] += 1000

    validation = validated(file, OtherLosses(), monkeypatch)
    assert validation.verdict is Verdict.UNDECIDABLE
    open_goals = [
        comparison for comparison in validation.goals if comparison.verdict is Verdict.UNDECIDABLE
    ]
    assert open_goals
    assert all(comparison.measure.title in words.verdict(validation) for comparison in open_goals)


def test_the_number_of_runs_that_would_decide() -> None:
    goodput = MEASURES[0]
    value = Exact(10.0, 3, 0.95)
    wide = Student(0.1, 3, 0.95, 0.5, 4.0)
    compared = Compared(goodput, value, value, wide, -0.5, 0.5)
    runs = validating.needed(compared)
    assert runs is not None
    assert runs > 3
    assert wide.with_runs(runs).high <= 0.5 < wide.with_runs(runs - 1).high
    on_the_edge = dataclasses.replace(compared, difference=Student(0.5, 3, 0.95, 0.5, 4.0))
    assert validating.needed(on_the_edge) is None


def test_runs_that_were_held_up_are_named_and_not_judged(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(invalid=[1])
    validation = validated(file, kernel, monkeypatch)
    assert validation.verdict is Verdict.AGREES
    assert len(validation.kernel.runs) == 2
    (unjudged,) = validation.kernel.unjudged
    assert (unjudged.repetition, unjudged.seed, unjudged.why) == (1, 1, passing_kernel.LATE)
    line, *_ = words.remarks(validation)
    assert line == snapshot(
        "Not judged on the kernel: run 1 of 3, as the emulator was late; `dumbbell doctor` shows what delays this machine."
    )


@pytest.mark.usefixtures("undrawn")
def test_without_a_valid_run_nothing_is_judged(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Kernel):
        def run(self, scenario: Any, cancel: Any = None) -> Any:
            self.invalid = [scenario.scenario.seed]
            return super().run(scenario, cancel)

    validation = validated(file, Late(), monkeypatch)
    assert validation.verdict is Verdict.NOT_MEASURED
    assert words.verdict(validation) == snapshot("Not judged: no valid run on the kernel.")
    page = file.with_name("page.html")
    validate_page.write(validation, page, "dumbbell validate my.toml")
    assert f"seed 1: {passing_kernel.LATE}" in page.read_text()


def test_one_valid_run_has_no_interval(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    validation = validated(file, Kernel(invalid=[1]), monkeypatch, runs=2)
    assert validation.verdict is Verdict.UNDECIDABLE
    assert words.verdict(validation) == snapshot(
        "Undecided: 1 valid run on the kernel is too few for an interval."
    )


def test_a_failed_run_is_not_judged(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    validation = validated(file, Kernel(broken=1), monkeypatch)
    (unjudged,) = validation.kernel.unjudged
    assert "no such device" in unjudged.why


def test_features_that_the_kernel_has_not_are_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel()
    kernel.not_offered = ["fack"]
    validation = validated(file, kernel, monkeypatch, runs=2)
    assert [remark for remark in words.remarks(validation) if "fack" in remark] == snapshot(
        ["This kernel does not offer fack, which the simulator has."]
    )


def test_the_overlay_has_both_engines_in_spans_of_time(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validation = validated(file, LongerPath(), monkeypatch)
    frames = validate_chart.frames(validation)
    assert list(frames) == ["goodput_mbit_per_s", "rtt_ms", "queue_packets"]
    rtt = frames["rtt_ms"].group_by("engine").mean().sort("engine")
    on_kernel, simulated = rtt["mean"]
    assert on_kernel - simulated == pytest.approx(6, abs=2)
    goodput = frames["goodput_mbit_per_s"].filter(engine="simulator")
    (first, *_) = validation.simulator.runs.values()
    received = sum(flow.received_bytes for flow in first.summary.flows)
    # All runs fill the same link, so the mean of the spans is the goodput of each run.
    mean_mbit_per_s = float(goodput["mean"].to_numpy().mean())
    assert mean_mbit_per_s * 3e6 / 8 == pytest.approx(received, rel=0.02)
    # A mean of equal values may be rounded beyond them.
    assert (goodput["least"] <= goodput["mean"] + 1e-9).all()
    assert (goodput["mean"] <= goodput["most"] + 1e-9).all()
    page = file.with_name("page.html")
    validate_page.write(validation, page, "dumbbell validate my.toml")
    text = page.read_text()
    # One overlay for wide windows, another for phones.
    widths = [int(width) for width in re.findall(r'class="marks" width="(\d+)"', text)]
    assert len(widths) == 2
    assert widths[0] > 760
    assert widths[1] < 360
    assert 'class="outcome expectation-failed"' in text


def test_without_samples_there_is_no_overlay(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(SCENARIO.replace('"50ms"', '"none"'))
    validation = validated(file, Kernel(), monkeypatch, runs=2)
    assert validate_chart.draw(validation) is None
    assert validation.compared
    page = file.with_name("page.html")
    validate_page.write(validation, page, "dumbbell validate my.toml")
    assert "no samples" in page.read_text()


def test_without_a_testbed_nothing_runs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def runnable(_: Engine | str) -> Engine:
        raise TestbedError("the testbed is not ready; `dumbbell doctor` shows more")

    monkeypatch.setattr(engines, "runnable", runnable)
    read = scenario_files.read(file, [], command="validate", prefix="validate-")
    with pytest.raises(TestbedError) as error:
        validating.validate(read, results=Store(file.parent / "results"))
    assert str(error.value) == snapshot(
        "the testbed is not ready; `dumbbell doctor` shows more; no run was judged"
    )
    assert not (file.parent / "results").exists()


def test_a_wrong_scenario_is_refused_first(file: Path) -> None:
    file.write_text(SCENARIO.replace("cubic", "cubik"))
    with pytest.raises(InputError) as error:
        scenario_files.read(file, [], command="validate")
    assert error.value.source == str(file)
    assert error.value.near == "cubic"
