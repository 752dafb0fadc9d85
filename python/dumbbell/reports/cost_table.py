"""Cost of a campaign in time and storage, as the cells of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dumbbell.base.labels import amount, duration, hours
from dumbbell.store.campaigns import Command, Cost, Effort

COUNTS: Final = (
    "runs",
    "simulated",
    "packets",
    "wall time",
    "packets/s",
    "peak memory",
    "on disk",
)
COLUMNS: Final = ("", *COUNTS)


def rows(campaign: Cost, this: Command | None = None) -> Iterator[tuple[str, ...]]:
    """Yield the cost of `this` command and of its campaign, and the size of their results."""
    if this is not None and this.runs:
        yield "this command", *_effort(Effort.of([this])), ""
    number = campaign.effort.commands
    if number > 1 or (number and this is None):
        yield (
            "one command" if number == 1 else f"all {number} commands",
            *_effort(campaign.effort),
            "",
        )
    held = campaign.held
    left = (f"{held.runs:,}", hours(held.simulated_s), amount(held.packets))
    yield "results", *left, "", "", "", amount(held.size_bytes, "B")


def _effort(effort: Effort) -> Iterator[str]:
    yield f"{effort.runs:,}"
    yield hours(effort.simulated_s)
    yield amount(effort.packets)
    yield duration(effort.wall_s)
    yield "" if effort.packets_per_s is None else amount(effort.packets_per_s)
    yield "" if effort.peak_memory_bytes is None else amount(effort.peak_memory_bytes, "B")
