"""Losses are within chance, and round trips as long as their path, wherever packets are lost.

The shortcuts of the engine depend on the hosts, on the queue and on the number of flows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from chance import Chance
from dumbbell.api import simulate
from dumbbell.contract.scenario import Bernoulli
from dumbbell.engines.result import Run
from dumbbell.scenario.disciplines import MODELS
from dumbbell.scenario.model import Scenario
from queue_tables import table_of
from run_invariants import assert_possible

Table = dict[str, Any]

SHARE = 0.05
PLACES = ["sender", "bottleneck", "receiver", "reverse"]
HOST_DELAYS = ["0s", "1ms"]
NO_EDGE: Table = {"edge_jitter": "0s"}
EDGES: list[Table] = [
    NO_EDGE,
    {"edge_jitter": "0s", "edge_rate": "100mbit"},
    {"edge_jitter": "100us"},
]
QUEUES: list[Any] = ["50p", {"discipline": "codel"}, {"discipline": "fq-codel"}]
QUEUES_WITHOUT_EDGE: list[Any] = [
    table_of(name, {"limit": "50p"} if MODELS[name].model_fields["limit"].is_required() else {})
    for name in MODELS
]
BULK: Table = {"algorithm": "cubic"}
DATAGRAMS: Table = {"transport": "udp", "rate": "2mbit"}
FLOWS: Mapping[str, list[Table]] = {
    "bulk": [BULK],
    "requests": [{**BULK, "workload": {"kind": "rpc", "bytes": "200kb"}}],
    "several": [{**BULK, "count": 2}],
    "of different lengths": [BULK, {**BULK, "rtt": "8ms"}],
    "in reverse": [{**BULK, "direction": "reverse"}],
    "next to datagrams": [BULK, DATAGRAMS],
}


def networks() -> Iterator[Table]:
    """Yield every host, edge and queue; the rarer queues without an edge alone."""
    for host_delay in HOST_DELAYS:
        for edge, queue in itertools.product(EDGES, QUEUES):
            yield {"host_delay": host_delay, "queue": queue, **edge}
        for queue in QUEUES_WITHOUT_EDGE:
            yield {"host_delay": host_delay, "queue": queue, **NO_EDGE}


def ran(network: Table, flows: list[Table], seed: int = 1) -> Run:
    base = {"rate": "10mbit", "rtt": "4ms"}
    record = {"interval": "none", "events": []}
    tables = {
        "duration": "2s",
        "network": {**base, **network},
        "flow": flows,
        "record": record,
        "seed": seed,
    }
    run = simulate(Scenario.parse(tables))
    assert_possible(run)
    return run


@pytest.mark.parametrize("flows", FLOWS.values(), ids=FLOWS)
@pytest.mark.parametrize("place", PLACES)
def test_losses_are_what_chance_says_and_round_trips_are_whole(
    place: str, flows: list[Table]
) -> None:
    """Each run keeps the laws of `assert_possible`, and all together lose what they should."""
    loss = [{"place": place, "probability": SHARE}]
    lost = passed = 0
    for seed, network in enumerate(networks()):
        run = ran({**network, "loss": loss}, flows, seed)
        lossy = [number for number, link in enumerate(run.scenario.links) if link.loss]
        assert lossy
        for flow, summary in zip(run.scenario.flows, run.summary.flows, strict=True):
            if any(hop.link in lossy for hop in flow.forward.hops):
                assert summary.lost_packets, (network, summary)
                lost += summary.lost_packets
                # What is in flight at the end may have met the loss or not.
                passed += summary.sent_segs - summary.dropped_packets
            else:
                assert not summary.lost_packets, (network, summary)
    if passed:
        # Five standard deviations of a binomial share.
        assert lost / passed == pytest.approx(SHARE, abs=5 * (SHARE / passed) ** 0.5)


@pytest.mark.parametrize("place", PLACES[:3])
@pytest.mark.parametrize("host_delay", HOST_DELAYS)
def test_a_chosen_segment_is_lost_and_no_other(place: str, host_delay: str) -> None:
    drops = [{"flow": "cubic 1", "number": 40, "times": 2}]
    for edge, queue in itertools.product(EDGES, ["unlimited", {"discipline": "fq-codel"}]):
        network = {"host_delay": host_delay, "queue": queue, **edge}
        run = ran({**network, "loss": [{"place": place, "drops": drops}]}, [BULK])
        assert run.summary.flows[0].lost_packets == 2, network


def test_chance_knows_what_is_chance() -> None:
    chance = Chance.of([Bernoulli(probability=((0, 0.01),))])
    for lost in (60, 100, 140):
        assert chance.allows_so_many(lost, 10_000)
        assert chance.allows_so_few(lost, 10_000)
    assert not chance.allows_so_many(200, 10_000)
    assert not chance.allows_so_few(30, 10_000)
    assert not chance.allows_so_few(0, 10_000)
    # Of a few packets nothing can be said, but without a loss none is lost.
    assert chance.allows_so_few(0, 100)
    assert Chance.of([]).allows_so_few(0, 0)
    assert not Chance.of([]).allows_so_many(1, 10_000)
