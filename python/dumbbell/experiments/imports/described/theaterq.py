"""Traces of TheaterQ: rate, delay, loss and limit of a link, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from dumbbell.base.units import format_rate, format_time
from dumbbell.experiments.imports.described.draft import Draft
from dumbbell.scenario.path_traces import ALL, Epoch, check_rates, is_path_trace, parse

is_theaterq = is_path_trace


def read(file: Path, text: str) -> Draft:
    """Return the network of a trace: its values as they change, and the largest limit.

    Raises
    ------
    InputError
        A column that is missing, or a value that is none.
    """
    draft = Draft(file)
    epochs = parse(text, lambda line: f"{file}, line {line}")
    check_rates(epochs, str(file))
    at_ns, rates, delays, losses = 0, [], [], []
    for epoch in epochs:
        at = format_time(at_ns)
        rates.append({"at": at, "rate": format_rate(epoch.rate_bps)})
        route = {"route": epoch.route} if epoch.route else {}
        delays.append({"at": at, "delay": format_time(epoch.latency_ns), **route})
        losses.append({"at": at, "probability": epoch.loss / ALL})
        at_ns += epoch.keep_ns
    draft.network["rate"] = _changes(rates, "rate")
    draft.network["delay"] = _changes(delays, "delay")
    if any(epoch.loss for epoch in epochs):
        changing = _changes(losses, "probability")
        draft.network["loss"] = [{"place": "bottleneck", "probability": changing}]
    _put_limit(draft, epochs)
    _note_order(draft, epochs)
    for name in dict.fromkeys(name for epoch in epochs for name, _ in epoch.others):
        draft.note(f"{name} has no equal", 1)
    draft.note(f"the trace is {format_time(at_ns)} long and does not begin again", 1)
    return draft


def _put_limit(draft: Draft, epochs: Sequence[Epoch]) -> None:
    """Set the largest limit, which counts what is under delay, too; 0 is none."""
    limits = {epoch.limit for epoch in epochs}
    most = "unlimited" if 0 in limits else f"{max(limits)}p"
    draft.network["queue"] = most
    if most != "unlimited":
        draft.network["holds"] = most
    if len(limits) > 1:
        draft.note(f"a limit that changes has no equal; the largest is taken, {most}", 1)


def _note_order(draft: Draft, epochs: Sequence[Epoch]) -> None:
    falls = (
        after.latency_ns < before.latency_ns and not before.route
        for before, after in pairwise(epochs)
    )
    if any(falls):
        draft.note("packets keep their order when the delay falls; in TheaterQ's route 0 not", 1)


def _changes(steps: list[dict[str, Any]], key: str) -> Any:
    """Return the steps that change anything; the value alone if there is one."""

    def values(step: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in step.items() if name != "at"}

    changes = [
        step
        for number, step in enumerate(steps)
        if number == 0 or values(step) != values(steps[number - 1])
    ]
    return changes if len(changes) > 1 else changes[0][key]
