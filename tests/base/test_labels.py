"""Words and numbers as readers see them."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.algorithms.labels import label_of, label_with_axis
from dumbbell.base.labels import (
    UNBOUNDED,
    brief_interval,
    listing,
    number,
    with_interval,
)

SHARE = (0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("250mbit", "250 Mbit/s"),
        ("1gbit", "1 Gbit/s"),
        ("42ms", "42 ms"),
        ("0.2bdp", "0.2 BDP"),
        ("175p", "175 packets"),
        ("1000p", "1000 packets"),
        ("2340000p", "2,340,000 packets"),
        ("1.5mb", "1.5 MB"),
        ("150kb", "0.15 MB"),
        ("10kb", "10 kB"),
        ("7.5us", "7.5 µs"),
        ("0us", "0 ms"),
        ("1e-7", "1e-7"),
        ("htcp@li2007", "H-TCP"),
        ("mine", "mine"),
    ],
)
def test_axis_values_have_units(value: str, label: str) -> None:
    assert label_of(value) == label


def test_a_number_without_a_unit_is_named_with_its_axis() -> None:
    assert label_with_axis("load", "3") == "load 3"
    assert label_with_axis("rtt", "42ms") == "42 ms"
    assert label_with_axis("algorithm", "cubic@brakmo2017") == "CUBIC"


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (230.6, 27.1, "231 ± 27"),
        (0.99841, 0.0017, "0.9984 ± 0.0017"),
        (1, 0, "1 ± 0"),
        (1, 4e-7, "1 ± 0"),
        (9.49875, 1e-9, "9.499 ± 0"),
        (1, 6e-7, "1.000 ± 0.001"),
        (96.5296, 0.0023, "96.53 ± 0.01"),
        (100, 0.00012, "100.0 ± 0.1"),
        (2.06e-6, 2.6e-7, "2.06e-6 ± 2.6e-7"),
        (0.0, 0.0, "0 ± 0"),
        (3.14159, None, "3.142"),
        (-2.06, 0.5, "−2.06 ± 0.50"),
        (None, None, "–"),
    ],
)
def test_means_have_the_digits_that_their_interval_allows(
    mean: float | None, half: float | None, text: str
) -> None:
    ends = (None, None) if mean is None or half is None else (mean - half, mean + half)
    assert with_interval(mean, *ends) == text


@given(st.floats(-1e9, 1e9), st.floats(0, 1e6))
def test_no_interval_is_a_row_of_zeros(mean: float, half: float) -> None:
    shown = with_interval(mean, mean - half, mean + half)
    width = shown.partition(" ± ")[2]
    assert width == "0" or any(digit in "123456789∞" for digit in width) or "to" in shown


def test_an_interval_that_is_not_symmetric_is_written_out() -> None:
    assert with_interval(0.95, 0.8, 1.0) == "0.95 (0.80 to 1.00)"


@pytest.mark.parametrize(
    ("interval", "bounds", "whole", "brief"),
    [
        ((0.98, 0.90, 1.06), SHARE, "0.980 (0.900 to 1.000)", "0.98 (0.90–1)"),
        ((0.9998, 0.9991, 1.0005), SHARE, "0.9998 (0.9991 to 1.0000)", "1.00 (0.99–1)"),
        ((99.9, 99.8, 100.0), (0.0, 100.0), "99.90 ± 0.10", "99.9 ± 0.1"),
        ((0.003, -0.001, 0.007), (0.0, 100.0), "0.0030 (0.0000 to 0.0070)", "0.00 (0–0.01)"),
        ((2.0, -1.0, 5.0), (0.0, math.inf), "2.0 (0.0 to 5.0)", "2 (0–5)"),
        ((2.0, -1.0, 5.0), UNBOUNDED, "2.0 ± 3.0", "2 ± 3"),
        ((95.0, -20.0, 210.0), (-math.inf, 100.0), "95 (−20 to 100)", "95 (−20 to 100)"),
        # What a clock took beyond a bound stays within its interval.
        ((1.01, 0.99, 1.03), SHARE, "1.010 (0.990 to 1.010)", "1.01 (0.99–1.01)"),
    ],
)
def test_an_interval_ends_at_the_bounds_of_its_quantity(
    interval: tuple[float, float, float], bounds: tuple[float, float], whole: str, brief: str
) -> None:
    assert with_interval(*interval, bounds=bounds) == whole
    assert brief_interval(*interval, bounds=bounds) == brief


@pytest.mark.parametrize("render", [with_interval, brief_interval])
@pytest.mark.parametrize(
    ("mean", "low", "high"),
    [
        (4.446, -math.inf, math.inf),
        (4.446, 1.0, math.inf),
        (4.446, None, None),
        (math.inf, math.inf, math.inf),
        (None, None, None),
    ],
)
def test_runs_that_say_no_interval_have_none(
    render: Callable[[float | None, float | None, float | None], str],
    mean: float | None,
    low: float | None,
    high: float | None,
) -> None:
    """One run bounds nothing: its interval is infinite."""
    assert render(mean, low, high) == number(mean, 4)


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (19.21498, 19.21328, 19.21668, "19.21 ± 0.01"),
        (20.4, 17.9, 23.7, "20 ± 4"),
        (0.3359, 0.301, 0.371, "0.34 ± 0.04"),
        (-49.4, -61.3, -38.2, "−49 ± 12"),
        (-0.02, -0.2, 0.2, "0.0 ± 0.3"),
        (1090.2, 1011.9, 1168.5, "1090 ± 79"),
        (100.0, 100.0, 100.0, "100"),
        (8.0, -6.0, 22.0, "8 ± 14"),
        (0.0002, -0.0004, 0.0008, "0.00 ± 0.01"),
    ],
)
def test_a_narrow_table_has_the_farther_end_of_an_interval(
    mean: float, low: float, high: float, text: str
) -> None:
    assert brief_interval(mean, low, high) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.0123456, "0.0123"),
        (0.000123456, "1.23e-4"),
        (1e-8, "1e-8"),
        (9413.7, "9414"),
        (123456.0, "123456"),
        (999999.7, "1000000"),
        (12345678.0, "1.23e7"),
        (-1.5, "−1.5"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (None, "–"),
    ],
)
def test_numbers_keep_their_whole_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_lists_are_joined_as_in_a_sentence() -> None:
    assert [listing(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
