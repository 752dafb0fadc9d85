"""The study of Kumazoe et al. that comes with Dumbbell."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import study_runs
from dumbbell.contract.scenario import Scenario
from dumbbell.judging import readings
from dumbbell.judging.evidence import Verdict
from dumbbell.judging.spec import Measured
from dumbbell.plan import grid
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
CCP = ("ccp", "ccpd")
OPEN = Verdict.UNDECIDED
PRINTED = {"literal_growth": 1, "literal_diff": 1, "literal_cut": 1, "literal_reno": 1}


def one(test: str, **where: str) -> Scenario:
    return study_runs.one(STUDY, test, **where).resolved.scenario


def test_covers_the_paper() -> None:
    names = [figure.name for figure in STUDY.figures]
    assert names[:15] == ["fig1", *(f"fig{number}" for number in range(3, 17))]
    merged = {9, 18}
    assert [claim.id for claim in STUDY.claims] == [
        f"K{number:02}" for number in range(1, 30) if number not in merged
    ]
    gains = {f"ccpd@kumazoe2012-kp{kp}-kd{kd}" for kp in (1, 2, 4) for kd in (1000, 2000, 4000)}
    others = {f"{name}@kumazoe2012" for name in ("reno", "cubic", "compound")}
    others |= {f"ccp@kumazoe2012-kp{kp}" for kp in (1, 2, 4)}
    for name in ("udp", "alike"):
        assert set(STUDY.test(name).axes["algorithm"]) == gains | others
    assert STUDY.test("udp").axes["rtt"] == ("20ms", "200ms", "600ms")


def test_counts_of_runs() -> None:
    read = len(READINGS)
    assert study_runs.counts(STUDY) == {
        "udp": (12 * read + 3) * 3 * 5,
        "alike": (12 * read + 3) * 2 * 5,
        "mixed": 2 * 3 * 2 * 2 * read * 5,
        "traces": 10 * 2 * 5,
        "fixed-window": 3 * 3,
        "late": 9 * 2 * 2 * 5,
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
        ("each ACK", CCP, {"evaluation": 1}),
        ("each round trip", CCP, {"evaluation": 2}),
        ("beyond flight", CCP, {"beyond_flight": 1}),
        ("beyond flight + each ACK", CCP, {"beyond_flight": 1, "evaluation": 1}),
        ("C: beyond flight + jitter", CCP, {"beyond_flight": 1, "capacity_segs_per_s": 81_274}),
        ("Kd in ms", ("ccpd",), {"kd_unit": 1_000_000}),
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
    runs = [
        run
        for run in study_runs.firsts(STUDY.name, *READ)
        if run.axes["reading"] in (reading, "main")
    ]
    places = {(run.test, run.axes["reading"]) for run in runs}
    assert places == {(test, value) for test in READ for value in (reading, "main")}
    rest = {"reno", "cubic", "compound", *CCP} - {*names}
    main = {
        (run.test, *(value for axis, value in run.axes.items() if axis != "reading")): run
        for run in runs
        if run.axes["reading"] == "main"
    }
    for run in runs:
        if run.axes["reading"] == "main":
            continue
        plain = main[run.test, *(value for axis, value in run.axes.items() if axis != "reading")]
        for after, before in zip(parameters(run, *names), parameters(plain, *names), strict=True):
            assert after == {**before, **expected}, run.axes
        if reading not in ("smoothed otherwise", "C: beyond flight + jitter"):
            assert parameters(run, *rest) == parameters(plain, *rest)


@pytest.mark.parametrize("test", READ)
def test_each_reading_differs_from_all_others(test: str) -> None:
    """In some run of each test; a value of the axis that nothing varies would be none."""
    keys: dict[str, list[str]] = {value: [] for value in READINGS}
    for run in study_runs.firsts(STUDY.name, test):
        keys[run.axes["reading"]].append(run.resolved.key)
    for one, other in itertools.combinations(READINGS, 2):
        assert keys[one] != keys[other], (one, other)


def path_queues(reading: str) -> tuple[object, object]:
    """Return what the switch and a host hold."""
    data = one("udp", algorithm="reno", rtt="200ms", reading=reading)
    limits = {link.name: link.queue.limit for link in data.links}
    return limits["forward"], limits["edge 1"]


def test_readings_of_the_path() -> None:
    """The switch and the hosts are what the vendor's manual and K10 say, or one of them is not."""
    switch, host = path_queues("main")
    assert path_queues("64 in switch")[1] == host == path_queues("64 MB")[1]
    assert path_queues("1000 in hosts")[0] == switch == path_queues("TSO in hosts")[0]
    both = path_queues("1000 in hosts, 64 in switch")
    assert both == (path_queues("64 in switch")[0], path_queues("1000 in hosts")[1])
    before = path_queues("1000 in hosts, 1 BDP in switch")
    assert before[0] not in (switch, both[0])
    assert before[1] == both[1]


def test_the_noise_of_the_rtt_is_that_of_all_flows_and_compound_goes_by_the_smoothed_one() -> None:
    reading = "C: beyond flight + jitter"
    for test, axis in (("alike", "algorithm"), ("mixed", "other")):
        fixed = {} if axis == "algorithm" else {"algorithm": "ccpd@kumazoe2012-kp4-kd2000"}
        where = {**fixed, axis: "compound", "rtt": "200ms", "reading": reading}
        runs = STUDY.runs(where={"test": test, **where}, runs=1)
        for run in runs:
            flows = parameters(run, "compound")
            assert flows
            assert all(flow["literal_diff"] == 1 for flow in flows)
            forward = next(link for link in run.resolved.scenario.links if link.name == "forward")
            assert forward.jitter_ns == 500_000


def test_without_runs_only_arithmetic_is_decided(tmp_path: Path) -> None:
    """K26 is a law. K29 lists misprints, which are reported and do not count."""
    results = Results(STUDY, Store(tmp_path))
    judged = {result.claim.id: result for result in results.claims()}
    decided = {
        name: result.verdict for name, result in judged.items() if result.verdict is not OPEN
    }
    assert decided == {"K26": Verdict.HOLDS, "K29": Verdict.CONTRADICTED}
    assert [name for name, claim in judged.items() if claim.statement == "calibration"] == ["K10"]
    assert [name for name, claim in judged.items() if claim.statement == "reported"] == ["K29"]


def test_every_claim_of_the_paths_can_be_read_otherwise() -> None:
    main = readings.named(STUDY.claims, "reading")
    assert main == ["main"]
    apart = {claim.id for claim in STUDY.claims if not readings.named([claim], "reading")}
    assert apart == {"K25", "K26", "K27", "K29"}


def test_claims_that_compare_with_ccp_say_that_they_depend_on_how_it_is_read() -> None:
    """All but the law and the misprints; K06 and K10 fall or stand by public stacks and queues."""
    compared = {
        claim.id
        for claim in STUDY.claims
        if any(
            value.startswith(CCP)
            for check in claim.checks
            if isinstance(check, Measured) and check.statement != "expectation"
            for group in (check.where, *check.groups)
            if "algorithm" in group
            for value in grid.wanted_values(group, "algorithm")
        )
    }
    named = {claim.id for claim in STUDY.claims if "INT" in claim.quirk}
    assert compared - named == {"K06", "K10"}
    assert not named - compared
