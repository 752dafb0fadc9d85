"""The study of Mani and Mbarek that comes with Dumbbell."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import study_runs
from dumbbell.contract.scenario import Scenario
from dumbbell.judging.evidence import Verdict
from dumbbell.results.results import Results
from dumbbell.scenario import facts
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from sample_runs import tcp

STUDY = Study.load("mani2012")
SEVEN = {"highspeed", "scalable", "bic", "htcp", "cubic", "illinois", "yeah"}


def test_covers_the_paper() -> None:
    flows = STUDY.test("flows")
    assert flows.axes["flows"] == ("1", "2", "4", "6", "8", "10", "12", "16", "24")
    for name in ("histories", "flows", "rtt", "queue"):
        test = STUDY.test(name)
        assert {value.partition("@")[0] for value in test.axes["algorithm"]} >= SEVEN
        assert test.axes["reading"][:2] == ("one-way", "rtt")
    assert [figure.name for figure in STUDY.figures] == [
        *(
            "fig3",
            "fig3-rtt",
            "fig4",
            "fig5",
            "fig6a",
            "fig6b",
            "fig6c",
            "fig7",
            "fig8",
            "ahead",
        )
    ]
    assert [claim.id for claim in STUDY.claims] == [f"M{n:02}" for n in range(1, 21)]


def test_counts_of_runs() -> None:
    counted = study_runs.counts(STUDY)
    assert counted == {
        "histories": 8 * 2,
        "flows": 9 * 7 * 9 * 3,
        "steady": 2 * 3 * 2,
        "rtt": 8 * 7 * 6 * 3,
        "queue": 8 * 7 * 6 * 3,
        "ahead": 7 * 2 * 2,
    }
    quick = [run.test for run in study_runs.runs(STUDY.name, quick=True)]
    assert {name: quick.count(name) for name in counted} == {
        "histories": 8,
        "flows": 9 * 3 * 2,
        "steady": 2 * 2,
        "rtt": 8 * 3 * 2,
        "queue": 8 * 3 * 2,
        "ahead": 7 * 2,
    }


def one(test: str, **where: str) -> Scenario:
    return study_runs.one(STUDY, test, **where).resolved.scenario


@pytest.mark.parametrize(
    ("test", "where", "rtt_ms"),
    [
        ("flows", {"reading": "one-way", "flows": "4"}, 2 * (1 + 92 + 1)),
        ("flows", {"reading": "rtt", "flows": "4"}, 92),
        ("histories", {"reading": "one-way"}, 188),
        ("queue", {"reading": "one-way", "queue": "50p"}, 188),
        ("queue", {"reading": "rtt", "queue": "50p"}, 92),
        *(
            ("rtt", {"reading": reading, "rtt": f"{value}ms"}, rtt_ms)
            for value in (20, 60, 100, 140, 180, 220)
            for reading, rtt_ms in (
                ("rtt", value),
                ("one-way", 2 * (1 + value + 1)),
                ("random holds", 2 * (1 + value + 1)),
            )
        ),
    ],
)
def test_readings_of_the_delay(test: str, where: dict[str, str], rtt_ms: int) -> None:
    data = one(test, algorithm="scalable", **where)
    assert facts.base_rtt_ns(data, data.flows[0]) == rtt_ms * 10**6


def test_flows_are_equal_and_can_be_told_apart() -> None:
    data = one("flows", algorithm="bic", reading="one-way", flows="24")
    assert [flow.label for flow in data.flows] == [f"flow {n}" for n in range(1, 25)]
    assert {flow.start_ns for flow in data.flows} == {0}
    assert {facts.choice(flow) for flow in data.flows} == {"bic@mani2012"}


def test_cubic_is_that_of_its_time() -> None:
    """That is: keeping 819/1024 and without HyStart, in every flow."""
    for run in study_runs.firsts(STUDY.name):
        expected = {"hystart": 0, "kept": 819} if run.axes["algorithm"].startswith("cubic") else {}
        for flow in run.resolved.scenario.flows:
            assert tcp(flow).parameters == expected


def test_standard_tcp_runs_for_ten_epochs() -> None:
    """Half of what path and queue hold, at a segment per round trip and flow, lost together."""
    for run in STUDY.runs(where={"test": "flows", "algorithm": "reno"}, runs=1):
        data = run.resolved.scenario
        rtt_s = facts.base_rtt_ns(data, data.flows[0]) / 1e9
        held = 200e6 * rtt_s / 12_000 + 100
        epoch_s = held / 2 / len(data.flows) * rtt_s
        assert data.duration_ns / 1e9 >= 10 * epoch_s, run.axes


def test_the_histories_are_runs_of_the_main_test() -> None:
    for run in STUDY.runs(where={"test": "histories"}):
        same = one("flows", **run.axes)
        assert run.resolved.scenario.seed == same.seed
        assert msgspec.structs.replace(run.resolved.scenario, record=same.record) == same


def test_the_steady_state_is_measured_after_the_climb() -> None:
    for run in study_runs.firsts(STUDY.name, "steady"):
        assert run.windows["main"].settle == 0.2
        seconds = 3600 if run.axes["algorithm"] == "reno" else 300
        assert run.resolved.scenario.duration_ns == seconds * 10**9


@pytest.mark.parametrize(
    ("reading", "seconds", "hold_ns"),
    [
        ("one-way", 100, 0),
        ("rtt", 100, 0),
        ("20 s", 20, 0),
        ("50 s", 50, 0),
        ("300 s", 300, 0),
        ("random holds", 100, 120_000),
        ("random holds, 300 s", 300, 120_000),
    ],
)
def test_readings_differ_in_one_thing(reading: str, seconds: int, hold_ns: int) -> None:
    for test, where in (("flows", {"flows": "4"}), ("queue", {"queue": "50p"})):
        data = one(test, algorithm="scalable", reading=reading, **where)
        assert data.duration_ns == seconds * 10**9
        edges = [link.exit_jitter_ns for link in data.links if link.name.startswith("edge")]
        assert set(edges) == {hold_ns}


def test_without_runs_only_arithmetic_is_decided(tmp_path: Path) -> None:
    results = Results(STUDY, Store(tmp_path)).claims()
    decided = {result.claim.id for result in results if result.verdict is not Verdict.UNDECIDED}
    assert decided == {"M01", "M02", "M13", "M14", "M17"}
    assert all(r.verdict is Verdict.HOLDS for r in results if r.claim.id in decided)
