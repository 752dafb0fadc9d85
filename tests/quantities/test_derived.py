"""Quantities that a study derives from others, also of another grid point or missing runs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from dumbbell.base.errors import InputError
from dumbbell.base.validation import validate
from dumbbell.quantities.derived import Derived, added, columns

AXES = ("algorithm", "rtt")
RUNS = pl.DataFrame(
    {
        "algorithm": ["reno", "reno", "htcp", "htcp", "reno"],
        "rtt": ["10ms", "10ms", "10ms", "10ms", "20ms"],
        "repetition": [0, 1, 0, 1, 0],
        "goodput_mbit_per_s[1]": [4.0, 5.0, 8.0, 9.0, 6.0],
        "goodput_mbit_per_s[2]": [2.0, 0.0, 4.0, None, 3.0],
        "rtt_mean_ms": [10.0, 20.0, 30.0, 40.0, 50.0],
    }
)
FIRST, SECOND = "goodput_mbit_per_s[1]", "goodput_mbit_per_s[2]"


def derived(way: str, *operands: Any, **keys: Any) -> Derived:
    return validate(Derived, {"name": "it", "title": "it", way: list(operands), **keys})


def values(way: str, *operands: Any) -> list[float | None]:
    return added(RUNS, AXES, derived(way, *operands))["it"].to_list()


def near(*expected: float | None) -> Any:
    return [None if number is None else pytest.approx(number) for number in expected]


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("ratio", (2, None, 2, None, 2)),
        ("difference", (2, 5, 4, None, 3)),
        ("share", (4 / 6, 1, 8 / 12, None, 6 / 9)),
        ("maximum", (4, 5, 8, None, 6)),
        ("gain", (1, None, 1, None, 1)),
        ("harm", (-1, None, -1, None, -1)),
    ],
)
def test_every_way(way: str, expected: tuple[float | None, ...]) -> None:
    """Nothing is divided by 0, and of what is missing nothing is derived."""
    assert values(way, FIRST, SECOND) == near(*expected)


def test_ratios_of_two_flows_both_ways() -> None:
    assert values("ratio", FIRST, SECOND)[0] == 2
    assert values("ratio", SECOND, FIRST) == near(0.5, 0, 0.5, None, 0.5)


def test_another_grid_point_is_that_of_the_same_repetition() -> None:
    at_reno = {"quantity": FIRST, "at": {"algorithm": "reno"}}
    assert values("ratio", FIRST, at_reno) == near(1, 1, 2, 1.8, 1)
    assert values("difference", {"quantity": FIRST}, at_reno) == near(0, 0, 4, 4, 0)


def test_a_point_without_runs_derives_nothing() -> None:
    at_htcp = {"quantity": FIRST, "at": {"algorithm": "htcp"}}
    # At 20 ms there is no run of H-TCP.
    assert values("ratio", FIRST, at_htcp) == near(0.5, 5 / 9, 1, 1, None)
    elsewhere = {"quantity": FIRST, "at": {"algorithm": "htcp", "rtt": "10ms"}}
    assert values("ratio", FIRST, elsewhere) == near(0.5, 5 / 9, 1, 1, 6 / 8)
    nowhere = {"quantity": FIRST, "at": {"algorithm": "bic"}}
    assert values("ratio", FIRST, nowhere) == [None] * 5


def test_harm_is_what_the_better_end_lost() -> None:
    """Of goodput more is better, of round-trip times less."""
    alone = {"quantity": FIRST, "at": {"algorithm": "htcp"}}
    assert values("harm", FIRST, alone) == near(0.5, 4 / 9, 0, 0, None)
    calm = {"quantity": "rtt_mean_ms", "at": {"algorithm": "reno"}}
    assert values("harm", "rtt_mean_ms", calm) == near(0, 0, 2 / 3, 0.5, 0)


def test_an_empty_table_stays_empty() -> None:
    frame = added(RUNS.clear(), AXES, derived("ratio", FIRST, SECOND))
    assert frame.columns == [*RUNS.columns, "it"]
    assert frame.is_empty()


def test_what_has_to_be_taken() -> None:
    definitions = {"it": derived("ratio", FIRST, SECOND)}
    assert list(columns(["jain", "it", FIRST], definitions)) == ["jain", FIRST, SECOND, FIRST]


def test_units() -> None:
    assert derived("ratio", FIRST, SECOND).shown_unit == ""
    assert derived("difference", FIRST, SECOND).shown_unit == "Mbit/s"
    assert derived("maximum", FIRST, SECOND).shown_unit == "Mbit/s"
    assert derived("ratio", FIRST, SECOND, unit="x").shown_unit == "x"


@pytest.mark.parametrize(
    ("table", "key", "problem"),
    [
        ({}, "ratio", "is derived in no way"),
        ({"ratio": [FIRST, SECOND], "gain": [FIRST, SECOND]}, "gain", "in several ways"),
        ({"ratio": [FIRST]}, "ratio", ""),
        ({"ratio": [FIRST, SECOND, FIRST]}, "ratio", ""),
        ({"ratio": [FIRST, {"at": {}}]}, "ratio.2.quantity", "missing"),
        ({"ratio": [FIRST, SECOND], "name": "Two words"}, "name", ""),
        ({"quotient": [FIRST, SECOND]}, "quotient", "unknown key"),
    ],
)
def test_wrong_tables_are_refused(table: dict[str, Any], key: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(Derived, {"name": "it", "title": "it", **table})
    errors = [caught.value, *caught.value.others]
    assert any((error.key or "").startswith(key) and problem in str(error) for error in errors), (
        errors
    )
