"""What the tests of the front end share: a scenario to vary, an engine that costs nothing."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from typing import Any

import polars as pl

from dumbbell import catalogue
from dumbbell.running.cancelling import CancelToken
from dumbbell.running.engine import Output
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario

BASE: Mapping[str, Any] = {
    "duration": "60s",
    "network": {"rate": "100mbit", "rtt": "82ms", "queue": "0.2bdp"},
    "flow": [{"algorithm": "reno"}],
}


def table(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the base scenario with changes by dotted path, such as ``flow.0.rtt``."""
    data = copy.deepcopy(dict(BASE))
    for path, value in (changes or {}).items():
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        at: Any = data
        for parent in parents:
            at = at.setdefault(parent, {}) if isinstance(at, dict) else at[parent]
        at[last] = value
    return data


def scenario(changes: Mapping[str, Any] | None = None) -> Scenario:
    return Scenario.parse(table(changes), "a.toml")


def resolved(changes: Mapping[str, Any] | None = None) -> ResolvedScenario:
    return scenario(changes).resolve()


def links(scenario: ResolvedScenario) -> dict[str, dict[str, Any]]:
    """Return the links of a resolved scenario by name."""
    return {link["name"]: link for link in scenario.data["links"]}


def flows(scenario: ResolvedScenario) -> dict[str, dict[str, Any]]:
    """Return the flows of a resolved scenario by label."""
    return {flow["label"]: flow for flow in scenario.data["flows"]}


def passed(scenario: ResolvedScenario, label: str, way: str = "forward") -> list[str]:
    """Return the names of the links that a flow passes, in order."""
    hops = flows(scenario)[label][way]["hops"]
    return [scenario.data["links"][hop["link"]]["name"] for hop in hops]


def seeds(count: int) -> list[ResolvedScenario]:
    return [resolved({"seed": seed}) for seed in range(count)]


def output(scenario: ResolvedScenario, rows: int = 3) -> Output:
    """Return a small result that depends on the seed."""
    seed = scenario.data["seed"]
    times = pl.Series("time_ns", range(rows), dtype=pl.UInt64)
    flows = pl.DataFrame(
        {"time_ns": times, "flow": pl.Series([0] * rows, dtype=pl.UInt32), "seed": [seed] * rows}
    )
    queues = pl.DataFrame({"time_ns": times, "backlog_packets": [seed] * rows})
    return Output({"packets": 10, "seed": seed}, {"flows": flows, "queues": queues})


class QuickEngine:
    """Returns `output` and counts its runs; passes for the simulator."""

    real_time = False

    @property
    def identity(self) -> str:
        return catalogue.ENGINE_VERSION

    def __init__(self) -> None:
        self.seeds: list[int] = []
        self._lock = threading.Lock()

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        del cancel
        with self._lock:
            self.seeds.append(scenario.data["seed"])
        return output(scenario)
