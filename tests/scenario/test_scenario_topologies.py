"""Dumbbells, parking lots and graphs: which links a flow passes, and how long that takes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.contract.scenario import Limit, RateConfig
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario
from sample_runs import flows, links, passed, plain, plain_links, table
from scenario_checks import resolve
from scenario_refusals import assert_refused, error_of

MS = 10**6

PARKING_LOT = {
    "topology": "parking-lot",
    "hops": 3,
    "rate": ["100mbit", "50mbit", "100mbit"],
    "delay": ["1ms", "2ms", "4ms"],
    "queue": "100p",
    "edge_jitter": "0s",
}
DIAMOND = [
    {"from": "a", "to": "b", "rate": "100mbit", "delay": "5ms"},
    {"from": "b", "to": "d", "rate": "100mbit", "delay": "5ms"},
    {"from": "a", "to": "c", "rate": "10mbit", "delay": "2ms"},
    {"from": "c", "to": "d", "delay": "3ms"},
]


def network(network: dict[str, Any], *entries: dict[str, Any]) -> dict[str, Any]:
    flow = [{"algorithm": "reno", **entry} for entry in entries]
    return {"duration": "10s", "network": network, "flow": flow or [{"algorithm": "reno"}]}


def graph(*entries: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return network({"topology": "graph", "link": DIAMOND, "edge_jitter": "0s", **changes}, *entries)


def rtt_ms(run: ResolvedScenario, label: str) -> float:
    return facts.base_rtt_ns(run.scenario, flows(run)[label]) / MS


def sampled(run: ResolvedScenario) -> list[str]:
    return [name for name, link in links(run).items() if link.sampled]


def test_the_topology_is_a_dumbbell_unless_it_says_otherwise() -> None:
    assert resolve(table({"network.topology": "dumbbell"})) == resolve(table())


def test_data_of_a_reverse_flow_passes_the_reverse_bottleneck() -> None:
    run = resolve(table({"network.edge_rate": "1gbit", "flow.1.direction": "reverse"}))
    assert passed(run, "reno 1") == ["edge 1", "reverse"]
    assert passed(run, "reno 1", back=True) == ["forward"]
    assert rtt_ms(run, "reno 1") == 82


def test_flows_of_a_host_share_its_access_link() -> None:
    entries: list[dict[str, Any]] = [{"host": "x", "count": 2}, {}, {"host": "x"}]
    flow = [{"algorithm": "reno", **entry} for entry in entries]
    run = resolve(table({"network.edge_rate": "1gbit", "flow": flow}))
    assert [passed(run, f"reno {n}")[0] for n in (1, 2, 3, 4)] == [
        "edge 1",
        "edge 1",
        "edge 2",
        "edge 1",
    ]
    assert sampled(run) == ["forward", "reverse"]


def test_a_host_is_in_one_place() -> None:
    entries = [{"host": "x"}, {"host": "x", "direction": "reverse"}]
    flow = [{"algorithm": "reno", **entry} for entry in entries]
    assert_refused(table({"flow": flow}), "flow.2.host", "at another place")


def test_a_parking_lot_has_a_link_for_each_hop_and_direction() -> None:
    run = resolve(network(PARKING_LOT))
    assert list(links(run)) == [
        *("hop 1", "hop 2", "hop 3"),
        *("hop 1 reverse", "hop 2 reverse", "hop 3 reverse"),
    ]
    assert sampled(run) == ["hop 1", "hop 2", "hop 3"]
    rates = [RateConfig(constant=rate * 10**6) for rate in (100, 50, 100)]
    assert [link.rate for link in run.scenario.links] == [*rates, *rates]
    assert [link.delay[0][1] // MS for link in run.scenario.links] == [1, 2, 4, 1, 2, 4]


def test_flows_pass_their_hops_and_acknowledgements_come_back_over_them() -> None:
    run = resolve(
        network(
            PARKING_LOT,
            {"label": "all"},
            {"label": "two", "hops": [2, 3]},
            {"label": "one", "hops": [2, 2], "rtt": "50ms"},
            {"label": "back", "hops": [1, 2], "direction": "reverse"},
        )
    )
    assert passed(run, "all") == ["hop 1", "hop 2", "hop 3"]
    assert passed(run, "all", back=True) == ["hop 3 reverse", "hop 2 reverse", "hop 1 reverse"]
    assert passed(run, "two", back=True) == ["hop 3 reverse", "hop 2 reverse"]
    assert passed(run, "back") == ["hop 2 reverse", "hop 1 reverse"]
    assert passed(run, "back", back=True) == ["hop 1", "hop 2"]
    # Without a network.rtt a flow takes what its hops take.
    assert [rtt_ms(run, label) for label in ("all", "two", "one", "back")] == [14, 12, 50, 6]


def test_a_parking_lot_takes_one_value_for_all_hops() -> None:
    queue = {"limit": "10ms", "discipline": "codel"}
    lot = {**PARKING_LOT, "rate": "12mbit", "delay": "1ms", "queue": queue, "rtt": "60ms"}
    run = resolve(network(lot))
    assert {link.queue.limit for link in run.scenario.links[:3]} == {Limit(packets=10)}
    assert rtt_ms(run, "reno 1") == 60
    lists = {**lot, "rate": ["12mbit"] * 3, "delay": ["1ms"] * 3, "queue": [queue] * 3}
    assert resolve(network(lists)) == run


def test_a_hop_may_change_its_rate() -> None:
    steps = [{"at": "0s", "rate": "1mbit"}, {"at": "5s", "rate": "2mbit"}]
    bucket = {"rate": "1mbit", "burst": "9kb"}
    run = resolve(network({**PARKING_LOT, "rate": ["1mbit", steps, bucket]}))
    rates = [link["rate"] for link in plain(run)["links"][:3]]
    assert [list(rate) for rate in rates] == [["constant"], ["steps"], ["token_bucket"]]
    same = resolve(network({**PARKING_LOT, "rate": steps}))
    assert all(link.rate and link.rate.steps for link in same.scenario.links)


def test_loss_at_one_hop_or_at_all() -> None:
    loss = [
        {"place": "bottleneck", "hop": 2, "probability": 0.1},
        {"place": "reverse", "probability": 0.1},
    ]
    by_name = links(resolve(network({**PARKING_LOT, "loss": loss})))
    lossy = [name for name, link in by_name.items() if link.loss]
    assert lossy == ["hop 2", "hop 1 reverse", "hop 2 reverse", "hop 3 reverse"]


@pytest.mark.parametrize(
    ("changes", "entry", "key", "problem"),
    [
        ({"hops": 0}, {}, "network.hops", "more than 0"),
        ({"hops": 101}, {}, "network.hops", "too many hops"),
        ({"hops": 2}, {}, "network.rate", "3 entries for 2 hops"),
        ({"rate": ["1mbit", "x", "1mbit"]}, {}, "network.rate.2", "not a rate"),
        ({"queue": ["9p", "9p", "9b"]}, {}, "network.queue.3", "smaller than one packet"),
        ({"queue": "1bdp"}, {}, "network.queue", "refers to network.rtt"),
        ({"rtt": "13ms"}, {}, "flow.1.rtt", "smaller than the delay of its links"),
        ({}, {"rtt": "13ms"}, "flow.1.rtt", "smaller than the delay of its links"),
        ({}, {"hops": [1, 4]}, "flow.1.hops", "no such hops"),
        ({}, {"hops": [2, 1]}, "flow.1.hops", "no such hops"),
        ({}, {"hops": [0, 1]}, "flow.1.hops.1", "more than 0"),
        ({}, {"hops": [1]}, "flow.1.hops", "not the first and the last hop"),
        ({}, {"from": "a"}, "flow.1.from", "not in a parking-lot"),
        (
            {"loss": [{"place": "sender", "hop": 1, "probability": 0.1}]},
            {},
            "network.loss.1.hop",
            "has no hops",
        ),
        (
            {"loss": [{"place": "reverse", "hop": 4, "probability": 0.1}]},
            {},
            "network.loss.1.hop",
            "no such hop",
        ),
    ],
)
def test_a_wrong_parking_lot_is_refused(
    changes: dict[str, Any], entry: dict[str, Any], key: str, problem: str
) -> None:
    assert_refused(network({**PARKING_LOT, **changes}, entry), key, problem)


def test_flows_in_a_graph_take_the_path_of_least_delay() -> None:
    run = resolve(
        graph(
            {"label": "least", "from": "a", "to": "d"},
            {"label": "named", "from": "a", "to": "d", "via": ["b"]},
            {"label": "back", "from": "d", "to": "a"},
        )
    )
    assert passed(run, "least") == ["a>c"]
    assert flows(run)["least"].forward.delay_ns == 3 * MS
    assert passed(run, "least", back=True) == ["c>a"]
    assert passed(run, "named") == ["a>b", "b>d"]
    assert passed(run, "named", back=True) == ["d>b", "b>a"]
    assert passed(run, "back") == ["c>a"]
    assert [rtt_ms(run, label) for label in ("least", "named", "back")] == [10, 20, 10]


def test_links_of_a_graph_that_only_delay_are_part_of_the_routes() -> None:
    run = resolve(graph({"from": "a", "to": "d"}))
    assert sampled(run) == list(links(run)) == ["a>b", "b>a", "b>d", "d>b", "a>c", "c>a"]


def test_ties_go_to_fewer_links_then_to_the_order_of_the_file() -> None:
    def path(*ends: str) -> list[str]:
        link = [
            {"from": end[0], "to": end[1], "rate": "1mbit", "delay": f"{end[2]}ms"} for end in ends
        ]
        data = network({"topology": "graph", "link": link}, {"from": "a", "to": "d"})
        return passed(resolve(data), "reno 1")

    assert path("ab1", "bc1", "cd1", "ae2", "ed1") == ["a>e", "e>d"]
    assert path("ab1", "bd1", "ac1", "cd1") == ["a>b", "b>d"]
    assert path("ac1", "cd1", "ab1", "bd1") == ["a>c", "c>d"]


def test_the_way_back_over_a_link_may_differ() -> None:
    link = {
        "from": "a",
        "to": "b",
        "rate": "100mbit",
        "delay": "5ms",
        "queue": "100p",
        "jitter": "1us",
        "loss": [{"probability": 0.1}],
    }
    there = {"a>b", "b>a"}
    same = plain_links(resolve(graph({"from": "a", "to": "b"}, link=[link])))
    assert set(same) == there
    assert same["b>a"]["queue"] == same["a>b"]["queue"]
    assert (same["b>a"]["jitter_ns"], same["b>a"]["loss"]) == (0, [])
    reverse = {"rate": "1mbit", "delay": "7ms", "queue": {"discipline": "codel"}}
    other = plain_links(
        resolve(graph({"from": "a", "to": "b"}, link=[{**link, "reverse": reverse}]))
    )
    assert other["b>a"]["rate"] == {"constant": 10**6}
    assert other["b>a"]["delay"] == [[0, 7 * MS]]
    assert other["b>a"]["queue"]["discipline"]["kind"] == "codel"


@pytest.mark.parametrize(
    ("changes", "entry", "key", "problem"),
    [
        ({}, {"from": "a"}, "flow.1.to", "is missing"),
        ({}, {"to": "a"}, "flow.1.from", "is missing"),
        ({}, {"from": "a", "to": "x"}, "flow.1.to", "unknown node"),
        ({}, {"from": "a", "to": "d", "via": ["b", "x"]}, "flow.1.via.2", "unknown node"),
        ({}, {"from": "a", "to": "a"}, "flow.1.to", "joins different nodes"),
        ({}, {"from": "a", "to": "b", "rtt": "1s"}, "flow.1.rtt", "not in a graph"),
        ({}, {"from": "a", "to": "b", "hops": [1, 2]}, "flow.1.hops", "not in a graph"),
        (
            {},
            {"from": "a", "to": "b", "direction": "reverse"},
            "flow.1.direction",
            "not in a graph",
        ),
        ({"link": []}, {}, "network.link", "empty"),
        ({"link": [{"from": "a"}]}, {}, "network.link.1.to", "is missing"),
        ({"link": [{"from": "a", "to": "a"}]}, {}, "network.link.1.to", "joins two nodes"),
        ({"link": [*DIAMOND, {"from": "b", "to": "a"}]}, {}, "network.link.5", "a second link"),
        ({"link": [{"from": "a>", "to": "b"}]}, {}, "network.link.1.from", "a name without >"),
        (
            {"link": [{"from": "a", "to": "b", "queue": "9p"}]},
            {},
            "network.link.1.queue",
            "the rate is unlimited",
        ),
        (
            {"link": [{"from": "a", "to": "b", "reverse": {"queue": "9p"}}]},
            {},
            "network.link.1.reverse.queue",
            "the rate is unlimited",
        ),
        (
            {"link": [{"from": "a", "to": "b", "rate": "1mbit", "reverse": {"queue": "1b"}}]},
            {"from": "a", "to": "b"},
            "network.link.1.reverse.queue",
            "smaller than one packet",
        ),
        (
            {"link": [*DIAMOND, {"from": "x", "to": "y"}]},
            {"from": "a", "to": "y"},
            "flow.1.to",
            "no path from a",
        ),
        (
            {"link": [{"from": "a", "to": "b"}]},
            {"from": "a", "to": "b"},
            "flow.1",
            "go round in no time",
        ),
        ({"loss": []}, {"from": "a", "to": "b"}, "network.loss", "unknown key"),
    ],
)
def test_a_wrong_graph_is_refused(
    changes: dict[str, Any], entry: dict[str, Any], key: str, problem: str
) -> None:
    assert_refused(graph(entry, **changes), key, problem)


def test_a_delay_that_falls_to_nothing_is_no_delay() -> None:
    steps = [{"at": "0s", "delay": "5ms"}, {"at": "1s", "delay": "0s"}]
    link = [{"from": "a", "to": "b", "delay": steps}]
    assert_refused(graph({"from": "a", "to": "b"}, link=link), "flow.1", "go round in no time")
    link[0]["rate"] = "1mbit"
    resolve(graph({"from": "a", "to": "b"}, link=link))


def test_a_path_has_at_most_255_links() -> None:
    def line(count: int) -> dict[str, Any]:
        link = [{"from": f"{n}", "to": f"{n + 1}", "rate": "1mbit"} for n in range(count)]
        return network({"topology": "graph", "link": link}, {"from": "0", "to": f"{count}"})

    assert len(passed(resolve(line(255)), "reno 1")) == 255
    assert_refused(line(256), "flow.1", "more than 255 links")


def test_an_unknown_topology_is_refused() -> None:
    error = error_of(table({"network.topology": "parkinglot"}))
    assert (error.key, error.near) == ("network.topology", "parking-lot")


def test_keys_of_another_topology_are_refused() -> None:
    assert_refused(table({"network.hops": 3}), "network.hops", "unknown key")
    assert_refused(table({"flow.1.hops": [1, 1]}), "flow.1.hops", "not in a dumbbell")
    assert_refused(table({"flow.1.via": ["a"]}), "flow.1.via", "not in a dumbbell")


NODES = "abcde"
edges = st.lists(
    st.sampled_from(list(itertools.combinations(NODES, 2))), min_size=1, max_size=8, unique=True
)


def test_a_path_that_only_delays_has_a_link_for_each_way() -> None:
    chain = [{"from": "a", "to": "b", "delay": "5ms"}, {"from": "b", "to": "c", "delay": "1ms"}]
    data = network({"topology": "graph", "link": chain})
    udp = {"transport": "udp", "rate": "1mbit"}
    data["flow"] = [{**udp, "from": "a", "to": "c"}, {**udp, "from": "b", "to": "c"}]
    run = resolve(data)
    assert passed(run, "udp 1") == passed(run, "udp 2") == ["b>c"]
    assert passed(run, "udp 1", back=True) == ["b>a"]
    assert (rtt_ms(run, "udp 1"), rtt_ms(run, "udp 2")) == (12, 2)


@given(edges.flatmap(lambda ends: st.tuples(st.just(ends), st.permutations(range(len(ends))))))
def test_no_path_has_less_delay(drawn: tuple[list[tuple[str, str]], list[int]]) -> None:
    ends, delays = drawn
    delay_of = {frozenset(pair): delay for pair, delay in zip(ends, delays, strict=True)}
    link = [
        {"from": a, "to": b, "rate": "1mbit", "delay": f"{delay}ms"}
        for (a, b), delay in zip(ends, delays, strict=True)
    ]
    source, target = ends[0]
    run = resolve(network({"topology": "graph", "link": link}, {"from": source, "to": target}))
    inner = [node for node in NODES if node not in (source, target)]
    possible = [
        sum(delay_of[frozenset(step)] for step in steps)
        for count in range(len(inner) + 1)
        for between in itertools.permutations(inner, count)
        for steps in [list(itertools.pairwise((source, *between, target)))]
        if all(frozenset(step) in delay_of for step in steps)
    ]
    assert rtt_ms(run, "reno 1") == 2 * min(possible)


SWITCH = {"node": "b", "memory": "12mb", "alpha": 0.5}
STAR = [{"from": host, "to": "b", "rate": "10gbit", "delay": "1us"} for host in ("a", "c", "d")]


def star(*switches: dict[str, Any], **changes: Any) -> dict[str, Any]:
    keys = {"link": STAR, "switch": list(switches), **changes}
    return graph({"from": "a", "to": "d"}, **keys)


def test_the_ports_of_a_switch_share_its_memory() -> None:
    by_name = plain_links(resolve(star(SWITCH, {"node": "a", "memory": "1mb"})))
    b = {"switch": 0, "bytes": 12_000_000, "alpha": 0.5}
    a = {"switch": 1, "bytes": 1_000_000, "alpha": 1.0}
    memories = {name: link.get("memory") for name, link in by_name.items()}
    assert memories == {"a>b": a, "b>a": b, "c>b": None, "b>c": b, "d>b": None, "b>d": b}
    # The memory alone limits a queue that is not named.
    assert by_name["b>d"]["queue"]["limit"] is None
    assert by_name["d>b"]["queue"]["limit"] == {"packets": 1000}
    # Other limits apply as well.
    small = [STAR[0], STAR[1], {**STAR[2], "reverse": {"queue": "5p"}}]
    limited = plain_links(resolve(star(SWITCH, link=small)))["b>d"]
    assert (limited["queue"]["limit"], limited["memory"]) == ({"packets": 5}, b)


def test_both_ports_of_a_dumbbell_may_share_a_memory() -> None:
    path = {"rate": "1gbit", "rtt": "1ms", "queue": "unlimited", "switch": {"memory": "1mb"}}
    by_name = plain_links(resolve(network({**path, "edge_jitter": "0s"})))
    assert by_name["forward"]["memory"] == {"switch": 0, "bytes": 1_000_000, "alpha": 1.0}
    assert by_name["reverse"]["memory"] == by_name["forward"]["memory"]
    # 1500 bytes are at most a third of what there is.
    resolve(network({**path, "switch": {"memory": "4500b", "alpha": 0.5}}))


@pytest.mark.parametrize(
    ("wrong", "key", "problem"),
    [
        (star({**SWITCH, "alpha": 0}), "network.switch.1.alpha", "no packet ever waits"),
        (star(SWITCH, SWITCH), "network.switch.2.node", "named twice"),
        (star({**SWITCH, "node": "x"}), "network.switch.1.node", "unknown node"),
        (star({**SWITCH, "memory": "4499b"}), "network.switch.1.memory", "1499b of it"),
        (
            star(SWITCH, link=[{"from": "a", "to": "b"}, {"from": "b", "to": "d"}]),
            "network.switch.1.node",
            "no link with a rate leaves",
        ),
        (network({**PARKING_LOT, "switch": SWITCH}), "network.switch", "unknown key"),
    ],
    ids=["alpha", "twice", "unknown", "small", "no rate", "parking lot"],
)
def test_a_wrong_switch_is_refused(wrong: dict[str, Any], key: str, problem: str) -> None:
    assert_refused(wrong, key, problem)
