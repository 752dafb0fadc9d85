"""Reasons to doubt that a run shows its algorithms: observations of the engine, and the scenario.

Of a scenario that is: an algorithm that needs congestion marks where no queue marks, and a run that
is over before the first answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.base.units import format_time
from dumbbell.contract.scenario import Scenario
from dumbbell.contract.summary import Doubt, Summary
from dumbbell.scenario import facts, marks

DECIDED_BY: Final[Mapping[str, str]] = {
    "host": "a host",
    "locked-out": "a lock-out",
    "phase": "the phase of packets",
    "no-marks": "queues that do not mark",
    "too-short": "the first packets only",
}
"""Cause -> what a doubtful run may show instead of its algorithms."""


OF_THE_ENGINE: Final = ("host", "locked-out", "phase")
"""The causes that the engine sees."""


@dataclass(frozen=True)
class OfScenario:
    """A doubt that its scenario casts on a run, as the engine's `Doubt` does for what it saw."""

    cause: str
    text: str


AnyDoubt = Doubt | OfScenario


def of(scenario: Scenario, summary: Summary) -> tuple[AnyDoubt, ...]:
    """Return all that makes a run doubtful."""
    return (*summary.doubts, *_without_marks(scenario), *_too_short(scenario))


def _without_marks(scenario: Scenario) -> Iterator[OfScenario]:
    need = {
        name for name in facts.algorithms(scenario) if facts.described(scenario, name).needs_ecn
    }
    if not need:
        return
    labels = [
        flow.label
        for flow in scenario.flows
        if facts.algorithm(flow) in need and not marks.are_set(scenario, flow)
    ]
    if labels:
        needs = "needs" if len(labels) == 1 else "need"
        text = f"{_named(labels)} {needs} congestion marks, and no queue on the way marks packets"
        yield OfScenario("no-marks", text)


def _too_short(scenario: Scenario) -> Iterator[OfScenario]:
    length_ns = scenario.duration_ns
    rtts_ns = [(facts.base_rtt_ns(scenario, flow), flow.label) for flow in scenario.flows]
    longer = [(rtt_ns, label) for rtt_ns, label in rtts_ns if rtt_ns > length_ns]
    if longer:
        rtt_ns, _ = max(longer)
        yield OfScenario(
            "too-short",
            f"the run of {format_time(length_ns)} is shorter than one round trip of "
            f"{_named([label for _, label in longer])}, {format_time(rtt_ns)}",
        )


def _named(labels: Sequence[str]) -> str:
    """Name the first flow, and how many more there are."""
    return labels[0] if len(labels) == 1 else f"{labels[0]} and {len(labels) - 1} more"
