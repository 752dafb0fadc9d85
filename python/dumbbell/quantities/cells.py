"""Tables in words and numbers, which still know what these were before they were rounded.

A repeated command prints a stored table, so nothing else of Dumbbell is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Shown(str):
    """A number in words, or a mean with both ends of its interval.

    Attributes
    ----------
    values
        The number, or mean, low and high, in the unit that is shown; None where there is none.
    """

    __slots__ = ("values",)

    values: tuple[float | None, ...]

    def __new__(cls, text: str, *values: float | None) -> Shown:
        """Keep numbers with the text that is shown of them."""
        shown = super().__new__(cls, text)
        shown.values = values
        return shown


@dataclass(frozen=True)
class Totals:
    """A table: `heads` begins with those of the `named` columns of words, numbers follow.

    With `intervals` each of these numbers is a mean with its interval. The `note` names the part of
    a run over which they are taken, and `about` the runs: their path, their length, their number.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    named: int = 1
    intervals: bool = False
    note: str = ""
    about: str = ""

    def flat(self) -> tuple[list[str], list[list[str | float | None]]]:
        """Return heads and rows with bare numbers, and columns for the ends of intervals."""
        ends = ("", " low", " high") if self.intervals else ("",)
        numbers = [f"{head}{end}" for head in self.heads[self.named :] for end in ends]
        rows: list[list[str | float | None]] = []
        for row in self.rows:
            cells: list[str | float | None] = [*row[: self.named]]
            for cell in row[self.named :]:
                known = cell.values if isinstance(cell, Shown) else (cell,)
                cells += [*known, *[None] * (len(ends) - len(known))]
            rows.append(cells)
        return [*self.heads[: self.named], *numbers], rows

    def as_data(self) -> dict[str, Any]:
        """Return plain data from which `of_data` makes the same table; a cell is a list."""
        rows = [
            [[str(cell), *(cell.values if isinstance(cell, Shown) else ())] for cell in row]
            for row in self.rows
        ]
        return {**vars(self), "rows": rows}

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Totals:
        """Return the table of `as_data`; KeyError, TypeError and ValueError if it is none."""
        rows = tuple(
            tuple(Shown(text, *values) if values else text for text, *values in row)
            for row in data["rows"]
        )
        named, intervals = int(data["named"]), bool(data["intervals"])
        return cls(
            tuple(data["heads"]), rows, named, intervals, str(data["note"]), str(data["about"])
        )
