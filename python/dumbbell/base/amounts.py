"""Values of axes as quantities: a unit and an amount."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from dumbbell.base.errors import InputError
from dumbbell.base.units import parse_bytes, parse_fraction, parse_queue, parse_rate, parse_time


def _bdp(text: str) -> Fraction:
    size = parse_queue(text)
    if size.unit != "bdp":
        raise InputError("no share of the BDP", value=text)
    return size.amount


def _packets(text: str) -> Fraction:
    size = parse_queue(text)
    if size.unit != "packets":
        raise InputError("no number of packets", value=text)
    return size.amount


_READERS: Final[Mapping[str, Callable[[str], Fraction]]] = {
    "value": parse_fraction,
    "mbit": lambda text: Fraction(parse_rate(text), 10**6),
    "ms": lambda text: Fraction(parse_time(text), 10**6),
    "bdp": _bdp,
    "packets": _packets,
    "mb": lambda text: Fraction(parse_bytes(text), 10**6),
}


@functools.lru_cache(maxsize=4096)
def number_of(text: str) -> tuple[str, Fraction] | None:
    """Read an axis value as a quantity: its unit and its amount; None if it is a name.

    Rates are in Mbit/s (``mbit``), times in ``ms``, queues in ``bdp``, ``packets`` or ``mb``; a
    number without a unit is a ``value``.
    """
    for unit, read in _READERS.items():
        try:
            return unit, read(text)
        except InputError:
            continue
    return None
