"""Large quantities for people."""

from __future__ import annotations


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
