"""Each kind of check both ways, and what leaves a claim undecided."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import TypeAdapter, ValidationError

from dumbbell.analysis.metrics import metric
from dumbbell.analysis.theory import curve, formula
from dumbbell.claims import verdicts
from dumbbell.claims.checks import TestRuns, evaluate
from dumbbell.claims.evidence import CheckResult, Finding, number
from dumbbell.claims.verdicts import Verdict
from dumbbell.errors import InputError
from dumbbell.running.store import Store
from dumbbell.study import grid
from dumbbell.study.claim_spec import Check, Claim, Measured
from dumbbell.study.model import Study

AXES = {"algorithm": ("reno", "htcp", "fast"), "rtt": ("16ms", "42ms", "162ms")}

YES, NO, OPEN = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.NOT_DECIDABLE

Values = Mapping[tuple[str, str], Sequence[float | None]]


def runs(values: Values, *, also_planned: Sequence[tuple[str, str]] = ()) -> TestRuns:
    """Make the runs of a test from the values of one metric at each grid point."""
    rows = [
        {"algorithm": algorithm, "rtt": rtt, "ratio_min_max": value, "queue_bdp": 0.2}
        for (algorithm, rtt), found in values.items()
        for value in found
    ]
    planned = [dict(zip(AXES, point, strict=True)) for point in [*values, *also_planned]]
    schema = {"algorithm": pl.String, "rtt": pl.String, "ratio_min_max": pl.Float64}
    return TestRuns(AXES, planned, pl.DataFrame(rows, schema={**schema, "queue_bdp": pl.Float64}))


def _evaluated(keys: Mapping[str, Any], test: TestRuns) -> CheckResult:
    spec: Check = TypeAdapter(Check).validate_python(keys)
    return evaluate(spec, lambda _: test)


def check(**keys: Any) -> CheckResult:
    return _evaluated(keys, runs({}))


def measured(test: TestRuns, **keys: Any) -> CheckResult:
    return _evaluated({"test": "pair", "metric": "ratio_min_max", **keys}, test)


def steady(value: float) -> list[float]:
    return [value - 0.001, value, value + 0.001]


THREE = runs(
    {
        ("reno", "16ms"): steady(0.9),
        ("reno", "42ms"): steady(0.8),
        ("reno", "162ms"): steady(0.5),
        ("htcp", "16ms"): steady(0.95),
        ("htcp", "42ms"): steady(0.94),
        ("htcp", "162ms"): steady(0.96),
    }
)


def test_arithmetic() -> None:
    case = {"args": {"rate_mbit": 100, "rtt_ms": 82}, "expected": 683}
    keys: dict[str, Any] = {"type": "arithmetic", "formula": "bdp_packets"}
    assert check(**keys, tolerance=0.001, case=[case]).verdict == YES
    wrong = {**case, "expected": 700}
    result = check(**keys, tolerance=0.001, case=[case, wrong])
    assert result.verdict == NO
    assert result.decisive is not None
    assert result.decisive.value == pytest.approx(683.3, abs=0.1)
    with pytest.raises(InputError, match="rtt_ms"):
        check(**keys, case=[{"args": {"rate_mbit": 1, "rtt": 1}, "expected": 1}])


def test_parameters() -> None:
    right = {"bic@li2007": {"smax": 32, "b": 4}}
    assert check(type="parameters", presets=right).verdict == YES
    result = check(type="parameters", presets={"bic@li2007": {"smax": 32, "b": 5}})
    assert result.verdict == NO
    assert "bic@li2007: b" in result.detail
    with pytest.raises(InputError, match="smax"):
        check(type="parameters", presets={"bic": {"smaxx": 1}})


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({"low": 0.4}, YES),
        ({"low": 0.6}, NO),
        ({"low": 0.6, "quantifier": "most"}, YES),
        ({"low": 0.85, "quantifier": "most"}, NO),
        ({"low": 0.85, "quantifier": "any"}, YES),
        ({"low": 0.95, "quantifier": "any"}, NO),
        ({"low": 0.75, "high": 0.85, "quantifier": "median"}, YES),
        ({"high": 0.75, "quantifier": "median"}, NO),
        ({"high": 0.4985}, NO),
        ({"high": 0.4995, "of": "runs", "quantifier": "any"}, YES),
        ({"high": 0.49, "of": "runs", "quantifier": "any"}, NO),
    ],
)
def test_band(keys: dict[str, Any], verdict: Verdict) -> None:
    result = measured(THREE, type="band", where={"algorithm": "reno"}, **keys)
    assert result.verdict == verdict


def test_the_decisive_finding_is_the_worst_where_all_must_agree() -> None:
    result = measured(THREE, type="band", where={"algorithm": "reno"}, low=0.6)
    assert result.decisive is not None
    assert result.decisive.where == "reno, 162ms"
    assert result.decisive.value == pytest.approx(0.5)
    assert result.decisive.low is not None
    assert result.decisive.low < 0.5
    assert "2 of 3 agree" in result.detail


def test_a_band_needs_a_bound() -> None:
    with pytest.raises(ValidationError, match="low or high"):
        measured(THREE, type="band")


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({}, YES),
        ({"factor": 1.5, "quantifier": "any"}, YES),
        ({"factor": 1.5}, NO),
        ({"factor": 1.1, "quantifier": "most"}, YES),
        ({"factor": 1.5, "quantifier": "most"}, NO),
    ],
)
def test_order(keys: dict[str, Any], verdict: Verdict) -> None:
    result = measured(
        THREE, type="order", larger={"algorithm": "htcp"}, smaller={"algorithm": "reno"}, **keys
    )
    assert result.verdict == verdict
    assert len(result.findings) == 3
    back = measured(
        THREE, type="order", larger={"algorithm": "reno"}, smaller={"algorithm": "htcp"}, **keys
    )
    assert back.verdict == NO


def test_an_order_within_the_standard_error_does_not_count() -> None:
    close = runs({("reno", "16ms"): [0.1, 0.5, 0.9], ("htcp", "16ms"): [0.2, 0.6, 0.9]})
    groups = {"larger": {"algorithm": "htcp"}, "smaller": {"algorithm": "reno"}}
    assert measured(close, type="order", **groups).verdict == NO


def test_an_order_between_values_of_another_axis() -> None:
    groups = {"larger": {"rtt": "16ms"}, "smaller": {"rtt": "162ms"}}
    reno = {"algorithm": "reno"}
    assert measured(THREE, type="order", where=reno, **groups).verdict == YES
    assert measured(THREE, type="order", where={"algorithm": "htcp"}, **groups).verdict == NO


def test_nothing_is_smaller_than_something() -> None:
    none = runs({("reno", "16ms"): [0.1, 0.1], ("fast", "16ms"): [0.0, 0.0]})
    groups = {"larger": {"algorithm": "reno"}, "smaller": {"algorithm": "fast"}}
    assert measured(none, type="order", factor=3, **groups).verdict == YES
    swapped = {"larger": {"algorithm": "fast"}, "smaller": {"algorithm": "reno"}}
    assert measured(none, type="order", **swapped).verdict == NO


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({"low": 1, "high": 2}, YES),
        ({"low": 1.5}, NO),
        ({"low": 1.5, "quantifier": "any"}, YES),
        ({"high": 1.3, "quantifier": "median"}, YES),
    ],
)
def test_ratio(keys: dict[str, Any], verdict: Verdict) -> None:
    groups = {"of": {"algorithm": "htcp"}, "to": {"algorithm": "reno"}}
    assert measured(THREE, type="ratio", **groups, **keys).verdict == verdict


@pytest.mark.parametrize(
    ("algorithm", "keys", "verdict"),
    [
        ("reno", {"direction": "falling"}, YES),
        ("reno", {"direction": "rising"}, NO),
        ("reno", {"direction": "falling", "factor": 1.5}, YES),
        ("reno", {"direction": "falling", "factor": 2}, NO),
        # Rising from end to end, but with a step back that is more than chance.
        ("htcp", {"direction": "rising"}, NO),
    ],
)
def test_trend(algorithm: str, keys: dict[str, Any], verdict: Verdict) -> None:
    where = {"algorithm": algorithm}
    assert measured(THREE, type="trend", axis="rtt", where=where, **keys).verdict == verdict


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({"direction": "rising"}, YES),
        ({"direction": "falling"}, NO),
        ({"direction": "rising", "where": {"rtt": ["16ms", "42ms"]}}, YES),
    ],
)
def test_ratio_trend(keys: dict[str, Any], verdict: Verdict) -> None:
    """H-TCP over Reno: 1.06, 1.18, 1.92."""
    groups = {"of": {"algorithm": "htcp"}, "to": {"algorithm": "reno"}}
    result = measured(THREE, type="ratio-trend", axis="rtt", **groups, **keys)
    assert result.verdict == verdict
    assert len(result.findings) == 1


def test_the_groups_of_a_ratio_trend_leave_its_axis_open() -> None:
    keys = {"type": "ratio-trend", "axis": "rtt", "direction": "rising"}
    with pytest.raises(ValidationError, match="leave rtt open"):
        measured(THREE, **keys, of={"rtt": "16ms"}, to={"rtt": "42ms"})


def test_a_ratio_trend_within_the_standard_error_does_not_count() -> None:
    noisy = runs(
        {
            ("reno", "16ms"): [0.5, 0.6],
            ("htcp", "16ms"): [0.5, 0.9],
            ("reno", "42ms"): [0.5, 0.6],
            ("htcp", "42ms"): [0.6, 0.9],
        }
    )
    keys = {"type": "ratio-trend", "axis": "rtt", "direction": "rising"}
    groups = {"of": {"algorithm": "htcp"}, "to": {"algorithm": "reno"}}
    assert measured(noisy, **keys, **groups).verdict == NO
    single = runs({("reno", "16ms"): [0.5, 0.6], ("htcp", "16ms"): [0.5, 0.9]})
    assert measured(single, **keys, **groups).verdict == OPEN


def test_a_trend_forgives_steps_back_by_chance() -> None:
    noisy = runs(
        {
            ("reno", "16ms"): [0.1, 0.12],
            ("reno", "42ms"): [0.05, 0.14],
            ("reno", "162ms"): [0.8, 0.9],
        }
    )
    assert measured(noisy, type="trend", axis="rtt", direction="rising").verdict == YES


@pytest.mark.parametrize(("value", "verdict"), [(0.871, YES), (0.9, YES), (0.92, NO), (0.82, NO)])
def test_theory(value: float, verdict: Verdict) -> None:
    """The sawtooth with a queue of 20 % of the BDP: 0.871."""
    found = runs({("reno", "16ms"): steady(value)})
    result = measured(found, type="theory", theory="sawtooth_utilisation", tolerance=0.05)
    assert result.verdict == verdict
    assert result.decisive is not None
    assert result.decisive.value == pytest.approx(value / 0.871, abs=1e-3)


@pytest.mark.parametrize(("order", "verdict"), [((0.9, 0.6, 0.3), YES), ((0.3, 0.6, 0.9), NO)])
def test_ranking(order: tuple[float, float, float], verdict: Verdict) -> None:
    values: dict[tuple[str, str], list[float]] = {}
    for algorithm, one, other in zip(AXES["algorithm"], (0.8, 0.7, 0.1), order, strict=True):
        values[algorithm, "16ms"] = steady(one)
        values[algorithm, "42ms"] = steady(other)
    keys = {"type": "ranking", "axis": "rtt", "values": ("16ms", "42ms"), "low": 0.6}
    assert measured(runs(values), **keys).verdict == verdict


BAND = {"type": "band", "low": 0.5}


@pytest.mark.parametrize(
    ("test", "keys", "lack"),
    [
        (runs({}), BAND, "none of the grid points"),
        (runs({}, also_planned=[("reno", "16ms")]), BAND, "1 of 1 grid points have not been run"),
        (runs({("reno", "16ms"): [None, None]}), BAND, "fewer than 1 runs with a value"),
        (
            runs({("reno", "16ms"): [0.5], ("htcp", "16ms"): [0.9]}),
            {"type": "order", "larger": {"algorithm": "htcp"}, "smaller": {"algorithm": "reno"}},
            "fewer than 2 runs",
        ),
        (
            runs({("htcp", "16ms"): [0.9, 0.9]}),
            {"type": "ratio", "of": {"algorithm": "htcp"}, "to": {"algorithm": "reno"}, "low": 1},
            "no pairs",
        ),
        (
            runs({("reno", "16ms"): [0.9, 0.9]}),
            {"type": "trend", "axis": "rtt", "direction": "rising"},
            "fewer than two values",
        ),
        (
            runs({("fast", "16ms"): [0.9, 0.9], ("reno", "16ms"): [0.9, 0.9]}),
            {"type": "ranking", "axis": "rtt", "values": ("16ms", "42ms"), "low": 0.6},
            "fewer than three",
        ),
    ],
)
def test_what_is_lacking_leaves_a_check_undecided(
    test: TestRuns, keys: dict[str, Any], lack: str
) -> None:
    result = measured(test, **keys)
    assert result.verdict == OPEN
    assert lack in result.detail


def claim(*checks: dict[str, Any]) -> Claim:
    return Claim.model_validate(
        {
            "id": "E99",
            "source": "Fig. 0",
            "text": "Something holds.",
            "kind": "N",
            "expectation": "a number",
            "reason": "It is known why.",
            "check": [{"test": "pair", "metric": "ratio_min_max", **keys} for keys in checks],
        }
    )


GOOD = {"type": "band", "where": {"algorithm": "reno"}, "low": 0.4}
BAD = {"type": "band", "where": {"algorithm": "reno"}, "low": 0.6}
UNKNOWN = {"type": "band", "where": {"algorithm": "fast"}, "low": 0.6}


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([GOOD], YES),
        ([GOOD, BAD], NO),
        ([GOOD, UNKNOWN], OPEN),
        ([UNKNOWN, BAD], NO),
    ],
)
def test_a_claim_holds_if_all_its_checks_do(checks: list[dict[str, Any]], verdict: Verdict) -> None:
    result = verdicts.judge(claim(*checks), lambda _: THREE)
    assert result.verdict == verdict
    assert result.decisive.verdict == verdict
    assert result.reason == ("" if verdict == YES else "It is known why.")
    assert result.as_dict()["verdict"] == verdict.value


def test_the_measured_value_has_its_interval_and_place() -> None:
    result = verdicts.judge(claim(BAD), lambda _: THREE)
    assert result.measured.startswith("0.5 (0.49")
    assert result.measured.endswith("at reno, 162ms")


def test_errors_name_the_claim() -> None:
    with pytest.raises(InputError, match=r"claim E99.check.0.*ratio_min_mx"):
        verdicts.judge(claim({**GOOD, "metric": "ratio_min_mx"}), lambda _: THREE)


class TestLi2007:
    """The claims of the study that comes with Dumbbell."""

    study = Study.load("li2007")

    def test_without_runs_only_arithmetic_is_decided(self, tmp_path: Path) -> None:
        results = verdicts.evaluate(self.study, Store(tmp_path))
        decided = {result.claim.id for result in results if result.verdict != OPEN}
        assert decided == {"E01", "E02", "E23", "E41", "E42", "E44", "E46"}
        assert {r.claim.kind for r in results if r.claim.id in decided} == {"ARITH"}
        assert all(r.verdict == YES for r in results if r.claim.kind == "ARITH")

    def test_names_exist(self) -> None:
        for stated in self.study.claims:
            for spec in stated.checks:
                if isinstance(spec, Measured):
                    assert metric(spec.metric)
                    points = [point.axes for point in self.study.points(spec.test)]
                    for where in spec.selections:
                        assert any(grid.matches(point, where) for point in points)
                if spec.type == "theory":
                    assert curve(spec.theory)
                if spec.type == "arithmetic":
                    assert callable(formula(spec.formula))


def test_a_ratio_to_nothing_is_valid_json() -> None:
    finding = Finding("fast", math.inf, agrees=True, margin=math.inf)
    result = CheckResult(Verdict.REPRODUCED, "larger", "∞ at fast", finding, (finding,))
    text = json.dumps(result.as_dict(), allow_nan=False)
    assert json.loads(text)["measured"] is None
    assert number(math.inf) == "∞"
