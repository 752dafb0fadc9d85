"""Small pictures of intervals against bounds."""

from __future__ import annotations

import math
import re

import pytest

from dumbbell.inference import statistics
from dumbbell.judging.evidence import CheckQuestion, CheckResult, Finding, Verdict
from dumbbell.reports import glyphs
from dumbbell.reports.glyphs import Line

CHECK = CheckQuestion("number", "all", "grid points", "goodput", "at least 0.8")


def check(finding: Finding | None) -> CheckResult:
    return CheckResult(CHECK, Verdict.CONTRADICTED, "", decisive=finding)


def places(svg: str, shape: str, *names: str) -> list[tuple[float, ...]]:
    """Return attributes of all shapes of a class."""
    tags = re.findall(rf'<\w+ class="{shape}"[^>]*>', svg)
    return [
        tuple(float(re.search(rf' {name}="([^"]*)"', tag)[1]) for name in names)  # type: ignore[index]
        for tag in tags
    ]


def test_an_interval_lies_left_of_a_lower_bound_that_it_misses() -> None:
    estimate = statistics.mean([0.70, 0.71, 0.72, 0.73])
    svg = glyphs.of_check(check(Finding(estimate, "", low=0.8)))
    ((left, right),) = places(svg, "interval", "x1", "x2")
    ((value,),) = places(svg, "value", "cx")
    ((bound,),) = places(svg, "bound", "x1")
    ((begin, width),) = places(svg, "beyond", "x", "width")
    assert 0 < left < value < right < bound
    assert (begin, width) == (0, bound)
    assert 'aria-label="0.715 (0.6945 to 0.7355) against at least 0.8"' in svg


def test_an_interval_ends_where_its_quantity_does() -> None:
    estimate = statistics.mean([0.9, 0.95, 1.0])
    svg = glyphs.of_check(check(Finding(estimate, "", low=0.8, bounds=(0.0, 1.0))))
    assert 'aria-label="0.95 (0.8258 to 1) against at least 0.8"' in svg


def test_between_two_bounds_the_middle_is_white() -> None:
    estimate = statistics.mean([1.0, 1.02, 0.98, 1.01])
    svg = glyphs.of_check(check(Finding(estimate, "", low=0.9, high=1.11)))
    (first, _), (begin, width) = places(svg, "beyond", "x", "width")
    assert first == 0
    assert begin + width == pytest.approx(132)
    ((value,),) = places(svg, "value", "cx")
    (low,), (high,) = places(svg, "bound", "x1")
    assert low < value < high
    assert "against 0.9 to 1.11" in svg


def test_a_wide_interval_does_not_hide_the_distance_to_the_bound() -> None:
    """Of two runs it is 12.7 standard errors long: it ends at the edges."""
    svg = glyphs.draw([Line(0.5, -40, 60)], 0.6, math.inf, "x")
    ((left, right),) = places(svg, "interval", "x1", "x2")
    ((value,),) = places(svg, "value", "cx")
    ((bound,),) = places(svg, "bound", "x1")
    assert (left < 12, right > 120) == (True, True)
    assert bound - value > 20


def test_without_a_finding_or_a_bound_there_is_no_picture() -> None:
    estimate = statistics.mean([1.0, 2.0])
    assert glyphs.of_check(check(None)) == ""
    assert glyphs.of_check(check(Finding(estimate, ""))) == ""
    infinite = statistics.ratio([1.0, 1.0], [0.0, 0.0])
    assert glyphs.of_check(check(Finding(infinite, "", low=1))) == ""


def test_labels_are_escaped() -> None:
    assert "<b>" not in glyphs.draw([Line(1, 1, 1)], 0, 2, "<b>")
