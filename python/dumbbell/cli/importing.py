"""What ``dumbbell import`` reads, fits and shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from dumbbell.base import kinds
from dumbbell.base.errors import InputError, placed, printable, refusing
from dumbbell.base.units import parse_probability, parse_queue, parse_rate, parse_time
from dumbbell.cli import output
from dumbbell.cli.output import print_table, say
from dumbbell.cli.tables import plain, table
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.experiments.imports import beside, fitting, playing, reading
from dumbbell.experiments.imports.fitting import Path as FittedPath
from dumbbell.experiments.imports.measurement import Measurement
from dumbbell.figures.kinds.measured import TOLD, flow_means, told
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
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

    def write(self, file: Path) -> None:
        """Write the scenario, with what its values rest on."""
        if file.suffix != ".toml":
            raise InputError("no TOML file", source="--scenario", value=str(file), valid="*.toml")
        told = [(name, why) for name, _, why in self.path.rows()]
        told += [
            (f"{printable(flow.label)}, limited by the {limit.kind}", limit.why)
            for flow, limit in zip(self.measured.flows, self.path.limits, strict=True)
            if limit.kind in ("window", "application")
        ]
        reasons = "".join(f"# {name}: {why}.\n" for name, why in told)
        head = f"# Fitted by `dumbbell import` to {printable(self.measured.file.name)}.\n{reasons}"
        with refusing("write it", file):
            file.write_text(head + tomli_w.dumps(self.scenario))

    def campaign(self, results: Path, plan: Plan) -> Campaign:
        """Keep it as an experiment, and return what is to be run."""
        store = Store(results)
        store.create()
        content = beside.experiment(self.measured, self.scenario, self.command)
        return Campaign.of_experiment(content, store, SimulatorEngine(), plan)

    def show(self) -> None:
        """Print what was measured and what is fitted."""
        say.print(
            f"{self.measured.file}: {self.measured.tool}, {self.measured.duration_s:.4g} s",
            soft_wrap=True,
            markup=False,
        )
        for note in self.measured.notes:
            say.print(f"  {note}", soft_wrap=True, markup=False)
        heads = [title for title, _ in TOLD.values()]
        flows = table("measured", "algorithm", *heads, right=heads)
        for flow, spec in zip(self.measured.flows, self.scenario["flow"], strict=True):
            cells = (told(name, beside.whole(flow).get(name)) for name in TOLD)
            flows.add_row(plain(flow.label), plain(spec.get("algorithm", "udp")), *cells)
        print_table(flows)
        print()
        limited = table("measured", "limited by", "what says so")
        for flow, limit in zip(self.measured.flows, self.path.limits, strict=True):
            limited.add_row(plain(flow.label), limit.kind, plain(limit.why))
        print_table(limited)
        print()
        fitted = table("path", "fitted", "what it rests on")
        for row in self.path.rows():
            fitted.add_row(*map(plain, row))
        print_table(fitted)
        print()

    def compare(self, results: Results) -> None:
        """Print measured and simulated beside each other."""
        views = [view for _, view in results.views("run", {})]
        if not views:
            return
        for flow in self.measured.flows:
            known, simulated = beside.whole(flow), flow_means(flow.label, views)
            rows = table(flow.label, "measured", "simulated", right=("measured", "simulated"))
            for name, (title, _) in TOLD.items():
                rows.add_row(title, told(name, known.get(name)), told(name, simulated[name]))
            print_table(rows)
            print()

    def print_json(self, results: Results | None) -> None:
        """Print all of it as JSON."""
        views = [] if results is None else [view for _, view in results.views("run", {})]
        flows = [
            {
                "label": flow.label,
                "algorithm": spec.get("algorithm"),
                "direction": flow.direction,
                "limit": {"kind": limit.kind, "why": limit.why},
                "measured": beside.whole(flow),
                "simulated": flow_means(flow.label, views) if views else None,
            }
            for flow, spec, limit in zip(
                self.measured.flows, self.scenario["flow"], self.path.limits, strict=True
            )
        ]
        output.print_json(
            {
                "file": str(self.measured.file),
                "tool": self.measured.tool,
                "notes": list(self.measured.notes),
                "flows": flows,
                "path": {
                    name: {"value": value, "why": why} for name, value, why in self.path.rows()
                },
                "scenario": self.scenario,
            }
        )


def read(file: Path, given: Mapping[str, str], algorithm: str | None) -> Imported:
    """Read a measurement, fit its path, and check the scenario of both."""
    for name, value in given.items():
        with placed(source=f"--{name}"):
            _GIVEN[name](value)
    if not file.name.endswith(kinds.MEASURED):
        kinds.check(file, "a measurement")
    measured = reading.read(file)
    path = fitting.path(measured, given, algorithm)
    scenario = playing.scenario(measured, path, algorithm)
    Scenario.parse(scenario, str(file))
    options = [word for name, value in given.items() for word in (f"--{name}", value)]
    options += [] if algorithm is None else ["--algorithm", algorithm]
    return Imported(measured, path, scenario, ("import", str(file), *options))
