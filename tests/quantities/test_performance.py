"""Efficiency, performance and leadership of runs whose rates and recoveries are known exactly."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from dumbbell.theory import formulas
from synthetic_runs import FlowTrace, Taken, constant, measured, planned, played, with_table

LINK_SEGS_PER_S = 1000
"""Rate of the bottleneck of these runs."""


def test_efficiency_is_goodput_over_that_of_an_ideal_network() -> None:
    values = measured(planned(), constant(600), constant(200, retransmitted=0.01))
    assert values["efficiency"] == pytest.approx((600 + 198) / LINK_SEGS_PER_S)


def test_a_full_link_is_efficient_however_many_share_it() -> None:
    for flows in (1, 2, 4):
        values = measured(planned(flows=flows), *[constant(LINK_SEGS_PER_S / flows)] * flows)
        assert values["efficiency"] == pytest.approx(1)


def test_what_was_sent_in_vain_is_not_efficient() -> None:
    """Throughput would call this link used by 120 %."""
    values = measured(planned(), constant(600, retransmitted=0.5), constant(600, retransmitted=0.5))
    assert values["throughput_mbit_per_s"] == pytest.approx(1.2 * 12)
    assert values["efficiency"] == pytest.approx(0.6)


def test_flows_of_the_other_direction_share_another_link() -> None:
    flows = [{"label": "flow 1"}, {"label": "flow 2", "direction": "reverse"}]
    values = measured(planned(flows=flows), constant(900), constant(900))
    assert values["efficiency"] == pytest.approx(0.9)


def test_performance_weighs_efficiency_and_fairness() -> None:
    values = measured(planned(), constant(600), constant(200))
    efficient, fair = 0.8, 0.8  # Jain's index of 3 to 1 is 16 / 20.
    assert (values["efficiency"], values["jain"]) == pytest.approx((efficient, fair))
    assert values["performance_balanced"] == pytest.approx(0.8)
    values = measured(planned(), constant(450), constant(450))
    assert values["performance_efficient"] == pytest.approx(0.8 * 0.9 + 0.2)
    assert values["performance_balanced"] == pytest.approx(0.5 * 0.9 + 0.5)
    assert values["performance_fair"] == pytest.approx(0.2 * 0.9 + 0.8)


def test_nothing_was_sent() -> None:
    values = measured(planned(), constant(0), constant(0))
    assert values["efficiency"] == 0
    assert values["performance_balanced"] is None
    assert values["share_max"] is None
    assert values["leader_kept"] is None


@pytest.mark.parametrize(
    ("early", "late", "kept"),
    [((600, 200, 100), (500, 300, 100), 1), ((600, 200, 100), (500, 900, 100), 0)],
)
def test_who_leads(early: Sequence[float], late: Sequence[float], kept: float) -> None:
    traces = [
        FlowTrace(lambda time_s, one=one, other=other: one if time_s <= 50 else other)  # type: ignore[misc]
        for one, other in zip(early, late, strict=True)
    ]
    values = measured(planned(flows=3), *traces)
    sums = [one + other for one, other in zip(early, late, strict=True)]
    assert values["leader_kept"] == kept
    assert values["share_max"] == pytest.approx(max(sums) / sum(sums), rel=0.01)


def test_one_flow_leads_nobody() -> None:
    values = measured(planned(flows=1), constant(500))
    assert values["leader_kept"] is None
    assert values["share_max"] == 1


Row = tuple[float, str, int, int, int]
"""Time in s, kind, flow, cwnd and ssthresh."""


def recovered(rows: Sequence[Row], recorded: Sequence[str]) -> float | None:
    """Return the cut per retransmission over the last half of a run of 100 s with these events."""
    plan = planned(record={"interval": "500ms", "events": list(recorded)})
    time_s, kind, flow, cwnd, ssthresh = zip(*sorted(rows), strict=True)
    events = pl.DataFrame(
        {
            "time_ns": pl.Series([round(at * 1e9) for at in time_s], dtype=pl.UInt64),
            "kind": pl.Series(kind, dtype=pl.String),
            "flow": pl.Series(flow, dtype=pl.UInt32),
            "cwnd_segs": pl.Series(cwnd, dtype=pl.UInt32),
            "ssthresh_segs": pl.Series(ssthresh, dtype=pl.UInt32),
        }
    )
    run = with_table(played(plan, [constant(500), constant(500)]), "events", events)
    return Taken(run, plan)["cut_per_resent@late"]


ALL = ("congestion", "retransmit", "timeout", "recovered")
HALVED: list[Row] = [
    (60.0, "congestion", 0, 100, 50),
    (60.0, "retransmit", 0, 100, 50),
    (60.1, "retransmit", 0, 80, 50),
    (60.2, "recovered", 0, 53, 50),
]


def test_what_a_recovery_gave_up() -> None:
    """50 segments of window for two sent again; the other flow gives up 3 for 3."""
    assert recovered(HALVED, ALL) == 25
    other: list[Row] = [
        (60.05, "congestion", 1, 40, 40),
        *[(60.1 + at / 100, "retransmit", 1, 40, 40) for at in range(3)],
        (60.3, "recovered", 1, 37, 37),
    ]
    assert recovered([*HALVED, *other], ALL) == pytest.approx(53 / 5)


def test_only_whole_recoveries_of_the_last_half_count() -> None:
    early = [
        (at - 50, kind, flow, 10 * cwnd, ssthresh) for at, kind, flow, cwnd, ssthresh in HALVED
    ]
    cut_off: list[Row] = [(99.9, "congestion", 0, 999, 1), (99.95, "retransmit", 0, 999, 1)]
    assert recovered([*early, *HALVED, *cut_off], ALL) == 25


def test_a_timeout_is_no_recovery() -> None:
    timed_out: list[Row] = [
        (80.0, "congestion", 0, 100, 50),
        (80.1, "retransmit", 0, 100, 50),
        (80.5, "timeout", 0, 60, 30),
        (81.0, "recovered", 0, 30, 30),
    ]
    assert recovered([*HALVED, *timed_out], ALL) == 25


def test_without_the_events_nothing_is_known_of_recoveries() -> None:
    assert recovered(HALVED, ("congestion", "recovered")) is None
    assert recovered([HALVED[0], HALVED[-1]], ALL) is None


def test_formulas_of_the_study() -> None:
    for flows in (1, 24):
        assert formulas.efficiency(180, 200, flows) == pytest.approx(0.9)
    scores = [formulas.performance(0.9, 0.8, weight) for weight in (0.8, 0.5, 0.2)]
    assert scores == pytest.approx([0.88, 0.85, 0.82])
    assert (
        formulas.evaluate("performance", {"efficiency": 0.4, "fairness": 0.6, "weight": 0.5}) == 0.5
    )
    assert formulas.evaluate("highspeed_increase", {"window": 83_000}) == pytest.approx(
        72, rel=0.02
    )
