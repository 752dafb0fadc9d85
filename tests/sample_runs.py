"""Helpers of the tests of the front end: a scenario to vary, an engine that costs nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any, TypeVar, get_args, get_origin

import msgspec
import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.contract.scenario import Demand, Flow, LinkConfig, Tcp
from dumbbell.contract.summary import Summary
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import Output, frame
from dumbbell.scenario.changes import Change, changed
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario

Part = TypeVar("Part", bound=msgspec.Struct)

BASE: Mapping[str, Any] = {
    "duration": "60s",
    "network": {"rate": "100mbit", "rtt": "82ms", "queue": "0.2bdp"},
    "flow": [{"algorithm": "reno"}],
}


class InFile(Change):
    """A change of the text of a file, to which the files that it names are relative."""

    @property
    def anywhere(self) -> Any:
        return self.value


def table(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the base scenario with changes by dotted path, such as ``flow.1.rtt``."""
    return changed(BASE, [InFile(key, value) for key, value in (changes or {}).items()])


def scenario(changes: Mapping[str, Any] | None = None) -> Scenario:
    return Scenario.parse(table(changes), "a.toml")


def resolved(changes: Mapping[str, Any] | None = None) -> ResolvedScenario:
    return scenario(changes).resolve()


def plain(scenario: ResolvedScenario) -> dict[str, Any]:
    """Return a resolved scenario as an engine reads it, without types."""
    data: dict[str, Any] = json.loads(scenario.json)
    return data


def plain_links(scenario: ResolvedScenario) -> dict[str, dict[str, Any]]:
    """Return the links of `plain` by name."""
    return {link["name"]: link for link in plain(scenario)["links"]}


def tcp(flow: Flow) -> Tcp:
    """Return the TCP part of a flow over TCP."""
    assert flow.transport.tcp is not None
    return flow.transport.tcp


def demand(flow: Flow) -> Demand:
    """Return what a flow over TCP has to send, if that has an end or pauses."""
    wanted = tcp(flow).demand
    assert isinstance(wanted, Demand)
    return wanted


def links(scenario: ResolvedScenario) -> dict[str, LinkConfig]:
    """Return the links of a resolved scenario by name."""
    return {link.name: link for link in scenario.scenario.links}


def flows(scenario: ResolvedScenario) -> dict[str, Flow]:
    """Return the flows of a resolved scenario by label."""
    return {flow.label: flow for flow in scenario.scenario.flows}


def passed(scenario: ResolvedScenario, label: str, *, back: bool = False) -> list[str]:
    """Return the names of the links that a flow passes with its data, or back, in order."""
    flow = flows(scenario)[label]
    route = flow.reverse if back else flow.forward
    return [scenario.scenario.links[hop.link].name for hop in route.hops]


def blank(kind: type[Part], **changes: Any) -> Part:
    """Return a part of a summary in which nothing is counted, but for the changes."""
    nothing: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.required:
            is_tuple = get_origin(field.type) is tuple
            nothing[field.name] = () if is_tuple else None if get_args(field.type) else field.type()
    return kind(**{**nothing, **changes})


def seeds(count: int) -> list[ResolvedScenario]:
    return [resolved({"seed": seed}) for seed in range(count)]


def output(scenario: ResolvedScenario, rows: int = 3) -> Output:
    """Return a small result that depends on the seed."""
    seed = scenario.scenario.seed
    times = pl.Series("time_ns", range(rows), dtype=pl.UInt64)
    tables = {
        "flows": pl.DataFrame({"time_ns": times, "sent_segs": [seed] * rows}),
        "queues": pl.DataFrame({"time_ns": times, "backlog_packets": [seed] * rows}),
    }
    whole = {name: completed(name, table) for name, table in tables.items()}
    return Output(blank(Summary, packets=10), whole)


def completed(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with all columns that it has by the schema; missing ones hold zeros."""
    columns = catalogue.schema().tables[name]
    raw = [(column.name, column.dtype, bytes(8 * table.height)) for column in columns]
    zeros = frame([(key, dtype, zero[: table.height * int(dtype[-1])]) for key, dtype, zero in raw])
    known = [table[key].cast(zeros.schema[key]) for key in zeros.columns if key in table.columns]
    return zeros.with_columns(known)


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
            self.seeds.append(scenario.scenario.seed)
        return output(scenario)
