"""Names of flows in a scenario that is not resolved, nor checked, yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.algorithms import catalogue

_COUNTED_MAX: Final = 10_000
_ARRIVING: Final = 2
"""Flows of a load that represent all that arrive."""


@dataclass(frozen=True)
class Planned:
    """A flow that a scenario will have.

    Attributes
    ----------
    number
        Its place among the flows of the scenario, from 1.
    label
        Its name.
    group
        The group that it belongs to, if any.
    """

    number: int
    label: str
    group: str | None


def flows_of(scenario: Mapping[str, Any]) -> tuple[Planned, ...]:
    """Return the flows that a scenario will have, called as `scenario.resolve_flows` calls them."""
    named = [*_flows(scenario), *_arrivals(scenario)]
    return tuple(
        Planned(number, *label_and_group) for number, label_and_group in enumerate(named, start=1)
    )


def _flows(scenario: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield label and group of each flow."""
    counts: Counter[str] = Counter()
    for flow in _tables(scenario, "flow"):
        label, name, count = _text(flow, "label"), _algorithm(flow), _count(flow)
        for number in range(1, count + 1):
            counts[name] += 1
            called = f"{name} {counts[name]}"
            if label is not None:
                called = f"{label} {number}" if count > 1 else label
            yield called, _text(flow, "group")


def _arrivals(scenario: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield label and group of some flows of each load."""
    for load in _tables(scenario, "arrivals"):
        name = _text(load, "label") or f"{_algorithm(load)} arrival"
        for number in range(1, _ARRIVING + 1):
            yield f"{name} {number}", _text(load, "group")


def _tables(scenario: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = scenario.get(key, ())
    if not isinstance(tables, Sequence):
        return []
    return [table for table in tables if isinstance(table, Mapping)]


def _text(table: Mapping[str, Any], key: str) -> str | None:
    text = table.get(key)
    return text if isinstance(text, str) and text else None


def _algorithm(table: Mapping[str, Any]) -> str:
    choice = _text(table, "algorithm")
    return "udp" if choice is None else catalogue.called(choice).partition("@")[0]


def _count(flow: Mapping[str, Any]) -> int:
    """Return how many flows there are of a table, whose count may be a text of a template."""
    try:
        # The scenario is not checked yet: a mistyped count must not fill the memory.
        return min(max(0, int(flow.get("count", 1))), _COUNTED_MAX)
    except (TypeError, ValueError, OverflowError):
        return 1
