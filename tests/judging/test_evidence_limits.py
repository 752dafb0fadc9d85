"""Limits of evidence: ties, rare events, quick runs, and claims that are no evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from claim_inputs import GOOD, NO, OPEN, THREE, YES, measured, problem_of, runs, steady
from dumbbell.judging.claim import Claim
from dumbbell.judging.evidence import State, Verdict
from dumbbell.judging.judging import ClaimResult, headline, judge, tally, worst
from dumbbell.judging.runs import Source, TestRuns

TIE = Verdict.TIE
ORDER: dict[str, Any] = {
    "type": "order",
    "larger": {"algorithm": "htcp"},
    "smaller": {"algorithm": "reno"},
}


def pair(htcp: float, reno: float, spread: float = 0.001) -> TestRuns:
    values = {("htcp", "16ms"): steady(htcp, spread), ("reno", "16ms"): steady(reno, spread)}
    return runs(values)


class TestTies:
    """Values that the authors could not have told apart."""

    @pytest.mark.parametrize(
        ("htcp", "reno", "verdict"),
        [(0.95, 0.94, TIE), (0.94, 0.95, TIE), (0.95, 0.85, YES), (0.85, 0.95, NO)],
    )
    def test_a_difference_within_the_resolution_says_nothing_either_way(
        self, htcp: float, reno: float, verdict: Verdict
    ) -> None:
        result = measured(pair(htcp, reno), **ORDER, resolution=0.03)
        assert result.verdict == verdict
        assert not result.needs
        assert result.expected == snapshot(
            "larger for H-TCP than for Standard TCP (a tie within 3 %)"
        )
        assert measured(pair(htcp, reno), **ORDER).verdict == (YES if htcp > reno else NO)

    def test_an_interval_that_reaches_beyond_the_resolution_is_no_tie(self) -> None:
        result = measured(pair(0.95, 0.94, 0.05), **ORDER, resolution=0.03)
        assert result.verdict == OPEN
        assert "would decide" in result.detail

    def test_tied_pairs_leave_the_decision_to_the_others(self) -> None:
        full: dict[tuple[str, str], list[float]] = {
            ("htcp", "16ms"): steady(0.985),
            ("reno", "16ms"): steady(0.99),
            ("htcp", "42ms"): steady(0.9),
            ("reno", "42ms"): steady(0.5),
        }
        result = measured(runs(full), **ORDER, resolution=0.03)
        assert result.verdict == YES
        assert sorted(result.states) == [State.AGREES, State.TIED]
        assert "1 of 2 pairs agree, 1 tied" in result.detail
        assert measured(runs(full), **ORDER).verdict == NO
        reverse = {**full, ("htcp", "42ms"): steady(0.5), ("reno", "42ms"): steady(0.9)}
        assert measured(runs(reverse), **ORDER, resolution=0.03).verdict == NO

    @pytest.mark.parametrize(("others", "verdict"), [(1, YES), (2, TIE)])
    def test_most_is_a_tie_if_more_than_half_of_the_pairs_are(
        self, others: int, verdict: Verdict
    ) -> None:
        """One pair agrees; the one or two others lie within the resolution."""
        full = {("htcp", "16ms"): steady(0.9), ("bic", "16ms"): steady(0.5)}
        smaller = ["bic"]
        for name in ("reno", "cubic")[:others]:
            full[name, "16ms"] = steady(0.89)
            smaller.append(name)
        keys: dict[str, Any] = {**ORDER, "smaller": {"algorithm": smaller}, "resolution": 0.03}
        assert measured(runs(full), **keys, quantifier="most").verdict == verdict
        assert measured(runs(full), **keys, quantifier="all").verdict == YES

    @pytest.mark.parametrize(("spread", "verdict"), [(0.005, TIE), (0.007, OPEN)])
    def test_pairs_may_each_be_tied_before_it_is_certain_of_most(
        self, spread: float, verdict: Verdict
    ) -> None:
        """That most of three pairs are tied takes a correction that each alone does not."""
        smaller = ["reno", "cubic", "bic"]
        full = {("htcp", "16ms"): steady(0.9, spread)}
        full |= {(name, "16ms"): steady(0.89, spread) for name in smaller}
        keys: dict[str, Any] = {**ORDER, "smaller": {"algorithm": smaller}, "resolution": 0.03}
        result = measured(runs(full), **keys, quantifier="most")
        assert (result.verdict, set(result.states)) == (verdict, {State.TIED})
        assert bool(result.needs) == (verdict == OPEN)

    def test_two_values_that_are_both_nothing_are_a_tie(self) -> None:
        assert measured(pair(0, 0, 0), **ORDER, resolution=0.01).verdict == TIE

    @pytest.mark.parametrize(("resolution", "verdict"), [(0.0, YES), (0.05, YES), (0.12, TIE)])
    def test_a_trend_is_a_tie_if_no_value_is_far_from_the_first(
        self, resolution: float, verdict: Verdict
    ) -> None:
        values = {
            ("reno", "16ms"): steady(0.9),
            ("reno", "42ms"): steady(0.92),
            ("reno", "162ms"): steady(0.98),
        }
        keys = {"type": "trend", "axis": "rtt", "direction": "rising", "resolution": resolution}
        assert measured(runs(values), **keys).verdict == verdict

    def test_a_tie_is_between_what_holds_and_what_is_open(self) -> None:
        assert worst([YES, TIE]) == TIE
        assert worst([TIE, OPEN]) == OPEN
        assert worst([TIE, NO]) == NO


class TestRareEvents:
    """Events that the authors saw in some runs."""

    RARE: dict[str, Any] = {"type": "band", "statistic": "best", "low": 0.9}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("seen_in", "made", "verdict"),
        # 0.9^35 = 2.5 %, so 36 runs would show it; 0.95^72 = 2.5 %.
        [(0.1, 20, OPEN), (0.1, 35, OPEN), (0.1, 36, NO), (0.05, 71, OPEN), (0.05, 72, NO)],
    )
    def test_only_so_many_runs_without_it_refute_it(
        self, seen_in: float, made: int, verdict: Verdict
    ) -> None:
        none = runs({("reno", "16ms"): [0.5] * made}, repetitions=made)
        result = measured(none, **self.RARE, seen_in=seen_in)
        assert result.verdict == verdict
        if verdict == OPEN:
            assert result.needs[0].runs == {0.1: 36, 0.05: 72}[seen_in]
        assert measured(none, **self.RARE).verdict == NO

    def test_one_run_shows_it(self) -> None:
        one = runs({("reno", "16ms"): [0.5, 0.95, 0.5]}, repetitions=3)
        assert measured(one, **self.RARE, seen_in=0.1).verdict == YES

    def test_it_is_judged_by_the_best_run(self) -> None:
        with pytest.raises(ValidationError) as refused:
            measured(THREE, type="band", low=0.9, seen_in=0.1)
        assert problem_of(refused.value) == snapshot(
            'statistic = "mean": what some runs show is judged by the best of them; valid: "best"'
        )


class TestQuickRuns:
    """Quick runs are undecided where longer runs or other grid points could agree."""

    BAD: dict[str, Any] = {"type": "band", "where": {"algorithm": "reno"}, "low": 0.6}  # noqa: RUF012
    OTHER = ({"algorithm": "reno", "rtt": "82ms"},)

    def quick(self, **changes: Any) -> TestRuns:
        return replace(THREE, is_quick=True, **changes)

    def test_fewer_runs_of_the_same_length_contradict(self) -> None:
        assert measured(self.quick(), **self.BAD).verdict == NO

    def test_shorter_runs_do_not(self) -> None:
        result = measured(self.quick(is_shorter=True), **self.BAD)
        assert result.verdict == OPEN
        assert result.detail == snapshot(
            "worst 0.5 (0.497 to 0.503, 3 runs) at rtt 162 ms; median 0.8 (0.797 to 0.803, 3 runs) at rtt 42 ms; 2 of 3 grid points agree, 1 disagree (quick runs); only runs of full length could contradict it"
        )
        assert not result.needs
        assert measured(self.quick(is_shorter=True), **GOOD).verdict == YES

    def test_other_grid_points_could_agree_where_not_all_must(self) -> None:
        keys = self.BAD | {"low": 0.97, "quantifier": "any"}
        assert measured(self.quick(), **keys).verdict == NO
        result = measured(self.quick(left_out=self.OTHER), **keys)
        assert result.verdict == OPEN
        assert result.detail == snapshot(
            "best 0.9 (0.897 to 0.903, 3 runs) at rtt 16 ms; median 0.8 (0.797 to 0.803, 3 runs) at rtt 42 ms; 0 of 3 grid points agree, 3 disagree (quick runs); only 1 grid point that the quick part leaves out could contradict it"
        )
        elsewhere = ({"algorithm": "htcp", "rtt": "82ms"},)
        assert measured(self.quick(left_out=elsewhere), **keys).verdict == NO

    def test_one_counterexample_refutes_what_all_points_must_show(self) -> None:
        assert measured(self.quick(left_out=self.OTHER), **self.BAD).verdict == NO

    def test_a_trend_may_turn_where_its_axis_goes_on(self) -> None:
        keys: dict[str, Any] = {"type": "trend", "axis": "rtt", "direction": "rising"}
        where = {"algorithm": "reno"}
        assert measured(self.quick(), **keys, where=where).verdict == NO
        left_out = self.quick(left_out=self.OTHER)
        assert measured(left_out, **keys, where=where).verdict == OPEN


class TestNoEvidence:
    """Claims that leave the count."""

    def judged(self, **keys: Any) -> ClaimResult:
        check = {"test": "pair", "quantity": "ratio_min_max", **GOOD}
        content = {"id": "E99", "source": "Fig. 0", "text": "It holds.", "expectation": "a number"}
        claim = Claim.model_validate(content | {"check": [check]} | keys)
        return judge(claim, Source(lambda _, columns: THREE))  # noqa: ARG005

    @pytest.mark.parametrize("key", ["calibrates", "reported"])
    def test_a_claim_that_is_no_evidence_leaves_the_count(self, key: str) -> None:
        result = self.judged(**{key: "the buffer of the switch"})
        assert result.verdict == YES
        note = {"calibrates": "it set a reading", "reported": "reported only"}[key]
        assert result.outcome == f"holds; {note}"
        assert result.as_dict()[key] == snapshot("the buffer of the switch")
        kind = "calibration" if key == "calibrates" else "reported"
        assert result.statement == kind
        counted = tally([result, self.judged()])
        assert counted[kind][YES] == counted["number"][YES] == 1
        assert headline([result, self.judged()]) == (
            snapshot("1 claim judged by runs: 1 holds; 1 claim that is no evidence: 1 holds")
        )

    def test_it_leaves_the_count_for_one_reason(self) -> None:
        with pytest.raises(ValidationError) as refused:
            self.judged(calibrates="the buffer", reported="it is withdrawn")
        assert problem_of(refused.value) == snapshot(
            'reported = "it is withdrawn": a claim that set a reading is not counted anyway; valid: calibrates or reported'
        )


@pytest.mark.parametrize(
    ("lows", "verdict"),
    [((0.4, 0.9), YES), ((0.95, 0.9), NO), ((0.95, None), OPEN), ((0.4, None), YES)],
)
def test_one_reading_of_an_ambiguous_sentence_is_enough(
    lows: tuple[float | None, ...], verdict: Verdict
) -> None:
    here = {"algorithm": "reno"}
    unknown = {"algorithm": "fast"}
    checks = [
        {
            "type": "band",
            "test": "pair",
            "quantity": "ratio_min_max",
            "where": unknown if low is None else here,
            "low": low or 0,
        }
        for low in lows
    ]
    content = {"id": "E99", "source": "Fig. 0", "text": "It holds.", "expectation": "a number"}
    claim = Claim.model_validate({**content, "holds_if": "any", "check": checks})
    result = judge(claim, Source(lambda _, columns: THREE))  # noqa: ARG005
    assert result.verdict == verdict
    assert result.decisive.verdict == verdict
