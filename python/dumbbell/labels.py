"""Words for readers: axis values with units, numbers with as many digits as they deserve."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dumbbell import chart_style, grid

_UNITS: Final = {"mbit": "Mbit/s", "ms": "ms", "bdp": "BDP", "packets": "packets", "value": ""}


def label_of(value: str) -> str:
    """Name an axis value: ``250mbit`` is 250 Mbit/s, ``htcp@li2007`` is H-TCP."""
    found = grid.number_of(value)
    if found is None:
        return chart_style.algorithm_label(value)
    unit, amount = found
    if unit == "value":
        return value
    return f"{_plain(amount)} {_UNITS[unit]}"


def listing(words: Sequence[str]) -> str:
    """Join words as a sentence does."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def number(value: float | None, digits: int = 3) -> str:
    """Render a measured value with some significant digits; a dash if there is none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}g}"
    if "e" in text and 1 <= abs(value) < 1e6:
        return f"{value:.0f}"
    return text


def _plain(amount: Fraction) -> str:
    return f"{float(amount):.6g}"
