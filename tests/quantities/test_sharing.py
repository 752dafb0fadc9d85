"""Starvation, and the time to a fair share after a change, for any number of flows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dumbbell.quantities.fair_share import FairShare
from dumbbell.quantities.short_term import ShortTerm
from dumbbell.quantities.starvation import Starvation
from synthetic_runs import FlowTrace, constant, measured, planned, stepping


def until(change_s: float, before: float, after: float) -> FlowTrace:
    return FlowTrace(lambda time_s: before if time_s <= change_s else after)


def test_seconds_with_next_to_nothing_of_the_fair_share() -> None:
    """Flow 2 stalls from 20 to 35 s and from 50 to 55 s."""
    stalling = FlowTrace(lambda time_s: 1 if 20 < time_s <= 35 or 50 < time_s <= 55 else 400)
    plan = planned(windows={"early": {"from": "10s", "to": "30s"}})
    values = measured(plan, constant(500), stalling)
    # The window begins with the first sample, so that a second begins at 19.5 s: it has half.
    assert values["starved_s"] == values["starved_s[2]"] == 14 + 4
    assert values["starved_longest_s"] == 14
    assert values["starved_s[1]"] == values["starved_longest_s[1]"] == 0
    assert values["starved_s@early"] == values["starved_longest_s@early"] == 10


def test_the_rules_of_starvation_are_the_study_s() -> None:
    slow = until(50, 400, 30)
    strict = planned(windows={"main": {"from": "10s"}})
    assert measured(strict, constant(500), slow)["starved_s"] == 0
    # A tenth of a fair share of 265.
    rules = Starvation.model_validate({"share": 0.2, "interval": "5s"})
    loose = planned(windows={"main": {"from": "10s"}}, settings=[rules])
    assert measured(loose, constant(500), slow)["starved_s"] == 50


def test_intervals_are_multiples_of_the_record_s() -> None:
    """A second holds three samples or four of 300 ms; 1.2 s hold four."""
    plan = planned(interval="300ms", windows={"main": {"from": "9s", "to": "21s"}})
    assert measured(plan, constant(500), constant(0))["starved_s"] == pytest.approx(12)


def test_who_is_off_alone_or_pauses_does_not_starve() -> None:
    flows: list[dict[str, Any]] = [
        {"label": "bulk"},
        {"label": "late", "start": "50s"},
        {"label": "asking", "workload": {"kind": "rpc", "bytes": "10kb", "pause": "10s"}},
        {"label": "gone", "stop": "20s"},
    ]
    plan = planned(flows=flows, windows={"main": {"from": "0s"}})
    quiet = measured(plan, constant(500), constant(400), constant(0), constant(500))
    assert quiet["starved_s"] == 0
    assert quiet["starved_s[asking]"] is None
    starving = measured(plan, constant(500), constant(0), constant(0), constant(0))
    # From 50.5 s and until 19.5 s, in whole seconds.
    assert starving["starved_s[late]"] == 49
    assert starving["starved_s[gone]"] == 19
    assert starving["starved_s"] == 49 + 19


def test_an_idle_network_starves_nobody() -> None:
    values = measured(planned(), constant(0), constant(0))
    assert values["starved_s"] == 0
    alone = measured(planned(flows=1), constant(0))
    assert alone["starved_s"] == 0


def test_who_starves_for_long_without_a_break_has_collapsed() -> None:
    """Flow 2 stalls for 15 s, flow 3 twice for 6 s."""
    longest = FlowTrace(lambda time_s: 0 if 20 < time_s <= 35 else 400)
    twice = FlowTrace(lambda time_s: 0 if 40 < time_s <= 46 or 48 < time_s <= 54 else 400)
    rules = {
        seconds: Starvation.model_validate({"collapse": f"{seconds}s"}) for seconds in (5, 10, 20)
    }
    by_rule = {
        seconds: measured(
            planned(flows=3, windows={"main": {"from": "10s"}}, settings=[rule]),
            constant(500),
            longest,
            twice,
        )
        for seconds, rule in rules.items()
    }
    assert [by_rule[seconds]["collapsed_flows"] for seconds in rules] == [2, 1, 0]
    assert [by_rule[seconds]["collapsed"] for seconds in rules] == [1, 1, 0]
    assert [by_rule[5][f"collapsed[{flow}]"] for flow in (1, 2, 3)] == [0, 1, 1]
    alone = measured(planned(flows=1), constant(500))
    assert alone["collapsed"] == alone["collapsed_flows"] == 0


def test_fairness_of_short_intervals() -> None:
    """The flows take turns: every 5 s one has all, and over 10 s they are equal."""
    turns = stepping(*[500.0] * 5, *[0.0] * 5), stepping(*[0.0] * 5, *[500.0] * 5)
    by_rule = {
        seconds: measured(
            planned(
                windows={"main": {"from": "10s", "to": "50s"}},
                settings=[ShortTerm.model_validate({"interval": f"{seconds}s"})],
            ),
            *turns,
        )
        for seconds in (5, 10)
    }
    assert by_rule[5]["jain_short"] == pytest.approx(0.5)
    assert by_rule[5]["jain_short_min"] == pytest.approx(0.5)
    assert by_rule[10]["jain_short"] == pytest.approx(1)
    assert by_rule[10]["jain"] == by_rule[5]["jain"] == pytest.approx(1)


def test_the_least_fair_interval() -> None:
    plan = planned(windows={"main": {"from": "10s"}})
    values = measured(plan, constant(400), until(80, 400, 100))
    least = 500**2 / (2 * (400**2 + 100**2))
    assert values["jain_short_min"] == pytest.approx(least)
    assert values["jain_short"] == pytest.approx((70 + 20 * least) / 90, rel=1e-2)


def test_intervals_with_a_single_flow_tell_nothing_of_fairness() -> None:
    flows: list[dict[str, Any]] = [{"label": "a"}, {"label": "b", "start": "60s"}]
    plan = planned(flows=flows, windows={"main": {"from": "0s"}})
    values = measured(plan, constant(500), constant(500))
    assert values["jain_short_min"] == pytest.approx(1)
    alone = planned(flows=1, windows={"main": {"from": "0s"}})
    assert measured(alone, constant(500))["jain_short"] is None


RAMP: Callable[[float], float] = lambda time_s: min(10 * time_s, 300)  # noqa: E731


def late(**settings: Any) -> Any:
    """Plan two flows and a third that starts at 40 s, after which a window begins."""
    return planned(
        flows=[{"label": "a"}, {"label": "b"}, {"label": "late", "start": "40s"}],
        windows={"after": {"from": "start of late"}},
        settings=[FairShare.model_validate(settings)],
    )


def test_time_to_a_share_of_the_fair_share() -> None:
    """Flow 3 grows by 10 segments/s in each second, up to 300."""
    others = until(40, 450, 315)
    # In the end flow 3 has sent 13,500 segments in 60 s, or 225/s: the fair share is 285/s.
    values = measured(late(), others, others, FlowTrace(RAMP))
    # 80 % of it are 228: its rate is above that in the second from 22.5 to 23.5 s.
    assert values["fair_share_reached_s@after"] == pytest.approx(24, abs=1)
    assert values["fair_share_bound_s@after"] == values["fair_share_reached_s@after"]
    assert values["fair_share_reached_s[late]@after"] == values["fair_share_reached_s@after"]
    assert values["fair_share_reached_s[a]@after"] == 1
    slower = measured(late(share=0.5), others, others, FlowTrace(RAMP))
    assert slower["fair_share_reached_s@after"] == pytest.approx(15, abs=1)


def test_a_flow_that_stays_behind_never_reaches_it() -> None:
    values = measured(late(), constant(300), constant(300), constant(100))
    assert values["fair_share_reached_s@after"] is None
    assert values["fair_share_bound_s@after"] == pytest.approx(59.5, abs=0.5)
    assert values["fair_share_reached_s[a]@after"] == 1


def test_flows_must_have_it_at_once() -> None:
    """One has all of it for 30 s and then the other: it is never shared."""
    one, other = until(70, 300, 0), until(30, 0, 300)
    plan = planned(start_s=40, windows={"after": {"from": "start of 2"}})
    values = measured(plan, one, other)
    assert values["fair_share_reached_s[1]@after"] == 1
    assert values["fair_share_reached_s[2]@after"] == pytest.approx(31, abs=1)
    assert values["fair_share_reached_s@after"] is None


def test_it_must_be_held() -> None:
    """A second with enough every four, for good from 30 s on."""
    uneven = FlowTrace(lambda time_s: 300 if time_s > 30 or int(time_s) % 4 == 0 else 10)
    held = measured(late(), constant(300), constant(300), uneven)
    assert held["fair_share_reached_s@after"] == pytest.approx(31, abs=1)
    short = measured(late(hold=1, interval="500ms"), constant(300), constant(300), uneven)
    assert short["fair_share_reached_s@after"] == pytest.approx(0.5, abs=0.5)
    never = measured(late(hold=61), constant(300), constant(300), constant(300))
    assert never["fair_share_reached_s@after"] is None


def test_after_a_flow_has_left_the_others_share() -> None:
    flows = [{"label": "a"}, {"label": "b"}, {"label": "leaving", "stop": "50s"}]
    plan = planned(flows=flows, windows={"after": {"from": "stop of leaving"}})
    values = measured(plan, until(50, 100, 500), until(60, 100, 500), constant(800))
    # The fair share is (500 * 50 + 100 * 10 + 500 * 40) / 100 = 460.
    assert values["fair_share_reached_s@after"] == pytest.approx(11)
    assert values["fair_share_reached_s[leaving]@after"] is None


def test_one_flow_shares_with_nobody() -> None:
    values = measured(planned(flows=1), constant(300))
    assert values["fair_share_reached_s"] is None
    assert values["fair_share_bound_s"] is None
