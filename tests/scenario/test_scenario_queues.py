"""Queues of a scenario: their defaults, their sizes, and what is wrong with the wrong ones."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from dumbbell.contract import scenario as contract
from dumbbell.scenario.disciplines import MODELS
from queue_tables import table_of
from sample_runs import plain_links, resolved, table
from scenario_checks import assert_accepted
from scenario_refusals import assert_refused, error_of

MS = 10**6


def queue_of(queue: Any, **changes: Any) -> dict[str, Any]:
    run = resolved({"network.queue": queue, **changes})
    assert_accepted(run)
    queue_found: dict[str, Any] = plain_links(run)["forward"]["queue"]
    return queue_found


@pytest.mark.parametrize("queue", ["100p", {"limit": "100p"}])
@pytest.mark.parametrize("name", ["fifo", "drop-tail", None])
def test_drop_tail_is_the_default(queue: Any, name: str | None) -> None:
    if name and isinstance(queue, dict):
        queue = {**queue, "discipline": name}
    assert queue_of(queue) == {"limit": {"packets": 100}, "discipline": {"kind": "fifo"}}
    assert resolved({"network.queue": queue}).key == resolved({"network.queue": "100p"}).key


def test_a_queue_may_be_unlimited() -> None:
    assert queue_of("unlimited")["limit"] is None


@pytest.mark.parametrize(
    ("queue", "limit", "discipline"),
    [
        # tc-red(8) and ns-2: 5 and 15 packets, weight 0.002, 10 %; "gentle" (Floyd 2000).
        (
            {"limit": "100p", "discipline": "red"},
            {"packets": 100},
            {
                "kind": "red",
                "min_packets": 5.0,
                "max_packets": 15.0,
                "max_probability": 0.1,
                "weight": 0.002,
                "gentle": True,
                "adaptive": False,
                "ecn": False,
            },
        ),
        # RFC 8289, section 4.
        (
            {"discipline": "codel"},
            {"packets": 1000},
            {"kind": "codel", "target_ns": 5 * MS, "interval_ns": 100 * MS, "ecn": False},
        ),
        # RFC 8290, section 5.2.
        (
            {"discipline": "fq-codel"},
            {"packets": 10240},
            {
                "kind": "fq-codel",
                "target_ns": 5 * MS,
                "interval_ns": 100 * MS,
                "ecn": True,
                "queues": 1024,
                "quantum_bytes": 1514,
            },
        ),
        # RFC 8033, section 4.
        (
            {"discipline": "pie"},
            {"packets": 1000},
            {
                "kind": "pie",
                "target_ns": 15 * MS,
                "update_ns": 15 * MS,
                "alpha": 0.125,
                "beta": 1.25,
                "burst_ns": 150 * MS,
                "ecn": False,
            },
        ),
        # tc-fq_pie(8): alpha 2 and beta 20, of sixteenths.
        (
            {"discipline": "fq-pie"},
            {"packets": 10240},
            {
                "kind": "fq-pie",
                "target_ns": 15 * MS,
                "update_ns": 15 * MS,
                "alpha": 0.125,
                "beta": 1.25,
                "ecn": False,
                "ecn_probability": 0.1,
                "queues": 1024,
                "quantum_bytes": 1514,
            },
        ),
        # RFC 9332, figure 2, and Linux 6.18: limit, beta of 819/256 and what has a switch there.
        (
            {"discipline": "dualpi2"},
            {"packets": 10000},
            {
                "kind": "dualpi2",
                "target_ns": 15 * MS,
                "update_ns": 16 * MS,
                "alpha": 0.16,
                "beta": 3.2,
                "step_ns": MS,
                "step_min": 0,
                "coupling": 2,
                "classic_protection": 0.1,
                "drop_overload": True,
                "drop_early": False,
            },
        ),
        # tc-cake(8); a turn of one full packet, as in FQ-CoDel, and 4 MB.
        (
            {"discipline": "cake"},
            {"bytes": 4_000_000},
            {
                "kind": "cake",
                "interval_ns": 100 * MS,
                "quantum_bytes": 1514,
                "isolation": "triple",
                "hosts": [],
                "ack_filter": "off",
                "shaper": None,
            },
        ),
        # tc-fq(8).
        (
            {"discipline": "fq"},
            {"packets": 10000},
            {
                "kind": "fq",
                "quantum_bytes": 3028,
                "initial_quantum_bytes": 15140,
                "flow_limit_packets": 100,
            },
        ),
        (
            {"limit": "1mb", "discipline": "step", "threshold": "65p"},
            {"bytes": 10**6},
            {"kind": "step", "threshold": {"packets": 65}},
        ),
        (
            {"limit": "1mb", "discipline": "classes"},
            {"bytes": 10**6},
            {
                "kind": "classes",
                "by": {"ecn": {"capable": 0, "other": 1}},
                "serve": {"round_robin": {"quantum_bytes": 1514, "weights": [1, 1]}},
                "threshold": None,
            },
        ),
    ],
    ids=lambda value: value.get("discipline") if isinstance(value, dict) else None,
)
def test_defaults_are_those_of_linux_and_the_rfcs(
    queue: dict[str, Any], limit: dict[str, int], discipline: dict[str, Any]
) -> None:
    assert queue_of(queue) == {"limit": limit, "discipline": discipline}


@pytest.mark.parametrize("name", MODELS)
def test_every_discipline_has_the_fields_of_the_engine(name: str) -> None:
    discipline = queue_of(table_of(name, {}))["discipline"]
    known = {
        discipline.__struct_config__.tag: discipline for discipline in get_args(contract.Discipline)
    }
    assert discipline.keys() - {"kind"} == set(known[discipline["kind"]].__struct_fields__)
    assert known.keys() == {model.names()[0] for model in MODELS.values()}


def test_cake_shapes_for_a_slower_line() -> None:
    line = {"rate": "20mbit", "overhead": 0, "mpu": 84, "framing": "ptm"}
    shaper = {"rate_bps": 20_000_000, "overhead_bytes": 0, "mpu_bytes": 84, "framing": "ptm"}
    assert queue_of({"discipline": "cake", **line})["discipline"]["shaper"] == shaper
    plain = queue_of({"discipline": "cake", "rate": "20mbit"})["discipline"]["shaper"]
    assert plain == {**shaper, "overhead_bytes": None, "mpu_bytes": 0, "framing": "none"}


def test_cake_knows_the_hosts_of_flows() -> None:
    flows = [
        {"algorithm": "reno", "host": "a", "label": "one"},
        {"algorithm": "reno", "host": "a", "label": "other", "parallel": 2},
        {"algorithm": "reno", "label": "alone"},
    ]
    cake = {"discipline": "cake", "isolate": "dual-srchost"}
    discipline = queue_of(cake, flow=flows)["discipline"]
    assert discipline["isolation"] == "dual-source"
    # Connections of a flow have both hosts in common.
    assert discipline["hosts"] == [[0, 1], [0, 2], [0, 2], [3, 4]]


def test_ared_is_red_that_adapts() -> None:
    adaptive = queue_of({"limit": "100p", "discipline": "ared"})["discipline"]
    plain = queue_of({"limit": "100p", "discipline": "red"})["discipline"]
    assert adaptive == {**plain, "adaptive": True}
    both = {"limit": "100p", "discipline": "red", "adaptive": True}
    assert queue_of(both)["discipline"] == adaptive


def test_thresholds_are_sizes_like_limits() -> None:
    # 100 Mbit/s carry 8333 1/3 packets of 1500 bytes a second; the BDP of 82 ms is 683 1/3.
    red = {"limit": "1bdp", "discipline": "red", "min_threshold": "3ms", "max_threshold": "0.3bdp"}
    queue = queue_of(red)
    assert queue["limit"] == {"packets": 683}
    assert queue["discipline"]["min_packets"] == 25.0
    assert queue["discipline"]["max_packets"] == 205.0
    step = {"limit": "1000p", "discipline": "step", "threshold": "1ms"}
    assert queue_of(step)["discipline"]["threshold"] == {"packets": 8}
    step["threshold"] = "100kb"
    assert queue_of(step)["discipline"]["threshold"] == {"bytes": 100_000}
    fq = {"discipline": "fq", "flow_limit": "15kb"}
    assert queue_of(fq)["discipline"]["flow_limit_packets"] == 10


def test_every_place_takes_every_queue() -> None:
    codel = {"discipline": "codel"}
    by_name = plain_links(
        resolved(
            {
                "network.queue": codel,
                "network.reverse": {"queue": codel},
                "network.edge_rate": "1gbit",
                "network.edge_queue": codel,
            }
        )
    )
    assert {link["queue"]["discipline"]["kind"] for link in by_name.values()} == {"codel"}
    assert list(by_name) == ["forward", "reverse", "edge 1"]


@pytest.mark.parametrize(
    ("queue", "key", "problem"),
    [
        ({"limit": "9p", "discipline": "coddle"}, "discipline", "unknown queue discipline"),
        ({"limit": "9p", "discipline": 7}, "discipline", "unknown queue discipline"),
        ({"limit": "9p", "discipline": []}, "discipline", "unknown queue discipline"),
        ({"discipline": "step", "limit": "9p"}, "threshold", "is missing"),
        ({"discipline": "cake", "rtt": "999ns"}, "rtt", "too short"),
        ({"discipline": "cake", "rate": "1mbit", "overhead": 257}, "overhead", "too large"),
        ({"discipline": "cake", "overhead": 0}, "overhead", "nothing is shaped without a rate"),
        ({"discipline": "cake", "framing": "atm"}, "framing", "nothing is shaped without a rate"),
        ({"discipline": "cake", "isolate": "triple"}, "isolate", ""),
        ({"discipline": "step", "threshold": "9p"}, "limit", "is missing"),
        ({"discipline": "codel", "tagret": "1ms"}, "tagret", "unknown key"),
        ({"discipline": "codel", "target": "200ms"}, "target", "not shorter than the interval"),
        ({"discipline": "codel", "target": "100ms"}, "target", "not shorter than the interval"),
        ({"discipline": "codel", "target": "0s"}, "target", "more than 0"),
        ({"discipline": "codel", "limit": "9b"}, "limit", "smaller than one packet"),
        ({"discipline": "codel", "limit": 9}, "limit", "a text with a unit"),
        ({"discipline": "fq-codel", "queues": 0}, "queues", "more than 0"),
        ({"discipline": "fq-codel", "quantum": "0b"}, "quantum", "more than 0"),
        ({"discipline": "fq", "flow_limit": "15b"}, "flow_limit", "smaller than one packet"),
        ({"discipline": "fq", "flow_limit": "1us"}, "flow_limit", "smaller than one packet"),
        ({"discipline": "pie", "alpha": -1}, "alpha", "must not be negative"),
        ({"discipline": "pie", "alpha": 0}, "alpha", "more than 0"),
        ({"discipline": "pie", "beta": 0}, "beta", "more than 0"),
        ({"discipline": "pie", "update": "9us"}, "update", "each update is computed"),
        ({"discipline": "fq-pie", "ecn_probability": 2}, "ecn_probability", "whole"),
        ({"discipline": "fq-pie", "queues": 0}, "queues", "more than 0"),
        ({"discipline": "dualpi2", "alpha": 0}, "alpha", "more than 0"),
        ({"discipline": "dualpi2", "coupling": 0}, "coupling", "more than 0"),
        ({"discipline": "red", "limit": "9p", "weight": 0}, "weight", "more than 0"),
        ({"discipline": "red", "limit": "9p", "max_probability": 2}, "max_probability", "whole"),
        (
            {"discipline": "red", "limit": "9p", "max_threshold": "5p"},
            "max_threshold",
            "not more than min_threshold = 5p",
        ),
        ({"discipline": "ared", "limit": "9p", "adaptive": False}, "adaptive", "is adaptive"),
        ({"discipline": "step", "limit": "9p", "threshold": "1b"}, "threshold", "smaller than one"),
    ],
)
def test_a_wrong_queue_is_refused(queue: dict[str, Any], key: str, problem: str) -> None:
    assert_refused(table({"network.queue": queue}), f"network.queue.{key}", problem)


def test_a_near_name_is_offered() -> None:
    queue = {"limit": "9p", "discipline": "fq-coddle"}
    assert error_of(table({"network.queue": queue})).near == "fq-codel"


def test_a_queue_needs_a_rate() -> None:
    assert_refused(
        table({"network.edge_queue": "9p"}), "network.edge_queue", "the rate is unlimited"
    )
