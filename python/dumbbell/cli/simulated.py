"""Captures and output of ``dumbbell simulate``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import to_builtins
from rich.table import Table

from dumbbell.base.errors import DamagedResult, placed, printable, refusing
from dumbbell.base.labels import amount, number
from dumbbell.base.units import format_time, parse_time
from dumbbell.cli import progress
from dumbbell.cli.output import Form, print_csv, print_json, print_table, print_words, say
from dumbbell.cli.tables import plain, table
from dumbbell.cli.totals import print_totals
from dumbbell.engines import captures, doubts
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.excerpts import Excerpt
from dumbbell.engines.result import Run
from dumbbell.execution import alone
from dumbbell.experiments import outcomes
from dumbbell.experiments.phases import Spread
from dumbbell.experiments.scenario_files import Read
from dumbbell.plan.expanding import PlannedRun
from dumbbell.quantities import flow_totals, run_totals
from dumbbell.quantities.latencies import latencies
from dumbbell.results.campaign import Campaign
from dumbbell.scenario.resolve import ResolvedScenario

_MUCH_BYTES: Final = 50e6
"""Size from which the command explains how to make captures smaller."""


@dataclass(frozen=True)
class Wanted:
    """The part of its packets, as given on the command line."""

    flows: Sequence[str]
    start: str | None
    end: str | None

    def window_ns(self) -> tuple[int | None, int | None]:
        """Read the two times."""
        with placed(source="--pcap-from"):
            start_ns = None if self.start is None else parse_time(self.start)
        with placed(source="--pcap-to"):
            return start_ns, None if self.end is None else parse_time(self.end)


@dataclass(frozen=True)
class Capture:
    """The selected packets of a run, and the files for them, which can be written."""

    resolved: ResolvedScenario
    files: tuple[Path, Path]
    excerpt: Excerpt

    @classmethod
    def prepared(cls, name: Path, read: Read, seed: int, wanted: Wanted) -> Capture:
        """Refuse what cannot be captured, and say how much it will be, before anything runs."""
        files = captures.paths(name)
        resolved = read.captured(seed)
        scenario = resolved.scenario
        excerpt = Excerpt.of(scenario, wanted.flows, *wanted.window_ns())
        captures.check_size(scenario)
        size = captures.expected_bytes(scenario, excerpt)
        advice = "; --pcap-flow, --pcap-from and --pcap-to make them smaller"
        say.print(
            f"Both captures together: up to about {amount(size, 'B')}"
            f"{advice if excerpt.is_whole and size > _MUCH_BYTES else ''}",
            soft_wrap=True,
        )
        return cls(resolved, files, excerpt)

    def write(self, campaign: Campaign) -> None:
        """Run it, write the packets, and keep the result: it is that of the run without them."""
        with progress.steps("simulating", say):
            output = alone.output(self.resolved, SimulatorEngine())
        for file, content in zip(self.files, output.captures or (), strict=True):
            with refusing("write it", file):
                file.write_bytes(self.excerpt.bytes_of(content))
        campaign.store.put(campaign.planned[0].resolved, output)


def finished(campaign: Campaign) -> list[tuple[PlannedRun, Run]]:
    """Return the planned runs that have a result, in order."""
    runs = []
    for planned in campaign.planned:
        try:
            runs.append((planned, campaign.store.get(planned.resolved.key)))
        except (KeyError, DamagedResult):
            continue
    return runs


def show(
    campaign: Campaign, runs: Sequence[Run], read: Read, spreads: Sequence[Spread], wanted: Form
) -> None:
    """Print the finished runs: of one its totals, of several the means of their flows."""
    if wanted is Form.JSON:
        as_data = [_as_dict(run) for run in runs]
        perturbed = {"perturbed": [spread.as_dict() for spread in spreads]} if spreads else {}
        verdicts = (
            {"outcomes": outcomes.rows(campaign.own_results())} if read.outcomes.claims else {}
        )
        content = as_data[0] if len(as_data) == 1 else {"runs": as_data}
        print_json({**content, **verdicts, **perturbed})
        return
    tables = run_totals.of_runs(runs) if runs else ()
    if wanted is Form.CSV:
        for totals in itertools.islice(tables, 1):
            print_csv(*totals.flat())
        return
    if runs:
        print_words(_about(campaign, read, runs))
        print()
    for totals in tables:
        print_totals(totals)
        print()
    if spreads:
        print_table(_spread_table(spreads))
        print()
    for line in outcomes.lines(campaign.own_results(), read.outcomes.left_out) if runs else ():
        print_words(line)
        print()
    if runs:
        packets = sum(run.summary.packets for run in runs)
        length = format_time(runs[0].summary.duration_ns)
        times = f"{len(runs)} × " if len(runs) > 1 else ""
        print(f"{packets:,} packets in {times}{length}")


def _about(campaign: Campaign, read: Read, runs: Sequence[Run]) -> str:
    """Say what the tables are of: the file with its changes, the path, the engine, the seeds."""
    count, seed = len(runs), campaign.plan.seed
    seeds = f"seed {seed}" if count == 1 else f"{count} runs, seed {seed} and others"
    real = f", {campaign.engine.identity}" if campaign.engine.real_time else ""
    where = run_totals.path(runs[0])
    if read.interval_ns is not None:
        where += f", samples each {format_time(read.interval_ns)}"
    return printable(f"{campaign.study.header.summary}: {where}{real}; {seeds}.")


def _as_dict(run: Run) -> dict[str, Any]:
    return {
        "scenario": to_builtins(run.scenario),
        "summary": to_builtins(run.summary),
        "goodputs": flow_totals.goodputs(run),
        "requests": latencies(run).to_dicts(),
        "doubts": [
            {"cause": doubt.cause, "text": doubt.text}
            for doubt in doubts.of(run.scenario, run.summary)
        ],
    }


def _spread_table(spreads: Sequence[Spread]) -> Table:
    """Return how far goodputs differ with the phase of packets."""
    runs = len(spreads[0].perturbed)
    figures = ("as it is", f"mean of {runs} perturbed", "least", "most", "spread (%)")
    result = table("goodput (Mbit/s)", *figures, right=figures)
    for spread in spreads:
        shown = (spread.as_is, spread.mean, min(spread.perturbed), max(spread.perturbed))
        width = None if spread.width is None else 100 * spread.width
        result.add_row(plain(spread.label), *(number(value, 4) for value in shown), number(width))
    return result
