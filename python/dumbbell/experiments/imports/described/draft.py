"""A network that is being taken from a description, and what of that has no equal."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dumbbell.base.errors import InputError


@dataclass
class Draft:
    """Keys of a `network` table, and notes on what was left out or changed.

    Attributes
    ----------
    network
        Keys and values as a scenario has them; `queue` may be missing.
    own_queue
        Limit of the queue that the shaper itself has, if no discipline follows it.
    delay_ns
        Smallest one-way delay, in ns.
    notes
        A sentence each.
    """

    file: Path
    network: dict[str, Any] = field(default_factory=dict)
    own_queue: str | None = None
    delay_ns: int = 0
    notes: list[str] = field(default_factory=list)

    def put(self, key: str, value: object, line: int) -> None:
        """Set a key; a second value for it is an InputError."""
        if key in self.network:
            raise InputError(
                f"gives a second `{key}`", source=f"{self.file}, line {line}",
                value=self.network[key], valid="the lines of one queue, of one device",
            )  # fmt: skip
        self.network[key] = value

    def note(self, text: str, line: int) -> None:
        """Note what has no equal."""
        self.notes.append(f"line {line}: {text}")
