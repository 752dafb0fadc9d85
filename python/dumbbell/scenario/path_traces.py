"""Traces of a whole path in the CSV format of TheaterQ: rate, delay, loss, limit and route by time.

The README of TheaterQ (cs7org/TheaterQ) describes the format.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from dumbbell.base.errors import InputError, printable
from dumbbell.scenario import text_lines

_Value = TypeVar("_Value")

ALL: Final = 2**32 - 1
"""The value of `LOSS` at which everything is lost."""

NS_PER_US: Final = 1000
_KEEP_MAX_US: Final = 10**12
_MOST: Final = {"KEEP": _KEEP_MAX_US, "LATENCY": 86_400 * 10**9, "RATE": 10**15, "LOSS": ALL}
_MOST_OF_OTHERS: Final = 2**32 - 1
_SIMPLE: Final = ("KEEP", "LATENCY", "RATE", "LOSS", "LIMIT")
_EXTENDED: Final = (
    "KEEP", "LATENCY", "JITTER", "RATE", "LOSS", "LIMIT", "DUP_PROB", "DUP_DELAY", "ROUTE_ID",
)  # fmt: skip


@dataclass(frozen=True)
class Epoch:
    """A path for a time.

    Attributes
    ----------
    keep_us
        How long it holds, in us.
    latency_ns
        One-way delay, in ns.
    loss
        Share of packets that are lost, in parts of `ALL`.
    limit
        Size of the queue, in packets.
    route
        Number of the route. Packets of one route keep their order.
    others
        Values of other columns that are not 0, by name.
    """

    keep_us: int
    latency_ns: int
    rate_bps: int
    loss: int = 0
    limit: int = 0
    route: int = 0
    others: tuple[tuple[str, int], ...] = ()

    @property
    def keep_ns(self) -> int:
        """How long it holds, in ns."""
        return self.keep_us * NS_PER_US


def is_path_trace(text: str) -> bool:
    """Return True if the first line that says something names the columns."""
    return _head(text) is not None


def parse(text: str, place: Callable[[int], str]) -> tuple[Epoch, ...]:
    """Read a trace; `place` names a line in errors.

    Raises
    ------
    InputError
        A column that is missing, or a value that is none.
    """
    epochs = tuple(_epochs(text, place))
    if not epochs:
        raise InputError("has no line of values", source=place(1), valid=",".join(_SIMPLE))
    return epochs


def written(epochs: Iterable[Epoch]) -> str:
    """Return a trace as text, in the short format unless packets take more than the route 0."""
    epochs = tuple(epochs)
    is_extended = any(epoch.route for epoch in epochs)
    names = _EXTENDED if is_extended else _SIMPLE
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(names)
    for epoch in epochs:
        values = {
            "KEEP": epoch.keep_us, "LATENCY": epoch.latency_ns, "RATE": epoch.rate_bps,
            "LOSS": epoch.loss, "LIMIT": epoch.limit, "ROUTE_ID": epoch.route,
        }  # fmt: skip
        write([values.get(name, 0) for name in names])
    return text.getvalue()


def check_rates(epochs: Sequence[Epoch], file: str) -> None:
    """Raise InputError for a rate of 0, with which TheaterQ does not limit."""
    if any(epoch.rate_bps == 0 for epoch in epochs):
        raise InputError(
            "a RATE of 0 is no limit in TheaterQ, and a rate that changes always is one",
            value=file,
            valid=f"at least 1 bit/s; for an outage that loses packets a LOSS of {ALL}",
        )


def _head(text: str) -> tuple[int, list[str]] | None:
    """Return the number of the line that names the columns, and the names; None without it."""
    for number, line in enumerate(text_lines.lines(text), start=1):
        # TheaterQ takes it for a comment if it begins with #.
        content = line.strip().removeprefix("#").partition("#")[0]
        names = [name.strip().upper() for name in content.split(",")]
        if names[:2] == ["KEEP", "LATENCY"]:
            return number, names
        if line.strip() and not line.strip().startswith("#"):
            return None
    return None


def _epochs(text: str, place: Callable[[int], str]) -> Iterator[Epoch]:
    head = _head(text)
    assert head is not None, "no other file is parsed"
    first, names = head
    if missing := [name for name in _SIMPLE if name not in names]:
        raise InputError(
            f"has no column {missing[0]}", source=place(first), valid=",".join(_SIMPLE)
        )
    for number, content in text_lines.numbered(text):
        if number <= first or not content:
            continue
        cells = content.split(",")
        if len(cells) != len(names):
            raise InputError(
                f"has {len(cells)} values", source=place(number), valid=str(len(names))
            )
        pairs = zip(names, cells, strict=True)
        row = {name: _value(name, cell, place(number)) for name, cell in pairs}
        yield _epoch(row, place(number))


def _epoch(row: dict[str, int], place: str) -> Epoch:
    if row["KEEP"] == 0:
        raise InputError("KEEP is 0", source=place, valid="at least 1 us")
    known = {*_SIMPLE, "ROUTE_ID"}
    return Epoch(
        keep_us=row["KEEP"],
        latency_ns=row["LATENCY"],
        rate_bps=row["RATE"],
        loss=row["LOSS"],
        limit=row["LIMIT"],
        route=row.get("ROUTE_ID", 0),
        others=tuple((name, value) for name, value in row.items() if value and name not in known),
    )


def _value(name: str, text: str, place: str) -> int:
    most = _MOST.get(name, _MOST_OF_OTHERS)
    digits = text.strip() or "0"
    # Python refuses to read numbers of thousands of digits.
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= len(str(most))
    if not is_number or int(digits) > most:
        raise InputError(
            f"{name} is no whole number", source=place, value=printable(text),
            valid=f"from 0 to {most}",
        )  # fmt: skip
    return int(digits)


def repeated(values: Sequence[tuple[int, _Value]], duration_ns: int) -> list[list[Any]]:
    """Return values with the times from which they hold.

    `values` are pairs of a time that each holds, in ns, and the value. After the last one the first
    follows again, until the duration. The first pass is always whole. Values that repeat the one
    before them are left out.
    """
    steps: list[list[Any]] = []
    at_ns = 0
    while not steps or at_ns < duration_ns:
        is_first = not steps
        for keep_ns, value in values:
            if at_ns >= duration_ns and not is_first:
                break
            # Steps that change nothing would only make the scenario longer.
            if not steps or steps[-1][1] != value:
                steps.append([at_ns, value])
            at_ns += keep_ns
    return steps
