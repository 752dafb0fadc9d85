"""Content of the overview: progress of the studies of a folder, and the last command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from dumbbell.base import labels
from dumbbell.engines import engines
from dumbbell.reports import run_pages
from dumbbell.results.inventory import Inventory
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.store import campaigns, failures
from dumbbell.store.campaigns import Command

_REASONS: Final = 5
"""Number of failures of a study that are shown with their reasons."""


@dataclass(frozen=True)
class Progress:
    """Progress of a plan of a study; `failures` are the reasons of failed runs."""

    planned: int
    done: int
    invalid: int
    failures: tuple[str, ...]

    @property
    def is_begun(self) -> bool:
        """True if any of its runs was tried."""
        return bool(self.done or self.invalid or self.failures)


def content(inventory: Inventory, unknown: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the content of the overview as plain data.

    `unknown` has the names of studies that the inventory cannot read, and the reasons.
    """
    studies = [row for results in inventory.results() for row in _rows(results, inventory)]
    latest = campaigns.latest(inventory.store)
    return {
        "folder": str(inventory.store.root),
        "runs": sum(1 for _ in inventory.store.keys()),  # noqa: SIM118 - no mapping
        "studies": studies,
        "latest": None if latest is None else _command(latest),
        "unknown": [f"{name}: {why}" for name, why in unknown.items()],
    }


def _rows(results: Results, inventory: Inventory) -> list[Mapping[str, Any]]:
    """Return a row for each plan of a study by one engine, if any of its runs was tried.

    If none was tried by the simulator, return the row of the first plan.
    """
    by_plan = {plan: _progress(results, plan, inventory) for plan in results.keys}
    begun = {plan: progress for plan, progress in by_plan.items() if progress.is_begun}
    if not begun and not results.engine.real_time:
        begun = dict(list(by_plan.items())[:1])
    return [_row(results, plan, progress) for plan, progress in begun.items()]


def _progress(results: Results, plan: Plan, inventory: Inventory) -> Progress:
    keys = results.keys[plan]
    there = {key for key in keys if results.store.has(key)}
    invalid = inventory.invalid(there) if results.engine.real_time else set()
    failed = failures.failures(results.store, sorted(keys - there))
    return Progress(len(keys), len(there - invalid), len(invalid), tuple(map(str, failed.values())))


def _row(results: Results, plan: Plan, progress: Progress) -> Mapping[str, Any]:
    header = results.study.header
    command = header.command or f"dumbbell run {results.study.called}"
    return {
        "name": results.study.name,
        "title": header.title,
        "command": (
            f"{command}{engines.option(results.engine)}"
            f"{run_pages.part(plan)}{run_pages.options(plan)}"
        ),
        "engine": results.engine.identity,
        "planned": progress.planned,
        "done": progress.done,
        "invalid": progress.invalid,
        "failed": len(progress.failures),
        "reasons": progress.failures[:_REASONS],
    }


def _command(command: Command) -> Mapping[str, Any]:
    """Return the progress of the last command, as far as its log has it."""
    silent_s = datetime.now(UTC).timestamp() - command.started.timestamp() - command.wall_s
    per_minute = 60 * command.runs / command.wall_s if command.wall_s > 0 else None
    peak = command.peak_memory_bytes
    return {
        "study": command.study,
        "engine": command.engine,
        "started": f"{command.started.astimezone():%Y-%m-%d %H:%M:%S}",
        "facts": [
            ["runs", f"{command.runs:,}{', quick' if command.quick else ''}"],
            ["failed", f"{command.failed:,}"],
            ["parallel runs", f"{command.jobs:,}"],
            ["wall time", labels.duration(command.wall_s)],
            ["runs per minute", labels.number(per_minute)],
            ["simulated time", labels.hours(command.simulated_s)],
            ["packets", labels.amount(command.packets)],
            ["peak memory", "–" if peak is None else labels.amount(peak, "B")],
            ["last update", f"{labels.duration(max(0.0, silent_s))} ago"],
        ],
    }
