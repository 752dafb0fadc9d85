"""Words for readers: axis values with units, numbers with as many digits as they deserve."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from dumbbell.figures import chart_style
from dumbbell.running.engine import Engine
from dumbbell.study import grid

_SMALL: Final = 0.001
_PLACES_MAX: Final = 6
_SEPARATED: Final = 10_000
_UNITS: Final = {"mbit": "Mbit/s", "ms": "ms", "bdp": "BDP", "packets": "packets", "value": ""}


def label_of(value: str) -> str:
    """Name an axis value: ``250mbit`` is 250 Mbit/s, ``htcp@li2007`` is H-TCP."""
    found = grid.number_of(value)
    if found is None:
        return chart_style.algorithm_label(value)
    unit, amount = found
    if unit == "value":
        return value
    if unit == "mbit" and amount >= 1000:
        return f"{_plain(amount / 1000)} Gbit/s"
    return f"{_plain(amount)} {_UNITS[unit]}"


def listing(words: Sequence[str]) -> str:
    """Join words as a sentence does."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def engine_notes(engine: Engine, invalid: int) -> Iterator[str]:
    """Yield what a figure says of the engine and its invalid runs; of the simulator nothing."""
    if engine.real_time:
        yield f"Run by the {engine.identity}."
    if invalid:
        yield f"{invalid} invalid {'run is' if invalid == 1 else 'runs are'} left out."


def number(value: float | None, digits: int = 3) -> str:
    """Render a measured value with some significant digits; a dash if there is none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}g}"
    if "e" in text and 1 <= abs(value) < 1e6:
        return f"{value:.0f}"
    return text


def with_spread(mean: float | None, spread: float | None) -> str:
    """Render a mean with its error or half interval, both to the spread's second digit."""
    if mean is None or spread is None:
        return number(mean, 4)
    if abs(mean) < _SMALL:
        return f"{number(mean)} ± {number(spread, 2)}"
    places = max(0, 1 - math.floor(math.log10(spread))) if spread > 0 else 3
    places = min(places, _PLACES_MAX)
    return f"{mean:.{places}f} ± {spread:.{places}f}"


def _plain(amount: Fraction) -> str:
    if amount.denominator == 1 and amount >= _SEPARATED:
        return f"{amount.numerator:,}"
    return f"{float(amount):.6g}"
