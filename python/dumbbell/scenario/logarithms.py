"""The natural logarithm to 28 digits, as `decimal` rounds it, in a fifth of the time.

Each flow that arrives at random takes one or two. Integers stand for multiples of 2^-200: a number
is reduced to between 1 - 2^-7 and 1 + 2^-7 by a power of two and a table, and a series gives the
rest. All that leaves less than 2^-190 of doubt; where that could change the last digit, `decimal`
decides.
"""

from __future__ import annotations

import functools
from decimal import Context, Decimal
from typing import Final

DIGITS: Final = Context(prec=28)

_BITS: Final = 200
_ONE: Final = 1 << _BITS
_UNIT: Final = Decimal(_ONE)
_DOUBT: Final = 1 << 10

_TABLE_BITS: Final = 6
_SCALE_DIGITS: Final = 48
"""What is drawn is more than 2^-65 and has 28 digits: times 10^48 it is whole."""

# Of the series of the inverse hyperbolic tangent; the first that is left out is below 2^-200.
_COEFFICIENTS: Final = tuple(_ONE // odd for odd in range(25, 0, -2))


def ln(value: Decimal) -> Decimal:
    """Return the natural logarithm of a number of at most 28 digits, correctly rounded."""
    scaled = value.scaleb(_SCALE_DIGITS, DIGITS)
    whole = int(scaled)
    # What has more digits than these is left to `decimal`, which is slower.
    if not 0 < whole < _ONE or whole != scaled:
        return DIGITS.ln(value)
    logarithm = _ln(whole) - _SCALE_DIGITS * _constants()[1]
    # The sum may be off by its last bits. Where both ends round to the same digits, that is the
    # result; else `decimal` computes it.
    low, high = (DIGITS.divide(Decimal(logarithm + doubt), _UNIT) for doubt in (-_DOUBT, _DOUBT))
    return low if low == high else DIGITS.ln(value)


def _ln(whole: int) -> int:
    """Return the logarithm of a whole number in multiples of 2^-200."""
    exponent = whole.bit_length() - 1
    mantissa = whole << (_BITS - exponent)
    # A near reciprocal brings the rest close to 0, where the series needs few terms.
    inverse, logarithm = _table()[(mantissa >> (_BITS - _TABLE_BITS)) & (2**_TABLE_BITS - 1)]
    rest = (mantissa * inverse >> _BITS) - _ONE
    # ln(1 + rest) is twice the inverse hyperbolic tangent of this.
    ratio = (rest << _BITS) // (2 * _ONE + rest)
    square = ratio * ratio >> _BITS
    series = 0
    for coefficient in _COEFFICIENTS:
        series = (series * square >> _BITS) + coefficient
    return exponent * _constants()[0] - logarithm + 2 * (series * ratio >> _BITS)


@functools.cache
def _constants() -> tuple[int, int]:
    """Return the logarithms of 2 and of 10."""
    return _exact(Decimal(2)), _exact(Decimal(10))


@functools.cache
def _table() -> list[tuple[int, int]]:
    """Return near reciprocals of the numbers from 1 to 2, and their logarithms."""
    parts = 2 ** (_TABLE_BITS + 1)
    inverses = [_ONE * parts // (parts + 2 * part + 1) for part in range(parts // 2)]
    wide = Context(prec=80)
    return [(inverse, _exact(wide.divide(Decimal(inverse), _UNIT))) for inverse in inverses]


def _exact(value: Decimal) -> int:
    wide = Context(prec=80)
    return int(wide.multiply(wide.ln(value), _UNIT).to_integral_value())
