"""Networks and workloads really run: packets are conserved and nothing exceeds its capacity."""

from __future__ import annotations

import io
import statistics
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import figure_tables
from dumbbell.algorithms.catalogue import NO_OWN_ALGORITHMS
from dumbbell.api import simulate
from dumbbell.base.units import parse_time
from dumbbell.cli.totals import as_table
from dumbbell.contract.summary import QueueSummary
from dumbbell.engines.result import Run
from dumbbell.figures import charts, drawing
from dumbbell.quantities import run_totals, series, taking
from dumbbell.quantities.registry import quantities
from dumbbell.scenario import facts
from dumbbell.scenario.disciplines import MODELS
from dumbbell.scenario.model import Scenario
from queue_tables import having, table_of
from run_invariants import assert_possible

EXAMPLES = Path(__file__).parents[2] / "examples"
MS = 10**6
S = 10**9

NETWORK = {"rate": "20mbit", "rtt": "20ms", "queue": "1bdp"}


MEAN_DELAY = "one_way_delay_mean_ms@run"


def ran(network: dict[str, Any], *flows: dict[str, Any], **top: Any) -> Run:
    """Run flows over a network for 10 s, and check what holds for every run."""
    base = {} if "topology" in network else NETWORK
    record = {"interval": "100ms", **top.pop("record", {})}
    tables = {"duration": "10s", "network": {**base, **network}, "record": record, **top}
    if flows:
        tables["flow"] = list(flows)
    run = simulate(Scenario.parse(tables, str(EXAMPLES / "a.toml")))
    assert_possible(run)
    return run


def goodput_mbit(run: Run, label: str) -> float:
    flow = next(flow for flow in run.summary.flows if flow.label == label)
    return 8e3 * flow.received_bytes / (flow.end_ns - flow.start_ns)


def latencies_ns(run: Run) -> list[int]:
    """Return the latencies in ascending order."""
    return sorted(run.tables["requests"]["latency_ns"].to_list())


def queue(run: Run, name: str) -> QueueSummary:
    return next(queue for queue in run.summary.queues if queue.name == name)


def total(run: Run, key: str) -> int:
    return sum(getattr(flow, key) for flow in run.summary.flows)


@pytest.mark.parametrize("name", MODELS)
def test_every_queue_fills_the_link_without_a_standing_excess(name: str) -> None:
    limit = {"limit": "40p"} if MODELS[name].model_fields["limit"].is_required() else {}
    run = ran({"queue": table_of(name, limit)}, {"algorithm": "cubic", "count": 2})
    bottleneck = queue(run, "forward")
    # A window that shrinks to 0.7 leaves idle at most what the queue did not hold; slow start
    # takes a few round trips of 500.
    assert 8 * bottleneck.departed_bytes / 10 > 0.85 * 20e6
    assert bottleneck.dropped_packets > 0
    assert total(run, "dropped_packets") == bottleneck.dropped_packets


def target_ms(name: str) -> float:
    """Return the waiting time that a discipline aims at by default."""
    return parse_time(MODELS[name].model_fields["target"].default) / MS


@pytest.mark.parametrize(
    ("discipline", "limit_ms"),
    [
        *((name, 4 * target_ms(name)) for name in having("target")),
        # 100 packets for each of two flows, and nothing else that drops.
        ("fq", 120),
        ("ared", 60),
    ],
)
def test_active_queues_are_short(discipline: str, limit_ms: float) -> None:
    """A few times their targets, and far below the 600 ms of a plain queue of 1000 packets."""
    limits = {"discipline": discipline, "limit": "1000p"}
    run = ran({"queue": limits}, {"algorithm": "cubic", "count": 2})
    # 20 Mbit/s are 2500 bytes in a millisecond.
    assert queue(run, "forward").waiting_bytes_mean < limit_ms * 2500


@pytest.mark.parametrize("discipline", MODELS)
def test_no_round_trip_is_shorter_than_its_propagation(discipline: str) -> None:
    """Of a paced transfer, whose packets are often alone at the bottleneck."""
    queued = table_of(discipline, {"limit": "1000p"})
    paced = {"profile": "linux-6", "switches": {"pacing": "fq"}}
    run = ran({"queue": queued}, {"algorithm": "reno", "bytes": "200kb"}, stack=paced)
    # 20 ms, and 1500 and 52 bytes at 20 Mbit/s.
    assert (run.summary.flows[0].rtt_min_us or 0) >= 20_620


ECN = {"profile": "linux-6", "switches": {"ecn": "classic"}}


def dropped_after_slow_start(run: Run) -> int:
    """Return what the bottleneck dropped later than 2 s; before, PIE drops more than it marks."""
    late = run.tables["queues"].filter((pl.col("queue") == 0) & (pl.col("time_ns") > 2 * S))
    dropped = late["dropped_packets"].to_list()
    return int(dropped[-1] - dropped[0])


@pytest.mark.parametrize("name", [*having("threshold"), *having("ecn")])
def test_marks_replace_drops(name: str) -> None:
    # A queue that averages needs room for what its average is late.
    limit = "200p" if name in having("threshold") else "1000p"
    discipline = table_of(name, {"limit": limit, "threshold": "20p", "ecn": True})
    run = ran({"queue": discipline}, {"algorithm": "reno", "count": 2}, stack=ECN)
    assert total(run, "marked_packets") > 0
    plain = ran({"queue": discipline}, {"algorithm": "reno", "count": 2})
    assert total(plain, "marked_packets") == 0
    assert dropped_after_slow_start(run) < dropped_after_slow_start(plain)


@pytest.mark.parametrize("discipline", having("threshold"))
def test_the_queue_counts_its_marks(discipline: str) -> None:
    marking = {"discipline": discipline, "limit": "1000p", "threshold": "20p"}
    run = ran({"queue": marking}, {"algorithm": "reno", "count": 2}, stack=ECN)
    # What was marked may still be on its way.
    on_the_way = queue(run, "forward").marked_packets - total(run, "marked_packets")
    assert 0 <= on_the_way < 50


def test_two_classes_share_the_link() -> None:
    network = {"queue": {"discipline": "classes", "limit": "60kb", "threshold": "20p"}}
    marked = {"algorithm": "reno", "label": "marked", "stack": ECN}
    run = ran(network, marked, {"algorithm": "reno", "label": "dropped", "count": 3})
    assert goodput_mbit(run, "marked") > 8


@pytest.mark.parametrize("discipline", ["fq", "fq-codel"])
def test_fair_queues_protect_a_flow_from_an_unresponsive_one(discipline: str) -> None:
    flood = {"transport": "udp", "rate": "40mbit", "label": "flood"}
    run = ran({"queue": {"discipline": discipline}}, {"algorithm": "reno"}, flood)
    assert goodput_mbit(run, "reno 1") > 8
    assert goodput_mbit(run, "flood") < 11


def test_a_plain_queue_does_not() -> None:
    flood = {"transport": "udp", "rate": "40mbit", "label": "flood"}
    run = ran({}, {"algorithm": "reno"}, flood)
    assert goodput_mbit(run, "reno 1") < 2


def test_a_parking_lot_has_a_queue_for_each_hop() -> None:
    network = {
        "topology": "parking-lot",
        "hops": 3,
        "rate": ["20mbit", "10mbit", "20mbit"],
        "delay": "2ms",
        "queue": "50p",
    }
    cross = [
        {"algorithm": "reno", "label": f"cross {hop}", "hops": [hop, hop]} for hop in (1, 2, 3)
    ]
    run = ran(network, {"algorithm": "reno", "label": "long"}, *cross)
    assert [entry.name for entry in run.summary.queues] == ["hop 1", "hop 2", "hop 3"]
    for hop, rate_mbit in ((1, 20), (2, 10), (3, 20)):
        used = 8e-6 * queue(run, f"hop {hop}").departed_bytes / 10 / rate_mbit
        assert 0.85 < used <= 1.001
        assert goodput_mbit(run, f"cross {hop}") > goodput_mbit(run, "long")
    assert run.tables["queues"]["queue"].unique().sort().to_list() == [0, 1, 2]


def test_reverse_traffic_shares_queues_with_acknowledgements() -> None:
    alone = ran({}, {"algorithm": "cubic"})
    back = {"algorithm": "cubic", "direction": "reverse", "label": "back"}
    both = ran({}, {"algorithm": "cubic"}, back)
    assert queue(both, "reverse").departed_bytes > 10 * queue(alone, "reverse").departed_bytes
    assert goodput_mbit(both, "back") > 10
    rtts = [run.summary.flows[0].rtt_mean_us or 0 for run in (alone, both)]
    assert rtts[0] < rtts[1]


def test_a_graph_routes_data_both_ways() -> None:
    links = [
        {"from": "a", "to": "b", "rate": "20mbit", "delay": "3ms", "queue": "50p"},
        {"from": "b", "to": "c", "rate": "10mbit", "delay": "3ms", "queue": "50p"},
        {"from": "a", "to": "c", "delay": "9ms", "rate": "5mbit", "queue": "50p"},
    ]
    flows: list[dict[str, Any]] = [
        {"algorithm": "reno", "label": "short", "from": "a", "to": "c"},
        {"algorithm": "reno", "label": "against", "from": "c", "to": "a"},
        {"algorithm": "reno", "label": "around", "from": "a", "to": "b", "via": ["c"]},
    ]
    run = ran({"topology": "graph", "link": links}, *flows)
    names = [entry.name for entry in run.summary.queues]
    assert names == ["a>b", "b>a", "b>c", "c>b", "a>c", "c>a"]
    assert 4 < goodput_mbit(run, "short") < 10
    # It shares c>b with the one that goes around, which a>c holds to 5 Mbit/s.
    assert 3 < goodput_mbit(run, "against") < 10
    assert 1 < goodput_mbit(run, "around") < 5
    assert (run.summary.flows[0].rtt_min_us or 0) >= 12_000


def test_datagrams_keep_their_rate_and_have_no_window() -> None:
    call = {"transport": "udp", "rate": "1mbit", "packet": 500, "label": "call"}
    run = ran({}, call, {"algorithm": "reno"})
    summary = run.summary.flows[0]
    # 1 Mbit/s of 500 bytes: 250 a second, the first at once and one at the very end.
    assert summary.sent_segs == 2501
    assert summary.algorithm is None
    assert summary.rtt_mean_us is None
    assert summary.received_bytes == summary.received_packets * (500 - 28)


def test_datagrams_in_bursts_pause() -> None:
    bursts = {"kind": "on-off", "on": "1s", "off": "1s"}
    run = ran({}, {"transport": "udp", "rate": "1mbit", "packet": 500, "workload": bursts})
    assert run.summary.flows[0].sent_segs == pytest.approx(1250, abs=6)


@pytest.mark.parametrize(("on", "off"), [("1us", "1us"), ("150us", "50us"), ("1ms", "3ms")])
def test_datagrams_in_bursts_keep_their_rate(on: str, off: str) -> None:
    """A packet takes 0.1 ms: longer than the shortest of these bursts, and no part of others."""
    bursts = {"kind": "on-off", "on": on, "off": off}
    datagrams = {"transport": "udp", "rate": "120mbit", "workload": bursts, "stop": "1s"}
    run = ran({"rate": "1gbit", "queue": "100p"}, datagrams)
    on_ns, off_ns = (parse_time(time) for time in (on, off))
    expected = 10_000 * on_ns / (on_ns + off_ns)
    assert run.summary.flows[0].sent_segs == pytest.approx(expected, abs=2)


def test_a_connection_in_bursts_pauses() -> None:
    bursts = {"kind": "on-off", "on": "1s", "off": "1s"}
    run = ran({}, {"algorithm": "reno", "workload": bursts}, record={"interval": "100ms"})
    received = run.tables["flows"]["received_bytes"].to_list()
    # Samples are taken at 0.1 s, 0.2 s ...: nothing arrives from 1.5 to 2 s.
    assert received[19] == received[14] > 0
    assert received[29] > 1.5 * received[19]
    assert 7 < goodput_mbit(run, "reno 1") < 11


def test_an_application_that_is_the_limit_gets_what_it_has_to_send() -> None:
    rates = [{"at": "0s", "rate": "8mbit"}, {"at": "5s", "rate": "2mbit"}]
    workload = {"kind": "app-limited", "rate": rates}
    run = ran({}, {"algorithm": "reno", "workload": workload}, record={"interval": "100ms"})
    received = run.tables["flows"]["received_bytes"].to_list()
    # From 1 to 4 s, and from 6 to 10 s: samples are taken at 0.1 s, 0.2 s ...
    assert 8e-6 * (received[39] - received[9]) / 3 == pytest.approx(8, rel=0.01)
    assert 8e-6 * (received[99] - received[59]) / 4 == pytest.approx(2, rel=0.01)
    assert set(run.tables["queues"].filter(pl.col("queue") == 0)["backlog_packets"]) <= {0, 1}


def test_requests_take_a_round_trip_and_their_serialisation() -> None:
    """One segment after another: RTT + wire time of data and ACK, then the pause."""
    rpc = {"kind": "rpc", "bytes": 1000, "pause": "5ms"}
    run = ran({}, {"algorithm": "reno", "workload": rpc})
    # 1052 and 52 bytes at 20 Mbit/s, both ways over 20 ms.
    expected_ns = 20 * MS + 8 * (1052 + 52) * 50
    assert run.tables["requests"]["latency_ns"].unique().to_list() == [expected_ns]
    assert run.tables["requests"]["bytes"].unique().to_list() == [1000]
    assert run.tables["requests"]["number"].to_list() == list(range(run.tables["requests"].height))
    assert run.tables["requests"].height == 10 * S // (expected_ns + 5 * MS)
    gaps = run.tables["requests"]["time_ns"].diff().drop_nulls().unique().to_list()
    assert gaps == [expected_ns + 5 * MS]
    assert run.tables["requests"]["label"].unique().to_list() == ["reno 1"]


def test_a_request_of_a_full_window_takes_one_round_trip() -> None:
    """Ten segments leave at once; the ACK of the last one is the reply."""
    rpc = {"kind": "rpc", "bytes": 14480}
    run = ran({}, {"algorithm": "reno", "workload": rpc})
    expected_ns = 20 * MS + 8 * (10 * 1500 + 52) * 50
    slack_ns = 8 * 52 * 50 * 5  # other ACKs may be in the way of the last one
    latencies = latencies_ns(run)
    assert expected_ns <= latencies[0] <= latencies[-1] <= expected_ns + slack_ns
    assert run.tables["requests"].height == pytest.approx(10 * S / expected_ns, rel=0.01)


def test_requests_at_once_share_the_link() -> None:
    rpc = {"kind": "rpc", "bytes": 14480}
    run = ran({}, {"algorithm": "reno", "workload": rpc, "count": 8, "label": "request"})
    assert run.tables["requests"]["flow"].n_unique() == 8
    assert sum(goodput_mbit(run, f"request {n}") for n in range(1, 9)) < 20
    alone_ns = 20 * MS + 8 * (10 * 1500 + 52) * 50
    # 8 requests are 120 kB, 48 ms at 20 Mbit/s: more than a round trip, so the link is busy.
    assert statistics.fmean(latencies_ns(run)) == pytest.approx(48 * MS, rel=0.15)
    assert latencies_ns(run)[0] >= alone_ns


def test_a_transfer_ends_and_tells_how_long_it_took() -> None:
    run = ran({}, {"algorithm": "reno", "bytes": 1448, "start": "1s"})
    row = run.tables["requests"].row(0, named=True)
    assert run.tables["requests"].height == 1
    assert row["time_ns"] == 1 * S
    assert row["number"] == 0
    assert row["bytes"] == 1448
    assert row["latency_ns"] == 20 * MS + 8 * (1500 + 52) * 50
    assert run.summary.flows[0].end_ns == row["time_ns"] + row["latency_ns"]


def test_short_flows_arrive_finish_and_are_not_sampled() -> None:
    pages = {"algorithm": "cubic", "label": "page", "rate": 20, "size": "30kb", "stop": "9s"}
    run = ran({}, {"algorithm": "reno"}, arrivals=[pages])
    flows = run.summary.flows
    arrived = [flow for flow in flows if flow.label.startswith("page ")]
    # 20 a second for 9 s: 180, and three standard deviations of 13.4.
    assert 140 < len(arrived) < 220
    assert run.tables["flows"]["label"].unique().to_list() == ["reno 1"]
    finished = {row["flow"]: row for row in run.tables["requests"].iter_rows(named=True)}
    for flow in arrived:
        if flow.flow in finished:
            row = finished[flow.flow]
            assert flow.end_ns == flow.start_ns + row["latency_ns"]
            assert row["bytes"] == flow.received_bytes == 30_000
            # 21 segments: ten, then the rest: two round trips.
            assert row["latency_ns"] > 40 * MS
    assert len(finished) > 0.9 * len(arrived)


def test_a_link_changes_its_rate() -> None:
    steps = [{"at": "0s", "rate": "20mbit"}, {"at": "5s", "rate": "5mbit"}]
    run = ran({"rate": steps, "queue": "50p"}, {"algorithm": "cubic"})
    departed = run.tables["queues"].filter(pl.col("queue") == 0)["departed_bytes"].to_list()
    assert 8 * (departed[39] - departed[19]) / 2 == pytest.approx(20e6, rel=0.1)
    assert 8 * (departed[99] - departed[79]) / 2 == pytest.approx(5e6, rel=0.05)


def test_an_outage_lets_nothing_through() -> None:
    steps = [
        {"at": "0s", "rate": "20mbit"},
        {"at": "4s", "rate": "0bit"},
        {"at": "5s", "rate": "20mbit"},
    ]
    run = ran({"rate": steps, "queue": "50p"}, {"algorithm": "cubic"})
    departed = run.tables["queues"].filter(pl.col("queue") == 0)["departed_bytes"].to_list()
    # A packet whose last bit left just before may count with the first sample inside.
    assert departed[48] - departed[40] == 0
    assert departed[99] > departed[60] > departed[48]


def test_a_token_bucket_holds_its_rate() -> None:
    bucket = {"rate": "10mbit", "burst": "20kb", "peak": "100mbit"}
    run = ran({"rate": bucket, "queue": "50p"}, {"algorithm": "cubic"})
    assert 8 * queue(run, "forward").departed_bytes / 10 == pytest.approx(10e6, rel=0.05)


def test_a_trace_is_played_back() -> None:
    flow = {"algorithm": "cubic"}
    network = {"rate": {"trace": "radio.trace"}, "queue": "100p", "reverse": {"rate": "10mbit"}}
    run = ran(network, flow)
    # Silent for 250 ms every 4 s: none of its departures lies there.
    rate = run.scenario.links[0].rate
    assert rate is not None
    assert rate.trace is not None
    times = rate.trace.times_ns
    assert max(late - early for early, late in pairwise(times)) > 200 * MS
    assert queue(run, "forward").departed_packets > 1000


@pytest.mark.parametrize("place", ["sender", "bottleneck", "receiver"])
def test_random_loss_is_as_frequent_as_asked_for(place: str) -> None:
    loss = [{"place": place, "probability": "2%"}]
    run = ran({"loss": loss}, {"transport": "udp", "rate": "10mbit", "label": "u"})
    summary = run.summary.flows[0]
    # 8333 datagrams, a standard error of 0.15 %.
    assert summary.lost_packets / summary.sent_segs == pytest.approx(0.02, abs=0.005)
    assert summary.dropped_packets == 0


def test_loss_in_bursts_has_its_mean() -> None:
    burst = {"to_bad": 0.01, "to_good": 0.25}
    loss = [{"place": "bottleneck", "gilbert_elliott": burst}]
    run = ran({"loss": loss}, {"transport": "udp", "rate": "10mbit", "label": "u"})
    summary = run.summary.flows[0]
    # to_bad / (to_bad + to_good) of the time it is bad; about 80 bursts.
    assert summary.lost_packets / summary.sent_segs == pytest.approx(0.0385, rel=0.35)


def test_chosen_segments_are_lost_as_often_as_asked_for() -> None:
    drops = {"drops": [{"flow": "reno 1", "number": 100, "times": 2}]}
    events = {"events": ["loss", "retransmit"]}
    loss = [{"place": "receiver", **drops}]
    run = ran({"loss": loss, "queue": "500p"}, {"algorithm": "reno"}, record=events)
    lost = run.tables["events"].filter(pl.col("kind") == "loss")
    assert lost["segment"].to_list() == [100, 100]
    again = run.tables["events"].filter(
        (pl.col("kind") == "retransmit") & (pl.col("segment") == 100)
    )
    assert again.height == 2


def test_duplicates_arrive_and_are_counted() -> None:
    run = ran({"duplicate": "5%"}, {"transport": "udp", "rate": "10mbit", "label": "u"})
    summary = run.summary.flows[0]
    assert summary.duplicated_packets / summary.sent_segs == pytest.approx(0.05, abs=0.01)
    assert queue(run, "forward").duplicated_packets == summary.duplicated_packets
    connected = ran({"duplicate": "1%"}, {"algorithm": "reno"})
    assert total(connected, "duplicated_packets") > 0
    assert goodput_mbit(connected, "reno 1") > 10


@pytest.mark.parametrize("discipline", ["fq", "codel", "classes"])
def test_acknowledgements_that_come_twice_or_never_bring_their_own_blocks(discipline: str) -> None:
    """Each of them panicked: blocks of an ACK lost behind the queue went to the next one."""
    policer = {"rate": "1mbit", "burst": "70kb"}
    queue = {"discipline": discipline, "limit": "100p"}
    back = {"rate": "1mbit", "queue": queue, "duplicate": 0.5}
    network = {"rate": "10mbit", "policer": policer, "duplicate": 0.5, "reverse": back}
    ran(network, {"algorithm": "cubic", "count": 2, "packet": 60}, duration="5s")


def test_reordering_loses_nothing() -> None:
    late = {"probability": "1%", "delay": "1ms"}
    run = ran({"reorder": late, "queue": "1000p"}, {"transport": "udp", "rate": "10mbit"})
    summary = run.summary.flows[0]
    assert summary.received_packets + summary.in_flight_packets == summary.sent_segs
    connected = ran({"reorder": late}, {"algorithm": "reno"})
    assert total(connected, "retransmitted_segs") > 0


def test_a_policer_drops_what_exceeds_its_rate() -> None:
    policer = {"rate": "5mbit", "burst": "20kb"}
    run = ran({"policer": policer}, {"transport": "udp", "rate": "10mbit", "label": "u"})
    # The policer lets pass 5 Mbit/s and its burst.
    passed = 8 * queue(run, "forward").departed_bytes
    assert passed == pytest.approx(5e6 * 10 + 8 * 20_000, rel=0.01)


def test_jitter_and_batches_delay_and_keep_everything() -> None:
    network = {"jitter": "2ms", "reverse": {"batch": "5ms"}, "queue": "1000p"}
    run = ran(network, {"algorithm": "reno", "bytes": "1mb"})
    summary = run.summary.flows[0]
    assert run.tables["requests"].height == 1
    assert summary.retransmitted_segs == 0
    # Acknowledgements arrive at multiples of 5 ms only.
    assert (run.tables["requests"]["time_ns"] + run.tables["requests"]["latency_ns"]).item() % (
        5 * MS
    ) == 0


@pytest.mark.parametrize("discipline", ["fifo", "codel", "fq-codel", "dualpi2"])
def test_jitter_delays_packets_whatever_the_queue(discipline: str) -> None:
    datagrams = {"transport": "udp", "rate": "240kbit"}
    queue = {"discipline": discipline, "limit": "1000p"}
    # Packets are 50 ms apart, so none waits for the one before it.
    plain, late = (
        taking.of_run(ran({"queue": queue, "jitter": longest}, datagrams), [MEAN_DELAY])[MEAN_DELAY]
        for longest in ("0s", "40ms")
    )
    assert plain is not None
    assert late is not None
    assert late - plain == pytest.approx(20, rel=0.15)


ODD: dict[str, dict[str, Any]] = {
    "only datagrams": {"flow": [{"transport": "udp", "rate": "1mbit"}]},
    "datagrams beside a connection": {
        "flow": [{"transport": "udp", "rate": "1mbit"}, {"algorithm": "htcp"}],
        "record": {"interval": "10ms", "algorithm_state": True},
    },
    "only arrivals": {"arrivals": [{"algorithm": "reno", "rate": 5, "size": "10kb"}]},
    "no samples": {"flow": [{"algorithm": "reno", "count": 2}], "record": {"interval": "none"}},
    "samples of one of two": {
        "flow": [{"algorithm": "reno", "sampled": False}, {"algorithm": "reno"}]
    },
    "no rate": {
        "network": {
            "topology": "graph",
            "link": [{"from": "a", "to": "b", "delay": "3ms", "loss": [{"probability": 0.01}]}],
        },
        "flow": [{"transport": "udp", "rate": "1mbit", "from": "a", "to": "b"}],
    },
    "only delay": {
        "network": {
            "topology": "graph",
            "link": [{"from": "a", "to": "b", "delay": "3ms"}, {"from": "b", "to": "c"}],
            "rtt": "1ms",
        },
        "flow": [{"transport": "udp", "rate": "1mbit", "from": "a", "to": "c"}],
    },
}


NAMES = [*ODD, *sorted(path.stem for path in EXAMPLES.glob("*.toml"))]


@pytest.fixture(scope="module", params=NAMES)
def odd(request: pytest.FixtureRequest) -> tuple[Scenario, Run]:
    if request.param in ODD:
        tables = {"duration": "5s", "network": NETWORK, **ODD[request.param]}
        scenario = Scenario.parse(tables, "a.toml")
    else:
        scenario = Scenario.load(EXAMPLES / f"{request.param}.toml")
    return scenario, simulate(scenario)


def test_whatever_runs_is_possible_and_examples_are_busy(
    odd: tuple[Scenario, Run], request: pytest.FixtureRequest
) -> None:
    _, run = odd
    assert_possible(run)
    assert run.summary.packets > (0 if request.node.callspec.params["odd"] in ODD else 5_000)


def test_whatever_runs_is_measured(odd: tuple[Scenario, Run]) -> None:
    """Every quantity, of the whole, of the last flow and of the last queue, in three windows."""
    _, run = odd
    last = str(len(facts.bundles(run.scenario.flows)))
    references = [
        f"{name}{argument}{subject}{window}"
        for name, quantity in quantities().items()
        for argument in (f":{quantity.arguments(NO_OWN_ALGORITHMS)[0]}" if quantity.takes else "",)
        for subject in ("", f"[{run.summary.queues[-1].name if quantity.of_queue else last}]")
        for window in ("", "@final", "@run")
    ]
    values = taking.of_run(run, references)
    assert set(values) == set(references)
    for text, value in values.items():
        shared = "share" in text and not text.startswith("fair_share")
        if value is not None and (shared or text.startswith(("jain", "utilisation"))):
            assert 0 <= value <= 1.01, (text, value)
        assert value is None or value >= 0 or text.startswith("cut_per_resent"), (text, value)
    sampled = [flow for flow in run.scenario.flows if flow.sampled]
    has_tcp = any(flow.transport.tcp is not None for flow in sampled)
    assert (values["goodput_mbit_per_s@run"] is not None) == has_tcp
    assert (values["goodput_life_mbit_per_s@run"] is not None) == has_tcp


DRAWN = ("cwnd_segs", "goodput_mbit_per_s", "rtt_ms", "queue_packets")


def test_whatever_runs_can_be_drawn(
    odd: tuple[Scenario, Run], request: pytest.FixtureRequest
) -> None:
    """All series of what is odd, and one of each example."""
    name = request.node.callspec.params["odd"]
    turn = NAMES.index(name) % len(DRAWN)
    for what in DRAWN if name in ODD else DRAWN[turn : turn + 1]:
        chart = charts.draw(odd[1], what)
        drawn = chart.to_dict(validate=False)
        figure_tables.check(chart, drawn)
        drawing.rendered(drawn, ".svg")


def test_whatever_runs_can_be_told(odd: tuple[Scenario, Run]) -> None:
    _, run = odd
    console = Console(width=250, record=True, file=io.StringIO())
    for table in map(as_table, run_totals.of_run(run)):
        console.print(table)
    printed = console.export_text()
    for queue in run.summary.queues:
        assert queue.name in printed
    for flow in run.scenario.flows:
        assert facts.family(flow.label) in printed
    assert "None" not in printed
    assert "nan" not in printed


def test_one_flow_of_a_pair_without_samples_has_no_ratio() -> None:
    scenario = Scenario.parse(
        {"duration": "5s", "network": NETWORK, **ODD["samples of one of two"]}, "a.toml"
    )
    goodput, ratio, rtt = "goodput_mbit_per_s", "ratio_min_max", "rtt_mean_ms[1]@run"
    references = [goodput, f"{goodput}[1]", f"{goodput}[2]", ratio, "convergence_fairness_s", rtt]
    values = taking.of_run(simulate(scenario), references)
    assert values[f"{goodput}[1]"] is None
    assert values[f"{goodput}[2]"] == values[goodput] is not None
    assert values[ratio] is None
    assert values["convergence_fairness_s"] is None
    assert values[rtt] is not None


def test_the_bottleneck_is_the_slowest_link_of_the_first_flow() -> None:
    run = simulate(Scenario.load(EXAMPLES / "parking-lot.toml"))
    number = facts.bottleneck(run.scenario)
    assert number == 1
    assert run.summary.queues[number].name == "hop 2"
    assert facts.bottleneck_rate_bps(run.scenario) == 80_000_000
    lines = series.take(run, "queue_packets")["label"].unique(maintain_order=True)
    assert lines.to_list() == ["hop 1", "hop 2", "hop 3"]
