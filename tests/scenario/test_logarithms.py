"""The logarithm of what is drawn: to the last digit that of `decimal`."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.scenario import draws, logarithms
from dumbbell.scenario.logarithms import DIGITS, ln


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_of_everything_that_can_be_drawn(drawn: int) -> None:
    value = draws.decimal(Fraction(2 * drawn + 1, 2**65))
    assert str(ln(value)) == str(DIGITS.ln(value))


@pytest.mark.parametrize(
    "value", ["0." + 27 * "0" + "1", "0." + 28 * "9", "0.5", "1", "0.1", "3.7", "1e-60", "1e30"]
)
def test_of_the_smallest_the_largest_and_others(value: str) -> None:
    assert str(ln(Decimal(value))) == str(DIGITS.ln(Decimal(value)))


def test_decimal_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """For draws it never is, or nothing would be gained."""
    values = [draws.decimal(draws.share("a", number)) for number in range(1000)]
    expected = [DIGITS.ln(value) for value in values]
    ln(values[0])
    monkeypatch.setattr(logarithms, "DIGITS", _WithoutLogarithm(prec=28))
    assert [ln(value) for value in values] == expected


class _WithoutLogarithm(Context):
    """Rounds, but knows no logarithms."""

    def ln(self, x: Decimal | int, /) -> Decimal:
        raise AssertionError(x)


def test_doubt_is_left_to_decimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logarithms, "_DOUBT", 1 << 199)
    value = Decimal("0.3")
    assert ln(value) == DIGITS.ln(value)
