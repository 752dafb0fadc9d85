"""The time between samples of a scenario that states none: it follows the round trip.

Samples that are many round trips apart show a beat and not the sawtooth of a window. So on short
paths files are sampled more often than each 100 ms, which is the default of a `Scenario`. Studies,
whose runs are many, keep that default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dumbbell.base.units import format_time
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario

ROUND_TRIPS: Final = 2.5
"""Round trips between samples, at most: a sawtooth of ten has four of them."""

LINE_MAX: Final = 20_000
"""Samples of a flow or a queue, at most."""

ALL_MAX: Final = 1_000_000
"""Samples of all flows and queues together, at most."""

_STEPS_NS: Final = tuple(step * 10**6 for step in (100, 50, 20, 10, 5, 2, 1))
"""Times between samples, the default first. Each divides a second, as windows of quantities do."""


def chosen_ns(scenario: Scenario) -> int | None:
    """Return the time between samples that suits a scenario; None: it states one, or the default.

    Bounds on the number of samples come first.
    """
    if "interval" in scenario.record.model_fields_set:
        return None
    resolved = scenario.resolve().scenario
    flows = [flow for flow in resolved.flows if flow.sampled]
    if not flows:
        return None
    wanted_ns = ROUND_TRIPS * min(facts.base_rtt_ns(resolved, flow) for flow in flows)
    lines = len(flows) + sum(link.sampled for link in resolved.links)
    most = min(LINE_MAX, ALL_MAX // lines)
    interval_ns = _STEPS_NS[0]
    for step_ns in _STEPS_NS[1:]:
        if interval_ns <= wanted_ns or scenario.duration // step_ns > most:
            break
        interval_ns = step_ns
    return interval_ns if interval_ns < _STEPS_NS[0] else None


def sampled(scenario: Scenario) -> Scenario:
    """Return a scenario with the time between samples that suits it."""
    interval_ns = chosen_ns(scenario)
    if interval_ns is None:
        return scenario
    record = scenario.record.model_copy(update={"interval": interval_ns})
    return scenario.model_copy(update={"record": record})


def filled(table: Mapping[str, Any], interval_ns: int | None) -> dict[str, Any]:
    """Return the content of a scenario's file with the time between samples that was chosen."""
    if interval_ns is None:
        return dict(table)
    record = {**table.get("record", {}), "interval": format_time(interval_ns)}
    return {**table, "record": record}
