"""Delays of single packets and of datagrams, where closed forms say what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.api import simulate
from dumbbell.base.errors import InputError
from dumbbell.engines.result import Run
from dumbbell.plan.windows import Window
from dumbbell.quantities import taking
from dumbbell.quantities.names import Use, Vocabulary, What
from dumbbell.quantities.registry import quantities
from dumbbell.quantities.subjects import Absent
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import HISTOGRAMS_MAX
from dumbbell.study.model import Study
from sample_runs import plain, resolved, table
from scenario_refusals import assert_refused

SERVICE_MS = 1.2
"""What 1500 bytes take at 10 Mbit/s."""

FLOOD = {"transport": "udp", "rate": "19.37mbit", "label": "flood", "start": "5s"}
"""At a rate that is no multiple of the others, so that no flow is locked out."""

CALL = {"transport": "udp", "rate": "1mbit", "label": "call", "group": "voice"}
DUMBBELL = {"rate": "10mbit", "rtt": "20ms", "queue": "40p", "edge_jitter": "0s"}


def ran(*flows: dict[str, Any], network: Any = None, **record: Any) -> Run:
    tables = {
        "duration": "20s",
        "network": {**DUMBBELL, **(network or {})},
        "flow": list(flows),
        "record": {"interval": "100ms", **record},
    }
    return simulate(Scenario.parse(tables))


@pytest.fixture(scope="module")
def flooded() -> Run:
    """Return a run of a call, alone for 5 s, and then next to twice the rate of the link."""
    return ran(CALL, FLOOD, delays="1s")


WINDOWS = {
    "alone": Window.model_validate({"from": "0s", "to": "5s"}),
    "full": Window.model_validate({"from": "6s", "to": "20s"}),
}


def values_of(run: Run, *references: str) -> list[float | None]:
    values = taking.of_run(run, references, WINDOWS)
    return [values[reference] for reference in references]


def test_of_a_full_queue_every_packet_waits_for_all_of_it(flooded: Run) -> None:
    [median, most, of_flow] = values_of(
        flooded,
        "packet_queueing_delay_p50_ms@full",
        "packet_queueing_delay_max_ms@full",
        "flow_queueing_delay_p99_ms[flood]@full",
    )
    assert median == pytest.approx(40 * SERVICE_MS, rel=0.02)
    assert most == of_flow == pytest.approx(40 * SERVICE_MS, rel=0.005)


def test_an_empty_queue_costs_no_time(flooded: Run) -> None:
    references = [f"flow_queueing_delay_{kind}_ms[call]@alone" for kind in ("mean", "p50", "p95")]
    assert values_of(flooded, *references) == [0, 0, 0]
    assert values_of(flooded, "packet_queueing_delay_p95_ms[forward]@alone") == [0]


def test_one_way_delays_of_a_window_are_those_of_what_arrived_in_it(flooded: Run) -> None:
    empty_ms = 10 + SERVICE_MS
    [mean, median, p99, most] = values_of(
        flooded, *(f"one_way_delay_{kind}_ms[call]@alone" for kind in ("mean", "p50", "p99", "max"))
    )
    assert mean == pytest.approx(empty_ms, rel=1e-6)
    # 416 datagrams are too few for the one in a hundred.
    assert (median, most, p99) == (*[pytest.approx(empty_ms, rel=0.005)] * 2, None)
    [mean, p95] = values_of(
        flooded, "one_way_delay_mean_ms[voice]@full", "one_way_delay_p95_ms[1]@full"
    )
    assert mean == pytest.approx(40 * SERVICE_MS + empty_ms, rel=0.02)
    assert p95 == pytest.approx(40 * SERVICE_MS + empty_ms, rel=0.01)


def test_what_the_whole_run_says_of_delays_is_exact(flooded: Run) -> None:
    delay = flooded.summary.flows[0].delay
    assert delay is not None
    assert values_of(
        flooded, "one_way_delay_mean_ms[call]@run", "one_way_delay_max_ms[call]@run"
    ) == [
        delay.mean_ns / 1e6,
        delay.max_ns / 1e6,
    ]
    assert values_of(flooded, "jitter_ms[call]@run") == [(delay.jitter_ns or 0) / 1e6]


def test_jitter_is_zero_where_nothing_is_in_the_way(flooded: Run) -> None:
    assert values_of(flooded, "jitter_ms[call]@alone") == [0]


def test_jitter_is_how_much_delays_differ_from_one_datagram_to_the_next() -> None:
    """The way takes 3 ms more for every second datagram, of which one is sent each 12 ms."""
    steps = [{"at": f"{12 * n}ms", "delay": f"{1 + 3 * (n % 2)}ms"} for n in range(1_700)]
    run = ran(CALL, network={"delay": steps})
    assert values_of(run, "jitter_ms", "jitter_ms@alone") == [pytest.approx(3), pytest.approx(3)]


def test_losses_of_datagrams_are_the_share_that_does_not_arrive(flooded: Run) -> None:
    [alone, full, whole] = values_of(
        flooded, *(f"datagrams_lost_share[flood]@{name}" for name in ("alone", "full", "run"))
    )
    assert alone is None
    # Of 20.37 Mbit/s that are sent 10 arrive.
    assert full == pytest.approx(1 - 10 / 20.37, abs=0.02)
    flood = flooded.summary.flows[1]
    assert whole == flood.dropped_packets / (flood.dropped_packets + flood.received_packets)
    assert values_of(flooded, "datagrams_lost_share[call]@alone") == [0]


def test_without_a_name_it_is_all_datagrams_that_are_meant(flooded: Run) -> None:
    rows = flooded.tables["delays"].filter(pl.col("queue").is_null())
    assert rows["packets"].sum() == sum(flow.received_packets for flow in flooded.summary.flows)
    one, other, both = values_of(
        flooded,
        "one_way_delay_mean_ms[1]@full",
        "one_way_delay_mean_ms[2]@full",
        "one_way_delay_mean_ms@full",
    )
    assert one is not None
    assert other is not None
    assert both == pytest.approx((one + other) / 2)


def test_datagrams_have_rates_in_windows(flooded: Run) -> None:
    [sent, received] = values_of(
        flooded, "throughput_mbit_per_s[call]@alone", "goodput_mbit_per_s[call]@alone"
    )
    assert sent == pytest.approx(1, rel=0.01)
    assert received == pytest.approx(1472 / 1500, rel=0.01)
    assert values_of(flooded, "goodput_mbit_per_s[flood]@alone", "cwnd_mean_segs[call]") == [
        0,
        None,
    ]
    # Datagrams are no rivals of each other unless they are asked for.
    assert values_of(flooded, "goodput_mbit_per_s", "retransmitted_segs[call]@alone") == [None, 0]


def test_what_is_not_recorded_is_unknown_but_for_datagrams() -> None:
    run = ran(CALL, {"algorithm": "reno"})
    references = [name for name in quantities() if "queueing_delay" in name and "p9" in name]
    apart = [name for name in references if name.startswith(("packet_", "flow_"))]
    assert len(apart) == 5
    assert values_of(run, *apart, *(f"{name}@run" for name in apart)) == [None] * 10
    # Of the whole run there is always one; of a part of it only where periods are asked for.
    assert values_of(run, "one_way_delay_p95_ms@run") != [None]
    assert values_of(run, "one_way_delay_p95_ms@full") == [None]
    assert values_of(run, "one_way_delay_mean_ms@full") != [None]
    assert (
        values_of(run, "one_way_delay_mean_ms[2]@run", "jitter_ms[2]", "datagrams_lost_share[2]")
        == [None] * 3
    )


def test_a_flow_waits_at_its_own_bottleneck() -> None:
    hops = {"topology": "parking-lot", "hops": 2, "rate": ["10mbit", "5mbit"], "queue": "40p"}
    flood = {"transport": "udp", "rate": "12mbit"}
    run = simulate(
        Scenario.parse(
            {
                "duration": "10s",
                "network": hops,
                "flow": [
                    {**flood, "hops": [1, 1], "label": "first"},
                    {**flood, "hops": [2, 2], "label": "second"},
                ],
                "record": {"interval": "100ms", "delays": "10s"},
            }
        )
    )
    [first, second] = values_of(
        run, "flow_queueing_delay_p50_ms[first]@run", "flow_queueing_delay_p50_ms[second]@run"
    )
    assert first == pytest.approx(40 * SERVICE_MS, rel=0.03)
    assert second == pytest.approx(80 * SERVICE_MS, rel=0.03)
    [both] = values_of(run, "flow_queueing_delay_mean_ms[first]@run")
    assert both is not None
    with pytest.raises(Absent):
        values_of(run, "packet_queueing_delay_p50_ms[hop 3]@run")


def test_flows_without_samples_are_not_told_apart() -> None:
    web = {"algorithm": "reno", "rate": 5, "size": "100kb", "label": "web"}
    run = simulate(
        Scenario.parse(
            {
                "duration": "10s",
                "network": DUMBBELL,
                "flow": [{"algorithm": "reno"}],
                "arrivals": [web],
                "record": {"delays": "10s"},
            }
        )
    )
    assert values_of(run, "flow_queueing_delay_p95_ms[web]@run") == [None]
    [of_one, of_all] = values_of(
        run, "flow_queueing_delay_p50_ms[reno 1]@run", "packet_queueing_delay_p50_ms@run"
    )
    assert of_one is not None
    assert of_all is not None
    counts = (
        run.tables["delays"]
        .filter(pl.col("queue") == 0)
        .group_by("flow")
        .agg(pl.col("packets").sum())
    )
    assert set(counts["flow"]) == {0, None}


def test_delays_are_left_out_of_scenarios_that_do_not_ask_for_them() -> None:
    assert "delays_ns" not in plain(resolved())["record"]
    assert plain(resolved({"record.delays": "2s"}))["record"]["delays_ns"] == 2 * 10**9


@pytest.mark.parametrize(
    ("value", "problem"),
    [("0s", "must be more than 0"), ("1", "needs a unit"), ("often", "not a time")],
)
def test_wrong_periods_are_refused(value: str, problem: str) -> None:
    assert_refused(table({"record.delays": value}), "record.delays", problem)


def test_too_many_histograms_are_refused() -> None:
    flows = [{"algorithm": "reno", "count": 999, "sampled": True}]
    many = table({"flow": flows, "record.interval": "none", "record.delays": "100ms"})
    assert_refused(many, "record.delays", f"more than {HISTOGRAMS_MAX} histograms")
    assert resolved({"flow": flows, "record.interval": "none", "record.delays": "1s"})


STUDY = """
study = {{ name = "delays", title = "Delays", authors = [], year = 2026 }}
[scenario]
duration = "10s"
network = {{ rate = "12mbit", rtt = "50ms", queue = "1bdp" }}
[[test]]
name = "one"
title = "One flow"
[test.axes]
algorithm = ["reno"]
[test.scenario]
flow = [{{ algorithm = "{{algorithm}}" }}]
{record}
"""


@pytest.mark.parametrize(
    ("record", "quantity", "is_there"),
    [
        ("", "flow_queueing_delay_p95_ms[1]", False),
        ('record = { delays = "1s" }', "flow_queueing_delay_p95_ms[1]", True),
        ("", "one_way_delay_p95_ms", False),
        ("", "one_way_delay_p95_ms@run", True),
    ],
)
def test_a_study_that_records_no_delays_cannot_name_them(
    record: str, quantity: str, is_there: bool, tmp_path: Path
) -> None:
    path = tmp_path / "delays.toml"
    path.write_text(STUDY.format(record=record))
    vocabulary = Vocabulary(Study.load(path).plan)
    use = Use("y", What.QUANTITY, quantity, "one")
    if is_there:
        vocabulary.check(use)
        return
    with pytest.raises(InputError) as caught:
        vocabulary.check(use)
    assert caught.value.key == "y"
    assert caught.value.problem == snapshot(
        "needs the delays of packets, which the test one does not record"
    )
    assert caught.value.valid == snapshot('in its scenario record = { delays = "1s" }')
