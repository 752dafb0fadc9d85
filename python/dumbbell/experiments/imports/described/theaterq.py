"""Traces of TheaterQ: rate, delay, loss and limit of a link, line by line."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell.base.errors import InputError
from dumbbell.base.units import format_rate, format_time
from dumbbell.experiments.imports.described.draft import Draft

_COLUMNS: Final = ("KEEP", "LATENCY", "RATE", "LOSS", "LIMIT")
_WITHOUT_EQUAL: Final = ("JITTER", "DUP_PROB", "DUP_DELAY", "ROUTE_ID")
_ALL: Final = 2**32 - 1
"""The loss at which everything is lost."""
_NS_PER_US: Final = 1000


def is_theaterq(text: str) -> bool:
    """Return True if the first line names TheaterQ's columns."""
    names = _names(text.split("\n", 1)[0])
    return names[:2] == ["KEEP", "LATENCY"]


def read(file: Path, text: str) -> Draft:
    """Return the network of a trace: its values as they change, and the largest limit.

    `KEEP` is in us, `LATENCY` in ns, `RATE` in bit/s, `LOSS` a share of 2^32 - 1, and `LIMIT` in
    packets.

    Raises
    ------
    InputError
        A column that is missing, or a value that is none.
    """
    draft = Draft(file)
    rows = [_row(file, number, row) for number, row in _rows(file, text)]
    if not rows:
        raise InputError("has no line of values", source=str(file))
    at_ns, rates, delays, losses = 0, [], [], []
    for row in rows:
        at = format_time(at_ns)
        rates.append({"at": at, "rate": format_rate(row["RATE"])})
        delays.append({"at": at, "delay": format_time(row["LATENCY"])})
        losses.append({"at": at, "probability": row["LOSS"] / _ALL})
        at_ns += row["KEEP"] * _NS_PER_US
    draft.network["rate"] = _changes(rates, "rate")
    draft.network["delay"] = _changes(delays, "delay")
    if any(row["LOSS"] for row in rows):
        changing = _changes(losses, "probability")
        draft.network["loss"] = [{"place": "bottleneck", "probability": changing}]
    limits = [row["LIMIT"] for row in rows]
    draft.network["queue"] = f"{max(limits)}p"
    if min(limits) < max(limits):
        draft.note(f"a limit that changes has no equal; the largest is taken, {max(limits)}", 1)
    for name in _WITHOUT_EQUAL:
        if any(row.get(name, 0) for row in rows):
            draft.note(f"{name} has no equal", 1)
    draft.note(f"the trace is {format_time(at_ns)} long and does not begin again", 1)
    return draft


def _names(line: str) -> list[str]:
    return [name.strip().lstrip("#").strip().upper() for name in line.split(",")]


def _rows(file: Path, text: str) -> list[tuple[int, dict[str, str]]]:
    lines = text.splitlines()
    names = _names(lines[0])
    missing = [name for name in _COLUMNS if name not in names]
    if missing:
        raise InputError(
            f"has no column {missing[0]}", source=f"{file}, line 1", valid=",".join(_COLUMNS)
        )
    found = []
    for number, cells in enumerate(csv.reader(lines[1:]), start=2):
        if not cells:
            continue
        if len(cells) != len(names):
            raise InputError(
                f"has {len(cells)} values", source=f"{file}, line {number}", valid=str(len(names))
            )
        found.append((number, dict(zip(names, cells, strict=True))))
    return found


def _row(file: Path, number: int, row: Mapping[str, str]) -> dict[str, int]:
    values = {}
    for name, text in row.items():
        try:
            value = int(text.strip() or "0")
        except ValueError:
            value = -1
        most = _ALL if name == "LOSS" else 2**63 - 1
        if not 0 <= value <= most:
            raise InputError(
                f"{name} is no whole number", source=f"{file}, line {number}", value=text,
                valid=f"from 0 to {most}",
            )  # fmt: skip
        values[name] = value
    return values


def _changes(steps: list[dict[str, Any]], key: str) -> Any:
    """Return the steps that change the value; the value alone if there is one."""
    changes = [
        step
        for number, step in enumerate(steps)
        if number == 0 or step[key] != steps[number - 1][key]
    ]
    return changes if len(changes) > 1 else changes[0][key]
