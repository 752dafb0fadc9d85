"""Any scenario file is refused with a reason, or it resolves and runs."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import drawn_scenarios
from dumbbell.api import simulate
from dumbbell.base.errors import InputError
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from run_invariants import assert_possible
from scenario_checks import assert_accepted


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn_scenarios.spoiled(), st.integers(0, 2**64 - 1))
def test_every_file_is_refused_with_a_reason_or_resolves(data: dict[str, Any], seed: int) -> None:
    scenario = _read(data)
    if isinstance(scenario, InputError):
        assert (scenario.key or "").split(".")[0] in (*data, "record")
        assert scenario.source == "a.toml"
        event(f"refused: {scenario.problem[:40]}")
        return
    event(f"resolves: {scenario.network.topology}")
    run = scenario.resolve(seed=seed)
    assert run == scenario.model_copy(update={"seed": seed}).resolve()
    assert_accepted(run)
    assert ResolvedScenario.of(json.loads(run.json)).json == run.json
    written = json.loads(scenario.model_dump_json())
    assert Scenario.parse(written).resolve() == scenario.resolve()
    _check_round_trips(scenario, run)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn_scenarios.files(), st.booleans())
def test_what_resolves_runs_and_loses_count_of_nothing(data: dict[str, Any], capture: bool) -> None:
    """Captured runs also hold the SACK blocks that a sender reads to those that were sent."""
    scenario = _read(data)
    if isinstance(scenario, InputError):
        event("refused")
        return
    event("captured" if capture else "runs")
    assert_possible(simulate(scenario.resolve(capture=capture)))


def _read(data: dict[str, Any]) -> Scenario | InputError:
    try:
        return Scenario.parse(data, "a.toml")
    except InputError as error:
        return error


def _check_round_trips(scenario: Scenario, run: ResolvedScenario) -> None:
    """Check that a flow takes what it asks for, else the network, else what its links take."""
    tables = [flow for flow in scenario.flow for _ in range(flow.count * flow.parallel)]
    for flow, table in zip(run.scenario.flows, tables, strict=False):
        there, back = ([hop.link for hop in way.hops] for way in (flow.forward, flow.reverse))
        base_ns = facts.base_rtt_ns(run.scenario, flow)
        if scenario.network.topology == "graph":
            continue
        wanted_ns = table.rtt or scenario.network.rtt
        if wanted_ns is None:
            links = run.scenario.links
            wanted_ns = sum(links[link].delay[0][1] for link in (*there, *back))
        # Four times through a host.
        assert base_ns == wanted_ns + 4 * scenario.network.host_delay
