"""A file that describes a network, and a scenario with a flow over that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import tomli_w

from dumbbell.base.errors import InputError, as_toml, printable, refusing
from dumbbell.base.units import format_time, parse_time
from dumbbell.experiments.imports.choosing import chosen
from dumbbell.experiments.imports.described import tc, theaterq
from dumbbell.experiments.imports.described.draft import Draft
from dumbbell.experiments.imports.opening import opened
from dumbbell.scenario.model import Scenario

_TEXT_BYTES_MAX: Final = 64_000_000
_START_BYTES: Final = 1 << 16
"""Whatever a file begins with, its first line that says something lies in these."""

_READERS: Final = ((tc.is_tc, tc.read), (theaterq.is_theaterq, theaterq.read))
"""Kinds of descriptions: whether a text begins as one, and what reads it."""

_PACKETS: Final = "1000p"
"""The limit of a netem that gives none, and of a device's queue."""


@dataclass(frozen=True)
class Described:
    """A scenario that was made of a description, and what of that has no equal."""

    file: Path
    network: dict[str, Any]
    algorithm: str
    notes: tuple[str, ...]

    @classmethod
    def read(cls, file: Path, given: Mapping[str, str], algorithm: str | None) -> Self | None:
        """Read lines of tc or a trace of TheaterQ; None if the file is neither.

        `given` has values for `rate`, `rtt` and `queue` instead of those of the file.

        Raises
        ------
        InputError
            A part without an equal that cannot be left out, or a value that the file does not have.
        """
        start = _start(file)
        read = next((read for begins, read in _READERS if begins(start)), None)
        if read is None:
            return None
        draft = read(file, _text(file))
        network = _network(draft, given)
        description = cls(file, network, algorithm or "cubic", tuple(draft.notes))
        # Parsed at once: what no scenario can have is an error of this file, not of the one it
        # becomes.
        Scenario.parse(description.scenario_in(file), str(file))
        return description

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario, in which files are relative to the current folder."""
        return self.scenario_in(Path("scenario.toml"))

    def scenario_in(self, file: Path) -> dict[str, Any]:
        """Return the scenario as it is in a file, to which other files are relative."""
        algorithm = chosen(self.algorithm, file)
        return {"duration": "60s", "network": self.network, "flow": [{"algorithm": algorithm}]}

    def text(self, file: Path = Path("scenario.toml")) -> str:
        """Return the scenario as TOML for a file, with the notes above it."""
        notes = "".join(f"# {printable(note)}\n" for note in self.notes)
        head = f"# Made by `dumbbell import` of {printable(self.file.name)}.\n{notes}"
        return head + tomli_w.dumps(self.scenario_in(file))

    def write(self, file: Path) -> None:
        """Write the scenario."""
        if file.suffix != ".toml":
            raise InputError("no TOML file", key="scenario", value=str(file), valid="*.toml")
        with refusing("write it", file):
            file.write_text(self.text(file))


def _start(file: Path) -> str:
    """Return how the file begins; nothing if it cannot be read, which is said elsewhere."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as content:
            return content.read(_START_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _text(file: Path) -> str:
    """Return what the file has."""
    with opened(file, "lines of tc, or a trace of TheaterQ") as source:
        return source.whole(_TEXT_BYTES_MAX).decode(errors="replace")


def _network(draft: Draft, given: Mapping[str, str]) -> dict[str, Any]:
    network = dict(draft.network)
    draft.notes += [
        f"`{key} = {as_toml(network[key])}` gives way to {as_toml(given[key])}"
        for key in ("rate", "queue")
        if key in network and key in given
    ]
    if "loss" in given:
        network["loss"] = [{"place": "bottleneck", "probability": given["loss"]}]
    if "rate" in given:
        network["rate"] = given["rate"]
    if "rate" not in network:
        raise InputError("gives no rate", source=str(draft.file), valid="`rate`, such as 100mbit")
    network.setdefault("queue", draft.own_queue or _PACKETS)
    if "queue" in given:
        network["queue"] = given["queue"]
    network["rtt"] = given.get("rtt") or _rtt(draft)
    if "holds" in network and draft.delay_ns:
        # The packets that it holds are those under this delay.
        delay = format_time(draft.delay_ns)
        if parse_time(network["rtt"]) < draft.delay_ns:
            raise InputError(
                f"shorter than the delay of {delay} in {draft.file}",
                key="rtt", value=network["rtt"], valid=f"{delay} or more",
            )  # fmt: skip
        network |= {"delay": delay, "reverse": {"delay": "0s"}}
    order = ("rate", "rtt", "delay", "queue", "holds")
    return {
        key: network[key] for key in (*order, *sorted(set(network) - set(order))) if key in network
    }


def _rtt(draft: Draft) -> str:
    """Return the RTT that the delays of the file make."""
    changing = draft.network.get("delay")
    if changing is not None:
        first = changing if isinstance(changing, str) else changing[0]["delay"]
        draft.notes.append(f"the way back has the same delay: an RTT of twice {first}")
        return format_time(2 * parse_time(first))
    if not draft.delay_ns:
        raise InputError("gives no delay", source=str(draft.file), valid="`rtt`, such as 40ms")
    rtt = format_time(draft.delay_ns)
    draft.notes.append(f"the way back has no delay in these lines: an RTT of {rtt}")
    return rtt
