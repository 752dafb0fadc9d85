"""Checks of the kind `reference`: a bound, or what a reference has."""

from __future__ import annotations

from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from claim_inputs import NO, OPEN, YES, check, measured, problem_of, runs

OF: dict[str, Any] = {
    "type": "reference",
    "of": {"algorithm": "fast"},
    "to": {"algorithm": ["reno", "htcp"]},
}


def values(fast: float, reno: float, htcp: float, spread: float = 0.001) -> Any:
    by_name = {"fast": fast, "reno": reno, "htcp": htcp}
    return {
        (name, "42ms"): [value - spread, value, value + spread] for name, value in by_name.items()
    }


@pytest.mark.parametrize(
    ("fast", "reno", "htcp", "verdict"),
    [
        (0.5, 0.1, 0.1, YES),  # within the bound, whatever the references have
        (0.8, 0.1, 0.1, NO),  # beyond the bound and every reference
        (0.8, 0.1, 0.5, YES),  # within twice that of one of them
        (1.2, 0.1, 0.5, NO),
    ],
)
def test_the_widest_limit_counts(fast: float, reno: float, htcp: float, verdict: object) -> None:
    test = runs(values(fast, reno, htcp))
    assert measured(test, **OF, high=0.6, factor=2.0).verdict is verdict


@pytest.mark.parametrize(
    ("fast", "verdict"), [(0.95, YES), (0.5, NO), (0.75, YES)], ids=["bound", "neither", "least"]
)
def test_of_what_must_be_large_the_smallest_limit_counts(fast: float, verdict: object) -> None:
    test = runs(values(fast, 0.85, 0.99))
    assert measured(test, **OF, low=0.9, plus=-0.15).verdict is verdict


def test_an_algorithm_is_never_worse_than_itself() -> None:
    itself = {**OF, "to": {"algorithm": "fast"}}
    noisy = runs(values(0.9, 0.1, 0.1, spread=0.5), seeds=(1, 2, 3))
    assert measured(noisy, **itself, high=0.9).verdict is YES


def test_the_limit_of_a_finding_is_the_one_that_decides() -> None:
    noisy = runs(values(0.5, 0.1, 0.1, spread=0.2), seeds=(1, 2, 3))
    within_itself = {**OF, "to": {"algorithm": "fast"}, "plus": 0.05}
    result = measured(noisy, **within_itself, high=0.6)
    assert result.verdict is YES
    assert result.decisive is not None
    # The bound of 0.6 is wider, but runs from 0.3 to 0.7 do not decide whether they are within it.
    assert result.decisive.limit == pytest.approx(0.55)
    assert result.decisive.limiting == {"algorithm": "fast", "rtt": "42ms"}


def test_runs_that_cross_the_limit_decide_nothing() -> None:
    result = measured(runs(values(0.6, 0.1, 0.1, spread=0.2)), **OF, high=0.62)
    assert result.verdict is OPEN
    assert result.needs


def test_a_finding_says_by_which_reference_the_limit_is() -> None:
    result = measured(runs(values(0.8, 0.1, 0.5)), **OF, high=0.6, factor=2.0)
    assert result.detail == snapshot(
        "0.8 (0.797 to 0.803, 3 runs), where at most 1 agrees by H-TCP"
    )
    assert result.expected == snapshot("at most 0.6, or 2 times that of Standard TCP or H-TCP")


@pytest.mark.parametrize("bounds", [{}, {"low": 0.1, "high": 0.2}])
def test_there_is_one_bound(bounds: dict[str, float]) -> None:
    with pytest.raises(ValidationError) as refused:
        check(**OF, test="pair", quantity="ratio_min_max", **bounds)
    assert problem_of(refused.value) == snapshot(
        "high: needs either low or high; valid: one of both"
    )
