"""Output of ``dumbbell import``."""

from __future__ import annotations

from pathlib import Path

from dumbbell.base.shell import quoted
from dumbbell.cli import output
from dumbbell.cli.output import print_table, say
from dumbbell.cli.tables import filled, plain, table
from dumbbell.experiments.imports import beside, imported
from dumbbell.experiments.imports.described.network import Described
from dumbbell.figures.kinds.measured import COMPARED, cell, flow_means
from dumbbell.results.results import Results


def show_described(described: Described, scenario: Path | None, *, as_json: bool) -> None:
    """Write the scenario of a described network, or print it; say what has no equal."""
    for note in described.notes:
        say.print(note, soft_wrap=True, markup=False)
    if scenario is not None:
        described.write(scenario)
        say.print(f"Next: dumbbell simulate {quoted(scenario)}", soft_wrap=True, markup=False)
    if as_json:
        output.print_json({"scenario": described.scenario, "notes": list(described.notes)})
    elif scenario is None:
        print(described.text(), end="")


class Imported(imported.Imported):
    """A measurement, the path that was fitted to it, and the scenario of both."""

    def show(self) -> None:
        """Print what was measured and what is fitted."""
        say.print(
            f"{self.measured.file}: {self.measured.tool}, {self.measured.duration_s:.4g} s",
            soft_wrap=True,
            markup=False,
        )
        for note in self.measured.notes:
            say.print(f"  {note}", soft_wrap=True, markup=False)
        heads = [title for title, _ in COMPARED.values()]
        flows = table("measured", "algorithm", *heads, right=heads)
        for flow, spec in zip(self.measured.flows, self.scenario["flow"], strict=True):
            cells = (cell(name, beside.whole(flow).get(name)) for name in COMPARED)
            flows.add_row(plain(flow.label), plain(spec.get("algorithm", "udp")), *cells)
        print_table(flows)
        print()
        limited = table("measured", "limited by", "evidence")
        for flow, limit in zip(self.measured.flows, self.path.limits, strict=True):
            limited.add_row(plain(flow.label), limit.kind, plain(limit.why))
        print_table(limited)
        print()
        print_table(filled(("path", "fitted", "evidence"), self.path.rows()))
        print()

    def compare(self, results: Results) -> None:
        """Print measured and simulated values next to each other."""
        views = [view for _, view in results.views("run", {})]
        if not views:
            return
        for flow in self.measured.flows:
            known, simulated = beside.whole(flow), flow_means(flow.label, views)
            rows = table(flow.label, "measured", "simulated", right=("measured", "simulated"))
            for name, (title, _) in COMPARED.items():
                rows.add_row(title, cell(name, known.get(name)), cell(name, simulated[name]))
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
