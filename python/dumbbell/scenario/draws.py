"""Random numbers from hashes: the same for a seed on any machine and with any Python.

A draw is a function of the seed and of its purpose, so one flow more or less does not change it.
Logarithms, roots and powers are those of `decimal`, which rounds them correctly; those of a
mathematical library may differ in their last digit from one machine to the next.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal
from fractions import Fraction
from typing import Final

from dumbbell.scenario.logarithms import DIGITS, ln

_PARTS: Final = 2**64
"""Equal parts of a range, of which a draw takes one."""


def integer(span: int, *purpose: object) -> int:
    """Draw a whole number from 0 up to, but not including, `span`."""
    # 256 random bits against at most 64: the bias of the remainder is below 2^-190.
    return _bits(*purpose) % span


def share(*purpose: object) -> Fraction:
    """Draw a number between 0 and 1, both excluded."""
    # An odd numerator over 2^65 is the middle of one of 2^64 equal parts: never 0, of which there
    # is no logarithm, and never 1.
    return Fraction(_odd(*purpose), 2 * _PARTS)


def exponential(*purpose: object) -> Decimal:
    """Draw an exponentially distributed number of mean 1."""
    return -ln(decimal(share(*purpose)))


def normal(*purpose: object) -> Decimal:
    """Draw a normally distributed number of mean 0 and deviation 1 (Marsaglia's polar method)."""
    attempt = 0
    while True:
        # Between -1 and 1: twice a `share`, less 1. As numerators, as fractions take far longer.
        across = _odd(*purpose, attempt, "across") - _PARTS
        along = _odd(*purpose, attempt, "along") - _PARTS
        square = across * across + along * along
        if square < _PARTS * _PARTS:
            radius = DIGITS.divide(Decimal(square), Decimal(_PARTS * _PARTS))
            factor = DIGITS.divide(-2 * ln(radius), radius)
            drawn = DIGITS.divide(Decimal(across), Decimal(_PARTS))
            return DIGITS.multiply(drawn, DIGITS.sqrt(factor))
        attempt += 1


def power(exponent: Decimal) -> Decimal:
    """Return e to the power of `exponent`."""
    return DIGITS.exp(exponent)


def logarithm(value: Decimal) -> Decimal:
    """Return the natural logarithm."""
    return DIGITS.ln(value)


def decimal(value: Fraction) -> Decimal:
    """Return a fraction as a decimal of all digits that count here."""
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def _odd(*purpose: object) -> int:
    """Draw an odd number between 0 and twice `_PARTS`."""
    return 2 * (_bits(*purpose) >> 192) + 1


def _bits(*purpose: object) -> int:
    text = " ".join(["dumbbell", *map(str, purpose)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
