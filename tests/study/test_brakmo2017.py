"""The study of Brakmo that comes with Dumbbell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import study_runs
from dumbbell.contract.scenario import Classes, Flow, Scenario, Tcp
from dumbbell.judging import readings
from dumbbell.judging.evidence import Verdict
from dumbbell.plan.expanding import PlannedRun
from dumbbell.quantities.view import RunView
from dumbbell.results.results import Results
from dumbbell.scenario import facts
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from sample_runs import tcp
from synthetic_runs import constant, played

STUDY = Study.load("brakmo2017")
RACK = {"reno", "cubic", "dctcp", "nv", "bbr", "TCP-BPF", "bbr3"}
WIDE = {
    *("reno", "cubic", "bic", "highspeed", "htcp", "scalable"),
    *("westwood", "yeah", "bbr", "bbr3"),
}
SCALED = 20
"""Factor by which the testbed's rack is slower."""


def one(test: str, **where: str) -> PlannedRun:
    """Return the run of a grid point, in the main reading unless another one is named."""
    main = {"reading": "main"} if "reading" in STUDY.test(test).axes else {}
    return study_runs.one(STUDY, test, **{**main, **where})


def scenario(test: str, **where: str) -> Scenario:
    return one(test, **where).resolved.scenario


def families(test: str) -> set[str]:
    return {value.partition("@")[0] for value in STUDY.test(test).axes["algorithm"]}


def lives_s(run: Scenario) -> list[tuple[float, float]]:
    return [
        (round(flow.start_ns / 1e9, 1), round((flow.stop_ns or run.duration_ns) / 1e9, 1))
        for flow in run.flows
    ]


def bottleneck_packets(run: Scenario) -> float:
    """Return the full frames that the bottleneck holds besides the one that is being sent."""
    limit = run.links[facts.bottleneck(run) or 0].queue.limit
    assert limit is not None
    return limit.packets if limit.packets is not None else (limit.bytes or 0) / 1538


def bdp_packets(run: Scenario) -> float:
    rate = facts.mean_rate_bps(run.links[0], 0, run.duration_ns)
    assert rate is not None
    return rate * facts.base_rtt_ns(run, run.flows[0]) / 1e9 / (8 * 1538)


def clamps(run: Scenario) -> list[int | None]:
    programs = [tcp(flow).tcp_bpf for flow in run.flows]
    return [None if program is None else program.cwnd_clamp_segs for program in programs]


def test_covers_the_paper() -> None:
    for test in ("rack", "rack-sizes", "scaled-rack", "scaled-sizes", "open-sizes"):
        assert families(test) == RACK
    for test in ("rack-pairs", "rack-triples", "scaled-pairs", "scaled-triples"):
        assert families(test) == RACK - {"cubic", "TCP-BPF"}
    assert families("wide") == WIDE
    assert families("wide-triples") == {"bbr", "bic", "reno", "yeah", "bbr3"}
    assert families("wide-sizes") == {"cubic", "bbr", "bic", "yeah", "bbr3"}
    names = [figure.name for figure in STUDY.figures]
    panels = {1: "ab", 2: "ab", 3: "ab", 4: "ab", 5: "ab", 6: "abcd", 7: "abc", 8: "abcd", 9: "ab"}
    panels |= {10: "ab", 11: "ab", 12: "", 13: "abcd", 14: "", 15: "abcde", 16: "ab", 17: "ab"}
    assert [name for name in names if name.startswith("fig")] == [
        f"fig{number}{letter}" for number, letters in panels.items() for letter in letters or [""]
    ]
    ids = [claim.id for claim in STUDY.claims]
    assert sorted(ids) == [f"B{n:02}" for n in range(1, 58)]
    split = [f"B{n}" for n in range(53, 58)]
    assert [name for name in ids if name not in split] == [f"B{n:02}" for n in range(1, 53)]


def test_tests_are_in_the_order_of_the_paper() -> None:
    names = [test.name for test in STUDY.tests]
    firsts = [
        names.index(name)
        for name in ("rack", "wide", "access", "open-buffer", "clamp-load", "scaled-rack")
    ]
    assert firsts == sorted(firsts)


def test_counts_of_runs() -> None:
    assert study_runs.counts(STUDY) == {
        "window": 4 * 7 * 3,
        "rack": 7 * 2 * 3 * 4,
        "rack-pairs": 5 * 3 * 3 * 3,
        "rack-triples": 5 * 3 * 3 * 3,
        "rack-sizes": 7 * 5 * 3 * 5,
        "wide": 10 * 2 * 20,
        "wide-collapse": (2 * 2 + 3) * 20,
        "wide-triples": 5 * 2 * 10,
        "wide-sizes": 5 * 5 * 3,
        "access": 6 * 2 * 2 * 5 * 3,
        "open-buffer": 6 * (5 + 2 + 2) * 2,
        "open-mark": 4 * 5 * 2 * 2,
        "open-reduction": 3 * 6 * 3,
        "open-nv": (1 + 2) * 4 * 3 * 2,
        "open-sizes": 7 * 2 * 4 * 2,
        "open-wide": 4 * 4 * 2,
        "open-hosts": 7 * 3 * 2,
        "open-receiver": 2 * 4 * 3,
        "open-dctcp": 3 * 2 * 2,
        "open-wide-sizes": 2 * 2 * 4 * 2,
        "open-timers": 2 * 5 * 4,
        "open-timers-sizes": 2 * 5 * 3,
        "open-policer-sizes": 3 * 2 * 2,
        "open-bucket": 3 * 2 * 4 * 2,
        "clamp-load": 2 * 8 * 2 * 3,
        "buffer-load": 3 * 5 * 6 * 3,
        "dctcp-start": 9 * 10,
        "open-lead": 4 * 2 * 6,
        "open-estimate": 4 * 3 * 2,
        "scaled-rack": 7 * 2 * 3,
        "scaled-hosts": 4 * 20,
        "scaled-stack": 3 * 20,
        "scaled-pairs": 5 * 2 * 3,
        "scaled-triples": 5 * 2 * 3,
        "scaled-sizes": 7 * 3 * 3,
        "scaled-wide": 7 * 2 * 3,
        "scaled-policer": 2 * 2 * 20,
        "scaled-wide-triples": 5 * 2 * 3,
        "scaled-wide-sizes": 5 * 3 * 2,
        "short-access": 3 * 2 * 2 * 4 * 2,
    }


def test_tests_share_the_runs_that_they_have_in_common() -> None:
    """The runs of collapses are those of Fig. 9 where the buffer is the same."""
    wide = {run.resolved.key for run in study_runs.firsts(STUDY.name, "wide")}
    collapse = [
        run
        for run in study_runs.firsts(STUDY.name, "wide-collapse")
        if run.axes["buffer"] == "1.5mb"
    ]
    assert {run.resolved.key for run in collapse} <= wide


def test_two_flows_and_three_live_as_the_paper_says() -> None:
    """At the paper's rates for a minute; scaled ones end 2 s after the last that joined."""
    for test, two_end_s, three_end_s in (("rack", 60, 60), ("scaled-rack", 44, 54)):
        alike = {"algorithm": "cubic"}
        others = {"algorithm": "bbr", "order": "CUBIC first", "bpf": "no"}
        two = [(0, two_end_s), (22, 42)]
        three = [(0, three_end_s), (12, 52), (26, 46)]
        assert lives_s(scenario(test, **alike, flows="2")) == two
        assert lives_s(scenario(test, **alike, flows="3")) == three
        wide = test.replace("rack", "wide")
        assert lives_s(scenario(wide, **alike, flows="2")) == two
        assert lives_s(scenario(wide, **alike, flows="3")) == three
        prefix = "scaled" if test == "scaled-rack" else "rack"
        assert lives_s(scenario(f"{prefix}-pairs", **others)) == two
        assert lives_s(scenario(f"{prefix}-triples", **others)) == three


@pytest.mark.parametrize("quick", [False, True])
def test_windows_are_as_long_as_they_say(quick: bool) -> None:
    """In every run of the tests that judge by them, on samples of a tenth of a second."""
    tests = ("rack", "rack-pairs", "scaled-pairs", "wide")
    for run in {
        (run.test, run.axes.get("flows")): run
        for run in study_runs.firsts(STUDY.name, *tests, quick=quick)
    }.values():
        data = run.resolved.scenario
        view = RunView(played(run, [constant(100)] * len(data.flows)), run.windows, run.settings)
        last_s = lives_s(data)[-1]
        lengths_s = {"joined": last_s[1] - last_s[0], "together": last_s[1] - last_s[0] - 2}
        if run.test.endswith("-pairs"):
            lengths_s |= {"before10": 9, "after10": last_s[1] - last_s[0] - 12}
        else:
            lengths_s |= {"early": 5, "end": 5, "soon": 5, "alone": lives_s(data)[1][0] - 2}
        for name, length_s in lengths_s.items():
            span = view.span(name)
            assert span is not None, (run.axes, name)
            assert span.seconds == pytest.approx(length_s, abs=0.21), (run.axes, name)


def test_cubic_is_first_or_last() -> None:
    for test in ("rack-pairs", "rack-triples", "wide-triples"):
        for order in ("CUBIC first", "CUBIC last"):
            bpf = {} if test == "wide-triples" else {"bpf": "no"}
            run = scenario(test, algorithm="reno", order=order, **bpf)
            names = [tcp(flow).algorithm for flow in run.flows]
            first, others = ("cubic", "reno") if order == "CUBIC first" else ("reno", "cubic")
            assert names == [first, *[others] * (len(names) - 1)]
            assert [flow.group == "cubic" for flow in run.flows] == [n == "cubic" for n in names]


def test_tcp_bpf_is_cubic_with_a_clamp_and_short_buffers() -> None:
    for run in study_runs.firsts(STUDY.name, "rack", "rack-sizes", "open-sizes", "scaled-rack"):
        for flow in run.resolved.scenario.flows:
            transport = tcp(flow)
            if run.axes["algorithm"] != "TCP-BPF":
                assert transport.tcp_bpf is None
                continue
            assert (transport.algorithm, transport.preset) == ("cubic", "brakmo2017")
            program = transport.tcp_bpf
            assert program is not None
            assert program.cwnd_clamp_segs == 100
            assert (program.send_buffer_bytes, program.receive_buffer_bytes) == (150_000, 150_000)


def test_tcp_bpf_for_all_flows_leaves_their_algorithms() -> None:
    for test, count in (("rack-pairs", 2), ("rack-triples", 3), ("scaled-triples", 3)):
        run = scenario(test, algorithm="bbr", order="CUBIC first", bpf="yes")
        assert clamps(run) == [100] * count
        assert {tcp(flow).algorithm for flow in run.flows} == {"cubic", "bbr"}
        plain = scenario(test, algorithm="bbr", order="CUBIC first", bpf="no")
        assert clamps(plain) == [None] * count


def test_every_algorithm_is_that_of_the_paper() -> None:
    """BBRv3 is ours, and has no preset of 2017."""
    for run in study_runs.firsts(STUDY.name):
        for flow in run.resolved.scenario.flows:
            transport = tcp(flow)
            assert transport.preset == (None if transport.algorithm == "bbr3" else "brakmo2017"), (
                run.axes
            )
            newer = run.axes.get("host", "").startswith("6")
            assert transport.stack.profile == ("linux-6" if newer else "linux-4.14")


def test_receivers_gather_what_arrives_but_for_those_that_the_kernel_runs_too() -> None:
    for run in study_runs.firsts(STUDY.name):
        plain = run.test.startswith(("scaled", "short")) or any(
            value.startswith("no GRO") for value in run.axes.values()
        )
        for flow in run.resolved.scenario.flows:
            gathered = tcp(flow).stack.switches.get("gro_segs", 0)
            assert gathered == (0 if plain else 44), (run.test, run.axes)


def test_the_round_trip_of_the_rack_is_that_of_the_wire_and_of_the_hosts() -> None:
    def rtt_us(test: str, **where: str) -> float:
        run = scenario(test, **where)
        return facts.base_rtt_ns(run, run.flows[0]) / 1000

    assert rtt_us("rack", algorithm="nv", flows="2") == 50
    assert rtt_us("window", hosts="0us", window="80p") == 20
    assert rtt_us("window", hosts="15us", window="80p") == 80
    assert rtt_us("wide", algorithm="bbr", flows="2") == 10_050
    assert rtt_us("scaled-rack", algorithm="nv", flows="2") == SCALED * 50


def test_the_scaled_rack_is_the_rack_in_packets() -> None:
    for name in sorted(RACK):
        large = scenario("rack", algorithm=name, flows="2")
        small = scenario("scaled-rack", algorithm=name, flows="2")
        assert bdp_packets(small) == pytest.approx(bdp_packets(large))
        assert bottleneck_packets(small) == bottleneck_packets(large)
        assert small.links[0].queue == large.links[0].queue
        assert clamps(small) == clamps(large)
        assert lives_s(small)[1:] == lives_s(large)[1:]


def test_what_is_scaled_at_10_ms_is_a_twentieth_of_it() -> None:
    large, small = (scenario(test, algorithm="bbr", flows="3") for test in ("wide", "scaled-wide"))
    assert facts.base_rtt_ns(small, small.flows[0]) == facts.base_rtt_ns(large, large.flows[0])
    assert bdp_packets(small) == pytest.approx(bdp_packets(large) / SCALED)
    assert bottleneck_packets(small) == pytest.approx(bottleneck_packets(large) / SCALED, rel=0.03)
    large = scenario("wide-sizes", algorithm="bbr", requests="2")
    small = scenario("scaled-wide-sizes", algorithm="bbr", requests="2")
    for before, after in zip(large.flows, small.flows, strict=True):
        assert before.label == after.label
        assert asked_bytes(before) == SCALED * asked_bytes(after)


def test_bbr_that_looks_for_no_policer_is_otherwise_that_of_the_scaled_test() -> None:
    for flows in ("2", "3"):
        looks, does_not = (
            scenario("scaled-policer", algorithm="bbr", flows=flows, policer=policer)
            for policer in ("looked for", "not looked for")
        )
        assert looks == scenario("scaled-wide", algorithm="bbr", flows=flows)
        assert looks.links[0] == does_not.links[0]
        assert_differ_by_the_search(looks, does_not)
    many = [
        scenario("open-policer-sizes", requests="16", policer=policer)
        for policer in ("looked for", "not looked for")
    ]
    assert many[0] == scenario("wide-sizes", algorithm="bbr", requests="16")
    assert_differ_by_the_search(*many)


def assert_differ_by_the_search(looks: Scenario, does_not: Scenario) -> None:
    for one_looks, one_does_not in zip(looks.flows, does_not.flows, strict=True):
        changed = {**tcp(one_looks).parameters, "lt_loss": 256}
        assert tcp(one_does_not) == msgspec.structs.replace(tcp(one_looks), parameters=changed)


def test_stacks_are_all_that_differs_of_the_scaled_rack() -> None:
    rack = scenario("scaled-rack", algorithm="bbr", flows="2")
    ours, credit, newer = (
        scenario("scaled-stack", host=host) for host in ("4.14", "4.14, pacing credit", "6")
    )
    assert ours == rack
    assert credit.links[0] == newer.links[0] == ours.links[0]
    for before, paced, after in zip(ours.flows, credit.flows, newer.flows, strict=True):
        old = tcp(before)
        assert not old.stack.switches.get("pacing_credit")
        assert tcp(paced) == stack_with(before, pacing_credit=True)
        stack = msgspec.structs.replace(old.stack, profile="linux-6")
        assert tcp(after) == msgspec.structs.replace(old, stack=stack)


@pytest.mark.parametrize(
    ("test", "base", "where"),
    [
        ("open-timers", "wide", {"flows": "3"}),
        ("open-timers-sizes", "wide-sizes", {"requests": "16"}),
    ],
)
def test_timers_are_all_that_differs(test: str, base: str, where: Mapping[str, str]) -> None:
    exact, late = (scenario(test, algorithm="bbr", **where, late=late) for late in ("0us", "20us"))
    assert exact == scenario(base, algorithm="bbr", **where)
    assert late.links[0] == exact.links[0]
    for before, after in zip(exact.flows, late.flows, strict=True):
        assert stack_with(before, pacing_late_ns=20_000) == tcp(after)


def test_hosts_are_all_that_differs_of_the_scaled_flows() -> None:
    policer = scenario("scaled-policer", flows="2", policer="looked for")
    ours, free, newest = (
        scenario("scaled-hosts", host=host) for host in ("4.14", "4.14, no TSQ", "6, no TSQ")
    )
    assert ours == policer
    assert free.links[0] == newest.links[0] == ours.links[0]
    for before, without, newer in zip(ours.flows, free.flows, newest.flows, strict=True):
        assert stack_with(before, tsq_bytes=None) == tcp(without)
        assert tcp(newer).stack == msgspec.structs.replace(tcp(without).stack, profile="linux-6")


def stack_with(flow: Flow, **switches: Any) -> Tcp:
    stack = tcp(flow).stack
    stack = msgspec.structs.replace(stack, switches={**stack.switches, **switches})
    return msgspec.structs.replace(tcp(flow), stack=stack)


def asked_bytes(flow: Flow) -> int:
    demand = tcp(flow).demand
    if isinstance(demand, str) or demand.requests is None:
        return 0
    return demand.requests.bytes


def test_nv_is_told_the_base_rtt_of_the_paper() -> None:
    """It is above the round trip of the path, and of NV alone with its window."""
    for test, base_us in (("rack", None), ("scaled-rack", 80 * SCALED)):
        for flows in ("2", "3"):
            run = scenario(test, algorithm="nv", flows=flows)
            given = {tcp(flow).parameters.get("base_rtt") for flow in run.flows}
            assert given == {base_us}
    for test in ("scaled-pairs", "scaled-triples"):
        run = scenario(test, algorithm="nv", order="CUBIC first", bpf="no")
        others = [tcp(flow) for flow in run.flows if flow.group == "other"]
        assert {transport.parameters.get("base_rtt") for transport in others} == {80 * SCALED}


def test_nv_has_a_queue_of_its_own_beside_others() -> None:
    for test in ("rack-pairs", "rack-triples", "scaled-pairs", "scaled-triples"):
        for run in STUDY.runs(where={"test": test, "algorithm": "nv"}, runs=1):
            data = run.resolved.scenario
            numbers = classes(data)
            for flow, number in zip(data.flows, numbers, strict=True):
                assert (number == numbers[0]) == (flow.group == data.flows[0].group)
    shared = scenario("open-nv", point="B14", base="80", hosts="7.5us", nv="shared queue")
    assert classes_by_ecn(shared)
    assert not classes_by_ecn(
        scenario("open-nv", point="B14", base="80", hosts="7.5us", nv="own queue")
    )


def classes_by_ecn(run: Scenario) -> bool:
    discipline = run.links[0].queue.discipline
    assert isinstance(discipline, Classes)
    return discipline.by.ecn is not None


def classes(run: Scenario) -> tuple[int, ...]:
    """Return the class of each flow."""
    discipline = run.links[0].queue.discipline
    assert isinstance(discipline, Classes)
    assert discipline.by.flows is not None
    return discipline.by.flows


def test_hosts_send_streams_and_requests_of_their_own() -> None:
    rack = scenario("rack-sizes", algorithm="TCP-BPF", requests="3")
    groups = Counter(flow.group for flow in rack.flows)
    assert groups == {"stream": 3, "rpc10kb": 3, "rpc1mb": 9}
    wide = scenario("wide-sizes", algorithm="cubic", requests="16")
    groups = Counter(flow.group for flow in wide.flows)
    assert groups == {"stream": 3, "rpc1mb": 3, "rpc8mb": 48}
    for run in (rack, wide):
        firsts = [flow.forward.hops[0].link for flow in run.flows]
        assert len(set(firsts)) == 3
        assert set(Counter(firsts).values()) == {len(firsts) // 3}


def test_buffers_at_40_ms_are_those_of_the_paper() -> None:
    """16 packets are half of the BDP, 32 are the BDP and so on, to 8 BDP."""
    for queue, packets in (("0.5bdp", 16), ("1bdp", 33), ("2bdp", 66), ("8bdp", 266)):
        for flows, count in (("1 per host", 3), ("3 per host", 9)):
            run = scenario("access", algorithm="bbr", rate="10mbit", flows=flows, queue=queue)
            assert bottleneck_packets(run) == packets
            assert len(run.flows) == count
            short = scenario(
                "short-access", algorithm="bbr", rate="10mbit", flows=flows, queue=queue
            )
            assert short.links[0] == run.links[0]


def test_enough_requests_for_the_percentiles_that_are_judged() -> None:
    """10,000 for 99.9 %, in as long as the algorithms that the paper calls fast have."""
    for name, duration_s in (("nv", 22), ("TCP-BPF", 22), ("cubic", 42), ("bbr", 122)):
        run = scenario("rack-sizes", algorithm=name, requests="2")
        assert run.duration_ns == duration_s * 10**9


def test_readings_of_the_rack_differ_in_one_thing() -> None:
    """The buffer is what the round-trip times need or what is printed for 10 ms."""
    for test, where in (
        ("rack", {"algorithm": "cubic", "flows": "2"}),
        ("rack-pairs", {"algorithm": "dctcp", "order": "CUBIC first", "bpf": "no"}),
        ("rack-triples", {"algorithm": "bbr", "order": "CUBIC first", "bpf": "no"}),
        ("rack-sizes", {"algorithm": "nv", "requests": "8"}),
    ):
        main = scenario(test, **where)
        small = scenario(test, **where, reading="1.5 MB")
        assert [tcp(flow) for flow in small.flows] == [tcp(flow) for flow in main.flows]
        limits = [run.links[0].queue.limit for run in (main, small)]
        assert [limit and limit.bytes for limit in limits] == [4_300_000, 1_500_000]
        plain = scenario(test, **where, reading="no GRO")
        assert plain.links[0] == main.links[0]
        for flow, before in zip(plain.flows, main.flows, strict=True):
            assert (tcp(flow).stack.switches.get("gro_segs") or 0) == 0
            assert tcp(before).stack.switches["gro_segs"] == 44


def test_the_rings_of_receivers_are_all_that_differs() -> None:
    lone = [scenario("open-receiver", algorithm="dctcp", ring=ring) for ring in ("none", "1024p")]
    start = [scenario("dctcp-start", cause=cause) for cause in ("as is", "receiver's ring")]
    for without, with_ring in (lone, start):
        assert len(with_ring.links) == len(without.links) + 1
        assert with_ring.links[0] == without.links[0]


def test_a_shared_memory_gives_one_full_queue_what_the_rack_has() -> None:
    """With a threshold of 1 a queue alone holds half of the memory."""
    shared = scenario("open-buffer", point="B14", buffer="8.6mb, shared", hosts="7.5us")
    open_buffer = scenario("open-buffer", point="B14", buffer="4.3mb", hosts="7.5us")
    memory = shared.links[0].memory
    limit = open_buffer.links[0].queue.limit
    assert memory is not None
    assert limit is not None
    assert memory.alpha / (1 + memory.alpha) * memory.bytes == limit.bytes
    assert shared.links[0].queue.limit is None
    assert open_buffer.links[0].memory is None


def test_claims_of_the_rack_are_decided_in_the_main_reading() -> None:
    assert readings.named(STUDY.claims, "reading") == ["main"]
    statements = {claim.id: claim.statement for claim in STUDY.claims}
    assert {name for name, kind in statements.items() if kind == "calibration"} == {"B01", "B57"}
    assert {name for name, kind in statements.items() if kind == "reported"} == {"B08", "B53"}


def test_without_runs_only_arithmetic_is_decided(tmp_path: Path) -> None:
    results = Results(STUDY, Store(tmp_path)).claims()
    decided = {result.claim.id for result in results if result.verdict is not Verdict.UNDECIDED}
    assert decided == {"B13", "B47"}
    assert all(r.verdict is Verdict.HOLDS for r in results if r.claim.id in decided)
