"""Verdicts of checks on a claim, their words, and verdicts in continuous integration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from claim_inputs import GOOD, NO, OPEN, RATIOS, THREE, YES, measured, runs
from dumbbell.base.errors import InputError
from dumbbell.judging import baseline
from dumbbell.judging.claim import Claim
from dumbbell.judging.evidence import Finding, Verdict
from dumbbell.judging.judging import ClaimResult, judge, tally
from dumbbell.judging.runs import Source, TestRuns
from dumbbell.quantities.derived import Derived


def claim(*checks: dict[str, Any], name: str = "E99") -> Claim:
    return Claim.model_validate(
        {
            "id": name,
            "source": "Fig. 0",
            "text": "Something holds.",
            "expectation": "a number",
            "reason": "It is known why.",
            "check": [{"test": "pair", "quantity": "ratio_min_max", **keys} for keys in checks],
        }
    )


def judged(*checks: dict[str, Any], name: str = "E99", test: TestRuns = THREE) -> ClaimResult:
    return judge(claim(*checks, name=name), Source(lambda _, columns: test))  # noqa: ARG005


BAD = {"type": "band", "where": {"algorithm": "reno"}, "low": 0.6}
UNKNOWN = {"type": "band", "where": {"algorithm": "fast"}, "low": 0.6}
OURS = {"statement": "expectation"}


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([GOOD], YES),
        ([GOOD, BAD], NO),
        ([GOOD, UNKNOWN], OPEN),
        ([UNKNOWN, BAD], NO),
        ([GOOD, BAD | OURS], YES),
        ([GOOD, UNKNOWN | OURS], YES),
        ([BAD, GOOD | OURS], NO),
        ([GOOD | OURS], Verdict.MET),
        ([GOOD | OURS, BAD | OURS], Verdict.FAILED),
        ([UNKNOWN | OURS], OPEN),
    ],
)
def test_a_claim_holds_if_all_that_its_authors_state_does(
    checks: list[dict[str, Any]], verdict: Verdict
) -> None:
    result = judged(*checks)
    assert result.verdict == verdict
    assert result.decisive.verdict == verdict
    failed = [check.verdict for check in result.failed]
    assert failed == ([Verdict.FAILED] if checks == [GOOD, BAD | OURS] else [])
    holds = verdict.is_good and not failed
    assert result.reason == ("" if holds else "It is known why.")
    assert result.as_dict()["verdict"] == verdict.value


def test_claims_are_counted_by_what_they_state() -> None:
    order = {"type": "order", "larger": {"rtt": "16ms"}, "smaller": {"rtt": "162ms"}}
    counts = tally(
        [
            judged(GOOD),
            judged(BAD, order | {"where": {"algorithm": "reno"}}),
            judged(order),
            judged(GOOD | {"statement": "order"}),
            judged(BAD | OURS),
        ]
    )
    assert counts["number"] == {**dict.fromkeys(Verdict, 0), YES: 1, NO: 1}
    assert counts["order"] == {**dict.fromkeys(Verdict, 0), YES: 1, NO: 1}
    assert counts["expectation"] == {**dict.fromkeys(Verdict, 0), Verdict.FAILED: 1}
    assert not any(counts["arithmetic"].values())


def test_a_check_that_needs_runs_is_no_arithmetic() -> None:
    with pytest.raises(ValidationError, match="statement"):
        measured(THREE, **GOOD, statement="arithmetic")


@pytest.mark.parametrize("name", ["E1", "e01", "01", "E01a", ""])
def test_the_number_of_a_claim_has_letters_and_two_digits(name: str) -> None:
    assert claim(GOOD, name="ABC100").id == "ABC100"
    with pytest.raises(ValidationError):
        claim(GOOD, name=name)


@pytest.mark.parametrize(
    ("test", "keys", "sentence"),
    [
        (
            runs({("reno", "16ms"): [8300, 8400, 8500]}),
            {"quantity": "goodput_mbit_per_s[1]@late", "low": 6600, "high": 9900},
            "goodput of flow 1 in the second half of the window: 8.4 Gbit/s (8.15 to 8.65, "
            "3 runs); expected 6.6 to 9.9 Gbit/s",
        ),
        (
            runs({("reno", "16ms"): [0.951, 0.952]}, quick=True),
            {"quantity": "utilisation", "low": 0.9, "where": {"rtt": "16ms"}},
            "utilisation (rtt 16 ms): 95.2 % (94.5 to 95.8, 2 runs) (quick runs); expected at "
            "least 90 %",
        ),
        (
            runs({("reno", "16ms"): [0.9, 0.9, 0.7]}),
            {"quantity": "recovery", "high": 1, "statistic": "worst"},
            "worst run's recovery ratio: 0.9 (3 runs); expected at most 1",
        ),
    ],
)
def test_a_reader_understands_without_the_file(
    test: TestRuns, keys: dict[str, Any], sentence: str
) -> None:
    named = TestRuns(
        test.axes,
        test.planned,
        test.runs.rename({"ratio_min_max": keys["quantity"]}),
        is_quick=test.is_quick,
    )
    derived = Derived.model_validate(
        {
            "name": "recovery",
            "title": "recovery ratio",
            "ratio": ["goodput_mbit_per_s@late", "goodput_mbit_per_s"],
        }
    )
    source = Source(lambda _, columns: named, {"recovery": derived})  # noqa: ARG005
    result = judge(claim({"type": "band", **keys}), source)
    assert result.measured == sentence
    assert result.as_dict()["quick"] is test.is_quick
    assert result.as_dict()["checks"][0]["quick"] is test.is_quick


def test_many_points_are_told_in_a_line() -> None:
    groups = {"larger": {"algorithm": "htcp"}, "smaller": {"algorithm": "reno"}}
    result = measured(THREE, type="order", **groups)
    assert result.detail == (
        snapshot(
            "worst 0.95 against 0.9, a difference of 0.05 (0.0477 to 0.0523, 3 runs) at H-TCP against "
            "Standard TCP, rtt 16 ms; median 0.94 against 0.8, a difference of 0.14 (0.138 to 0.142, "
            "3 runs) at H-TCP against Standard TCP, rtt 42 ms; 3 of 3 pairs agree"
        )
    )
    assert result.question.expected == snapshot(
        "larger for H-TCP than for Standard TCP, for every pair"
    )


def test_errors_name_the_claim() -> None:
    with pytest.raises(InputError, match=r"claim E99.check.1.*ratio_min_mx"):
        judged({**GOOD, "quantity": "ratio_min_mx"})


class TestBaseline:
    """Verdicts in continuous integration."""

    def test_a_strict_judge_refuses_all_but_what_agrees(self) -> None:
        results = [judged(GOOD), judged(BAD), judged(UNKNOWN), judged(GOOD | OURS)]
        assert [claim.verdict for claim in baseline.unmet(results)] == [NO, OPEN]

    def test_what_was_written_is_no_regression(self, tmp_path: Path) -> None:
        results = [judged(GOOD, name="E01"), judged(BAD, name="E02"), judged(UNKNOWN, name="E03")]
        baseline.write(baseline.of_claims(results), tmp_path / "base.json")
        before = baseline.read(tmp_path / "base.json")
        assert before == {"E01": YES, "E02": NO, "E03": OPEN}
        assert baseline.regressions(baseline.of_claims(results), before) == []

    def test_worse_verdicts_and_claims_that_are_gone_are_regressions(self) -> None:
        before = {"E01": YES, "E02": OPEN, "E03": NO, "E04": Verdict.MET, "E05": NO}
        results = [
            judged(UNKNOWN, name="E01"),
            judged(BAD, name="E02"),
            judged(GOOD, name="E03"),
            judged(GOOD, name="E04"),
            judged(BAD, name="E06"),
        ]
        assert [
            str(regression)
            for regression in baseline.regressions(baseline.of_claims(results), before)
        ] == snapshot(
            [
                "E01 (before holds, now undecided)",
                "E02 (before undecided, now contradicted)",
                "E05 (before contradicted, no longer a claim)",
            ]
        )

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("[1]", "not a baseline"),
            ('{"engine": "simulator 16", "claims": []}', "the output of --json"),
            ("{", "not a baseline"),
            ("[" * 100_000, "not a baseline"),
            ('{"E01": "hold"}', "did you mean"),
            ('{"E01": 3}', "not a verdict"),
        ],
    )
    def test_what_is_no_baseline_is_refused(self, tmp_path: Path, text: str, problem: str) -> None:
        (tmp_path / "base.json").write_text(text)
        with pytest.raises(InputError, match=problem):
            baseline.read(tmp_path / "base.json")
        with pytest.raises(InputError) as refused:
            baseline.read(tmp_path / "none.json")
        assert refused.value.problem == snapshot("cannot be read: No such file or directory")


def test_findings_are_valid_json() -> None:
    result = measured(THREE, type="ratio", low=1, **RATIOS)
    assert all(isinstance(finding, Finding) for finding in result.findings)
    content = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert content["statement"] == "number"
    assert {finding["state"] for finding in content["findings"]} == {"agrees"}
    assert content["findings"][0]["agrees_to"] is None


def test_the_interval_of_a_share_is_cut_where_it_is_shown_but_decides_as_it_is() -> None:
    """Student's interval of these runs is 0.552 to 1.048, and no share exceeds 1."""
    test = runs({("reno", "16ms"): [0.7, 0.8, 0.9]})
    result = measured(test, type="band", low=0.5)
    (finding,) = result.findings
    assert finding.estimate.interval == pytest.approx((0.5516, 1.0484), abs=1e-3)
    assert finding.interval == (finding.estimate.low, 1.0)
    assert finding.as_dict()["high"] == 1.0
    assert "(0.552 to 1, 3 runs)" in finding.text
    # The p-values are of the whole distribution: an upper bound of 1.02 is undecided.
    assert measured(test, type="band", high=1.02).verdict == OPEN
    assert measured(test, type="band", high=1.06).verdict == YES
