"""Words and numbers as readers see them."""

from __future__ import annotations

import pytest

from dumbbell.figures.labels import label_of, listing, number, with_spread


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
        ("1e-7", "1e-7"),
        ("htcp@li2007", "H-TCP"),
        ("mine", "mine"),
    ],
)
def test_axis_values_have_units(value: str, label: str) -> None:
    assert label_of(value) == label


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [
        (230.6, 27.1, "231 ± 27"),
        (0.99841, 0.0017, "0.9984 ± 0.0017"),
        (1, 0, "1.000 ± 0.000"),
        (2.06e-6, 2.6e-7, "2.06e-06 ± 2.6e-07"),
        (0.0, 0.0, "0 ± 0"),
        (3.14159, None, "3.142"),
        (None, None, "–"),
    ],
)
def test_means_have_the_digits_that_their_spread_allows(
    mean: float | None, spread: float | None, text: str
) -> None:
    assert with_spread(mean, spread) == text


def test_numbers_and_lists() -> None:
    assert [number(value) for value in (None, 0.1234, 123456.0, 0)] == ["–", "0.123", "123456", "0"]
    assert [listing(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
