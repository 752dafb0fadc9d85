"""Requirements of a resolved scenario, checked by the types of Python and by the engine."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell import _core
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario


def resolve(data: dict[str, Any]) -> ResolvedScenario:
    """Resolve the tables of a scenario, and check the outcome."""
    run = Scenario.parse(data, "a.toml").resolve()
    assert_accepted(run)
    return run


def assert_accepted(resolved: ResolvedScenario) -> None:
    """Check the form and that every reference leads somewhere, without running anything."""
    scenario = resolved.scenario
    for names in ([link.name for link in scenario.links], [flow.label for flow in scenario.flows]):
        assert len(set(names)) == len(names)
    assert all(flow.start_ns < scenario.duration_ns for flow in scenario.flows)
    for loss in (loss for link in scenario.links for loss in link.loss):
        assert all(drop.flow < len(scenario.flows) for drop in getattr(loss, "drops", ()))
    token = _core.CancelToken()
    token.cancel()
    # What the engine cannot run it refuses before it looks at the token.
    with pytest.raises(_core.Cancelled):
        _core.simulate(resolved.json, token)
