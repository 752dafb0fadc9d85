"""From a checked scenario to the plain integers that an engine runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dumbbell import catalogue
from dumbbell.errors import InputError
from dumbbell.scenario.facts import algorithms, described
from dumbbell.scenario.resolve_flows import own_sources
from dumbbell.scenario.resolve_network import resolve_network
from dumbbell.units import format_time

if TYPE_CHECKING:
    from dumbbell.scenario.model import Scenario

SAMPLES_MAX: Final = 20_000_000
"""Samples of flows and links in one run: about 2 GB of memory while it runs."""


@dataclass(frozen=True)
class ResolvedScenario:
    """What an engine runs, and the key under which its result is stored.

    Attributes
    ----------
    data
        The scenario in base units.
    json
        The same as canonical JSON: sorted keys, no spaces.
    engine
        The identity of the engine that is to run it; see `running.engine.Engine`.
    key
        SHA-256 of everything that determines the result: the data, the engine, the schema
        and the sources of the algorithms.
    """

    data: Mapping[str, Any] = field(repr=False)
    json: str = field(repr=False)
    engine: str
    key: str

    @classmethod
    def of(cls, data: Mapping[str, Any], engine: str | None = None) -> ResolvedScenario:
        """Complete the data by its canonical text and its key; the simulator is to run it."""
        engine = catalogue.ENGINE_VERSION if engine is None else engine
        identity = {
            "scenario": data,
            "engine": engine,
            "schema": catalogue.schema().version,
            "algorithms": {name: described(data, name).source_hash for name in algorithms(data)},
        }
        key = hashlib.sha256(canonical_json(identity).encode()).hexdigest()
        return cls(data, canonical_json(data), engine, key)

    def on(self, engine: str) -> ResolvedScenario:
        """Return the same scenario for the engine of this identity: its result is another one."""
        return self if engine == self.engine else ResolvedScenario.of(self.data, engine)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResolvedScenario) and other.key == self.key


def canonical_json(value: Any) -> str:
    """Render JSON in the one form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def resolve(scenario: Scenario, *, capture: bool = False) -> ResolvedScenario:
    """Turn a scenario into base units; see `Scenario.resolve`."""
    links, flows = resolve_network(scenario)
    sources = own_sources(scenario)
    _check_samples(scenario, sum(entry["sampled"] for entry in (*links, *flows)))
    return ResolvedScenario.of(
        {
            "seed": scenario.seed,
            "duration_ns": scenario.duration,
            "links": links,
            "flows": flows,
            "record": {
                "interval_ns": scenario.record.interval,
                "events": sorted(set(scenario.record.events)),
                "algorithm_state": scenario.record.algorithm_state,
                "capture": capture,
            },
            # Left out where there are none: that keeps the keys of runs that were stored without.
            **({"sources": sources} if sources else {}),
        }
    )


def _check_samples(scenario: Scenario, sampled: int) -> None:
    interval_ns = scenario.record.interval
    if interval_ns is not None and scenario.duration // interval_ns * sampled > SAMPLES_MAX:
        shortest_ns = scenario.duration * sampled // SAMPLES_MAX + 1
        raise InputError(
            f"more than {SAMPLES_MAX} samples in one run",
            key="record.interval",
            value=format_time(interval_ns),
            valid=f'at least {format_time(shortest_ns)}, or "none"',
        )
