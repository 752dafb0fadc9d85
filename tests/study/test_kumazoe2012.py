"""The study of Kumazoe et al. that comes with Dumbbell."""

from __future__ import annotations

from pathlib import Path

import pytest

import study_runs
from dumbbell.contract.scenario import Scenario
from dumbbell.judging import readings
from dumbbell.judging.evidence import Verdict
from dumbbell.plan.expanding import PlannedRun
from dumbbell.results.results import Results
from dumbbell.scenario import facts
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from sample_runs import tcp

STUDY = Study.load("kumazoe2012")
READ = ("udp", "alike", "mixed")
READINGS = STUDY.test("udp").axes["reading"]
GBIT_PACKETS_PER_S = 1e9 / (8 * 1538)
OWN = ("ccp", "ccpd")
OPEN = Verdict.UNDECIDED
PRINTED = {"literal_growth": 1, "literal_diff": 1, "literal_cut": 1, "literal_reno": 1}


def one(test: str, **where: str) -> Scenario:
    found = STUDY.runs(where={"test": test, **where}, runs=1)
    assert len(found) == 1, found
    return found[0].resolved.scenario


def test_covers_the_paper() -> None:
    names = [figure.name for figure in STUDY.figures]
    assert names[:15] == ["fig1", *(f"fig{number}" for number in range(3, 17))]
    assert [claim.id for claim in STUDY.claims] == [f"K{n:02}" for n in range(1, 30)]
    gains = {f"ccpd@kumazoe2012-kp{kp}-kd{kd}" for kp in (1, 2, 4) for kd in (1000, 2000, 4000)}
    others = {f"{name}@kumazoe2012" for name in ("reno", "cubic", "compound")}
    others |= {f"ccp@kumazoe2012-kp{kp}" for kp in (1, 2, 4)}
    for name in ("udp", "alike"):
        assert set(STUDY.test(name).axes["algorithm"]) == gains | others
    assert STUDY.test("udp").axes["rtt"] == ("20ms", "200ms", "600ms")


def test_counts_of_runs() -> None:
    counted: dict[str, int] = {}
    for run in study_runs.runs(STUDY.name):
        counted[run.test] = counted.get(run.test, 0) + 1
    read = len(READINGS)
    assert counted == {
        "udp": (12 * read + 3) * 3 * 3,
        "alike": (12 * read + 3) * 2 * 3,
        "mixed": 2 * 3 * 2 * 2 * read * 3,
        "traces": 10 * 2 * 3,
        "fixed-window": 3 * 3,
        "late": 9 * 2 * 2 * 3,
        "re-routing": (3 + 4 * 2) * 4 * 3,
        "many": 9 * 2 * 4 * 3,
    }


def test_the_quick_part_takes_less_than_four_minutes() -> None:
    """If every link were busy all the time, at the 12.9 million packets a second of mani2012."""
    runs = {run.resolved.key: run for run in study_runs.runs(STUDY.name, quick=True)}
    busy_s = sum(run.resolved.scenario.duration_ns / 1e9 for run in runs.values())
    assert busy_s * GBIT_PACKETS_PER_S / 12.9e6 < 240
    assert {run.test for run in runs.values()} == {test.name for test in STUDY.tests}


def test_datagrams_come_and_go() -> None:
    for rtt_ms in (20, 200, 600):
        data = one("udp", algorithm="reno", rtt=f"{rtt_ms}ms", reading="main")
        flow, datagrams = data.flows
        assert facts.base_rtt_ns(data, flow) == rtt_ms * 10**6
        assert datagrams.transport.udp is not None
        assert datagrams.transport.udp.rate_bps == 200_000_000
        assert (datagrams.start_ns, datagrams.stop_ns) == (50 * 10**9, 100 * 10**9)
        assert data.duration_ns == 150 * 10**9


@pytest.mark.parametrize(("first", "second"), [("ccpd", "other"), ("other", "ccpd")])
def test_mixed_flows_come_in_both_orders(first: str, second: str) -> None:
    data = one(
        "mixed",
        algorithm="ccpd@kumazoe2012-kp4-kd2000",
        other="cubic",
        first=first,
        rtt="200ms",
        reading="main",
    )
    flows = {flow.label: flow for flow in data.flows}
    assert facts.choice(flows["ccpd"]).startswith("ccpd@kumazoe2012-kp4-kd2000")
    assert facts.choice(flows["other"]) == "cubic@kumazoe2012"
    assert flows[first].stop_ns == 100 * 10**9
    assert flows[second].start_ns == 50 * 10**9
    assert (flows[first].group, flows[second].group) == ("first", "second")


def parameters(run: PlannedRun, *names: str) -> list[dict[str, int]]:
    """Return what is set of the algorithms of these names, flow by flow."""
    return [
        dict(tcp(flow).parameters)
        for flow in run.resolved.scenario.flows
        if flow.transport.tcp is not None and facts.choice(flow).partition("@")[0] in names
    ]


@pytest.mark.parametrize(
    ("reading", "names", "expected"),
    [
        ("each ACK", OWN, {"evaluation": 1}),
        ("each round trip", OWN, {"evaluation": 2}),
        ("beyond flight", OWN, {"beyond_flight": 1}),
        ("beyond flight + each ACK", OWN, {"beyond_flight": 1, "evaluation": 1}),
        ("16 MB + beyond flight", OWN, {"beyond_flight": 1}),
        ("Kd in ms", ("ccpd",), {"kd_unit": 1_000_000}),
        ("16 MB + Kd in ms", ("ccpd",), {"kd_unit": 1_000_000}),
        ("smoothed otherwise", ("ccp",), {"filter": 0}),
        ("smoothed otherwise", ("ccpd",), {"filter": 1}),
        ("Compound as printed", ("compound",), PRINTED),
        ("CUBIC with HyStart", ("cubic",), {"hystart": 2}),
        ("CUBIC from 100", ("cubic",), {"initial_ssthresh": 100}),
    ],
)
def test_a_reading_of_a_law_is_that_of_all_its_flows_and_no_others(
    reading: str, names: tuple[str, ...], expected: dict[str, int]
) -> None:
    runs = STUDY.runs(where={"test": [*READ], "reading": [reading, "main"]}, runs=1)
    places = {(run.test, run.axes["reading"]) for run in runs}
    assert places == {(test, each) for test in READ for each in (reading, "main")}
    rest = {"reno", "cubic", "compound", *OWN} - {*names}
    main = {
        (run.test, *(value for axis, value in run.axes.items() if axis != "reading")): run
        for run in runs
        if run.axes["reading"] == "main"
    }
    for run in runs:
        if run.axes["reading"] == "main":
            continue
        plain = main[run.test, *(value for axis, value in run.axes.items() if axis != "reading")]
        for found, before in zip(parameters(run, *names), parameters(plain, *names), strict=True):
            assert found == {**before, **expected}, run.axes
        if reading != "smoothed otherwise":
            assert parameters(run, *rest) == parameters(plain, *rest)


@pytest.mark.parametrize("reading", READINGS[1:])
def test_each_reading_differs_from_all_others(reading: str) -> None:
    """In some run of each test; a value of the axis that nothing varies would be none."""
    for test in READ:
        keys = {
            value: [
                run.resolved.key
                for run in study_runs.runs(STUDY.name, test)
                if run.axes["reading"] == value and run.repetition == 1
            ]
            for value in READINGS
        }
        same = [value for value in READINGS if value != reading and keys[value] == keys[reading]]
        assert not same, (test, reading, same)


def test_readings_of_the_path() -> None:
    def queue(reading: str) -> object:
        data = one("udp", algorithm="reno", rtt="200ms", reading=reading)
        bottleneck = next(link for link in data.links if link.name == "forward")
        return bottleneck.queue.limit

    main = queue("main")
    assert queue("10000 in hosts") == main
    assert queue("fast hosts") == main
    assert queue("fast hosts + 4000 packets") != main
    assert queue("fast hosts + 1/4 BDP") == queue("1/4 BDP") != main


def test_without_runs_only_arithmetic_is_decided(tmp_path: Path) -> None:
    """K29 is: the equations as they are printed do not give what they are for."""
    results = Results(STUDY, Store(tmp_path))
    judged = {result.claim.id: result.verdict for result in results.claims()}
    decided = {name: verdict for name, verdict in judged.items() if verdict is not OPEN}
    assert decided == {"K29": Verdict.NOT_REPRODUCED}


def test_every_claim_of_the_paths_can_be_read_otherwise() -> None:
    main = readings.named(STUDY.claims, "reading")
    assert main == ["main"]
    apart = {claim.id for claim in STUDY.claims if not readings.named([claim], "reading")}
    assert apart == {"K25", "K26", "K27", "K29"}
