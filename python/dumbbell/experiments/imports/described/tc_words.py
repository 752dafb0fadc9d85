"""The words of a line of tc: numbers with tc's own units, in which a kilobyte has 1024 bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dumbbell.base.errors import InputError

_NUMBER: Final = re.compile(r"(\d+\.?\d*|\.\d+)(.*)")

_RATES: Final = {
    prefix + unit: factor * bits
    for unit, bits in (("bit", 1), ("bps", 8))
    for prefix, factor in (
        ("", 1), ("k", 10**3), ("m", 10**6), ("g", 10**9), ("t", 10**12),
        ("ki", 2**10), ("mi", 2**20), ("gi", 2**30), ("ti", 2**40),
    )
}  # fmt: skip
_SIZES: Final = {
    "": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30,
    "kbit": 2**7, "mbit": 2**17, "gbit": 2**27,
}  # fmt: skip
_TIMES_NS: Final = {
    "": 10**3, "us": 10**3, "usec": 10**3, "usecs": 10**3, "ms": 10**6, "msec": 10**6,
    "msecs": 10**6, "s": 10**9, "sec": 10**9, "secs": 10**9, "ns": 1, "nsec": 1,
}  # fmt: skip
_HUNDRED: Final = 100.0


class Words:
    """The words of one line that were not taken yet."""

    def __init__(self, words: list[str], file: Path, line: int) -> None:
        self.file, self.line = file, line
        self._words = words

    def __bool__(self) -> bool:
        """Return True as long as there are words."""
        return bool(self._words)

    def next(self, what: str = "a word") -> str:
        """Take the next word; none is an InputError."""
        if not self._words:
            raise self.error(f"ends where {what} is expected")
        return self._words.pop(0)

    def has(self, *words: str) -> bool:
        """Take the next word if it is one of these."""
        is_next = bool(self._words) and self._words[0] in words
        if is_next:
            self._words.pop(0)
        return is_next

    def has_number(self) -> bool:
        """Return True if a number follows."""
        return bool(self._words) and _NUMBER.fullmatch(self._words[0]) is not None

    def rate_bps(self) -> int:
        """Take a rate in bit/s; without a unit it is one."""
        return round(self._quantity("a rate", {"": 1, **_RATES}))

    def size_bytes(self) -> int:
        """Take a size in bytes; k is 1024."""
        word = self.next("a size").split("/")[0]  # burst/cell
        return round(self._scaled(word, "a size", _SIZES))

    def time_ns(self) -> int:
        """Take a time in ns; without a unit it is in us."""
        return round(self._quantity("a time", _TIMES_NS))

    def share(self) -> float:
        """Take a share from 0 to 1; tc gives per cent, with the sign or without."""
        share = self._quantity("a percentage", {"": 1.0, "%": 1.0}) / _HUNDRED
        if share > 1:
            raise self.error(f"{share * _HUNDRED:g} % is more than all")
        return share

    def count(self) -> int:
        """Take a number of packets; `p` may follow it."""
        return round(self._quantity("a number", {"": 1, "p": 1, "b": 1}))

    def fraction(self) -> float:
        """Take a number without a unit."""
        return self._quantity("a number", {"": 1.0})

    def error(self, message: str, valid: str | None = None) -> InputError:
        """Return an error about this line."""
        return InputError(message, source=f"{self.file}, line {self.line}", valid=valid)

    def unknown(self, word: str, kind: str) -> InputError:
        """Return the error about an option that is not known."""
        return self.error(f"{kind} has no option {word!r} that is known here")

    def _quantity(self, what: str, units: Mapping[str, float]) -> float:
        return self._scaled(self.next(what), what, units)

    def _scaled(self, word: str, what: str, units: Mapping[str, float]) -> float:
        match = _NUMBER.fullmatch(word)
        factor = units.get(match[2].lower()) if match else None
        if match is None or factor is None:
            known = ", ".join(unit for unit in units if unit)
            raise self.error(f"{word!r} is not {what}", f"a number with one of {known}")
        return float(match[1]) * factor
