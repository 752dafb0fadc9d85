"""A measurement with the path that was fitted to it, and the scenario of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import tomli_w

from dumbbell.base import kinds
from dumbbell.base.errors import InputError, placed, printable, refusing
from dumbbell.base.units import parse_probability, parse_queue, parse_rate, parse_time
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.experiments.imports import beside, fitting, playing, reading
from dumbbell.experiments.imports.choosing import chosen
from dumbbell.experiments.imports.fitting import Path as FittedPath
from dumbbell.experiments.imports.measurement import Measurement
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.scenario.model import Scenario
from dumbbell.store.store import Store

_GIVEN = {
    "rate": parse_rate,
    "rtt": parse_time,
    "queue": parse_queue,
    "loss": parse_probability,
}


@dataclass(frozen=True)
class Imported:
    """A measurement, the path that was fitted to it, and the scenario of both."""

    measured: Measurement
    path: FittedPath
    scenario: dict[str, Any]
    command: tuple[str, ...]
    algorithm: str | None = None

    @classmethod
    def read(cls, file: Path, given: Mapping[str, str], algorithm: str | None) -> Self:
        """Read a measurement, fit its path, and check the scenario of both."""
        for name, value in given.items():
            with placed(key=name):
                _GIVEN[name](value)
        if not file.name.endswith(kinds.MEASURED):
            kinds.check(file, "a measurement")
        measured = reading.read(file)
        path = fitting.path(measured, given, algorithm)
        scenario = playing.scenario(measured, path, algorithm)
        # Parsed at once: what no scenario can have is an error of this file, not of the one it
        # becomes.
        Scenario.parse(playing.scenario(measured, path, chosen(algorithm, file)), str(file))
        options = [word for name, value in given.items() for word in (f"--{name}", value)]
        options += [] if algorithm is None else ["--algorithm", algorithm]
        return cls(measured, path, scenario, ("import", str(file), *options), algorithm)

    def write(self, file: Path) -> None:
        """Write the scenario, with the evidence for its values."""
        if file.suffix != ".toml":
            raise InputError("no TOML file", key="scenario", value=str(file), valid="*.toml")
        reasons_by_name = [(name, why) for name, _, why in self.path.rows()]
        reasons_by_name += [
            (f"{printable(flow.label)}, limited by the {limit.kind}", limit.why)
            for flow, limit in zip(self.measured.flows, self.path.limits, strict=True)
            if limit.kind in ("window", "application")
        ]
        reasons = "".join(f"# {name}: {why}.\n" for name, why in reasons_by_name)
        head = f"# Fitted by `dumbbell import` to {printable(self.measured.file.name)}.\n{reasons}"
        scenario = playing.scenario(self.measured, self.path, chosen(self.algorithm, file))
        with refusing("write it", file):
            file.write_text(head + tomli_w.dumps(scenario))

    def campaign(self, results: Path, plan: Plan) -> Campaign:
        """Keep it as an experiment, and return what is to be run."""
        store = Store(results)
        store.create()
        content = beside.experiment(self.measured, self.scenario, self.command)
        return Campaign.of_experiment(content, store, SimulatorEngine(), plan)
