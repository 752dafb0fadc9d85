"""Whatever a scenario file says: it is refused with a reason, or it resolves and runs."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from accepted import assert_accepted
from dumbbell.api import simulate
from dumbbell.errors import InputError
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from possible import assert_possible

Tables = st.SearchStrategy[dict[str, Any]]

times = st.sampled_from(["1us", "500us", "7ms", "40ms"])
delays = st.sampled_from(["0s", "1ns", "3ms", [{"at": "0s", "delay": "2ms"}]])
constant_rates = st.sampled_from(["1kbit", "10mbit", "9.9gbit"])
rates = st.one_of(
    constant_rates,
    st.just([{"at": "0s", "rate": "1mbit"}, {"at": "1s", "rate": "0bit"}]),
    st.just({"rate": "5mbit", "burst": "70kb", "peak": "10mbit"}),
)
sizes = st.sampled_from(["1p", "100p", "70kb", "10s", "0.2bdp"])
queues = st.one_of(
    sizes,
    st.fixed_dictionaries({"limit": sizes}),
    st.fixed_dictionaries({"limit": sizes, "discipline": st.just("step"), "threshold": sizes}),
    st.fixed_dictionaries(
        {"limit": sizes, "discipline": st.sampled_from(["red", "ared"]), "min_threshold": sizes}
    ),
    st.fixed_dictionaries(
        {"discipline": st.sampled_from(["codel", "fq-codel", "pie", "fq"])},
        optional={"limit": sizes},
    ),
    st.fixed_dictionaries(
        {"limit": sizes, "discipline": st.just("classes")},
        optional={"threshold": sizes, "serve": st.sampled_from(["round-robin", "priority"])},
    ),
    st.fixed_dictionaries(
        {
            "limit": sizes,
            "discipline": st.just("classes"),
            "by": st.just("class"),
            "class": st.just([{"name": "nv", "weight": 3}, {"name": "other"}]),
        }
    ),
)
shares = st.sampled_from([0, 1e-5, "1%", 0.5])
losses = st.one_of(
    st.fixed_dictionaries({"probability": shares}),
    st.fixed_dictionaries(
        {"gilbert_elliott": st.fixed_dictionaries({"to_bad": shares, "to_good": st.just(0.1)})}
    ),
    st.just({"drops": [{"flow": "a 1", "number": 3}]}),
)
packets = st.sampled_from(["1p", "10p", "4000p"])
settings_of_sockets = st.fixed_dictionaries(
    {},
    optional={
        "cwnd_clamp": packets,
        "initial_window": packets,
        "send_buffer": st.sampled_from(["3kb", "1mb"]),
        "receive_buffer": st.sampled_from(["3kb", "1mb"]),
        "base_rtt": st.just("80us"),
    },
)
IMPAIRMENTS: dict[str, st.SearchStrategy[Any]] = {
    "policer": st.just({"rate": "1mbit", "burst": "70kb"}),
    "duplicate": shares,
    "reorder": st.fixed_dictionaries({"probability": shares, "delay": times}),
    "jitter": times,
    "batch": times,
}
HOSTS: dict[str, st.SearchStrategy[Any]] = {
    "edge_rate": constant_rates,
    "edge_queue": queues,
    "edge_jitter": times,
    "host_delay": times,
    "clock_ppm": st.sampled_from([0, 20, 1000]),
    "overhead": st.sampled_from(["none", "ip", "ethernet"]),
}
reverses = st.fixed_dictionaries(
    {}, optional={"rate": rates, "delay": delays, "queue": queues, **IMPAIRMENTS}
)
hop_places = st.sampled_from(["bottleneck", "reverse"])
places = st.sampled_from(["sender", "bottleneck", "receiver", "reverse"])


def placed(
    places: st.SearchStrategy[str], extra: Tables
) -> st.SearchStrategy[list[dict[str, Any]]]:
    entry = st.builds(
        lambda place, loss, more: {"place": place, **loss, **more}, places, losses, extra
    )
    return st.lists(entry, max_size=2)


dumbbells: Tables = st.fixed_dictionaries(
    {"rate": rates, "queue": queues, "rtt": st.sampled_from(["6ms", "40ms"])},
    optional={
        "delay": delays,
        "reverse": reverses,
        "loss": placed(places, st.just({})),
        **HOSTS,
        **IMPAIRMENTS,
    },
)
parking_lots: Tables = st.fixed_dictionaries(
    {
        "topology": st.just("parking-lot"),
        "hops": st.just(2),
        "rate": st.one_of(rates, st.lists(rates, min_size=2, max_size=2)),
        "queue": st.one_of(queues, st.lists(queues, min_size=2, max_size=2)),
    },
    optional={
        "rtt": times,
        "delay": st.one_of(delays, st.lists(delays, min_size=2, max_size=2)),
        "reverse": reverses,
        "loss": placed(hop_places, st.sampled_from([{}, {"hop": 1}])),
        **HOSTS,
        **IMPAIRMENTS,
    },
)
edges = {"rate": rates, "delay": delays, "queue": queues, "loss": st.lists(losses, max_size=1)}


def graph_link(source: str, target: str) -> Tables:
    back = st.fixed_dictionaries({}, optional={**edges, **IMPAIRMENTS})
    return st.fixed_dictionaries(
        {"from": st.just(source), "to": st.just(target), **edges},
        optional={"reverse": back, **IMPAIRMENTS},
    )


only_delaying = st.just({"from": "a", "to": "c", "delay": "3ms"})
graph_links = st.tuples(graph_link("a", "b"), graph_link("b", "c"), only_delaying).map(list)
graphs: Tables = st.fixed_dictionaries(
    {"topology": st.just("graph"), "link": graph_links, "rtt": times}, optional=HOSTS
)
workloads = st.sampled_from(
    [
        {"kind": "bulk"},
        {"kind": "rpc", "bytes": "10kb"},
        {"kind": "on-off", "on": "1s", "off": "1s", "random": True},
        {"kind": "app-limited", "rate": "3mbit"},
        {
            "kind": "app-limited",
            "rate": [{"at": "0s", "rate": "0bit"}, {"at": "1s", "rate": "1kbit"}],
        },
    ]
)
TRAFFIC: dict[str, st.SearchStrategy[Any]] = {
    "packet": st.sampled_from([53, 9000]),
    "host": st.sampled_from("xy"),
}
transports = st.one_of(
    st.fixed_dictionaries(
        {"algorithm": st.sampled_from(["reno", "htcp@li2007"])},
        optional={
            "switches": st.just({"quick_acks": 0}),
            "workload": workloads,
            "tcp_bpf": settings_of_sockets,
        },
    ),
    st.fixed_dictionaries({"algorithm": st.just("cubic"), "bytes": st.just("1mb")}),
    st.fixed_dictionaries({"transport": st.just("udp"), "rate": constant_rates}),
)
flow_tables = st.fixed_dictionaries(
    {},
    optional={
        "count": st.integers(1, 3),
        "start": st.sampled_from(["0s", {"from": "1s", "to": "2s"}]),
        "stop": st.just("4s"),
        "label": st.sampled_from("ab"),
        **TRAFFIC,
    },
)
flow_sizes = st.sampled_from(
    [
        "1kb",
        {"distribution": "exponential", "mean": "1kb"},
        {"distribution": "pareto", "mean": "1kb", "shape": 1.1},
        {"distribution": "lognormal", "mean": "1kb", "shape": 2},
    ]
)
arrival_tables = st.fixed_dictionaries(
    {"algorithm": st.just("cubic"), "rate": st.sampled_from([0.1, 5]), "size": flow_sizes},
    optional={"start": st.just("1s"), **TRAFFIC},
)
PATHS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "dumbbell": st.sampled_from([{}, {"rtt": "40ms"}, {"direction": "reverse"}]),
    "parking-lot": st.sampled_from(
        [{}, {"hops": [2, 2]}, {"hops": [1, 2], "direction": "reverse"}]
    ),
    "graph": st.sampled_from([{"from": "a", "to": "b"}, {"from": "a", "to": "c", "via": ["b"]}]),
}


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    network = draw(st.one_of(dumbbells, parking_lots, graphs))
    paths = PATHS[network.get("topology", "dumbbell")]
    flow = [
        {**draw(transports), **draw(flow_tables), **draw(paths)}
        for _ in range(draw(st.integers(1, 2)))
    ]
    arrivals = [{**draw(arrival_tables), **draw(paths)} for _ in range(draw(st.integers(0, 1)))]
    return {"duration": "5s", "network": network, "flow": flow, "arrivals": arrivals}


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files(), st.integers(0, 2**64 - 1))
def test_every_file_is_refused_with_a_reason_or_resolves(data: dict[str, Any], seed: int) -> None:
    scenario = _read(data)
    if isinstance(scenario, InputError):
        assert (scenario.key or "").split(".")[0] in (*data, "record")
        assert scenario.source == "a.toml"
        event(f"refused: {scenario.problem[:40]}")
        return
    event(f"resolves: {scenario.network.topology}")
    found = scenario.resolve(seed=seed)
    assert found == scenario.model_copy(update={"seed": seed}).resolve()
    assert_accepted(found)
    assert ResolvedScenario.of(json.loads(found.json)).json == found.json
    written = json.loads(scenario.model_dump_json())
    assert Scenario.parse(written).resolve() == scenario.resolve()
    _check_round_trips(scenario, found)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files(), st.booleans())
def test_what_resolves_runs_and_loses_count_of_nothing(data: dict[str, Any], capture: bool) -> None:
    """Captured runs also hold the SACK blocks that a sender reads to those that were sent."""
    scenario = _read(_calmed(data))
    if isinstance(scenario, InputError):
        event("refused")
        return
    event("captured" if capture else "runs")
    assert_possible(simulate(scenario.resolve(capture=capture)))


def _calmed(value: Any) -> Any:
    """Return a file with rates that take no time to simulate."""
    if isinstance(value, dict):
        return {key: _calmed(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_calmed(entry) for entry in value]
    return "20mbit" if value == "9.9gbit" else value


def _read(data: dict[str, Any]) -> Scenario | InputError:
    try:
        return Scenario.parse(data, "a.toml")
    except InputError as error:
        return error


def _check_round_trips(scenario: Scenario, found: ResolvedScenario) -> None:
    """Check that a flow takes what it asks for, else the network, else what its links take."""
    tables = [flow for flow in scenario.flow for _ in range(flow.count)]
    for flow, table in zip(found.scenario.flows, tables, strict=False):
        there, back = ([hop.link for hop in way.hops] for way in (flow.forward, flow.reverse))
        base_ns = facts.base_rtt_ns(found.scenario, flow)
        if scenario.network.topology == "graph":
            continue
        wanted_ns = table.rtt or scenario.network.rtt
        if wanted_ns is None:
            links = found.scenario.links
            wanted_ns = sum(links[link].delay[0][1] for link in (*there, *back))
        # Four times through a host.
        assert base_ns == wanted_ns + 4 * scenario.network.host_delay
