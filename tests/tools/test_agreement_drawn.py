"""Scenarios drawn at random, on which engines are compared with narrower bands."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from fidelity.__main__ import app
from fidelity.agreement import deciding, judging, page
from fidelity.agreement.collecting import Side
from fidelity.agreement.drawn import DISCIPLINES, DrawnCase, draw
from fidelity.agreement.judging import Agreement, Compared
from fidelity.agreement.measures import CONFIDENCE, DRAWN_MEASURES
from fidelity.agreement.running import Validation
from inline_snapshot import snapshot

from command_line import caller, line
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.inference.statistics import mean
from dumbbell.store.store import Store

MANY = draw(200, 1)


def test_a_seed_draws_the_same_again_and_another_one_others() -> None:
    assert draw(20, 7) == draw(20, 7)
    assert not {case.name for case in draw(20, 7)} & {case.name for case in draw(20, 8)}


def test_what_is_drawn_spans_what_it_is_said_to() -> None:
    assert {case.discipline for case in MANY} == set(DISCIPLINES)
    assert {len(case.algorithms) for case in MANY} == {1, 2, 3}
    rates, rtts = [case.rate_mbit for case in MANY], [case.rtt_ms for case in MANY]
    assert 2 <= min(rates) < 4
    assert 120 < max(rates) <= 250
    assert 2 <= min(rtts) < 4
    assert 100 < max(rtts) <= 200
    assert all(case.packets >= 8 for case in MANY)
    assert 0.3 < sum(case.loss > 0 for case in MANY) / len(MANY) < 0.5
    assert any(any(case.requests) for case in MANY)
    readers = [reader for case in MANY for reader in case.readers]
    assert 0.1 < sum(reader is not None for reader in readers) / len(readers) < 0.3
    several = [case for case in MANY if len(case.algorithms) > 1]
    assert 0.4 < sum(case.handshake for case in several) / len(several) < 0.6


@pytest.mark.parametrize("case", MANY[:60], ids=lambda case: case.name)
def test_every_drawn_scenario_is_one(case: DrawnCase) -> None:
    resolved = case.resolve(1)
    assert resolved.scenario.duration_ns == case.seconds * 10**9
    assert len(resolved.scenario.flows) == len(case.algorithms)
    flows = [flow["transport"]["tcp"] for flow in json.loads(resolved.json)["flows"]]
    lagging = [reader is not None for reader in case.readers]
    assert ["reading" in flow for flow in flows] == lagging
    late = [case.handshake and number > 0 for number in range(len(flows))]
    assert ["handshake" in flow["stack"]["switches"] for flow in flows] == late


def judged(count: int, off: float) -> Agreement:
    """Return an agreement in which the goodputs of some scenarios are off."""
    goodput = DRAWN_MEASURES[0]
    exact, other = (mean([10.0, 10.0], CONFIDENCE), mean([10 + off, 10 + off], CONFIDENCE))
    band = goodput.tolerance(10.0)
    judgements = []
    for number, case in enumerate(MANY[:20]):
        value = other if number < count else exact
        difference = dataclasses.replace(value, value=value.value - 10.0)
        compared = Compared(goodput, exact, value, difference, -band, band)
        judgements.append(judging.Judged(case, (compared,), (3, 10), None))  # type: ignore[arg-type]
    return Agreement(("kernel", "simulator"), tuple(judgements), DRAWN_MEASURES)


@pytest.mark.parametrize(
    ("count", "outcome", "passed"), [(0, "met", True), (2, "met", True), (3, "missed", False)]
)
def test_a_goal_is_a_share_of_scenarios(count: int, outcome: str, passed: bool) -> None:
    whole = judged(count, 0.5)
    goodput = whole.scores[0]
    assert (goodput.outcome, whole.passed) == (outcome, passed)
    assert goodput.within == 20 - count


def test_the_page_says_how_long_the_rest_would_take() -> None:
    """Half an interval of 6.31 and a band of 0.2 need (6.31 / 0.2)^2 times the three runs of 13.5 s."""
    goodput, known = DRAWN_MEASURES[0], mean([10.0, 10.0], CONFIDENCE)
    wide = Compared(goodput, known, known, mean([-1.0, 1.0], CONFIDENCE), -0.2, 0.2)
    open_one = judging.Judged(MANY[0], (wide,), (3, 10), None)  # type: ignore[arg-type]
    whole = Agreement(("kernel", "simulator"), (open_one,), DRAWN_MEASURES)
    text = page.page(Validation(whole, None, (), whole, 1))
    assert line(text, "would decide all") == snapshot(
        "Scenarios with an undecided goal: 1. At the present means and variances, 11 hours on the kernel would decide all of them. An hour or less each would decide 0 of them, and 0.0 hours all of these. In the others, runs of one engine differ from each other by far more than the bands."
    )
    none = page.page(Validation(whole, None, (), judged(0, 0.0), 1))
    assert "would decide" not in none


def test_equal_engines_miss_no_goal(tmp_path: Path) -> None:
    cases = [dataclasses.replace(case, seconds=3) for case in MANY[:4]]
    store = Store(tmp_path)
    kernel, simulator = (Side(name, SimulatorEngine(), 2) for name in ("kernel", "simulator"))
    whole = deciding.measure(cases, kernel, simulator, store, measures=DRAWN_MEASURES)
    assert "missed" not in {score.outcome for score in whole.scores}
    assert whole.passed
    text = page.page(Validation(whole, None, (), whole, 1))
    drawn = line(text, "by the seed 1")
    assert drawn == snapshot(
        "4 scenarios drawn by the seed 1, another one each time: rates of 2 to 250 Mbit/s, round-trip times of 2 to 200 ms, queues of 0.15 to 3 times their product (of 8 packets at least). Queues are FIFO, RED, CoDel, FQ-CoDel, PIE, FQ-PIE or DualPI2, and losses up to 0.5 %. There are one to three flows, each with any algorithm. Some send requests, and some have receiving applications that read at a rate. In half of the scenarios with several flows, the handshakes of later flows wait in the queue. The bands are narrower than in the chosen scenarios. The goal is the share of scenarios in which the engines agree, by the intervals."
    )
    none = deciding.measure([], kernel, simulator, store)
    alone = page.page(Validation(none, None, (), whole, 1))
    assert drawn in alone
    assert "no scenario" not in alone
    assert "## Parity" not in alone
    assert cases[0].name in text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--draw-seed", "1"), "--draw-seed: draws nothing; valid: with --drawn N"),
        (("--engine", "simulator", "--drawn", "3"), "--drawn: runs on the testbed only"),
    ],
)
def test_wrong_options_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    problem: str,
) -> None:
    output = caller(monkeypatch, capsys, app)(*arguments)
    assert output.code == 2
    assert problem in output.err
