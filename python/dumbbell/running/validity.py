"""Runs that say nothing about their scenario: the testbed marks them, and they are repeated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.running.cancelling import CancelToken
from dumbbell.running.engine import Engine, Output
from dumbbell.running.places import words
from dumbbell.scenario.resolve import ResolvedScenario

RETRIES: Final = 2
"""How often an invalid run is repeated unless something else is asked for."""


def reasons(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Return why a run is invalid; nothing: it is valid."""
    return tuple(summary.get("testbed", {}).get("invalid", ()))


def attempts(
    engine: Engine, scenario: ResolvedScenario, cancel: CancelToken | None, retries: int
) -> Iterator[Output]:
    """Run a scenario until its run is valid, but no more often than that."""
    for _ in range(1 + retries):
        output = engine.run(scenario, cancel)
        yield output
        if not reasons(output.summary):
            return


def described(scenario: ResolvedScenario, why: tuple[str, ...]) -> str:
    """Name an invalid run for people, with its reasons."""
    return f"invalid run {scenario.key[:12]} ({words(scenario)}): {'; '.join(why)}"
