"""Names of algorithms and of axis values, for readers.

The C file of a built-in algorithm declares how figures show it, in a line above `CC_ALGORITHM`::

    /* In figures: H-TCP, #0072b2, diamond. */

The label is its name in the literature, short enough for a legend.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePath
from typing import Final

from dumbbell.algorithms import catalogue
from dumbbell.base import amounts
from dumbbell.base.labels import UNITS

_IN_FIGURES: Final = re.compile(
    r"^/\* In figures: ([^,\n]+), (#[0-9a-f]{6}), ([a-z-]+)\. \*/$", re.MULTILINE
)
_SEPARATED: Final = 10_000
_GAINS: Final = re.compile(r"@[a-z]+[0-9]{4}((?:-[a-z]+[0-9]+)+)$")
"""Suffix that distinguishes the presets of one algorithm in one study: ``-kp4-kd2000``."""

_SMALLER: Final[Mapping[str, str]] = {"ms": "µs", "mb": "kB"}
"""Names of a thousandth of a unit."""


@dataclass(frozen=True)
class InFigures:
    """Look of an algorithm in figures: name of its lines, their colour, and the shape of marks."""

    label: str
    colour: str
    shape: str


@functools.cache
def in_figures() -> Mapping[str, InFigures]:
    """Return how figures show the built-in algorithms, as far as their files declare it."""
    declared = {
        name: _IN_FIGURES.search(algorithm.code)
        for name, algorithm in catalogue.algorithms().items()
    }
    return {name: InFigures(*match.groups()) for name, match in declared.items() if match}


def algorithm_label(reference: str) -> str:
    """Name of ``algorithm[@preset]`` as the literature writes it, without its preset.

    Of a preset for some gains, such as ``ccpd@kumazoe2012-kp4-kd2000``, these stay: CCPD(4,2000).
    """
    name = reference.partition("@")[0]
    match = _GAINS.search(reference)
    gains = f"({','.join(re.findall('[0-9]+', match[1]))})" if match else ""
    shown = in_figures().get(name)
    return f"{shown.label if shown else name}{gains}"


def label_of(value: str) -> str:
    """Name an axis value: ``250mbit`` is 250 Mbit/s, ``htcp@li2007`` is H-TCP."""
    amount = amounts.number_of(value)
    if amount is None:
        return algorithm_label(value)
    unit, size = amount
    if unit == "value":
        return value
    if unit == "mbit" and size >= 1000:
        return f"{_plain(size / 1000)} Gbit/s"
    if unit in _SMALLER and 0 < size < Fraction(1, 10):
        return f"{_plain(size * 1000)} {_SMALLER[unit]}"
    return f"{_plain(size)} {UNITS[unit]}"


def labels_of(values: Iterable[str]) -> dict[str, str]:
    """Name axis values, each differently: the second of a label has the value with it.

    A file in a value has its path only if another has the same name. An algorithm without a preset
    has its label alone, else the first of its presets by name.
    """
    labels: dict[str, str] = {}
    ordered = list(dict.fromkeys(values))
    for value in sorted(ordered, key=lambda name: ("@" in name, name)):
        label = label_of(value)
        brief = catalogue.with_files(value, lambda file: PurePath(file).name)
        choices = (label, f"{label} ({brief})", f"{label} ({value})")
        labels[value] = next(name for name in choices if name not in labels.values())
    return {value: labels[value] for value in ordered}


def label_with_axis(axis: str, value: str) -> str:
    """Name an axis value where its axis is not in sight: a number without a unit with the axis."""
    amount = amounts.number_of(value)
    is_bare = amount is not None and amount[0] == "value"
    return f"{axis} {value}" if is_bare else label_of(value)


def _plain(size: Fraction) -> str:
    if size.denominator == 1 and size >= _SEPARATED:
        return f"{size.numerator:,}"
    return f"{float(size):.6g}"
