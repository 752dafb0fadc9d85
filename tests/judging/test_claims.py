"""Each kind of check both ways and undecided, quantifiers, and missing runs."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from claim_inputs import (
    AXES,
    GOOD,
    NO,
    NOISY,
    OPEN,
    RATIOS,
    THREE,
    YES,
    check,
    measured,
    problem_of,
    runs,
    steady,
)
from dumbbell.judging.evidence import Need, State, Verdict
from dumbbell.judging.runs import TestRuns


def test_arithmetic() -> None:
    case = {"args": {"rate_mbit": 100, "rtt_ms": 82}, "expected": 683}
    keys: dict[str, Any] = {"type": "arithmetic", "formula": "bdp_packets"}
    assert check(**keys, tolerance=0.001, case=[case]).verdict == YES
    assert check(**keys, tolerance=0.0001, case=[case]).verdict == NO
    wrong = {**case, "expected": 700}
    result = check(**keys, tolerance=0.001, case=[case, wrong])
    assert result.verdict == NO
    assert result.question.statement == "arithmetic"
    assert result.decisive is not None
    assert result.decisive.estimate.value == pytest.approx(683.3, abs=0.1)


def test_wrong_arguments_are_refused_when_they_are_read() -> None:
    keys: dict[str, Any] = {"type": "arithmetic", "formula": "bdp_packets"}
    with pytest.raises(ValidationError, match="rtt_ms"):
        check(**keys, case=[{"args": {"rate_mbit": 1, "rtt": 1}, "expected": 1}])
    nothing = {"args": {"queue_bdp": -1}, "expected": 1}
    with pytest.raises(ValidationError) as refused:
        check(type="arithmetic", formula="exponential_utilisation", case=[nothing])
    assert problem_of(refused.value) == snapshot(
        "case.1.args = { queue_bdp = -1 }: exponential_utilisation has no value for them"
    )


def test_nothing_can_be_expected() -> None:
    case = {"args": {"rate_mbit": 100, "rtt_ms": 0}, "expected": 0}
    assert check(type="arithmetic", formula="bdp_packets", case=[case]).verdict == YES


def test_parameters() -> None:
    right = {"bic@li2007": {"smax": 32, "b": 4}}
    assert check(type="parameters", presets=right).verdict == YES
    for wrong in (3, 5):
        result = check(type="parameters", presets={"bic@li2007": {"smax": 32, "b": wrong}})
        assert result.verdict == NO
        assert "b = 4 at bic@li2007" in result.detail


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({"low": 0.4}, YES),
        ({"low": 0.6}, NO),
        ({"low": 0.499}, OPEN),
        ({"high": 0.95}, YES),
        ({"high": 0.899}, OPEN),
        ({"high": 0.89}, NO),
        ({"low": 0.6, "quantifier": "most"}, YES),
        ({"low": 0.85, "quantifier": "most"}, NO),
        ({"low": 0.8, "quantifier": "most"}, OPEN),
        ({"low": 0.85, "quantifier": "any"}, YES),
        ({"low": 0.95, "quantifier": "any"}, NO),
        ({"low": 0.9, "quantifier": "any"}, OPEN),
        ({"low": 0.75, "high": 0.85, "quantifier": "median"}, YES),
        ({"high": 0.75, "quantifier": "median"}, NO),
        ({"high": 0.8, "quantifier": "median"}, OPEN),
        # The median lies between the bounds though no two of the three points do.
        ({"low": 0.75, "high": 0.85, "quantifier": "most"}, NO),
        ({"high": 0.4995, "statistic": "best", "quantifier": "any"}, YES),
        ({"high": 0.49, "statistic": "best", "quantifier": "any"}, NO),
        ({"low": 0.4985, "statistic": "worst"}, YES),
        ({"low": 0.4995, "statistic": "worst"}, NO),
        ({"low": 0.4, "statistic": "median"}, OPEN),
    ],
)
def test_band(keys: dict[str, Any], verdict: Verdict) -> None:
    result = measured(THREE, type="band", where={"algorithm": "reno"}, **keys)
    assert result.verdict == verdict


def test_half_is_not_most() -> None:
    """Of four values two are at least 0.9: neither most of them nor their median."""
    where = {"rtt": ["16ms", "42ms"]}
    for quantifier in ("most", "median"):
        result = measured(THREE, type="band", where=where, low=0.92, quantifier=quantifier)
        assert result.verdict == NO
        result = measured(THREE, type="band", where=where, low=0.85, quantifier=quantifier)
        assert result.verdict == YES


SKEWED = runs({("reno", "16ms"): [0.1, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.87, 0.88]})


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({"low": 0.75, "statistic": "median"}, YES),
        ({"low": 0.75}, OPEN),
        ({"low": 0.85, "statistic": "median"}, OPEN),
        ({"low": 0.9, "statistic": "median"}, NO),
        ({"high": 0.9, "statistic": "q25"}, YES),
        ({"low": 0.05, "statistic": "q25"}, OPEN),
        ({"low": 0.05, "statistic": "worst"}, YES),
        ({"low": 0.75, "statistic": "worst"}, NO),
        ({"high": 0.5, "statistic": "best"}, YES),
        ({"high": 0.05, "statistic": "best"}, NO),
    ],
)
def test_a_bound_may_be_asked_of_several_statistics(keys: dict[str, Any], verdict: Verdict) -> None:
    assert measured(SKEWED, type="band", **keys).verdict == verdict


@pytest.mark.parametrize("statistic", ["q", "q999", "lowest", ""])
def test_other_statistics_are_refused(statistic: str) -> None:
    with pytest.raises(ValidationError) as refused:
        measured(SKEWED, type="band", low=0.5, statistic=statistic)
    problem = problem_of(refused.value).removeprefix(f'"{statistic}": ')
    assert problem == snapshot(
        'not a statistic of runs; valid: "mean", "median", "q25", "worst", "best"'
    )


def test_a_single_run_can_only_be_a_counterexample_or_an_example() -> None:
    one = runs({("reno", "16ms"): [0.5]})
    worst, best = ({"type": "band", "statistic": statistic} for statistic in ("worst", "best"))
    assert measured(one, **worst, low=0.6).verdict == NO
    assert measured(one, **worst, low=0.4).verdict == OPEN
    assert measured(one, **best, low=0.4).verdict == YES
    assert measured(one, **best, low=0.6).verdict == OPEN
    result = measured(one, type="band", low=0.4)
    assert result.verdict == OPEN
    assert result.detail == snapshot(
        "0.5 (1 run, no interval); needs at least 2 runs of 1 grid point"
    )


def test_that_no_run_does_is_said_of_all_runs_that_the_study_plans() -> None:
    best = {"type": "band", "statistic": "best", "low": 0.6}
    made: dict[tuple[str, str], list[float]] = {("reno", "16ms"): [0.5, 0.4]}
    assert measured(runs(made, repetitions=2), **best).verdict == NO
    of_five = runs(made, repetitions=5)
    result = measured(of_five, **best)
    assert result.verdict == OPEN
    assert result.detail == snapshot("0.5 (2 runs); about 5 runs of 1 grid point would decide")
    assert measured(of_five, **{**best, "low": 0.45}).verdict == YES
    assert measured(of_five, **{**best, "statistic": "worst"}).verdict == NO
    assert measured(of_five, type="band", statistic="worst", low=0.3).verdict == OPEN
    # What has no value in a run will not have one when all are there.
    made["reno", "16ms"].append(float("nan"))
    assert measured(runs(made, repetitions=3), **best).verdict == NO


def test_runs_that_are_all_alike_decide_exactly() -> None:
    alike = runs({("reno", "16ms"): [0.5, 0.5]})
    assert measured(alike, type="band", low=0.5).verdict == YES
    assert measured(alike, type="band", low=0.500001).verdict == NO


def test_the_share_of_runs_in_which_something_happens_is_not_certain_after_a_few() -> None:
    for values, verdict in (([0.0] * 5, OPEN), ([0.0] * 6, YES), ([1.0] * 6, NO)):
        frame = runs({("reno", "16ms"): values}).runs.rename({"ratio_min_max": "diverged"})
        test = TestRuns(AXES, [{"algorithm": "reno", "rtt": "16ms"}], frame)
        result = measured(test, type="band", quantity="diverged", high=0.5)
        assert result.verdict == verdict
        assert result.question.subject == snapshot("share of runs: diverged")


def test_the_decisive_finding_is_the_worst_where_all_must_agree() -> None:
    result = measured(THREE, type="band", where={"algorithm": "reno"}, low=0.6)
    assert result.decisive is not None
    assert result.decisive.where == "rtt 162 ms"
    assert result.decisive.estimate.value == pytest.approx(0.5)
    assert result.detail == snapshot(
        "worst 0.5 (0.497 to 0.503, 3 runs) at rtt 162 ms; median 0.8 (0.797 to 0.803, 3 runs) at rtt 42 ms; 2 of 3 grid points agree, 1 disagree"
    )


def test_bounds_that_nothing_keeps_are_refused() -> None:
    with pytest.raises(ValidationError) as refused:
        measured(THREE, type="band")
    assert problem_of(refused.value) == snapshot("low: a band needs low or high")
    with pytest.raises(ValidationError, match="below low"):
        measured(THREE, type="band", low=2, high=1)
    groups = {"of": {"algorithm": "htcp"}, "to": {"algorithm": "reno"}}
    with pytest.raises(ValidationError) as refused:
        measured(THREE, type="ratio", **groups)
    assert problem_of(refused.value) == snapshot("low: a ratio needs low or high")


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({}, YES),
        ({"factor": 1.5, "quantifier": "any"}, YES),
        ({"factor": 1.5}, NO),
        ({"factor": 1.1, "quantifier": "most"}, YES),
        ({"factor": 1.5, "quantifier": "most"}, NO),
        ({"factor": 1.0555}, OPEN),
    ],
)
def test_order(keys: dict[str, Any], verdict: Verdict) -> None:
    groups = {"larger": {"algorithm": "htcp"}, "smaller": {"algorithm": "reno"}}
    result = measured(THREE, type="order", **groups, **keys)
    assert result.verdict == verdict
    assert len(result.findings) == 3
    swapped = {"larger": {"algorithm": "reno"}, "smaller": {"algorithm": "htcp"}}
    assert measured(THREE, type="order", **swapped, **keys).verdict == NO


def test_an_order_within_the_interval_is_undecided() -> None:
    groups = {"larger": {"algorithm": "htcp"}, "smaller": {"algorithm": "reno"}}
    result = measured(NOISY, type="order", **groups)
    assert result.verdict == OPEN
    assert "would decide" in result.detail


def test_an_order_is_seen_in_pairs_of_runs_with_the_same_seeds() -> None:
    values = {("reno", "16ms"): [0.1, 0.5, 0.9], ("htcp", "16ms"): [0.12, 0.52, 0.921]}
    groups = {"larger": {"algorithm": "htcp"}, "smaller": {"algorithm": "reno"}}
    assert measured(runs(values, seeds=[1, 2, 3]), type="order", **groups).verdict == YES
    assert measured(runs(values), type="order", **groups).verdict == OPEN
    doubled = {**values, ("htcp", "16ms"): [0.2, 1.01, 1.8]}
    assert (
        measured(runs(doubled, seeds=[1, 2, 3]), type="order", factor=1.9, **groups).verdict == YES
    )


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
    nothing = runs({("reno", "16ms"): [0.0, 0.0], ("fast", "16ms"): [0.0, 0.0]})
    assert measured(nothing, type="order", **groups).verdict == NO
    ratio = {"of": {"algorithm": "reno"}, "to": {"algorithm": "fast"}}
    result = measured(none, type="ratio", low=3, **ratio)
    assert result.verdict == YES
    assert json.loads(json.dumps(result.as_dict(), allow_nan=False))["decisive"]["value"] is None
    assert "∞" in result.detail


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({"low": 1, "high": 2}, YES),
        ({"low": 1.5}, NO),
        ({"low": 1.5, "quantifier": "any"}, YES),
        ({"high": 1.3, "quantifier": "median"}, YES),
        ({"high": 1.1, "quantifier": "median"}, NO),
        ({"low": 1.0555}, OPEN),
        ({"high": 1.92}, OPEN),
    ],
)
def test_ratio(keys: dict[str, Any], verdict: Verdict) -> None:
    """H-TCP over Reno: 1.056, 1.175, 1.92."""
    groups = {"of": {"algorithm": "htcp"}, "to": {"algorithm": "reno"}}
    assert measured(THREE, type="ratio", **groups, **keys).verdict == verdict


@pytest.mark.parametrize(
    ("algorithm", "keys", "verdict"),
    [
        ("reno", {"direction": "falling"}, YES),
        ("reno", {"direction": "rising"}, NO),
        ("reno", {"direction": "falling", "factor": 1.5}, YES),
        ("reno", {"direction": "falling", "factor": 1.8}, OPEN),
        ("reno", {"direction": "falling", "factor": 2}, NO),
        # Rising from end to end, but with a step back that is more than chance.
        ("htcp", {"direction": "rising"}, NO),
    ],
)
def test_trend(algorithm: str, keys: dict[str, Any], verdict: Verdict) -> None:
    where = {"algorithm": algorithm}
    assert measured(THREE, type="trend", axis="rtt", where=where, **keys).verdict == verdict


def test_a_trend_names_the_step_that_goes_the_other_way() -> None:
    where = {"algorithm": "htcp"}
    result = measured(THREE, type="trend", axis="rtt", where=where, direction="rising")
    assert result.brief == snapshot(
        "from 0.95 at 16 ms to 0.96 at 162 ms, but from 0.95 at 16 ms to 0.94 at 42 ms"
    )
    assert result.detail == snapshot(
        "from 0.95 at 16 ms to 0.96 at 162 ms, but from 0.95 at 16 ms to 0.94 at 42 ms; at the ends up by 0.01 (0.00773 to 0.0123, 3 runs)"
    )


def test_a_trend_within_the_interval_is_undecided() -> None:
    for direction in ("rising", "falling"):
        where = {"algorithm": "reno"}
        result = measured(NOISY, type="trend", axis="rtt", where=where, direction=direction)
        assert result.verdict == OPEN


def test_a_trend_forgives_steps_back_by_chance() -> None:
    noisy = runs(
        {
            ("reno", "16ms"): [0.1, 0.12],
            ("reno", "42ms"): [0.05, 0.14],
            ("reno", "162ms"): [0.8, 0.81],
        }
    )
    assert measured(noisy, type="trend", axis="rtt", direction="rising").verdict == YES


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
    result = measured(THREE, type="ratio-trend", axis="rtt", **RATIOS, **keys)
    assert result.verdict == verdict
    assert len(result.findings) == 1


@pytest.mark.parametrize(
    "keys",
    [
        {"type": "order", "larger": {"algorithm": "htcp@li2007"}, "smaller": {"algorithm": "htcp"}},
        {
            "type": "ratio",
            "of": {"algorithm": "htcp@li2007"},
            "to": {"algorithm": "htcp"},
            "low": 1.1,
        },
    ],
)
def test_no_point_is_compared_with_itself(keys: dict[str, Any]) -> None:
    """Of an algorithm's name alone also its presets are meant."""
    test = runs({("htcp", "16ms"): steady(0.5), ("htcp@li2007", "16ms"): steady(0.9)})
    result = measured(test, **keys)
    assert result.verdict is YES
    assert [finding.where for finding in result.findings] == ["H-TCP (htcp@li2007) against H-TCP"]
    assert " H-TCP (htcp@li2007) " in result.question.expected


def test_a_ratio_trend_follows_each_preset_of_an_algorithm() -> None:
    values = {"reno": (0.8, 0.8), "htcp": (0.9, 0.5), "htcp@li2007": (0.95, 0.96)}
    test = runs(
        {
            (algorithm, rtt): steady(value)
            for algorithm, along in values.items()
            for rtt, value in zip(("16ms", "162ms"), along, strict=True)
        }
    )
    result = measured(test, type="ratio-trend", axis="rtt", direction="rising", **RATIOS)
    assert result.verdict is NO
    assert len(result.findings) == 2


def test_the_groups_of_a_ratio_trend_leave_its_axis_open() -> None:
    keys = {"type": "ratio-trend", "axis": "rtt", "direction": "rising"}
    with pytest.raises(ValidationError, match="leave rtt open"):
        measured(THREE, **keys, of={"rtt": "16ms"}, to={"rtt": "42ms"})


def test_a_ratio_trend_within_the_interval_is_undecided() -> None:
    keys = {"type": "ratio-trend", "axis": "rtt", "direction": "rising"}
    assert measured(NOISY, **keys, **RATIOS).verdict == OPEN
    level = runs({(who, rtt): [0.5, 0.5] for who in ("reno", "htcp") for rtt in ("16ms", "42ms")})
    assert measured(level, **keys, **RATIOS).verdict == NO
    single = runs({("reno", "16ms"): [0.5, 0.6], ("htcp", "16ms"): [0.5, 0.9]})
    assert measured(single, **keys, **RATIOS).verdict == OPEN


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.871, YES), (0.9, YES), (0.92, NO), (0.82, NO), (0.9145, OPEN), (0.8275, OPEN)],
)
def test_theory(value: float, verdict: Verdict) -> None:
    """The sawtooth with a queue of 20 % of the BDP: 0.871."""
    table = runs({("reno", "16ms"): steady(value)})
    result = measured(table, type="theory", theory="sawtooth_utilisation", tolerance=0.05)
    assert result.verdict == verdict
    assert result.detail.partition(") ")[2].partition(";")[0] == snapshot(
        "where the curve has 0.871"
    )
    extreme = {"type": "theory", "theory": "sawtooth_utilisation", "statistic": "worst"}
    assert measured(table, **extreme, tolerance=0.0001).verdict == NO


@pytest.mark.parametrize(
    ("order", "verdict"),
    [((0.9, 0.6, 0.3), YES), ((0.3, 0.6, 0.9), NO), ((0.9, 0.3, 0.301), OPEN)],
)
def test_ranking(order: tuple[float, float, float], verdict: Verdict) -> None:
    values: dict[tuple[str, str], list[float]] = {}
    for algorithm, one, other in zip(AXES["algorithm"], (0.8, 0.7, 0.1), order, strict=True):
        values[algorithm, "16ms"] = steady(one)
        values[algorithm, "42ms"] = steady(other, 0.01)
    keys = {"type": "ranking", "axis": "rtt", "values": ("16ms", "42ms"), "low": 0.6}
    assert measured(runs(values), **keys).verdict == verdict


def _chances(places: int, shift: float, seed: int, groups: int = 1) -> TestRuns:
    """Make pairs whose truths differ by `shift` deviations, at many places."""
    random = np.random.default_rng(seed)
    axes = {"who": tuple("ab"), "place": tuple(map(str, range(places))), "part": tuple("xyz")}
    rows = [
        {"who": who, "place": place, "part": part, "ratio_min_max": value}
        for who, mean in (("a", 1 + shift), ("b", 1.0))
        for place in axes["place"]
        for part in axes["part"][:groups]
        for value in random.normal(mean, 0.1, 5)
    ]
    frame = pl.DataFrame(rows)
    planned = frame.select(*axes).unique(maintain_order=True).to_dicts()
    return TestRuns(axes, planned, frame)


ORDER = {"type": "order", "larger": {"who": "a"}, "smaller": {"who": "b"}}


def test_one_pair_of_many_beyond_by_chance_refutes_nothing() -> None:
    """Of 36 pairs in no order one or two are significantly the wrong way round."""
    results = [measured(_chances(36, 0.0, seed), **ORDER) for seed in range(60)]
    raw = [sum(finding.p_disagrees <= 0.025 for finding in result.findings) for result in results]
    assert sum(count > 0 for count in raw) > 20
    assert sum(result.verdict == NO for result in results) <= 4
    assert sum(result.verdict == YES for result in results) == 0
    assert all(State.DISAGREES not in result.states for result in results if result.verdict == OPEN)
    wrong = measured(_chances(36, -0.5, 1), **ORDER)
    assert wrong.verdict == NO


def test_any_of_many_does_not_hold_by_noise() -> None:
    results = [measured(_chances(36, 0.0, seed), **ORDER, quantifier="any") for seed in range(60)]
    assert sum(result.verdict == YES for result in results) <= 4
    assert measured(_chances(36, 0.5, 1), **ORDER, quantifier="any").verdict == YES


def test_most_counts_places_and_not_pairs() -> None:
    """Three pairs at one place against one at each of two others: the places decide."""
    values = {"p": (2.0, 2.0, 2.0), "q": (0.5,), "r": (0.5,)}
    rows = [
        {"who": f"a{number}" if who == "a" else "b", "place": place, "ratio_min_max": value}
        for place, means in values.items()
        for number, mean in enumerate(means)
        for who in ("a", "b")
        for value in steady(mean if who == "a" else 1.0)
    ]
    frame = pl.DataFrame(rows).unique(maintain_order=True)
    axes = {"who": ("a0", "a1", "a2", "b"), "place": tuple(values)}
    planned = frame.select(*axes).unique(maintain_order=True).to_dicts()
    groups = {"larger": {"who": ["a0", "a1", "a2"]}, "smaller": {"who": "b"}}
    result = measured(TestRuns(axes, planned, frame), type="order", quantifier="most", **groups)
    assert sum(finding.p_agrees <= 0.025 for finding in result.findings) == 3
    assert len(result.findings) == 5
    assert result.verdict == NO


BAND = {"type": "band", "low": 0.5}


@pytest.mark.parametrize(
    ("test", "keys", "lack", "needs"),
    [
        (runs({}), BAND, "none of the grid points", 0),
        (
            runs({}, also_planned=[("reno", "16ms")], repetitions=5),
            BAND,
            "1 of 1 grid points have not been run, such as Standard TCP, rtt 16 ms",
            5,
        ),
        (runs({("reno", "16ms"): [None, None]}), BAND, "has no value in any run", 0),
        (
            runs({("reno", "16ms"): [0.5], ("htcp", "16ms"): [0.9]}),
            {"type": "order", "larger": {"algorithm": "htcp"}, "smaller": {"algorithm": "reno"}},
            "needs at least 2 runs of 2 grid points",
            2,
        ),
        (
            runs({("htcp", "16ms"): [0.9, 0.9]}),
            {"type": "ratio", "of": {"algorithm": "htcp"}, "to": {"algorithm": "reno"}, "low": 1},
            "no pairs",
            0,
        ),
        (
            runs({("reno", "16ms"): [0.9, 0.9]}),
            {"type": "trend", "axis": "rtt", "direction": "rising"},
            "fewer than two values",
            0,
        ),
        (
            runs({("fast", "16ms"): [0.9, 0.9], ("reno", "16ms"): [0.9, 0.9]}),
            {"type": "ranking", "axis": "rtt", "values": ("16ms", "42ms"), "low": 0.6},
            "fewer than three",
            0,
        ),
    ],
)
def test_what_is_lacking_leaves_a_check_undecided(
    test: TestRuns, keys: dict[str, Any], lack: str, needs: int
) -> None:
    result = measured(test, **keys)
    assert result.verdict == OPEN
    assert lack in result.detail
    assert {need.runs for need in result.needs} == ({needs} if needs else set())


def test_the_runs_that_are_needed_decide() -> None:
    """With the variance seen: t(n - 1) s / sqrt(n) must be below the distance to the bound."""
    noisy = runs({("reno", "16ms"): [0.7, 0.8, 0.9], ("reno", "42ms"): steady(0.8)})
    result = measured(noisy, type="band", low=0.75)
    assert result.verdict == OPEN
    assert result.needs == (Need("pair", {"algorithm": "reno", "rtt": "16ms"}, 18),)
    assert result.detail == snapshot(
        "worst 0.8 (0.552 to 1, 3 runs) at rtt 16 ms; 1 of 2 grid points agree, 1 undecided; about 18 runs of 1 grid point would decide"
    )
    # A point with more runs than it takes elsewhere is not asked for any.
    known = runs({("reno", "16ms"): [0.7, 0.8, 0.9], ("reno", "42ms"): [0.7, 0.8] * 15})
    either = measured(known, type="band", low=0.75, quantifier="any")
    assert [need.axes["rtt"] for need in either.needs] == ["16ms"]
    on_the_bound = measured(noisy, type="band", low=0.8)
    assert on_the_bound.needs == ()
    assert "not even 1000 runs" in on_the_bound.detail


KINDS: list[tuple[dict[str, Any], str, float, float]] = [
    (GOOD, "low", 0.4, 0.6),
    (
        {"type": "order", "larger": {"algorithm": "htcp"}, "smaller": {"algorithm": "reno"}},
        "factor",
        1.01,
        1.5,
    ),
    ({"type": "ratio", **RATIOS}, "high", 2, 1.5),
    (
        {"type": "trend", "axis": "rtt", "direction": "falling", "where": {"algorithm": "reno"}},
        "factor",
        1.5,
        2,
    ),
]


@pytest.mark.parametrize(("keys", "bound", "right", "wrong"), KINDS)
def test_a_bound_moved_far_enough_turns_the_verdict(
    keys: dict[str, Any], bound: str, right: float, wrong: float
) -> None:
    values = [
        measured(THREE, **{**keys, bound: float(value)}).verdict
        for value in np.linspace(right, wrong, 200)
    ]
    assert values[0] == YES
    assert values[-1] == NO
    # In between the interval crosses the bound, and no verdict comes twice.
    changes = [one for one, other in itertools.pairwise(values) if one != other]
    assert changes == [YES, OPEN]
