"""Scenarios of a case: the first pass finds the moment of a state, the second changes the path."""

from __future__ import annotations

import re
from typing import Any, Final

from dumbbell.base.units import NS_PER_S, format_time, parse_rate, parse_time
from dumbbell.experiments.cases.suite import CaseRun, Change, Suite
from dumbbell.experiments.cases.trace import Trace
from dumbbell.plan import grid

_MOMENT: Final = re.compile(r"\{t(?:\+([^{}]+))?\}")

_HEAD_BPS: Final = 8_000_000_000
"""Rate at which an application hands over what the first pass sent: a byte each nanosecond."""


def first(suite: Suite, run: CaseRun, algorithm: str) -> dict[str, Any]:
    """Return the scenario without the change, of an algorithm as it was typed."""
    scenario = grid.merged(suite.scenario, run.scenario)
    flow = {**scenario.pop("flow", {}), "algorithm": algorithm}
    if run.change is not None and run.change.application:
        # Bulk data would leave a few ns earlier than what an application hands over.
        path_bps, length_ns = scenario["network"]["rate"], parse_time(scenario["duration"])
        handed_ns = 2 * parse_rate(path_bps) * length_ns // _HEAD_BPS
        flow["workload"] = _handing([("0s", _HEAD_BPS), (format_time(handed_ns), 0)])
    return {**scenario, "flow": [flow]}


def moment_ns(change: Change, trace: Trace) -> int:
    """Return when a change happens, by its first pass; UnknownError: it never is."""
    state = change.state
    if change.instead is not None and change.without not in trace.reported.has:
        state = change.instead
    return trace.visit(state, change.nth).entered_ns


def second(scenario: dict[str, Any], change: Change, at_ns: int, trace: Trace) -> dict[str, Any]:
    """Return the scenario with a change at a moment, given the first pass."""
    changed: dict[str, Any] = grid.merged(scenario, _filled(change.set, at_ns))
    if change.application:
        flow = {**changed["flow"][0], "workload": _application(change, at_ns, trace)}
        changed = {**changed, "flow": [flow]}
    return changed


def _filled(template: Any, at_ns: int) -> Any:
    """Replace the moments in the texts of a template."""
    if isinstance(template, str):
        return _MOMENT.sub(lambda match: _later(at_ns, match[1] or "0s"), template)
    if isinstance(template, dict):
        return {key: _filled(value, at_ns) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, at_ns) for value in template]
    return template


def _later(at_ns: int, after: str) -> str:
    return format_time(at_ns + parse_time(after))


def _application(change: Change, at_ns: int, trace: Trace) -> dict[str, Any]:
    """Return an application that has by the moment what the first pass had sent by then.

    So the sender has data until the moment, as in the first pass, and no more than that of the next
    sample is left over.
    """
    sent_bytes = round(trace.first_sent(at_ns + trace.step_ns)) * trace.payload_bytes
    rates = [("0s", _HEAD_BPS), (format_time(sent_bytes * 8 * NS_PER_S // _HEAD_BPS), 0)]
    for phase in change.application:
        rates.append((_later(at_ns, phase["after"]), parse_rate(phase["rate"])))
    return _handing(rates)


def _handing(rates: list[tuple[str, int]]) -> dict[str, Any]:
    """Return an application that hands data over at rates, each from a time on."""
    steps = [{"at": at, "rate": f"{rate_bps}bit"} for at, rate_bps in rates]
    return {"kind": "app-limited", "rate": steps}
