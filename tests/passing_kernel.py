"""A simulator that passes for the testbed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from dumbbell.base.errors import EngineError
from dumbbell.contract.summary import TestbedSummary
from dumbbell.engines import engines, testbed
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import Engine, Output, SimulatorEngine
from dumbbell.scenario.resolve import ResolvedScenario
from sample_runs import blank

LATE = "the emulator was late"
"""The reason of its invalid runs."""


class Kernel:
    """A simulator that passes for a kernel; what it does otherwise is a change of the scenario."""

    identity = "kernel"
    real_time = True

    def __init__(
        self, changes: Mapping[str, Any] | None = None, invalid: Sequence[int] = (), broken: int = 0
    ) -> None:
        self.changes = changes or {}
        self.invalid = invalid
        self.broken = broken
        self.not_offered: list[str] = []
        self.host_switches: dict[str, Any] = {}
        self.held_permille = 0
        self.runs = 0

    def changed(self, data: dict[str, Any]) -> None:
        """Change more of a resolved scenario."""

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        self.runs += 1
        data = json.loads(scenario.json)
        if data["seed"] == self.broken:
            raise EngineError("no such device")
        for flow in data["flows"]:
            flow["transport"]["tcp"]["stack"]["switches"].update(self.changes)
        self.changed(data)
        output = SimulatorEngine().run(ResolvedScenario.of(data), cancel)
        why = [LATE] if data["seed"] in self.invalid else []
        testbed_summary = blank(
            TestbedSummary,
            kernel="6.18.0",
            invalid=tuple(why),
            not_offered=tuple(self.not_offered),
            held_permille=self.held_permille,
        )
        summary = msgspec.structs.replace(output.summary, testbed=testbed_summary)
        return dataclasses.replace(output, summary=summary)


def installed(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be the testbed of this machine."""
    known = engines.runnable

    def runnable(choice: Engine | str) -> Engine:
        return kernel if choice == "testbed" else known(choice)

    monkeypatch.setattr(engines, "runnable", runnable)
    monkeypatch.setattr(testbed, "host_switches", lambda _: kernel.host_switches)
