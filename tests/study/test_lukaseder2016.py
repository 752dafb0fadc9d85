"""The study of Lukaseder et al.: its plan, its scenarios, and that all its parts fit together."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import study_runs
from dumbbell.contract.scenario import Bernoulli, GilbertElliott, LossConfig
from dumbbell.judging.evidence import Verdict
from dumbbell.judging.spec import Measured
from dumbbell.plan.expanding import PlannedRun
from dumbbell.results.results import Results
from dumbbell.scenario import facts
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from figure_tables import vega_lite

STUDY = Study.load("lukaseder2016")
PAPER = ("responsiveness", "fairness", "convergence")
ACKS_OF_OTHER_LENGTHS = ("investigation", "stretch-acks", "cubic-clock", "losses-and-acks")


def first(test: str, **where: str) -> PlannedRun:
    return STUDY.runs(where={"test": test, **where}, runs=1)[0]


def losses(run: PlannedRun) -> list[Any]:
    return [loss for link in run.resolved.scenario.links for loss in link.loss]


def test_the_plan_of_the_paper_has_1280_runs() -> None:
    counts = Counter(run.test for run in study_runs.runs(STUDY.name, *PAPER))
    assert counts == {"responsiveness": 840, "fairness": 220, "convergence": 220}
    assert sum(counts.values()) == 1280


def test_no_run_of_the_paper_is_planned_twice() -> None:
    runs = study_runs.runs(STUDY.name, *PAPER)
    assert len({run.resolved.key for run in runs}) == len(runs)


def test_runs_last_15_minutes_and_quick_ones_90_s_at_most() -> None:
    seconds = {
        run.resolved.scenario.duration_ns / 1e9 for run in study_runs.runs(STUDY.name, *PAPER)
    }
    assert seconds == {900}
    assert all(
        run.resolved.scenario.duration_ns <= 90e9 for run in study_runs.runs(STUDY.name, quick=True)
    )


def test_packets_are_those_of_ethernet_without_timestamps() -> None:
    data = first("responsiveness").resolved.scenario
    flow = data.flows[0]
    assert (flow.packet_bytes, flow.header_bytes) == (1500, 40)
    assert {link.overhead_bytes for link in data.links} == {38}
    assert facts.bottleneck_rate_bps(data) == 10_000_000_000


@pytest.mark.parametrize(
    ("rtt", "loss", "expected"),
    [
        ("0.2ms", "0", []),
        ("0.2ms", "1e-3", [1e-3]),
        ("12.2ms", "0", [2.2e-8]),
        ("12.2ms", "1e-3", [2.2e-8, 1e-3]),
    ],
)
def test_packets_are_lost_in_the_netfpga_and_in_the_rings(
    rtt: str, loss: str, expected: list[float]
) -> None:
    run = first("responsiveness", rtt=rtt, loss=loss)
    assert sorted(map(_share, losses(run))) == pytest.approx(expected)
    lossy = [link.name for link in run.resolved.scenario.links if link.loss]
    assert all(name.startswith("receiver") for name in lossy), "behind the queue"


def test_two_flows_lose_packets_to_bit_errors_alone() -> None:
    for run in study_runs.runs(STUDY.name, "fairness", "convergence"):
        expected = [] if run.axes["rtt"] == "0.2ms" else [2.2e-8]
        assert list(map(_share, losses(run))) == pytest.approx(expected)


def test_round_trip_times_are_those_of_the_rings() -> None:
    for rtt, rtt_ns in (("0.2ms", 200_000), ("6.2ms", 6_200_000), ("24.2ms", 24_200_000)):
        data = first("fairness", rtt=rtt).resolved.scenario
        assert {facts.base_rtt_ns(data, flow) for flow in data.flows} == {rtt_ns}


def test_the_second_flow_is_the_same_or_reno() -> None:
    for run in study_runs.runs(STUDY.name, "fairness", "convergence"):
        one, other = (facts.choice(flow) for flow in run.resolved.scenario.flows)
        expected = one if run.axes["second"] == "same" else "reno@lukaseder2016"
        assert (one, other) == (run.axes["algorithm"], expected)
        assert (one, run.axes["second"]) != ("reno@lukaseder2016", "reno")


def test_flows_start_together_or_a_minute_apart() -> None:
    for run in study_runs.runs(STUDY.name, "fairness", "convergence"):
        first_ns, second_ns = (flow.start_ns for flow in run.resolved.scenario.flows)
        low, high = (0, 10e6) if run.test == "fairness" else (60e9, 120e9)
        assert first_ns == 0
        assert low <= second_ns <= high


def test_a_contradicted_number_has_its_scenario_under_every_cause() -> None:
    points: dict[str, set[str]] = {}
    runs = STUDY.runs(tests=("investigation",), runs=1)
    for run in runs:
        points.setdefault(run.axes["point"], set()).add(run.resolved.key)
    causes = STUDY.test("investigation").axes["cause"]
    for point, keys in points.items():
        # Without a ring there are no bit errors to leave out or to multiply.
        same = 2 if point == "L14" else 0
        assert len(keys) == len(causes) - same, point


@pytest.mark.parametrize(
    ("test", "as_is"), [("investigation", {"cause": "as is"}), ("stretch-acks", {"covered": "2"})]
)
def test_contradicted_numbers_are_the_scenarios_of_their_claims(
    test: str, as_is: dict[str, str]
) -> None:
    for claim in STUDY.claims:
        if claim.id not in STUDY.test(test).axes["point"]:
            continue
        check = claim.checks[-1]
        assert isinstance(check, Measured)
        run = first(test, point=claim.id, **as_is)
        where = {axis: str(check.where[axis]) for axis in ("rtt", "loss")}
        algorithm = facts.choice(run.resolved.scenario.flows[0])
        point = first("responsiveness", algorithm=algorithm, **where)
        assert _path(point) == _path(run), claim.id


def _path(run: PlannedRun) -> Any:
    return [(link.rate, link.delay, link.queue, link.loss) for link in run.resolved.scenario.links]


def test_bursts_drop_as_many_packets_and_a_fifth_is_one() -> None:
    for point in STUDY.test("investigation").axes["point"]:
        single, bursts, five, fifth = (
            sum(map(_share, losses(first("investigation", point=point, cause=cause))))
            for cause in ("as is", "bursts", "bursts of five", "a fifth")
        )
        assert bursts == pytest.approx(single, rel=0.02), point
        assert five == pytest.approx(single, rel=0.02), point
        # The bit errors stay.
        errors = 0 if point in ("L14", "L34") else 2.2e-8
        assert fifth - errors == pytest.approx((single - errors) / 5, rel=0.001), point


def test_acks_cover_three_segments_but_in_investigations() -> None:
    for run in study_runs.runs(STUDY.name):
        for flow in run.resolved.scenario.flows:
            assert flow.transport.tcp is not None
            switches = flow.transport.tcp.stack.switches
            if run.test not in ACKS_OF_OTHER_LENGTHS:
                assert switches["gro_segs"] == 3, run.axes
    as_is = first("investigation", cause="as is").resolved.scenario.flows[0].transport.tcp
    assert as_is is not None
    assert as_is.stack.switches.get("gro_segs", 0) == 0


def test_a_fifth_and_a_tenth_of_the_drops_leave_the_bit_errors() -> None:
    def drops(**where: str) -> list[float]:
        return sorted(map(_share, losses(first("losses-and-acks", **where))))

    assert drops(point="L16", cause="a fifth") == pytest.approx([2e-8, 2.2e-8])
    for cause, expected in {"acks of 16": 1e-6, "a fifth": 2e-7, "a tenth": 1e-7}.items():
        assert drops(point="L20", cause=cause) == pytest.approx([2.2e-8, expected])


def test_only_the_clock_of_cubic_is_another() -> None:
    usual, fast = (
        first("cubic-clock", variant=variant).resolved.scenario.flows[0].transport.tcp
        for variant in ("CUBIC", "CUBIC, 1 ms")
    )
    assert usual is not None
    assert fast is not None
    assert (usual.parameters, fast.parameters) == ({}, {"recompute": 0})
    assert usual.algorithm == fast.algorithm == "cubic"


def _share(loss: LossConfig) -> float:
    """Return the share of packets that a place of loss takes in the long run."""
    if isinstance(loss, Bernoulli):
        return loss.probability[0][1]
    assert isinstance(loss, GilbertElliott)
    return loss.to_bad / (loss.to_bad + loss.to_good)


class TestClaims:
    def test_all_fifty_are_there(self) -> None:
        assert [claim.id for claim in STUDY.claims] == [f"L{n:02}" for n in range(1, 51)]

    def test_without_runs_only_arithmetic_is_decided(self, tmp_path: Path) -> None:
        results = Results(STUDY, Store(tmp_path)).claims()
        decided = {r.claim.id for r in results if r.verdict is not Verdict.UNDECIDED}
        assert decided == {"L02", "L03", "L04", "L50"}
        assert all(r.verdict is Verdict.HOLDS for r in results if r.claim.id in decided)


class TestFigures:
    def test_every_figure_can_be_drawn_without_runs(self, tmp_path: Path) -> None:
        results = Results(STUDY, Store(tmp_path))
        for spec in STUDY.figures:
            figure = spec.draw(results)
            assert figure.notes[0].partition(":")[0] == snapshot("Not run yet")
            assert spec.title.split(".")[0] in str(vega_lite(figure))

    def test_figures_4_to_10_are_there(self) -> None:
        names = {figure.name for figure in STUDY.figures}
        assert {"fig4a", "fig4b", "fig7a", "fig7b", "fig8a", "fig8b", "fig9", "fig10"} <= names
