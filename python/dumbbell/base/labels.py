"""Words for readers: numbers with as many digits as they deserve, large amounts, durations."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

_ABSENT: Final = "–"
_SMALL: Final = 0.001
_LARGE: Final = 1e6
_PLACES_MAX: Final = 6
_HAIR: Final = 1e-9
DIGITS: Final = 4
"""Significant digits of results: more are noise, and no reader compares them."""

UNITS: Final[Mapping[str, str]] = {
    "mbit": "Mbit/s",
    "ms": "ms",
    "bdp": "BDP",
    "packets": "packets",
    "mb": "MB",
    "value": "",
}
"""Names of the units of axis values: see `amounts.number_of`."""


def listing(words: Sequence[str]) -> str:
    """Join words as a sentence does."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def number(value: float | None, digits: int = 3) -> str:
    """Render a value with some significant digits; a dash if there is none.

    Whole digits are never rounded away below a million. Powers of ten are written as in study
    files, ``2.05e-8``.
    """
    if value is None:
        return _ABSENT
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if value == 0 or _SMALL <= size < _LARGE:
        text = f"{size:.{digits}g}"
        text = f"{size:.0f}" if "e" in text else text
    else:
        mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
        mantissa = re.sub(r"\.?0+$", "", mantissa) if "." in mantissa else mantissa
        text = f"{mantissa}e{int(exponent)}"
    return f"−{text}" if value < 0 else text


Bounds = tuple[float, float]
"""The least and the most that a quantity can be."""

UNBOUNDED: Final[Bounds] = (-math.inf, math.inf)
POSITIVE: Final[Bounds] = (0.0, math.inf)
PART: Final[Bounds] = (0.0, 1.0)
HARM: Final[Bounds] = (-math.inf, 1.0)
"""Harm is the part that is gone. Below 0 it is a gain, which has no bound."""


def cut(mean: float, low: float, high: float, bounds: Bounds) -> tuple[float, float]:
    """Return the ends of an interval, cut at the bounds of its quantity.

    Student's interval knows no bounds: that of Jain's index may exceed 1. An interval always holds
    its mean, which rounding or the testbed's clock may have taken beyond a bound.
    """
    lowest, highest = bounds
    return max(low, min(mean, lowest)), min(high, max(mean, highest))


def with_interval(
    mean: float | None, low: float | None, high: float | None, *, bounds: Bounds = UNBOUNDED
) -> str:
    """Render a mean with its interval, to the second digit of half of it; with ± if symmetric.

    The mean has no more than four significant digits, for which an interval is rounded up. Where
    an end is missing or infinite, which is so of too few runs, there is the mean alone. The
    interval is cut at the `bounds` of its quantity, in the unit that is shown.
    """
    if mean is None or low is None or high is None or not math.isfinite(high - low):
        return number(mean, DIGITS)
    low, high = cut(mean, low, high, bounds)
    half = (high - low) / 2
    is_symmetric = math.isclose((low + high) / 2, mean, rel_tol=1e-9, abs_tol=1e-6 * half)
    if abs(mean) < _SMALL:
        interval = (
            f" ± {number(half, 2)}" if is_symmetric else f" ({number(low)} to {number(high)})"
        )
        return number(mean) + interval
    if round(half, _PLACES_MAX) == 0:
        return f"{number(mean, DIGITS)} ± 0"
    needed = min(max(0, 1 - math.floor(math.log10(half))), _PLACES_MAX)
    places = min(needed, max(0, DIGITS - 1 - math.floor(math.log10(abs(mean)))))
    if places < needed:
        low, high = outward(low, high, places)
        half = outward(half, half, places)[1]
    around = f"± {half:.{places}f}" if is_symmetric else f"({low:.{places}f} to {high:.{places}f})"
    return f"{mean:.{places}f} {around}".replace("-", "−")


def outward(low: float, high: float, places: int) -> tuple[float, float]:
    """Round the ends of an interval to some decimal places, so that it becomes no narrower."""
    unit = 10.0**-places
    # What is a hair beyond a round number, as sums of decimal fractions are, is that number.
    return (
        math.floor(low / unit + _HAIR) * unit + 0.0,
        math.ceil(high / unit - _HAIR) * unit + 0.0,
    )


def brief_interval(
    mean: float | None, low: float | None, high: float | None, *, bounds: Bounds = UNBOUNDED
) -> str:
    """Render a mean with the farther end of its interval, for narrow tables: 27 ± 4.

    The mean has four significant digits at most, or as few as the interval leaves; the interval is
    rounded up. Where an end is missing or infinite, or both are the mean, there is the mean alone.
    The interval is cut at the `bounds` of its quantity, in the unit that is shown. Where ± would
    reach beyond one, both ends are written out: 0.98 (0.90–1).
    """
    if mean is None or low is None or high is None or not math.isfinite(high - low) or low == high:
        return number(mean, DIGITS)
    low, high = cut(mean, low, high, bounds)
    reach = max(mean - low, high - mean)
    if reach == 0:
        return number(mean, DIGITS)
    finest = DIGITS - 1 - math.floor(math.log10(max(abs(mean), reach)))
    places = max(0, min(-math.floor(math.log10(reach)), finest, 2))
    shown, (_, around) = round(mean, places) + 0.0, outward(reach, reach, places)
    lowest, highest = bounds
    if shown - around < lowest - _HAIR or shown + around > highest + _HAIR:
        rounded = cut(shown, *outward(low, high, places), bounds)
        ends = (number(end) if end in bounds else f"{end:.{places}f}" for end in rounded)
        # A dash keeps tables narrow, but behind a minus it could be read as another one.
        joined = (" to " if rounded[0] < 0 else "–").join(ends)
        return f"{shown:.{places}f} ({joined})".replace("-", "−")
    return f"{shown:.{places}f} ± {around:.{places}f}".replace("-", "−")


def window(from_s: float, to_s: float) -> str:
    """Say which part of a run a window is: ``2 s to 10 s``."""
    return f"{number(from_s, 4)} s to {number(to_s, 4)} s"


def duration(seconds: float) -> str:
    """Render a time: 42 s, 3 min 20 s, 1 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def hours(seconds: float) -> str:
    """Render a long time in hours: 0.04 h, 12.5 h, 1,280 h."""
    count = seconds / 3600
    digits = 2 if count < 1 else 1 if count < 100 else 0
    return f"{count:,.{digits}f} h"


def amount(count: float, unit: str = "") -> str:
    """Render an amount with three digits and a decimal prefix: 999, 12.3 k, 4.57 GB."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        # What would be rounded up to 1,000 of the smaller unit counts as this one.
        if count >= 0.9995 * size:
            share = count / size
            digits = 2 if share < 9.995 else 1 if share < 99.95 else 0
            return f"{share:.{digits}f} {prefix}{unit}"
    return f"{count:.0f} {unit}".rstrip()
