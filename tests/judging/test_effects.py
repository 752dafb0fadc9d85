"""Ours / theirs: for values, limits and ranges, and its summary."""

from __future__ import annotations

import math

import pytest

from dumbbell.judging.authors import Kind, Stated
from dumbbell.judging.effects import Effect, summary


@pytest.mark.parametrize(
    ("low", "high", "kind", "measured", "ratio"),
    [
        (4.0, 4.0, "value", 3.0, 0.75),
        (4.0, 4.0, "value", 4.0, 1.0),
        (4.0, math.inf, "at least", 9.0, 1.0),
        (4.0, math.inf, "at least", 2.0, 0.5),
        (-math.inf, 4.0, "at most", 0.0, 1.0),
        (-math.inf, 4.0, "at most", 6.0, 1.5),
        (2.0, 4.0, "range", 3.0, 1.0),
        (2.0, 4.0, "range", 1.0, 0.5),
        (2.0, 4.0, "range", 8.0, 2.0),
    ],
)
def test_a_limit_or_a_range_is_kept_or_missed_by_its_nearer_end(
    low: float, high: float, kind: Kind, measured: float, ratio: float
) -> None:
    stated = Stated(low, high, "")
    assert stated.kind == kind
    assert stated.over(measured) == ratio


def effect(ratio: float, kind: Kind = "value") -> Effect:
    return Effect("A01", "", "", "", kind, ratio, math.nan, math.nan, ())


def test_only_measured_values_are_summarised() -> None:
    effects = [effect(ratio) for ratio in (0.4, 0.8, 1.2, 1.9, math.nan)]
    effects += [effect(1.0, "at most"), effect(3.0, "range"), effect(math.nan, "at least")]
    total = summary(effects)
    assert total.values == 4
    assert total.median == 1.0
    assert total.within == {1.25: 2, 2.0: 3}
    assert (total.limits, total.kept) == (2, 1)


def test_without_runs_there_is_no_median() -> None:
    assert math.isnan(summary([effect(math.nan)]).median)
