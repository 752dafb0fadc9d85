"""Hosts: their queues, clocks and holds, and the classes of their packets."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

from dumbbell.algorithms import catalogue
from dumbbell.api import perturb, simulate
from dumbbell.engines.result import Run
from dumbbell.experiments.phases import longest_ns, perturbed
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from sample_runs import flows, links, plain_links, resolved, scenario, table
from scenario_checks import assert_accepted
from scenario_refusals import assert_refused, error_of

EDGE = {"network.edge_rate": "1gbit"}
TWO = {"flow.1.count": 2}


def edge_queue(changes: dict[str, Any]) -> tuple[Any, str]:
    """Return limit and kind of discipline of the first host's queue."""
    queue = plain_links(resolved({**EDGE, **changes}))["edge 1"]["queue"]
    return queue["limit"], queue["discipline"]["kind"]


class TestQueues:
    @pytest.mark.parametrize(
        ("stack", "packets", "kind"),
        [
            ("linux-2.6.6", 1000, "fifo"),
            ("linux-2.6.26", 1000, "fifo"),
            ("linux-3.16", 1000, "fifo"),
            ("linux-4.14", 10240, "fq-codel"),
            ("linux-6", 10240, "fq-codel"),
            ("rfc", 1000, "fifo"),
        ],
    )
    def test_a_host_has_the_queue_of_its_stacks_time(
        self, stack: str, packets: int, kind: str
    ) -> None:
        assert edge_queue({"stack": stack}) == ({"packets": packets}, kind)
        assert edge_queue({"flow.1.stack": stack}) == ({"packets": packets}, kind)

    def test_every_profile_is_asked_for_its_queue(self) -> None:
        known = {"linux-2.6.6", "linux-2.6.26", "linux-3.16", "linux-4.14", "linux-6", "rfc"}
        assert set(catalogue.stacks().profiles) == known

    def test_who_paces_by_fq_has_fq(self) -> None:
        paced = {"stack": {"profile": "linux-4.14", "switches": {"pacing": "fq"}}}
        assert edge_queue(paced) == ({"packets": 10_000}, "fq")
        assert edge_queue({"flow.1.switches": {"pacing": "fq"}}) == ({"packets": 10_000}, "fq")

    def test_a_chunk_counts_as_one_packet(self) -> None:
        stack = {"profile": "linux-2.6.26", "switches": {"tso": True}}
        assert edge_queue({"stack": stack}) == ({"packets": 44_000}, "fifo")
        stack = {"profile": "linux-6", "switches": {"tso": True, "pacing": "fq"}}
        edge = plain_links(resolved({**EDGE, "stack": stack}))["edge 1"]
        assert edge["queue"]["discipline"]["flow_limit_packets"] == 4400

    def test_the_first_flow_tells_the_stack_of_a_shared_host(self) -> None:
        entries = [
            {"algorithm": "reno", "host": "h", "stack": "linux-2.6.6"},
            {"algorithm": "cubic", "host": "h", "stack": "linux-6"},
        ]
        assert edge_queue({"flow": entries}) == ({"packets": 1000}, "fifo")

    def test_a_queue_that_is_asked_for_is_the_one(self) -> None:
        assert edge_queue({"network.edge_queue": "unlimited"}) == (None, "fifo")
        assert edge_queue({"network.edge_queue": "77p"}) == ({"packets": 77}, "fifo")


class TestClocks:
    def rates(self, changes: dict[str, Any], seed: int = 1) -> list[int]:
        run = scenario({**EDGE, **TWO, **changes}).resolve(seed=seed)
        assert_accepted(run)
        rates = [link.rate.constant for link in links(run).values() if link.interface and link.rate]
        assert None not in rates
        return [rate or 0 for rate in rates]

    def test_no_two_hosts_send_at_exactly_the_same_rate(self) -> None:
        rates = self.rates({"flow.1.count": 200})
        off_ppm = [(rate - 10**9) / 1000 for rate in rates]
        assert len(set(rates)) == len(rates)
        assert -50 <= min(off_ppm) < -45
        assert 45 < max(off_ppm) <= 50
        # The mean of 200 uniform numbers between +-50 has a deviation of 2.04.
        assert abs(sum(off_ppm) / 200) < 4 * 2.04

    def test_clocks_come_from_the_seed(self) -> None:
        assert self.rates({}, seed=1) == self.rates({}, seed=1)
        assert self.rates({}, seed=1) != self.rates({}, seed=2)
        # Whether the seed is the scenario's own or another one.
        assert self.rates({"seed": 7}, seed=7) == self.rates({}, seed=7)

    def test_clocks_of_arriving_flows_come_from_the_seed_too(self) -> None:
        arrivals = {"arrivals": [{"algorithm": "cubic", "rate": 1, "size": "10kb"}]}
        assert self.rates({"seed": 7, **arrivals}, 7) == self.rates(arrivals, 7)

    def test_clocks_may_be_better_or_exact(self) -> None:
        assert self.rates({"network.clock_ppm": 0}) == [10**9, 10**9]
        assert all(abs(rate - 10**9) <= 3000 for rate in self.rates({"network.clock_ppm": 3}))

    def test_the_network_has_one_clock(self) -> None:
        forward = links(resolved(EDGE))["forward"]
        assert forward.rate is not None
        assert forward.rate.constant == 100_000_000

    def test_what_shows_no_clock_has_none(self) -> None:
        assert_refused(
            table({"network.clock_ppm": 20}), "network.clock_ppm", "the rate of its access link"
        )
        assert_accepted(resolved({"network.clock_ppm": 0}))
        assert_refused(
            table({**EDGE, "network.clock_ppm": 1001}), "network.clock_ppm", "no clock is so bad"
        )


class TestRings:
    SERVED: ClassVar[dict[str, Any]] = {"network.receive_rate": 3_000, "network.receive_ring": "8p"}

    def test_a_ring_is_a_link_of_packets_before_the_receiver(self) -> None:
        lossy = {"network.loss": [{"place": "receiver", "probability": 0.1}]}
        run = resolved({**self.SERVED, **lossy, "network.edge_jitter": "0s"})
        assert list(links(run)) == ["forward", "reverse", "receiver 1", "ring 1"]
        ring = plain_links(run)["ring 1"]
        assert (ring["rate"], ring["queue"]["limit"]) == ({"packets": 3_000}, {"packets": 8})
        assert [hop.link for hop in run.scenario.flows[0].forward.hops] == [0, 3, 2]
        assert_accepted(run)
        unlimited = plain_links(resolved({"network.receive_rate": 3_000}))["ring 1"]
        assert unlimited["queue"]["limit"] is None

    def test_flows_of_a_host_share_the_receiving_host(self) -> None:
        entries = [{"algorithm": "reno", "host": host} for host in ("a", "b", "a")]
        run = resolved({**self.SERVED, "flow": entries, "network.edge_jitter": "0s"})
        rings = [flow.forward.hops[-1].link for flow in flows(run).values()]
        assert rings == [2, 3, 2]

    @pytest.mark.parametrize(
        ("changes", "key", "problem"),
        [
            ({"receive_ring": "8p"}, "receive_ring", "without a receive_rate"),
            ({"receive_rate": 2 * 10**9}, "receive_rate", "less than a nanosecond"),
            ({"receive_rate": 0}, "receive_rate", "more than 0"),
            ({"receive_rate": 9, "receive_ring": "8kb"}, "receive_ring", "packets"),
        ],
    )
    def test_a_wrong_ring_is_refused(self, changes: dict[str, Any], key: str, problem: str) -> None:
        wrong = {f"network.{name}": value for name, value in changes.items()}
        assert_refused(table(wrong), f"network.{key}", problem)

    def test_what_a_ring_has_no_room_for_is_lost(self) -> None:
        one = {"algorithm": "reno"}
        lossy = ran({"queue": "1000p", "receive_rate": 4_000, "receive_ring": "8p"}, one)
        assert lossy.summary.flows[0].dropped_packets > 5
        assert lossy.summary.queues[0].dropped_packets == 0
        assert goodputs_mbit(lossy)["reno 1"] < 4_000 * 1448 * 8 / 1e6


class TestHolds:
    def held_ns(self, changes: dict[str, Any]) -> list[int]:
        run = resolved(changes)
        assert_accepted(run)
        return [link.exit_jitter_ns for name, link in links(run).items() if name.startswith("edge")]

    def test_several_flows_are_held_up_by_a_service_time(self) -> None:
        # 1500 bytes at 100 Mbit/s.
        assert self.held_ns(TWO) == [120_000, 120_000]
        assert self.held_ns({**TWO, **EDGE}) == [120_000, 120_000]
        assert self.held_ns({**TWO, "network.rate": "1mbit"}) == [10**6, 10**6]

    def test_the_slowest_link_of_the_way_counts(self) -> None:
        lot = {
            "topology": "parking-lot",
            "hops": 2,
            "rate": ["50mbit", "20mbit"],
            "queue": "10p",
            "rtt": "20ms",
        }
        entries = [{"algorithm": "reno"}, {"algorithm": "reno", "hops": [1, 1]}]
        assert self.held_ns({"network": lot, "flow": entries}) == [600_000, 240_000]

    def test_a_flow_alone_and_flows_that_arrive_at_random_are_not_held_up(self) -> None:
        assert self.held_ns({}) == []
        assert self.held_ns(EDGE) == [0]
        arrivals = {"arrivals": [{"algorithm": "cubic", "rate": 5, "size": "10kb"}]}
        assert self.held_ns(arrivals) == []

    def test_connections_of_one_host_are_held_up(self) -> None:
        assert self.held_ns({"flow.1.parallel": 3}) == [120_000]

    def test_a_hold_that_is_asked_for_is_the_one(self) -> None:
        assert self.held_ns({**TWO, "network.edge_jitter": "0s"}) == []
        assert self.held_ns({"network.edge_jitter": "7us"}) == [7_000]

    def test_time_in_hosts_is_part_of_the_round_trip(self) -> None:
        run = resolved({**EDGE, "network.rtt": "20us", "network.host_delay": "19us"})
        assert_accepted(run)
        flow = flows(run)["reno 1"]
        assert facts.base_rtt_ns(run.scenario, flow) == 96_000
        # What waits in the interface still waits in the host.
        assert [hop.delay_ns for hop in flow.forward.hops] == [0, 29_000]
        assert (flow.forward.delay_ns, flow.reverse.delay_ns) == (19_000, 29_000)
        assert flow.reverse.hops[0].delay_ns == 19_000

    def test_a_queue_in_bdp_is_that_of_the_path(self) -> None:
        changes = {"network.queue": "1bdp", "network.host_delay": "20ms"}
        assert plain_links(resolved(changes))["forward"]["queue"]["limit"] == {"packets": 683}


CLASSES = {
    "discipline": "classes",
    "limit": "100p",
    "by": "class",
    "class": [{"name": "nv", "weight": 3}, {"name": "other"}],
}


class TestClasses:
    def discipline(self, changes: dict[str, Any], link: str = "forward") -> dict[str, Any]:
        run = resolved(changes)
        assert_accepted(run)
        discipline: dict[str, Any] = plain_links(run)[link]["queue"]["discipline"]
        return discipline

    def test_flows_are_numbered_by_their_class(self) -> None:
        entries = [
            {"algorithm": "cubic"},
            {"algorithm": "nv", "class": "nv", "count": 2},
            {"algorithm": "reno", "class": "other"},
        ]
        changes = {
            "network.queue": CLASSES,
            "network.reverse": {"queue": {**CLASSES, "class": [{"name": "other"}]}},
            "flow": entries,
        }
        discipline = self.discipline(changes)
        assert discipline["by"] == {"flows": [1, 0, 0, 1]}
        assert discipline["serve"] == {"round_robin": {"quantum_bytes": 1514, "weights": [3, 1]}}
        assert self.discipline(changes, "reverse")["by"] == {"flows": [0, 0, 0, 0]}

    def test_precedence_is_the_order_of_names(self) -> None:
        names = [{"name": "other"}, {"name": "ecn"}]
        queue = {"discipline": "classes", "limit": "9p", "serve": "priority", "class": names}
        discipline = self.discipline({"network.queue": queue})
        assert discipline["by"] == {"ecn": {"capable": 1, "other": 0}}
        assert discipline["serve"] == {"priority": {"classes": 2}}

    def test_a_host_may_serve_classes(self) -> None:
        changes = {**EDGE, "network.edge_queue": CLASSES, "flow.1.class": "nv"}
        assert self.discipline(changes, "edge 1")["by"] == {"flows": [0]}

    @pytest.mark.parametrize(
        ("changes", "key", "problem"),
        [
            ({"flow.1.class": "nv"}, "flow.1.class", "no queue serves classes of flows"),
            (
                {"network.queue": CLASSES, "flow.1.class": "nw"},
                "flow.1.class",
                "unknown class",
            ),
            (
                {"network.queue": {**CLASSES, "class": [{"name": "nv"}]}},
                "network.queue.class",
                "where a flow that names no class belongs",
            ),
            (
                {"network.queue": {**CLASSES, "class": []}},
                "network.queue.class",
                "is missing",
            ),
            (
                {"network.queue": {**CLASSES, "by": "ecn"}},
                "network.queue.class.1.name",
                "unknown ECN class",
            ),
            (
                {"network.queue": {**CLASSES, "by": "ecn", "class": [{"name": "ecn"}]}},
                "network.queue.class",
                "other is missing",
            ),
            (
                {"network.queue": {**CLASSES, "class": [{"name": "nv"}, {"name": "nv"}]}},
                "network.queue.class.2.name",
                "named twice",
            ),
            (
                {"network.queue": {**CLASSES, "serve": "priority"}},
                "network.queue.class.1.weight",
                "classes that are served by priority have no weights",
            ),
            (
                {"network.queue": {**CLASSES, "serve": "round-robbin"}},
                "network.queue.serve",
                "not a known value",
            ),
            (
                {"network.queue": {"discipline": "two-class", "limit": "9p"}},
                "network.queue.discipline",
                "unknown queue discipline",
            ),
            (
                {"network.queue": {**CLASSES, "class": [{"name": "nv", "weight": 0}]}},
                "network.queue.class.1.weight",
                "0",
            ),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, changes: dict[str, Any], key: str, problem: str
    ) -> None:
        assert_refused(table(changes), key, problem)

    def test_near_names_are_named(self) -> None:
        for changes, near in (
            ({"network.queue": CLASSES, "flow.1.class": "othre"}, "other"),
            ({"network.queue": {"discipline": "two-class", "limit": "9p"}}, "classes"),
        ):
            assert error_of(table(changes)).near == near


NETWORK = {"rate": "50mbit", "rtt": "20ms", "queue": "50p"}


def ran(network: dict[str, Any], *entries: dict[str, Any], **top: Any) -> Run:
    tables = {"duration": "8s", "network": {**NETWORK, **network}, "flow": list(entries), **top}
    return simulate(Scenario.parse(tables, "a.toml"))


def goodputs_mbit(run: Run) -> dict[str, float]:
    return {
        flow.label: 8e3 * flow.received_bytes / (flow.end_ns - flow.start_ns)
        for flow in run.summary.flows
    }


def causes(run: Run) -> list[str]:
    return [doubt.cause for doubt in run.summary.doubts]


EQUAL = {"rate": "200mbit", "rtt": "5ms", "queue": "1bdp", "edge_rate": "200mbit"}
"""Hosts that are as fast as the bottleneck, ..."""

EXACT = {**EQUAL, "edge_queue": "unlimited", "edge_jitter": "0s", "clock_ppm": 0}
"""... to the bit, without anything that could come between."""

FIRST = {"algorithm": "reno", "label": "first", "stack": "linux-3.16"}
SECOND = {**FIRST, "label": "second", "start": "2s"}


class TestShares:
    def test_weights_are_shares_of_the_link(self) -> None:
        queue = {**CLASSES, "limit": "100p"}
        run = ran({"queue": queue}, {"algorithm": "cubic", "class": "nv", "label": "a"}, FIRST)
        shares = goodputs_mbit(run)
        # Slow start and reductions of the larger share cost a few percent.
        assert shares["a"] / shares["first"] == pytest.approx(3, rel=0.06)

    def test_nv_has_a_queue_of_its_own(self) -> None:
        """Next to CUBIC in one queue it starves; in a separate class it has its half."""
        nv, cubic = {"algorithm": "nv", "label": "nv"}, {"algorithm": "cubic"}
        queue = {**CLASSES, "class": [{"name": "nv"}, {"name": "other"}]}
        apart = goodputs_mbit(ran({"queue": queue}, {**nv, "class": "nv"}, cubic))
        together = goodputs_mbit(ran({"queue": "100p"}, nv, cubic))
        assert apart["nv"] > 20
        assert together["nv"] < 12

    def test_by_priority_the_first_class_has_what_it_wants(self) -> None:
        names = [{"name": "first"}, {"name": "other"}]
        queue = {**CLASSES, "serve": "priority", "class": names}
        run = ran({"queue": queue}, {**FIRST, "class": "first"}, {"algorithm": "cubic"})
        shares = goodputs_mbit(run)
        assert shares["first"] > 0.9 * 48.2
        assert shares["cubic 1"] < 5


def counts_left_out(text: str) -> str:
    """Return a sentence with N for rates, waits and drops, as another engine may measure others."""
    return re.sub(r"[\d.]+(?= (Mbit/s|us there|of its))", "N", text)


class TestDoubts:
    def test_hosts_as_fast_as_the_bottleneck_lock_a_flow_out(self) -> None:
        run = ran(EXACT, FIRST, SECOND)
        assert "locked-out" in causes(run)
        assert goodputs_mbit(run)["second"] < 1
        text = next(d.text for d in run.summary.doubts if d.cause == "locked-out")
        assert counts_left_out(text) == snapshot(
            "second was locked out: it got N Mbit/s of N Mbit/s, and forward dropped N of its packets and 0 of those of first"
        )

    def test_real_hosts_do_not(self) -> None:
        run = ran(EQUAL, FIRST, SECOND)
        assert causes(run) == []
        assert goodputs_mbit(run)["second"] > 60

    @pytest.mark.parametrize("remedy", [{"edge_jitter": "60us"}, {"clock_ppm": 50}])
    def test_holds_or_clocks_alone_let_the_second_flow_in(self, remedy: dict[str, Any]) -> None:
        run = ran({**EXACT, **remedy}, FIRST, SECOND)
        assert "locked-out" not in causes(run)
        assert goodputs_mbit(run)["second"] > 20

    def test_a_host_that_is_the_bottleneck_is_named(self) -> None:
        run = ran({**EXACT, "edge_rate": "150mbit"}, FIRST)
        assert causes(run) == ["host"]
        assert counts_left_out(run.summary.doubts[0].text) == snapshot(
            "the host of first was the bottleneck: packets waited N us there and at most 0 us in the network, which dropped none of them"
        )

    @pytest.mark.parametrize(
        ("is_kept", "left_out"),
        [
            (
                True,
                snapshot(
                    "the host of first was the bottleneck: its own queue refused N of its packets, the network dropped none"
                ),
            ),
            (
                False,
                snapshot(
                    "the host of first was the bottleneck: its own queue dropped N of its packets, the network dropped none"
                ),
            ),
        ],
    )
    def test_so_is_one_whose_queue_is_full(self, is_kept: bool, left_out: str) -> None:
        first = {**FIRST, "switches": {"local_drops": is_kept}}
        run = ran({**EXACT, "edge_rate": "150mbit", "edge_queue": "20p"}, first)
        assert causes(run) == ["host"]
        assert counts_left_out(run.summary.doubts[0].text) == left_out

    def test_equal_flows_without_holds_keep_one_phase(self) -> None:
        entry = {**FIRST, "label": "flow", "count": 2}
        assert "phase" in causes(ran({"edge_jitter": "0s"}, entry, duration="30s"))
        assert causes(ran({}, entry, duration="30s")) == []

    def test_a_flow_alone_is_beyond_doubt(self) -> None:
        assert causes(ran({}, FIRST)) == []
        assert causes(ran({"edge_rate": "1gbit"}, FIRST)) == []

    def test_a_flow_that_gives_way_is_not_locked_out(self) -> None:
        run = ran({"queue": "200p"}, {"algorithm": "lp", "label": "lp"}, {"algorithm": "cubic"})
        assert causes(run) == []


class TestPerturbing:
    def test_a_round_trip_is_longer_by_a_service_time_or_a_hundredth(self) -> None:
        short = resolved({"network.rate": "1mbit"})
        assert longest_ns(short.scenario, short.scenario.flows[0]) == 12_000_000
        long = resolved({"network.rate": "1gbit"})
        assert longest_ns(long.scenario, long.scenario.flows[0]) == 820_000

    def test_each_flow_has_its_own_in_each_run(self) -> None:
        first = resolved({**EDGE, "flow.1.count": 3, "flow.1.parallel": 2})
        seen = set()
        for number in (1, 2):
            again = perturbed(first, number)
            assert_accepted(again)
            assert again == perturbed(first, number)
            assert again != first
            rtts = [facts.base_rtt_ns(again.scenario, flow) for flow in again.scenario.flows]
            assert all(82_000_000 <= rtt <= 82_820_000 for rtt in rtts)
            # Connections of a flow have the same path.
            assert [rtts[0], rtts[2], rtts[4]] == [rtts[1], rtts[3], rtts[5]]
            seen |= set(rtts)
        assert len(seen) == 6

    def test_datagrams_begin_later_and_clocks_differ(self) -> None:
        udp = {"transport": "udp", "rate": "10mbit", "start": "1s", "stop": "2s"}
        first = resolved({**EDGE, "flow": [udp]})
        again = perturbed(first, 1)
        assert 10**9 < again.scenario.flows[0].start_ns <= 10**9 + 820_000
        assert again.scenario.flows[0].stop_ns == 2 * 10**9
        rates = [links(run)["edge 1"].rate for run in (first, again)]
        assert rates[0] != rates[1]

    def test_a_lock_out_shows_as_a_wide_spread(self) -> None:
        tables = {
            "duration": "8s",
            "network": EXACT,
            "flow": [FIRST, SECOND],
        }
        spreads = {spread.label: spread for spread in perturb(Scenario.parse(tables, "a.toml"), 3)}
        assert len(spreads["second"].perturbed) == 3
        assert spreads["second"].as_is < 1
        assert spreads["second"].mean > 10 * spreads["second"].as_is
        assert (spreads["second"].width or 0) > 0.9

    def test_a_flow_alone_hardly_depends_on_its_phase(self) -> None:
        tables = {"duration": "8s", "network": NETWORK, "flow": [FIRST]}
        (alone,) = perturb(Scenario.parse(tables, "a.toml"), 2)
        assert (alone.width or 0) < 0.02
